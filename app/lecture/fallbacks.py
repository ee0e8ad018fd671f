"""The recordings that stand behind the items of a lecture, where a run cannot be shown.

Of an item the first of these counts that can be read: the recording that it names, a quick run
that preflight recorded with its settings, the recording that comes with its experiment.
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
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, specs
from experiments.core.problems import Problem, UserError
from experiments.engine import messages
from experiments.engine.recording import ALTERED, SUFFIXES, read

PACKED = SUFFIXES[1]


class Origin(StrEnum):
    """Where a fallback comes from."""

    OWN = "own"  # named by the item, beside the lecture
    MADE = "made"  # by preflight, with the settings of the item
    SHIPPED = "shipped"  # with the experiment


@dataclass(frozen=True, slots=True)
class Fallback:
    """A recording that can stand in for a run; `has_settings` tells if it has those of the item."""

    origin: Origin
    path: Path
    started: messages.Started
    has_settings: bool


@dataclass(frozen=True, slots=True)
class Fallbacks:
    """What stands behind one item, and what is wrong with recordings that come before it."""

    best: Fallback | None = None
    faults: Mapping[Origin, Problem] = field(default_factory=dict)

    @property
    def is_wanting(self) -> bool:
        """Would a run recorded here be better?"""
        best = self.best
        return best is None or (best.origin is Origin.SHIPPED and not best.has_settings)


def candidates(
    item: Item, experiment: Experiment[Any], lecture: Path, data: Path, catalogue: Catalogue
) -> Iterator[tuple[Origin, Path]]:
    """Yield the files that may stand behind an item, the best first; some may not be there."""
    if item.recording:
        yield Origin.OWN, lecture.parent / item.recording
    for folder in folders(lecture, data):
        yield Origin.MADE, folder / made_name(item, experiment)
    if (shipped := catalogue.recording(experiment.id)) is not None:
        yield Origin.SHIPPED, shipped


def find(
    item: Item, experiment: Experiment[Any], lecture: Path, data: Path, catalogue: Catalogue
) -> Fallbacks:
    """Return what stands behind an item; may take a moment."""
    faults: dict[Origin, Problem] = {}
    for origin, path in candidates(item, experiment, lecture, data, catalogue):
        if origin is Origin.MADE and not os.path.isfile(path):
            continue
        try:
            started = checked(path, experiment)
        except UserError as trouble:
            faults[origin] = trouble.problem
            continue
        has_settings = _has_settings(started, item, experiment)
        if origin is not Origin.MADE or has_settings:
            return Fallbacks(Fallback(origin, path, started, has_settings), faults)
    return Fallbacks(None, faults)


def checked(path: Path, experiment: Experiment[Any]) -> messages.Started:
    """Return the first line of a recording of an experiment.

    Raises UserError for one of another experiment or version, and for one that is not whole.
    """
    name = path.name
    if not os.path.isfile(path):
        raise UserError("fallback_missing", name=name)
    recording = read(path)
    started = recording.started
    if started.experiment != experiment.id:
        raise UserError("fallback_of_other", name=name, id=experiment.id, other=started.experiment)
    recording.tables(experiment)
    if ALTERED in recording.notes:
        raise UserError("fallback_altered", name=name)
    if recording.finished.outcome is not messages.Outcome.COMPLETED:
        raise UserError("fallback_cut_short", name=name)
    if not any(isinstance(each, messages.Row | messages.Frame) for each in recording.events):
        raise UserError("recording_empty", name=name)
    return started


def keep(
    item: Item, experiment: Experiment[Any], lines: Sequence[bytes], lecture: Path, data: Path
) -> Path:
    """Write the lines of a run as the fallback of an item; return the file. Raises UserError."""
    packed, reason = gzip.compress(b"".join(lines), mtime=0), ""
    for folder in folders(lecture, data):
        path = folder / made_name(item, experiment)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, packed)
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            return path
    raise UserError("fallback_not_written", reason=reason)


def folders(lecture: Path, data: Path) -> tuple[Path, ...]:
    """Return where preflight keeps what it records: beside the lecture, or in the data folder.

    Nothing is written beside a lecture that comes with the program.
    """
    name = f"{name_of(lecture)}.recordings"
    in_data = data / NAME / name
    return (in_data,) if is_shipped(lecture) else (lecture.parent / name, in_data)


def made_name(item: Item, experiment: Experiment[Any]) -> str:
    """Return the name of a file that preflight records: by experiment and settings."""
    if not item.set:
        return f"{experiment.id}{PACKED}"
    settings = msgspec.json.encode(dict(item.set), order="sorted")
    return f"{experiment.id}-{zlib.crc32(settings):08x}{PACKED}"


def _has_settings(started: messages.Started, item: Item, experiment: Experiment[Any]) -> bool:
    """Was it measured with the settings of the item? Folders are not kept, and not compared."""
    known = specs(experiment.params)
    return all(
        name in known and (known[name].is_folder or started.params.get(name) == value)
        for name, value in msgspec.to_builtins(dict(item.set)).items()
    )
