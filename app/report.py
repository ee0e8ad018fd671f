"""A run in words: the sentences and numbers that terminal and window share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from app.trust import Badge, badge_of, counted, doubts_of, first_line
from experiments.core.declare import Experiment, Key, Spec, specs
from experiments.core.judging.disturbed import counting
from experiments.core.judging.statistics import CANNOT_TELL, TOO_FEW
from experiments.core.judging.trust import Trust, as_trusted
from experiments.core.needs import lacking
from experiments.core.parameters import to_text
from experiments.core.problems import Problem
from experiments.core.units import show, unit_of
from experiments.core.words import Words
from experiments.devices.device import CPU, gpu_of
from experiments.engine import messages
from experiments.engine.recording import ALTERED, Recording
from experiments.engine.run_state import RunState
from experiments.presentation.counted import (
    Counted,
    events_of,
    evidence,
    in_range,
    running_fraction,
)
from machine.devices import Gpu
from machine.model import BadMachine
from machine.model import from_json as machine_of

if TYPE_CHECKING:
    from app.runs.library import Kept

    Judged: TypeAlias = messages.FindingSent | Kept

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400
OVERDUE_S = 3.0  # beyond the estimate; less is not worth a word
MOST_KEYS = 3


class NamedValue(NamedTuple):
    """A value in words."""

    label: str
    shown: str  # the number with its unit
    about: str = ""  # what was timed or counted, "" if unknown


class KeyNumber(NamedTuple):
    """A number to be read first, and its mark in a plot, if it is known."""

    value: str  # the name of the value
    shown: NamedValue
    key: Key | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run in words; what does not apply to it is empty."""

    ending: str  # how it ended, unless it completed
    problem: str
    lead: str = ""  # said first: who was busy meanwhile, and what that means
    finding: str = ""  # the verdict; of a disturbed run that it cannot tell
    because: str = ""
    badge: Badge | None = None  # of a whole run that can tell something
    keys: tuple[KeyNumber, ...] = ()  # of a disturbed run none
    values: tuple[NamedValue, ...] = ()
    remarks: tuple[str, ...] = ()  # what the finding cannot tell, the most important first


def report(
    words: Words,
    experiment: Experiment[Any],
    finished: messages.Finished,
    *,
    tables: Mapping[str, Sequence[Any]],
    quick: bool,
    notes: Sequence[messages.Note] = (),
    system: str | None = None,
) -> Report:
    """Put the end of a run into words, with the rows of its tables and the notes about it.

    `system` is the kind of system on which it ran: what that lacked is a remark.
    """
    rows = sum(map(len, tables.values()))
    disturbed = rows - sum(len(counting(each)) for each in tables.values())
    ending = ""
    if finished.outcome is not messages.Outcome.COMPLETED:
        key = "stopped_empty" if finished.outcome is messages.Outcome.STOPPED and not rows else None
        ending = words.say(f"outcomes.{key or finished.outcome}", {"rows": rows})
    problem = finished.problem
    told = Report(
        ending=ending, problem=problem_text(words, problem, experiment.id) if problem else ""
    )
    finding = finished.finding
    if finding is None:
        return told
    lead, badge = first_line(words, finding.trust, notes), None
    doubts = list(doubts_of(words, quick=quick, disturbed=disturbed))
    is_sound = not ending and all(note.key != ALTERED for note in notes)
    if is_sound and (lead or finding.message not in (CANNOT_TELL, TOO_FEW)):
        beside = counted(words, tables, disturbed)
        badge = badge_of(words, finding, lead, doubts, quick=quick, beside=beside)
    because, values = f"{experiment.id}.because.{finding.message}", told_values(experiment, finding)
    is_told = finding.trust is not Trust.DISTURBED
    events = events_of(words, experiment, tables)
    why = words.say(because, values) if is_told and words.has(because) else ""
    confirmed = evidence(words, experiment, events) if why else ""
    return replace(
        told,
        lead=lead,
        finding=verdict(words, experiment, finding),
        because=f"{why} {confirmed}".rstrip(),
        badge=badge,
        keys=_key_numbers(words, experiment, finding) if is_told else (),
        values=(*named_values(words, experiment, values, finding), *_events(words, events, tables)),
        remarks=(
            *_remarks(words, experiment, finding),
            *filter(None, [without(words, experiment, system)]),
            *(() if badge else doubts),
        ),
    )


