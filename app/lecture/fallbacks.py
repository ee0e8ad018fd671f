"""The recordings that stand in for the runs of a lecture, where those cannot be shown.

The first whole recording of this list stands in for the run of an item:

- the recording that the item names
- a quick run that preflight recorded with the item's settings
- the recording that comes with the item's experiment
- the last run of this machine

A recording that was altered or cut off never stands in.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from app.lecture.file import Item
from app.lecture.lectures import NAME, is_shipped, name_of
from app.runs.copies import write_whole
from app.runs.library import Kept
from app.runs.selection import completed, runs_here
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, specs
from experiments.core.problems import Problem, UserError
from experiments.engine import messages
from experiments.engine.recording import ALTERED, SUFFIXES, Recording, read
from machine.model import Machine
from machine.text import short_name

PACKED = SUFFIXES[1]


class Origin(StrEnum):
    """The origin of a fallback."""

    OWN = "own"  # named by the item, beside the lecture
    MADE = "made"  # by preflight, with the settings of the item
    SHIPPED = "shipped"  # with the experiment
    LIBRARY = "library"  # the last run of this machine, or the very run that a class saw


@dataclass(frozen=True, slots=True)
class Fallback:
    """A recording that can stand in for a run; `has_settings` if it has those of the item."""

    origin: Origin
    path: Path
    started: messages.Started
    has_settings: bool


@dataclass(frozen=True, slots=True)
class Fallbacks:
    """The recording that stands in for one item, and the faults of those that come before it."""

    best: Fallback | None = None
    faults: Mapping[Origin, Problem] = field(default_factory=dict)

    @property
    def is_wanting(self) -> bool:
        """Would a run recorded here be better?"""
        best = self.best
        if best is None or best.origin is Origin.LIBRARY:
            return True
        return best.origin is Origin.SHIPPED and not best.has_settings


@dataclass(frozen=True, slots=True)
class StandIns:
    """Finds recordings: beside the file of a lecture, in the data folder, in the library."""

    lecture: Path
    data: Path
    catalogue: Catalogue
    runs: Sequence[Kept] = ()
    machine: Machine | None = None

    def find(self, item: Item, experiment: Experiment[Any], shown: str = "") -> Fallbacks:
        """Return the recording that stands in for the run of an item; may take a moment.

        The run with the id `shown` is better than any other.
        """
        faults: dict[Origin, Problem] = {}
        best: Fallback | None = None
        for origin, path in self._candidates(item, experiment, shown):
            if origin is not Origin.OWN and not os.path.isfile(path):
                continue
            try:
                started = whole(path, experiment).started
            except UserError as trouble:
                if best is None:
                    faults.setdefault(origin, trouble.problem)
                continue
            found = Fallback(origin, path, started, _has_settings(started, item, experiment))
            if shown and started.run == shown:
                return Fallbacks(found)
            if best is None and (origin is not Origin.MADE or found.has_settings):
                best = found
                if not shown:
                    break
        return Fallbacks(best, faults)

    def keep(self, item: Item, experiment: Experiment[Any], lines: Sequence[bytes]) -> Path:
        """Write the lines of a run as the recording of an item; return the file.

        Raises UserError.
        """
        packed, reason = gzip.compress(b"".join(lines), mtime=0), ""
        for folder in folders(self.lecture, self.data):
            path = folder / made_name(item, experiment)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                write_whole(path, packed)
            except OSError as error:
                reason = error.strerror or str(error)
            else:
                return path
        raise UserError("fallback_not_written", reason=reason)

    def _candidates(
        self, item: Item, experiment: Experiment[Any], shown: str
    ) -> Iterator[tuple[Origin, Path]]:
        """Yield the files that may stand in, the best first; some may not be there."""
        if shown:
            named = f"-{shown[:8]}."  # all that is known of a damaged one
            for run in self.runs:
                if run.run == shown or (run.problem and named in run.path.name):
                    yield Origin.LIBRARY, run.path
        if item.recording:
            yield Origin.OWN, self.lecture.parent / item.recording
        for folder in folders(self.lecture, self.data):
            yield Origin.MADE, folder / made_name(item, experiment)
        if (shipped := self.catalogue.recording(experiment.id)) is not None:
            yield Origin.SHIPPED, shipped
        here = runs_here(self.runs, experiment.id, self.machine)
        for run in completed(here, experiment.id)[:1]:
            yield Origin.LIBRARY, run.path


def whole(path: Path, experiment: Experiment[Any]) -> Recording:
    """Return a recording that may stand in for a run of an experiment.

    Raises UserError for one of another experiment or version, and for one that is not whole.
    """
    name = path.name
    if not os.path.isfile(path):
        raise UserError("fallback_missing", name=name)
    recording = read(path)
    other = recording.started.experiment
    if other != experiment.id:
        raise UserError("fallback_of_other", name=name, id=experiment.id, other=other)
    recording.tables(experiment)
    if ALTERED in recording.notes:
        raise UserError("fallback_altered", name=name)
    if recording.finished.outcome is not messages.Outcome.COMPLETED:
        raise UserError("fallback_cut_short", name=name)
    if not any(isinstance(each, messages.Row | messages.Frame) for each in recording.events):
        raise UserError("recording_empty", name=name)
    return recording


def folders(lecture: Path, data: Path) -> tuple[Path, ...]:
    """Return where preflight keeps what it records: beside the lecture, or in the data folder.

    Nothing is written beside a lecture that comes with the program.
    """
    name = f"{name_of(lecture)}.recordings"
    in_data = data / NAME / name
    return (in_data,) if is_shipped(lecture) else (lecture.parent / name, in_data)


def made_name(item: Item, experiment: Experiment[Any]) -> str:
    """Return the name of a file that preflight records: by experiment and settings."""
    name = short_name(experiment.id)
    if not item.set:
        return f"{name}{PACKED}"
    settings = msgspec.json.encode(dict(item.set), order="sorted")
    return f"{name}-{zlib.crc32(settings):08x}{PACKED}"


def _has_settings(started: messages.Started, item: Item, experiment: Experiment[Any]) -> bool:
    """Was it measured with the settings of the item? Folders are not kept, and not compared."""
    known = specs(experiment.params)
    return all(
        name in known and (known[name].is_folder or started.params.get(name) == value)
        for name, value in msgspec.to_builtins(dict(item.set)).items()
    )
