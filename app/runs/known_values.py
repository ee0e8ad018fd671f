"""The numbers of this machine that its runs have measured, by part.

The newest completed run of each experiment counts. Usual settings come before others, full runs
before quick ones. A run of another machine never counts: each run carries a fingerprint.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from app.report import about, number, setting, when
from app.runs.library import Kept
from app.runs.selection import by_experiment, completed, runs_here
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, Need, Part, Value, specs
from experiments.core.judging.trust import Trust, as_trusted
from experiments.core.needs import missing_need
from experiments.core.parameters import to_json
from experiments.core.units import ABOUT, About
from experiments.core.words import Words
from experiments.devices.device import CPU
from experiments.presentation.known import Invitation, KnownValue, KnownValues, is_of_part
from machine.model import Machine

NEARLY = 0.9  # of the usual memory: free memory varies a little

_OF_GPUS = frozenset({Part.PCIE, Part.GPU, Part.NVLINK})
_INSTALLED = frozenset({Need.NUMBA, Need.TORCH})


def known_numbers(
    experiments: Iterable[Experiment[Any]],
    machine: Machine,
    runs: Callable[[], Sequence[Kept]],
    catalogue: Catalogue,
) -> dict[str, float]:
    """Return the known numbers that parameters start from, as `Spec.earned` names them.

    Only runs with the usual settings count: another precision or device gives another number.
    The library is not read where none of the `experiments` asks for a number.
    """
    asked = {spec.earned for each in experiments for spec in specs(each.params).values()} - {""}
    kept = by_experiment(runs() if asked else ())
    found: dict[str, float] = {}
    for source_id in {name.partition(".")[0] for name in asked}:
        usual = _Usual(catalogue.load(source_id), machine)
        run = _newest(kept.get(source_id, ()), usual)
        run = run if run and run.trust is Trust.SOLID else None
        for name, value in run.values.items() if run and not usual.departures(run) else ():
            found[f"{source_id}.{name}"] = value
    return {name: found[name] for name in asked if name in found}


class _Usual:
    """The usual settings of an experiment on a machine, as far as they change its numbers.

    Several choices at once are the compared arms; each has its own number. A setting that a quick
    run reduces is effort: it does not change the number.
    """

    def __init__(self, experiment: Experiment[Any], machine: Machine) -> None:
        self.experiment, self.machine = experiment, machine
        self._specs = specs(experiment.params)

    @functools.cached_property
    def _starts(self) -> dict[bool, dict[str, Any]]:
        """The defaults of full and quick runs. Slow to compute, so only for runs that exist."""
        full = self.experiment.params_for(self.machine, quick=False)
        return {False: to_json(full), True: to_json(self.experiment.reduced(full))}

    def departures(self, run: Kept) -> dict[str, Any]:
        """Return the settings of a run that change its numbers."""
        chosen = {name: run.params[name] for name in self._specs if name in run.params}
        departs = self._departs
        return {name: value for name, value in chosen.items() if departs(name, value, run.quick)}

    def had_less(self, run: Kept) -> bool:
        """Had a run clearly less memory than usual, so that it may have missed a value?"""
        usual = self._starts[run.quick]
        of_bytes = [name for name, spec in self._specs.items() if spec.unit == "bytes"]
        return any(run.params.get(name, 0) < NEARLY * usual[name] for name in of_bytes)

    def _departs(self, name: str, value: Any, quick: bool) -> bool:
        spec, usual = self._specs[name], self._starts[quick][name]
        if isinstance(usual, bool) or (spec.choices and isinstance(usual, str)):
            return bool(value != usual)
        if spec.unit == "bytes":  # its default depends on free memory
            return not usual / 2 <= value <= usual * 2
        is_effort = self._starts[False][name] != self._starts[True][name]
        if is_effort or spec.earned or not isinstance(usual, int | float):
            return False
        return bool(value != usual)


def known_values(
    runs: Iterable[Kept],
    experiments: Iterable[Experiment[Any]],
    words: Words,
    machine: Machine,
    now: datetime | None = None,
) -> KnownValues:
    """Return what is known of this machine."""
    values: dict[Part, list[KnownValue]] = {}
    invitations: dict[Part, list[Invitation]] = {}
    possible: dict[Part, int] = {}
    kept = by_experiment(runs)
    for experiment in experiments:
        usual = _Usual(experiment, machine)
        its_runs = kept.get(experiment.id, ())
        run = _newest(its_runs, usual)
        settings = _settings(words, usual, run) if run else ""
        since = when(words, run.at, now) if run else ""
        if run and _is_passed_over(run, its_runs, usual):
            since = words.say("map.usual_settings", {"when": since})
        need = missing_need(experiment, machine)
        can_come = need is None or _can_be_met(need, machine)
        missing: dict[Part, list[str]] = {}  # by part
        for value in experiment.values:
            part = value.part
            if part is None:
                continue
            measured = run if run and _is_of(run, part) else None
            found = measured.values.get(value.name) if measured else None
            # A full run without this value shows that the machine has no such number.
            is_open = can_come and (measured is None or measured.quick or usual.had_less(measured))
            if found is None and not (is_open and (machine.gpus or part not in _OF_GPUS)):
                continue
            possible[part] = possible.get(part, 0) + 1
            label = words.say(f"{experiment.id}.values.{value.name}")
            not_yet = missing.setdefault(part, [])
            if measured is None or found is None:
                not_yet.append(label)
                continue
            values.setdefault(part, []).append(
                KnownValue(
                    label=label + settings,
                    text=_text(words, value, found, measured),
                    when=since,
                    experiment=experiment.id,
                    unit=value.unit,
                    is_quick=measured.quick,
                    is_rough=measured.trust is Trust.BUSY,
                    about=about(words, experiment, value.name),
                )
            )
        question = words.say(f"{experiment.id}.question")
        declared = {value.part for value in experiment.values if value.part}
        heading = {v.part for v in experiment.values if is_of_part(v.part, v.unit)}
        for part in dict.fromkeys((*experiment.parts, *sorted(declared))):
            invitations.setdefault(part, []).append(
                Invitation(
                    experiment=experiment.id,
                    question=question,
                    fills=part in missing,
                    missing=tuple(missing.get(part, ())),
                    heads=part in heading,
                    lack=words.say(f"problems.needs_{need}") if need else "",
                )
            )
    for some in invitations.values():
        some.sort(key=lambda invitation: (bool(invitation.lack), not invitation.fills))
    for place, known in values.items():  # values of the part alone come first
        names = {value.label for value in known}
        invitations[place] = [
            replace(one, missing=_own(one.missing, names, words)) for one in invitations[place]
        ]
        of_part = [one for one in known if is_of_part(place, one.unit)]
        others = [one for one in known if one not in of_part]
        values[place] = _told_apart([*of_part, *others], words)
    return KnownValues(values=values, invitations=invitations, possible=possible)


def known_value(
    runs: Iterable[Kept], experiment: Experiment[Any], machine: Machine, name: str
) -> tuple[float, Kept] | None:
    """Return a value of this machine with its run: the newest run with the usual settings counts.

    The value is an `About` where other programs disturbed it, None where no run has it.
    """
    usual = _Usual(experiment, machine)
    run = _newest((run for run in runs if name in run.values), usual)
    if run is None or usual.departures(run):
        return None
    return as_trusted({name: run.values[name]}, run.trust)[name], run


def _text(words: Words, value: Value, found: float, run: Kept) -> str:
    """Return a number of a run; a busy one gives it only roughly."""
    said = as_trusted({value.name: found}, run.trust, {value.name: value.unit})[value.name]
    text = number(words, value.name, said, value.unit, run)
    if not isinstance(said, About):
        return text
    return words.say("map.rough", {"number": text.removeprefix(ABOUT)})


def _own(missing: Iterable[str], known: Collection[str], words: Words) -> tuple[str, ...]:
    """Return the names of missing numbers, distinct from those of known ones."""
    return tuple(
        words.say("map.its_own", {"label": label}) if label in known else label for label in missing
    )


def _told_apart(values: Sequence[KnownValue], words: Words) -> list[KnownValue]:
    """Add the experiment to numbers of one part that share a name."""
    count = Counter(value.label for value in values)

    def told(value: KnownValue) -> KnownValue:
        if count[value.label] == 1:
            return value
        topic = words.say(f"{value.experiment}.topic")
        label = words.say("map.of_topic", {"label": value.label, "topic": topic})
        return replace(value, label=label)

    return [told(value) for value in values]


def _settings(words: Words, usual: _Usual, run: Kept) -> str:
    """Return the unusual settings of a run in words, or ""."""
    told = usual.departures(run).items()
    named = [": ".join(setting(words, usual.experiment, *each)) for each in told]
    return f" ({', '.join(named)})" if named else ""


def _is_of(run: Kept, part: Part) -> bool:
    """Does a run measure this part? A run on the processor measures no GPU."""
    return part not in _OF_GPUS or run.params.get("device") != CPU


def _can_be_met(need: Need, machine: Machine) -> bool:
    """Can the need be met by installing something? Only then the number is still expected."""
    gpus = {Need.GPU: 1, Need.TWO_GPUS: 2}
    return need in _INSTALLED or (need in gpus and len(machine.gpus) >= gpus[need])


def _newest(runs: Iterable[Kept], usual: _Usual) -> Kept | None:
    told = [run for run in _here(runs, usual) if run.trust is not Trust.DISTURBED]
    return min(
        told,
        key=lambda run: (bool(usual.departures(run)), run.trust is not Trust.SOLID),
        default=None,
    )


def _is_passed_over(run: Kept, runs: Iterable[Kept], usual: _Usual) -> bool:
    """Did a newer run of this machine not count, because of its settings?"""
    return any(usual.departures(other) for other in _here(runs, usual) if other.at > run.at)


def _here(runs: Iterable[Kept], usual: _Usual) -> list[Kept]:
    """Return the completed runs of an experiment on this machine."""
    name = usual.experiment.id
    return completed(runs_here(runs, name, usual.machine), name)