def _events(
    words: Words, events: Sequence[Counted], tables: Mapping[str, Sequence[Any]]
) -> Iterator[NamedValue]:
    """Yield what the processor counted; and that counters took turns, where they did."""
    about = words.say("counted.about")
    yield from (NamedValue(each.called, in_range(words, each), about) for each in events)
    share = running_fraction(tables)
    if share < 1:
        yield NamedValue(
            words.say("counted.shared"),
            show(share, "fraction"),
            words.say("counted.about_shared"),
        )


def report_of(words: Words, run: RunState, of_file: Sequence[messages.Note] = ()) -> Report:
    """Put a run that has ended into words; `of_file` are the notes about its file."""
    assert run.finished is not None
    return report(
        words,
        run.experiment,
        run.finished,
        tables=run.tables,
        quick=run.started is not None and run.started.quick,
        notes=[*run.notes, *of_file],
        system=system_of(run.started),
    )


def notes_of_file(recording: Recording) -> list[messages.Note]:
    """Return what is wrong with the file of a run."""
    return [messages.Note(key=key) for key in recording.notes]


def verdict(words: Words, experiment: Experiment[Any], finding: messages.FindingSent) -> str:
    """Return what a run found; of a disturbed one only that it cannot tell."""
    if finding.trust is Trust.DISTURBED:
        return words.say("outcomes.was_disturbed")
    return sentence(words, experiment, finding)


def told_values(experiment: Experiment[Any], finding: Judged) -> dict[str, Any]:
    """Return the values of a finding as they may be said: of a busy run, with "about"."""
    units = {value.name: value.unit for value in experiment.values}
    return as_trusted(finding.values, finding.trust, units)


def _key_numbers(
    words: Words, experiment: Experiment[Any], finding: messages.FindingSent
) -> tuple[KeyNumber, ...]:
    """Return the key numbers; of an experiment that names none, the first with a figure."""
    keys = {key.value: key for key in experiment.keys if key.value in finding.values}
    units = {value.name: value.unit for value in experiment.values}
    names = keys or [name for name in units if name in finding.values]
    found, values = [], told_values(experiment, finding)
    for name in names:
        (shown,) = named_values(words, experiment, {name: values[name]}, finding)
        if any(map(str.isdigit, shown.shown)):
            found.append(KeyNumber(name, shown, keys.get(name)))
    return tuple(found[:MOST_KEYS])


def sentence(words: Words, experiment: Experiment[Any], finding: messages.FindingSent) -> str:
    """Return a finding in one or two sentences."""
    values = told_values(experiment, finding)
    return words.say(f"{experiment.id}.findings.{finding.message}", values)


def named_values(
    words: Words,
    experiment: Experiment[Any],
    values: Mapping[str, float],
    judged: Judged | None = None,
) -> tuple[NamedValue, ...]:
    """Return the values in words, declared ones first."""
    units = {value.name: value.unit for value in experiment.values}
    names = (*units, *(name for name in values if name not in units))
    # Undeclared: a value of this machine only, such as one of another Python.
    return tuple(
        NamedValue(
            label(words, experiment, name),
            number(words, name, values[name], units.get(name, unit_of(name)), judged),
            about(words, experiment, name),
        )
        for name in names
        if name in values
    )


def number(words: Words, name: str, value: float, unit: str, judged: Judged | None = None) -> str:
    """Return a value with its unit; an unclear difference gets words, not a number."""
    if judged is None or name not in judged.unclear:
        return show(value, unit)
    if judged.message == TOO_FEW:
        return words.say("terminal.too_few")
    return words.say("verdicts.unclear")


