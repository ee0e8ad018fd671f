"""The states of an experiment's page, the text of each, and the result of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from app.loaded_run import LoadedRun
from app.report import Report, conditions, note_text, time_left, when
from experiments.core.judging.trust import DOUBTS
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.run_state import RunState
from widgets.experiment.key_cards import Card
from widgets.experiment.result import Result
from widgets.experiment.verdict import BadgeText, Verdict

LOADING = "loading_gpu_libraries"  # a note that matters only until the first row
TOLD_ELSEWHERE = (*messages.WAITING, LOADING, *DOUBTS)


class State(Enum):
    """Exactly one of these holds at any time."""

    READING = auto()  # a file
    LOOKING = auto()  # at the machine, which is not known yet
    CANNOT = auto()  # this machine lacks something
    READY = auto()  # nothing to show yet
    BEGINNING = auto()
    WAITING = auto()  # for another program that measures
    RUNNING = auto()
    STOPPING = auto()
    ELSEWHERE = auto()  # something else runs than what is shown
    ENDED = auto()
    PLAYING = auto()  # a recording

    @property
    def is_under_way(self) -> bool:
        """Is the shown run under way?"""
        return self in (State.BEGINNING, State.WAITING, State.RUNNING, State.STOPPING)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusText:
    """The text of the head of the side column."""

    title: str = ""
    aside: str = ""
    aside_help: str = ""
    sentence: str = ""
    detail: str = ""
    fraction: float | None = None
    busy: bool = False
    is_past: bool = False


def state_of(run_state: RunState) -> State:
    """Return the state of the shown run while it goes on."""
    if run_state.started is not None:
        return State.RUNNING
    notes = run_state.notes
    is_waiting = notes and notes[-1].key in messages.WAITING
    return State.WAITING if is_waiting else State.BEGINNING


def before(
    words: Words, state: State, seconds_s: float | None, need: str | None, without: str = ""
) -> StatusText:
    """Return the status while there is no run; `without` says what the system cannot do."""
    if state is State.CANNOT and need:
        return StatusText(
            title=words.say("page.cannot"), detail=words.say(f"problems.needs_{need}")
        )
    if state is State.READING:
        return StatusText(title=words.say("page.reading"), busy=True)
    if state is State.LOOKING or seconds_s is None:
        return StatusText(title=words.say("page.looking"), busy=True)
    aside = seconds_here(words, seconds_s)
    return StatusText(title=words.say("page.ready"), aside=aside, detail=without)


def seconds_here(words: Words, seconds_s: float) -> str:
    """Return how long a run takes, in whole seconds."""
    return words.say("terminal.seconds_here", {"duration": seconds_s})


def during(words: Words, state: State, run_state: RunState, doing: str) -> StatusText:
    """Return the status while the shown run goes on."""
    if state is State.WAITING:
        note = run_state.notes[-1].values
        question = words.say(f"{note.get('experiment')}.question")
        key = "page.waits_for_stopped" if "stopped" in note else "page.waits_for"
        detail = words.say(key, {"since": "", **note, "question": question})
        return StatusText(title=words.say("page.waiting"), detail=detail, busy=True)
    if state is not State.RUNNING:
        if state is State.STOPPING:
            return StatusText(title=words.say("page.stopping"), busy=True)
        modules = ", ".join(run_state.experiment.imports)
        detail = words.say("page.loading", {"modules": modules}) if modules else ""
        return StatusText(title=words.say("page.beginning"), detail=detail, busy=True)
    fraction = run_state.progress.fraction
    plots = run_state.experiment.plots
    prepares = not fraction and not any(run_state.drawn_from.get(plot.table) for plot in plots)
    has_more = any(note.key == messages.MORE_ROUNDS for note in run_state.notes)
    return StatusText(
        title=words.say("page.preparing" if prepares else "page.running"),
        aside=words.say("page.more_rounds") if has_more else time_left(words, run_state),
        aside_help=words.say("page.time_left_help"),
        detail=_preparing(words, run_state) if prepares else doing,
        fraction=None if prepares else fraction,
        busy=prepares,
    )


def _preparing(words: Words, run_state: RunState) -> str:
    notes = run_state.notes
    loads = notes and notes[-1].key == LOADING
    return words.say(f"notes.{LOADING}" if loads else "page.preparing_what")


def after(
    words: Words, loaded: LoadedRun, told: Report, changed: Iterable[str], names: Iterable[str]
) -> StatusText:
    """Return the status of a run that has ended; `changed` are its unusual settings.

    `names` are its letter in a comparison and the name that a person gave it, or "".
    """
    started, title = loaded.run_state.started, ""
    settings = ", ".join(changed)
    detail = words.say("page.changed", {"settings": settings}) if settings else ""
    if started is not None:
        kind = "page.quick_run_of" if started.quick else "page.full_run_of"
        title = words.say("page.run_of" if told.ending else kind, {"when": when(words, started.at)})
        title = " · ".join(part for part in (*names, title) if part)
    partial = words.say("outcomes.partial") if told.ending and told.finding else ""
    detail = " ".join(part for part in (*_of_file(words, loaded), partial, detail) if part)
    return StatusText(title=title, sentence=told.ending, detail=detail, is_past=True)


def _of_file(words: Words, loaded: LoadedRun) -> Iterator[str]:
    """Yield what is wrong with the file of a run, or with its finding."""
    experiment = loaded.run_state.experiment.id
    for key in loaded.recording.notes if loaded.recording is not None else ():
        yield note_text(words, key, {}, experiment)
    if loaded.note is not None:
        yield note_text(words, loaded.note.key, loaded.note.values, experiment)


def elsewhere(words: Words, run_state: RunState, *, same: bool) -> StatusText:
    """Return the status while another run than the shown one goes on."""
    if same:
        return StatusText(title=words.say("page.runs_here"))
    question = words.say(f"{run_state.experiment.id}.question")
    return StatusText(
        title=words.say("page.runs_elsewhere"),
        detail=words.say("page.other_runs", {"question": question}),
    )


def playing(
    words: Words, loaded: LoadedRun, doing: str, name: str, left_out_s: float, why: str = ""
) -> StatusText:
    """Return the status during a replay; `name` is "" for a run without a name.

    `why` is the reason if the program chose the recording, not the user.
    """
    started = loaded.run_state.started
    at = when(words, started.at) if started is not None else ""
    title = " · ".join(part for part in (words.say("page.playing"), name) if part)
    lines = [*filter(None, (why,)), doing or words.say("page.preparing_what")]
    if left_out_s:  # or the times of replay and run seem to contradict each other
        lines.append(words.say("replay.begins", {"duration": left_out_s}))
    return StatusText(title=title, aside=at, detail="\n".join(lines))


def details_of(run_state: RunState, finished: messages.Finished) -> str:
    """Return the text that "Copy details" copies."""
    started, problem = run_state.started, finished.problem
    lines = [f"experiment: {run_state.experiment.id}", f"outcome: {finished.outcome}"]
    if started is not None:
        lines += [f"params: {started.params}", f"environment: {started.environment}"]
    if problem is not None:
        lines += [f"problem: {problem.key} {problem.values}", problem.detail]
    return "\n".join(lines)


def result_of(words: Words, told: Report, run_state: RunState) -> Result:
    """Return the result of a run; one that found nothing has only its notes."""
    notes, started = notes_of(words, run_state), run_state.started
    method = words.say(f"{run_state.experiment.id}.method")
    is_told = bool(told.finding) and started is not None
    return Result(
        verdict=verdict_of(told),
        values=told.values,
        limits=told.remarks,
        measured=(method, *notes) if told.values else notes,
        conditions=conditions(words, started) if is_told and started is not None else (),
    )


def verdict_of(told: Report) -> Verdict:
    """Return what a report says in short."""
    badge = told.badge
    return Verdict(
        lead=told.lead,
        verdict=told.finding,
        because=told.because,
        badge=BadgeText(kind=badge.kind, name=badge.name, beside=badge.beside, reason=badge.reason)
        if badge is not None
        else None,
        cards=tuple(
            Card(value=name, number=shown.shown, label=shown.label, about=shown.about, key=key)
            for name, shown, key in told.keys
        ),
    )


def notes_of(words: Words, run_state: RunState) -> tuple[str, ...]:
    """Return the notes on how a run was measured."""
    experiment = run_state.experiment.id
    return tuple(
        note_text(words, note.key, note.values, experiment)
        for note in run_state.notes
        if note.key not in TOLD_ELSEWHERE
    )
