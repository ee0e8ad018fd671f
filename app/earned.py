"""Which numbers of this machine are known, because somebody measured them here?

Of each experiment the newest completed run counts, a quick one only where there is no full one. A
run that was made on another machine never counts: every run carries the fingerprint of its own.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from app.counting import completed
from app.library import Kept
from app.report import number
from app.when import when
from experiments.catalogue import Catalogue
from experiments.declare import Experiment, Part, specs
from experiments.devices.device import CPU
from experiments.engine import messages as wire
from experiments.parameters import to_json
from experiments.words import Words
from machine.model import Machine
from widgets.map.boxes import EarnedValue, Invitation

_OF_GPUS = frozenset({Part.PCIE, Part.GPU, Part.NVLINK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Earned:
    """Numbers and experiments by part; `count` of the `possible` numbers are known."""

    values: dict[Part, list[EarnedValue]]
    invitations: dict[Part, list[Invitation]]
    count: int
    possible: int


def known_numbers(
    experiments: Iterable[Experiment[Any]],
    machine: Machine,
    runs: Callable[[], Sequence[Kept]],
    catalogue: Catalogue,
    fingerprints: Fingerprints,
) -> dict[str, float]:
    """Return what is known of the numbers that parameters start from, as `Spec.earned` names them.

    Of the newest run whose choices are the usual ones: at another precision or on another device
    it is another number. Reads files, unless none of the `experiments` asks for a number.
    """
    asked = {spec.earned for each in experiments for spec in specs(each.params).values()} - {""}
    kept = runs() if asked else ()
    found: dict[str, float] = {}
    for source_id in {name.partition(".")[0] for name in asked}:
        source = catalogue.load(source_id)
        usual = _choices(source, to_json(source.params_for(machine, quick=False)))
        like_it = [
            run
            for run in kept
            if run.experiment == source_id and _choices(source, run.params) == usual
        ]
        run = _newest(like_it, source, machine.fingerprint, fingerprints)
        for name, value in run.values.items() if run else ():
            found[f"{source_id}.{name}"] = value
    return {name: found[name] for name in asked if name in found}


def _choices(experiment: Experiment[Any], params: Mapping[str, Any]) -> dict[str, Any]:
    known = specs(experiment.params)
    return {name: params.get(name) for name, spec in known.items() if spec.choices}


class Fingerprints:
    """The machines that runs were made on; each file is opened once."""

    def __init__(self) -> None:
        self._known: dict[Path, str | None] = {}

    def of(self, path: Path) -> str | None:
        """Return the fingerprint in the first line of a run, None where it cannot be read."""
        if path not in self._known:
            self._known[path] = _fingerprint(path)
        return self._known[path]


def earned(
    runs: Iterable[Kept],
    experiments: Iterable[Experiment[Any]],
    words: Words,
    fingerprint: str | None,
    fingerprints: Fingerprints,
    now: datetime | None = None,
) -> Earned:
    """Return what is known of the machine with this fingerprint. Reads files."""
    values: dict[Part, list[EarnedValue]] = {}
    invitations: dict[Part, list[Invitation]] = {}
    count = possible = 0
    kept = list(runs)
    for experiment in experiments:
        run = _newest(kept, experiment, fingerprint, fingerprints)
        filled = {value.part for value in experiment.values if value.part}
        question = words.say(f"{experiment.id}.question")
        for part in dict.fromkeys((*experiment.parts, *sorted(filled))):
            invitations.setdefault(part, []).append(
                Invitation(experiment=experiment.id, question=question, fills=part in filled)
            )
        for value in experiment.values:
            if value.part is None:
                continue
            found = run.values.get(value.name) if run and _is_of(run, value.part) else None
            if found is None:
                # A full run that does not have it shows that there is no such number here.
                possible += run is None or run.quick
                continue
            count, possible = count + 1, possible + 1
            values.setdefault(value.part, []).append(
                EarnedValue(
                    label=words.say(f"{experiment.id}.values.{value.name}"),
                    text=number(words, value.name, found, value.unit, run.unclear if run else ()),
                    when=when(words, run.at, now) if run else "",
                    experiment=experiment.id,
                    unit=value.unit,
                    is_quick=run is not None and run.quick,
                )
            )
    for some in invitations.values():
        some.sort(key=lambda invitation: not invitation.fills)
    return Earned(values=values, invitations=invitations, count=count, possible=possible)


def _is_of(run: Kept, part: Part) -> bool:
    """Is what a run measured a number of this part? Not of a GPU, if it ran on the processor."""
    return part not in _OF_GPUS or run.params.get("device") != CPU


def _newest(
    runs: Sequence[Kept],
    experiment: Experiment[Any],
    fingerprint: str | None,
    fingerprints: Fingerprints,
) -> Kept | None:
    some = completed(runs, experiment.id) if fingerprint else ()
    return next((run for run in some if fingerprints.of(run.path) == fingerprint), None)


def _fingerprint(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            is_packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if is_packed else path.open("rb") as file:
            started = wire.decode_event(file.readline(wire.LINE_LIMIT_BYTES + 1))
    except (OSError, EOFError, zlib.error, wire.BadMessage):
        return None
    if not isinstance(started, wire.Started):
        return None
    found = started.machine.get("fingerprint")
    return found if isinstance(found, str) else None
