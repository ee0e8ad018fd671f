"""The library: a folder of run files, which are the truth, and an index that finds them.

The index can be rebuilt from the files. Name, note, tags and pin stand beside a run in a
`.meta.json`. Deleting moves both to a bin, undo moves them back.
"""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec

from app.report import gpu_of_run, processor
from app.runs.copies import check_room, copy, write_whole
from app.runs.index import Index
from app.runs.owner_note import Told, retold
from app.runs.run_notes import (
    NOTES_SUFFIX,
    RunNotes,
    notes_path,
    read_notes,
    told_notes,
    write_notes,
)
from experiments.core.judging.trust import Trust
from experiments.core.problems import Problem, UserError
from experiments.engine import messages
from experiments.engine.recorder import Recorder
from experiments.engine.recording import ALTERED, SUFFIXES, is_beginning, read
from experiments.engine.report_file import carried_by
from machine.text import short_name

if TYPE_CHECKING:
    from experiments.core.catalogue import Catalogue
    from machine.model import Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One run of the library; a damaged file has a `problem` and little else."""

    run: str
    path: Path
    experiment: str = ""
    at: str = ""
    quick: bool = False
    outcome: str = ""
    machine: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    message: str = ""
    values: dict[str, float] = field(default_factory=dict)
    notes: tuple[tuple[str, dict[str, Any]], ...] = ()  # notes of the engine: keys and values
    run_notes: RunNotes
    problem: dict[str, Any] | None = None
    unclear: tuple[str, ...] = ()  # values whose difference is within the noise
    trust: Trust = Trust.SOLID
    taken_s: float = 0.0  # from its start to its last row
    version: int = 0  # of its experiment
    fingerprint: str = ""  # of the machine it was made on, "" where that is unknown

    def is_of(self, machine: Machine | None) -> bool:
        """Was it made on this machine?"""
        return _is_same(self.fingerprint, machine)

    @property
    def is_altered(self) -> bool:
        """Was its file changed after it was written, so that its numbers may be wrong?"""
        return bool(self.notes) and any(key == ALTERED for key, _ in self.notes)


# The columns of the index: how the JSON of each is read, made once, before threads ask.
_KINDS = get_type_hints(Kept)
_COLUMNS = {name: msgspec.json.Decoder(_KINDS[name]) for name in _KINDS if name != "path"}


class Library:
    """The runs below one data folder."""

    def __init__(self, folder: Path, tell: Callable[[Problem], object] | None = None) -> None:
        self.folder = folder
        self.tell = tell  # called from the thread that reads, with what it did without
        self._has_told = False
        self._runs, self._bin = folder / "runs", folder / "bin"
        self._index = Index(
            folder / "index.sqlite3",
            self._runs,
            columns=tuple(_COLUMNS),
            locked=self._tell_locked,
        )

    def check_writable(self) -> None:
        """Raise UserError if a run could not be kept; meant for before a measurement."""
        with self._writing():
            check_room(self._runs)

    def create(self, started: messages.Started) -> Recorder:
        """Begin the file of a run. Raises UserError."""
        with self._writing():
            self._runs.mkdir(parents=True, exist_ok=True)
            return Recorder(self._runs / _file_name(started, SUFFIXES[0]))

    def runs(self) -> list[Kept]:
        """Return the runs, pinned and newest first."""
        found = self._index.entries(_facts, self._kept)
        return sorted(found, key=lambda run: (run.run_notes.pinned, run.at), reverse=True)

    def close(self) -> None:
        """End a listing that is still being read."""
        self._index.close()

    def find(self, reference: str) -> Path:
        """Return the file of a reference: a path, or the first letters of a run's id.

        Raises UserError if there is none, or more than one.
        """
        path = Path(reference)
        if os.path.exists(path) or len(reference) < 4:  # pathlib's raises for names too long
            return path
        found = {run.run: run.path for run in self.runs() if run.run.startswith(reference)}
        if len(found) > 1:
            raise UserError("run_ambiguous", id=reference)
        return next(iter(found.values()), path)

    def describe(self, run: Kept, run_notes: RunNotes) -> Kept:
        """Write a person's notes on a run. Raises UserError."""
        with self._writing():
            write_notes(run.path, run_notes)
        return replace(run, run_notes=run_notes)

    def note(self, run: Kept, **changes: Any) -> None:
        """Change a person's notes as they are by now, unless the run was deleted meanwhile.

        Raises UserError.
        """
        if run.path.exists():
            self.describe(run, msgspec.structs.replace(read_notes(run.path), **changes))

    def delete(self, run: Kept) -> None:
        """Move a run to the bin. Raises UserError."""
        self._move(run.path, self._bin)

    def undelete(self, run: Kept) -> None:
        """Move a run back from the bin. Raises UserError."""
        self._move(self._bin / run.path.name, self._runs)

    def deleted(self) -> list[Kept]:
        """Return the runs in the bin, newest first; may take a while."""
        found = []
        for path in self._binned():
            with contextlib.suppress(FileNotFoundError):  # another program has just emptied it
                found.append(replace(_read(path), path=self._runs / path.name))
        return sorted(found, key=lambda run: run.at, reverse=True)

    def bin_count(self) -> int:
        """Return how many runs lie in the bin."""
        return len(self._binned())

    def empty_bin(self) -> int:
        """Delete the bin's runs for good and return how many there were. Raises UserError."""
        count = self.bin_count()
        with self._writing():
            for path in _files(self._bin):
                if path.name.endswith((*SUFFIXES, NOTES_SUFFIX)):
                    path.unlink(missing_ok=True)
        return count

    def export(self, run: Kept, target: Path, *, tells: bool = False) -> Path:
        """Copy a run to a file, packed where its name ends in .gz. Raises UserError.

        A folder as the target takes the run under its own name. With `tells` the copy has the
        prediction and the name that stand in the run's notes.
        """
        path = target / run.path.name if os.path.isdir(target) else target
        notes = read_notes(run.path)
        own = Told(guess=notes.guess, name=notes.name)
        try:
            copy(run.path, path, (lambda data: retold(data, own)) if tells else None)
        except (OSError, EOFError, zlib.error, messages.BadMessage) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise UserError("not_exported", path=str(path), reason=reason) from None
        return path

    def adopt(self, path: Path) -> Path:
        """Copy a run from elsewhere into the library; return its file here. Raises UserError.

        A report brings what its sender said of the run. If the same run lies in the bin, its notes
        come back with it. If it is here already, it stays, unless it is only the beginning of what
        comes.
        """
        recording = read(path)
        plain, packed = (self._runs / _file_name(recording.started, each) for each in SUFFIXES)
        here = next((each for each in (plain, packed) if each.exists()), None)
        if here is not None and not is_beginning(here, path):
            return here
        target = here or (packed if path.name.endswith(".gz") else plain)
        with self._writing():
            self._runs.mkdir(parents=True, exist_ok=True)
            if here is None:
                with contextlib.suppress(FileNotFoundError):
                    notes = notes_path(self._bin / target.name).read_bytes()
                    write_whole(notes_path(target), notes)
            if (report := carried_by(path)) is None:
                copy(path, target)
            else:
                write_whole(target, report.lines)
                if not notes_path(target).exists():
                    write_notes(target, told_notes(report.notes))
        return target

    def rebuild(self) -> None:
        """Make the index anew from the files. Raises UserError."""
        with self._writing():
            self._index.forget()
        self.runs()

    def _tell_locked(self) -> None:
        if self.tell is not None and not self._has_told:
            self._has_told = True  # once: the list is read again and again
            self.tell(Problem("index_locked", {}))

    def _binned(self) -> list[Path]:
        return [path for path in _files(self._bin) if path.name.endswith(SUFFIXES)]

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Let what cannot be written be a UserError."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise UserError("library_unwritable", path=str(self.folder), reason=reason) from None

    def _move(self, path: Path, folder: Path) -> None:
        with self._writing():
            folder.mkdir(parents=True, exist_ok=True)
            path.replace(folder / path.name)  # first, so that the notes never stay without a run
            with contextlib.suppress(FileNotFoundError):
                notes_path(path).replace(folder / notes_path(path).name)

    def _kept(self, facts: Mapping[str, Any]) -> Kept:
        known = {name: column.decode(facts[name]) for name, column in _COLUMNS.items()}
        return Kept(path=self._runs / facts["name"], **known)