def label(words: Words, experiment: Experiment[Any], value: str) -> str:
    """Return the name of a value; another Python's is named after ours."""
    key, of_python = f"{experiment.id}.values.{value}", _OF_PYTHON.fullmatch(value)
    if words.has(key) or not of_python:
        return words.say(key) if words.has(key) else value
    ours = label(words, experiment, f"{of_python['name']}_{of_python['unit']}")
    version = of_python["version"].replace("_", ".")
    return words.say("terminal.of_python", {"label": ours, "version": version})


def about(words: Words, experiment: Experiment[Any], value: str) -> str:
    """Return what was timed, counted or divided for a value, "" if that is not known."""
    of_python = _OF_PYTHON.fullmatch(value)
    ours = f"{of_python['name']}_{of_python['unit']}" if of_python else value
    key = f"{experiment.id}.about.{ours}"
    return words.say(key) if words.has(key) else ""


def setting(words: Words, experiment: Experiment[Any], name: str, value: object) -> tuple[str, str]:
    """Return the name of a parameter, and one of its values in words."""
    called = words.say(f"{experiment.id}.params.{name}")
    return called, chosen(words, experiment.id, specs(experiment.params)[name], value)


def settings(
    words: Words, experiment: Experiment[Any], params: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each parameter, in words."""
    for name, spec in specs(experiment.params).items():
        if name in params and not spec.is_folder:  # of these a kept run does not tell
            yield setting(words, experiment, name, params[name])


def chosen(words: Words, experiment_id: str, spec: Spec, value: Any) -> str:
    """Return a value of a parameter; only choices have words of their own."""
    if not spec.choices:
        return to_text(value, spec.unit)
    texts = map(str, value if isinstance(value, list | tuple) else [value])
    keys = {text: f"{experiment_id}.choices.{text}" for text in texts}
    return to_text([words.say(key) if words.has(key) else text for text, key in keys.items()])


_OF_PYTHON = re.compile(r"(?P<name>.+)_python_(?P<version>\d\w*)_(?P<unit>[a-z]+)")


def analysed_anew(
    recording: Recording, experiment: Experiment[Any]
) -> tuple[messages.Finished, messages.Note | None]:
    """Return the end of the run with the finding of today's `analyse`.

    A run of another version keeps its recorded finding, and the note says so. Raises UserError if
    the experiment has changed its tables since.
    """
    started, finished = recording.started, recording.finished
    if started.experiment_version != experiment.version:
        versions = {"recorded": started.experiment_version, "known": experiment.version}
        return finished, messages.Note(key="other_version", values=versions)
    finding = recording.finding(experiment)
    if finding is None:
        return finished, None
    anew = messages.Finished(outcome=finished.outcome, finding=finding, problem=finished.problem)
    return anew, None


def _remarks(
    words: Words, experiment: Experiment[Any], finding: messages.FindingSent
) -> Iterable[str]:
    if unclear := [name for name in finding.unclear if name in finding.values]:
        why = "too_few" if finding.message == TOO_FEW else "unclear"
        names = ", ".join(label(words, experiment, name) for name in unclear)
        yield words.say(f"outcomes.{why}", {"names": names})
    for key in finding.limits:
        yield words.say(f"{experiment.id}.limits.{key}", told_values(experiment, finding))


def without(words: Words, experiment: Experiment[Any], system: str | None) -> str:
    """Return what a kind of system cannot do for an experiment, as one sentence; "" if all."""
    told = [words.say(f"without.{use}") for use in lacking(experiment, system)]
    if not told:
        return ""
    *rest, last = told
    what = words.say("without.or", {"rest": ", ".join(rest), "last": last}) if rest else last
    return words.say("without.sentence", {"system": words.say(f"systems.{system}"), "what": what})


def system_of(started: messages.Started | None) -> str | None:
    """Return the kind of system on which a run was measured, None if unknown."""
    told = started.machine.get("os") if started is not None else None
    kind = told.get("kind") if isinstance(told, dict) else None
    return kind if isinstance(kind, str) else None


def conditions(words: Words, started: messages.Started) -> tuple[tuple[str, str], ...]:
    """Return the recorded conditions of a run."""
    environment, gpu = started.environment, gpu_of_run(started)
    cleared = environment.get("cleared_variables")
    cleared = cleared if isinstance(cleared, list) else []
    driver = f", {gpu.driver_version}" if gpu is not None and gpu.driver_version else ""
    facts = {
        "conditions.machine": processor(started.machine),
        "conditions.gpu": f"{gpu.name}{driver}" if gpu is not None and gpu.name else None,
        "conditions.python": environment.get("python"),
        "conditions.libraries": _listed(environment.get("libraries")),
        "conditions.governor": environment.get("governor"),
        "conditions.niceness": environment.get("niceness"),
        "conditions.huge_pages": environment.get("huge_pages"),
        "conditions.variables": _listed(environment.get("variables")),
        "conditions.cleared_variables": ", ".join(map(str, cleared)) or None,
        "conditions.program": environment.get("program"),
        "conditions.at": started.at[:19].replace("T", " "),
    }
    return tuple((words.say(key), str(value)) for key, value in facts.items() if value is not None)


def processor(machine: Mapping[str, Any]) -> str | None:
    """Return the model of the processor of a recorded machine, if it is known."""
    cpu = machine.get("cpu")
    return cpu.get("model") if isinstance(cpu, dict) else None


def gpu_of_run(started: messages.Started) -> Gpu | None:
    """Return the GPU that a run was set to, as far as its machine shows; None for a processor."""
    device = started.params.get("device", CPU)
    if device == CPU:
        return None
    try:
        return gpu_of(machine_of(started.machine), str(device))
    except BadMachine:
        return None


def _listed(values: object) -> str | None:
    if not isinstance(values, dict) or not values:
        return None
    return ", ".join(f"{name} {value}" for name, value in values.items())


def note_text(words: Words, key: str, values: Mapping[str, Any], experiment: str) -> str:
    """Return a note of a run in words; an experiment may have notes of its own."""
    return words.say(f"{experiment}.notes.{key}", values)


def problem_text(words: Words, problem: Problem | messages.ProblemSent, experiment: str) -> str:
    """Return a problem of a run in words; an experiment may have problems of its own."""
    return words.say(f"{experiment}.problems.{problem.key}", problem.values)


def time_left(words: Words, run_state: RunState) -> str:
    """Return the time left of a run in whole seconds, "" if unknown."""
    left_s = run_state.left_s
    if left_s is None:
        return ""
    if left_s < -OVERDUE_S:
        return words.say("page.overdue")
    return words.say("terminal.time_left", {"duration": left_s})


def time_of(at: str) -> datetime | None:
    """Return an ISO-8601 time, of UTC where it names no zone; None for what is none."""
    try:
        then = datetime.fromisoformat(at)
    except ValueError:
        return None
    return then if then.tzinfo else then.replace(tzinfo=UTC)


def when(words: Words, at: str, now: datetime | None = None) -> str:
    """Return how long ago the ISO-8601 time `at` was; after a week, the date."""
    if (then := time_of(at)) is None:
        return at
    ago_s = ((now or datetime.now(UTC)) - then).total_seconds()
    if ago_s < MINUTE_S:
        return words.say("when.now")
    if ago_s < HOUR_S:
        return words.say("when.minutes", {"count": int(ago_s // MINUTE_S)})
    if ago_s < DAY_S:
        return words.say("when.hours", {"count": int(ago_s // HOUR_S)})
    if ago_s < 7 * DAY_S:
        return words.say("when.days", {"count": int(ago_s // DAY_S)})
    return then.astimezone().strftime("%Y-%m-%d")