def _file_name(started: messages.Started, suffix: str) -> str:
    """Return the name of a run's file; a foreign file cannot point outside the folder."""
    experiment = short_name(re.sub(r"[^\w-]", "", started.experiment))
    stamp, run = (re.sub(r"\W", "", text) for text in (started.at[:19], started.run[:8]))
    return f"{stamp}-{experiment}-{run}{suffix}"


def _facts(path: Path) -> list[str]:
    """Return the columns of a run. Raises FileNotFoundError if it was just deleted."""
    kept = _read(path)
    return [msgspec.json.encode(getattr(kept, name)).decode() for name in _COLUMNS]


def _read(path: Path) -> Kept:
    """Return the run that its files hold. Raises FileNotFoundError if it was just deleted."""
    run_notes = read_notes(path)
    try:
        recording = read(path)
    except UserError as trouble:
        if trouble.problem.key == "recording_missing":
            raise FileNotFoundError(path) from None
        problem = {"key": trouble.problem.key, "values": dict(trouble.problem.values)}
        return Kept(run=path.name, path=path, run_notes=run_notes, problem=problem)
    notes = [
        (event.key, event.values) for event in recording.events if isinstance(event, messages.Note)
    ]
    notes += [(key, {}) for key in recording.notes if key == ALTERED]
    measured = (
        event for event in recording.events if isinstance(event, messages.Row | messages.Frame)
    )
    started, finding = recording.started, recording.recorded_finding()
    return Kept(
        run=started.run,
        path=path,
        experiment=started.experiment,
        at=started.at,
        quick=started.quick,
        outcome=str(recording.finished.outcome),
        machine=machine_name(started),
        params=started.params,
        message=finding.message if finding else "",
        values=finding.values if finding else {},
        notes=tuple(notes),
        run_notes=run_notes,
        unclear=tuple(finding.unclear) if finding else (),
        trust=finding.trust if finding else Trust.SOLID,
        taken_s=max((event.t_s for event in measured), default=0.0),
        version=started.experiment_version,
        fingerprint=_fingerprint(started),
    )


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def is_made_on(machine: Machine | None, started: messages.Started) -> bool:
    """Was a run made on this machine?"""
    return _is_same(_fingerprint(started), machine)


def _is_same(fingerprint: str, machine: Machine | None) -> bool:
    """Is it this machine? LIMIT: one with the same parts has the same fingerprint."""
    return machine is not None and bool(fingerprint) and fingerprint == machine.fingerprint


def _fingerprint(started: messages.Started) -> str:
    found = started.machine.get("fingerprint")
    return found if isinstance(found, str) else ""


def machine_name(started: messages.Started) -> str:
    """Return the name of what a run measured: the GPU that it was set to, else the processor."""
    if (gpu := gpu_of_run(started)) is not None and gpu.name:
        return gpu.name
    return str(processor(started.machine) or "?")


def meant(reference: str, library: Library, catalogue: Catalogue) -> Path:
    """Return the file of a reference: a path, a kept run, or the recording of an experiment.

    Raises UserError if it may be one of several.
    """
    path = library.find(reference)
    return path if os.path.exists(path) else catalogue.recording(reference) or path
