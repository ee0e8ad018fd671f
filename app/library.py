"""Where are the runs? One folder of run files, which are the truth, and an index that finds them.

The index can be rebuilt from the files at will. What people add to a run (name, note, tags, pin,
prediction) stands beside it in a `.meta.json`. Deleting moves both to a bin, undo moves them back.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from experiments.engine import messages as wire
from experiments.engine.recording import SUFFIXES, Recorder, Recording, read
from experiments.problems import Trouble

log = logging.getLogger(__name__)

META_SUFFIX = ".meta.json"
BUSY_S = 5.0  # how long to wait for another program that writes the index


class Meta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What people add to a run."""

    name: str = ""
    note: str = ""
    tags: list[str] = []
    pinned: bool = False
    prediction: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One run of the library; with a `problem` and little else where its file is damaged."""

    run: str
    path: Path
    experiment: str
    at: str
    quick: bool
    outcome: str
    machine: str
    message: str
    values: dict[str, float]
    meta: Meta
    problem: dict[str, Any] | None


class Library:
    """The runs below one data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs, self._bin = folder / "runs", folder / "bin"

    def check_writable(self) -> None:
        """Raise Trouble, before anything is measured, if a run could not be kept."""
        probe = self._runs / f".probe-{os.getpid()}"
        try:
            self._runs.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise self._unwritable(error) from None

    def create(self, started: wire.Started) -> Recorder:
        """Begin the file of a run. Raises Trouble."""
        try:
            self._runs.mkdir(parents=True, exist_ok=True)
            return Recorder(self._runs / _file_name(started, SUFFIXES[0]))
        except OSError as error:
            raise self._unwritable(error) from None

    def runs(self, search: str = "") -> list[Kept]:
        """Return the runs, pinned and newest first, whose words contain all those of `search`."""
        kept = self._indexed()
        words = search.lower().split()
        found = [run for run in kept if all(word in _haystack(run) for word in words)]
        return sorted(found, key=lambda run: (run.meta.pinned, run.at), reverse=True)

    def find(self, reference: str) -> Path:
        """Return the file that is meant: a path, or the first letters of a run's id.

        Raises Trouble if there is none, or more than one.
        """
        path = Path(reference)
        if path.exists() or len(reference) < 4:
            return path
        found = {run.run: run.path for run in self.runs() if run.run.startswith(reference)}
        if len(found) > 1:
            raise Trouble("run_ambiguous", id=reference)
        return next(iter(found.values()), path)

    def describe(self, run: Kept, meta: Meta) -> Kept:
        """Keep what a person says of a run. Raises Trouble."""
        path = _meta_path(run.path)
        try:
            _write_whole(path, msgspec.json.encode(meta))
        except OSError as error:
            raise self._unwritable(error) from None
        return replace(run, meta=meta)

    def delete(self, run: Kept) -> None:
        """Move a run to the bin. Raises Trouble."""
        self._move(run.path, self._bin)

    def undelete(self, run: Kept) -> None:
        """Move a run back from the bin. Raises Trouble."""
        self._move(self._bin / run.path.name, self._runs)

    def adopt(self, path: Path) -> Path:
        """Copy a run from elsewhere into the library; return its file here. Raises Trouble."""
        recording = read(path)
        suffix = SUFFIXES[1] if path.name.endswith(".gz") else SUFFIXES[0]
        target = self._runs / _file_name(recording.started, suffix)
        if not target.exists():
            try:
                self._runs.mkdir(parents=True, exist_ok=True)
                _write_whole(target, path.read_bytes())
            except OSError as error:
                raise self._unwritable(error) from None
        return target

    def rebuild(self) -> None:
        """Make the index anew from the files."""
        self._index_path.unlink(missing_ok=True)
        self.runs()

    @property
    def _index_path(self) -> Path:
        return self.folder / "index.sqlite3"

    def _unwritable(self, error: OSError) -> Trouble:
        reason = error.strerror or type(error).__name__
        return Trouble("library_unwritable", path=str(self.folder), reason=reason)

    def _move(self, path: Path, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                _meta_path(path).replace(folder / _meta_path(path).name)
            path.replace(folder / path.name)
        except OSError as error:
            raise self._unwritable(error) from None

    def _indexed(self) -> list[Kept]:
        """Return every run. A damaged index is made anew; in memory where it cannot be written."""
        for _ in range(2):
            try:
                return self._through(self._index_path)
            except sqlite3.OperationalError as error:  # a read-only folder, none yet, or locked
                log.info("index in memory: %s", error)
                break
            except (sqlite3.DatabaseError, msgspec.MsgspecError, ValueError) as error:
                log.warning("the index is damaged (%s) and is made anew", error)
                with contextlib.suppress(OSError):
                    self._index_path.unlink(missing_ok=True)
        return self._through(":memory:")

    def _through(self, index_path: Path | str) -> list[Kept]:
        with contextlib.closing(_connect(index_path)) as index:
            self._update(index)
            return [self._kept(row) for row in index.execute("SELECT * FROM runs")]

    def _update(self, index: sqlite3.Connection) -> None:
        """Bring the index to what the folder holds now."""
        known = {
            name: (size, changed)
            for name, size, changed in index.execute("SELECT name, size, changed FROM runs")
        }
        here = {}
        for path in _run_files(self._runs):
            with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                here[path] = (path.stat().st_size, _last_change(path))
        with index:
            for name in known.keys() - {path.name for path in here}:
                index.execute("DELETE FROM runs WHERE name = ?", (name,))
            for path, state in here.items():
                if known.get(path.name) != state:
                    index.execute(
                        f"INSERT OR REPLACE INTO runs VALUES ({', '.join('?' * len(_COLUMNS))})",
                        (path.name, *state, *_facts(path)),
                    )

    def _kept(self, row: Sequence[Any]) -> Kept:
        facts = dict(zip(_COLUMNS, row, strict=True))
        return Kept(
            run=facts["run"],
            path=self._runs / facts["name"],
            experiment=facts["experiment"],
            at=facts["at"],
            quick=bool(facts["quick"]),
            outcome=facts["outcome"],
            machine=facts["machine"],
            message=facts["message"],
            values=json.loads(facts["found"]),
            meta=msgspec.json.decode(facts["meta"], type=Meta),
            problem=json.loads(facts["problem"]),
        )


class Keeping:
    """Keeps the lines of one run in the library, from the moment it has started."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.recorder: Recorder | None = None
        self.problem: Trouble | None = None

    def keep(self, event: wire.Event, line: bytes) -> None:
        """Append one line; never raises."""
        if isinstance(event, wire.Started) and self.problem is None:
            try:
                self.recorder = self._library.create(event)
            except Trouble as trouble:
                self.problem = trouble
        if self.recorder is not None:
            self.recorder.keep(event, line)

    def close(self) -> None:
        """Close the file; `problem` then says if anything could not be kept."""
        if self.recorder is not None:
            self.recorder.close()
            error = self.recorder.problem
            if error is not None:
                self.problem = self._rescued(self.recorder, error.strerror or "?")

    def _rescued(self, recorder: Recorder, reason: str) -> Trouble:
        """Write the whole run elsewhere: the disk of the library is full."""
        for folder in (Path.cwd(), Path(tempfile.gettempdir())):
            path = folder / recorder.path.name
            try:
                recorder.rescue(path)
            except OSError:
                with contextlib.suppress(OSError):
                    path.unlink()
                continue
            return Trouble("run_kept_elsewhere", reason=reason, path=str(path))
        return Trouble("run_not_kept", reason=reason)


_COLUMNS = (
    "name", "size", "changed", "run", "experiment", "at", "quick", "outcome", "machine",
    "message", "found", "meta", "problem",
)  # fmt: skip


def _connect(path: Path | str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_S)
    try:
        names = ", ".join(_COLUMNS[1:])
        connection.execute(f"CREATE TABLE IF NOT EXISTS runs (name TEXT PRIMARY KEY, {names})")
        columns = tuple(row[1] for row in connection.execute("PRAGMA table_info(runs)"))
        if columns != _COLUMNS:  # of another version: the files know everything
            raise sqlite3.DatabaseError("other columns")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _file_name(started: wire.Started, suffix: str) -> str:
    """Return the name of a run's file; a file from elsewhere cannot name a place outside."""
    experiment = re.sub(r"[^\w-]", "", started.experiment)
    stamp, run = (re.sub(r"\W", "", text) for text in (started.at[:19], started.run[:8]))
    return f"{stamp}-{experiment}-{run}{suffix}"


def _run_files(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in folder.iterdir() if path.name.endswith(SUFFIXES))
    except OSError:
        return


def _last_change(path: Path) -> int:
    try:
        return max(path.stat().st_mtime_ns, _meta_path(path).stat().st_mtime_ns)
    except FileNotFoundError:
        return path.stat().st_mtime_ns


def _facts(path: Path) -> tuple[Any, ...]:
    meta = msgspec.json.encode(read_meta(path)).decode()
    try:
        recording = read(path)
    except Trouble as trouble:
        problem = json.dumps({"key": trouble.problem.key, "values": dict(trouble.problem.values)})
        return (path.name, "", "", False, "", "", "", "{}", meta, problem)
    started, finding = recording.started, recording.finished.finding
    return (
        started.run,
        started.experiment,
        started.at,
        started.quick,
        str(recording.finished.outcome),
        machine_name(recording),
        finding.message if finding else "",
        json.dumps(finding.values if finding else {}),
        meta,
        "null",
    )


def machine_name(recording: Recording) -> str:
    """Return what the machine of a recording is called: the model of its processor."""
    cpu = recording.started.machine.get("cpu")
    model = cpu.get("model") if isinstance(cpu, dict) else None
    return str(model or "?")


def read_meta(path: Path) -> Meta:
    """Return what people added to the run in `path`; nothing where that cannot be read."""
    try:
        return msgspec.json.decode(_meta_path(path).read_bytes(), type=Meta)
    except (OSError, msgspec.MsgspecError):
        return Meta()


def _meta_path(path: Path) -> Path:
    suffix = next((s for s in SUFFIXES[::-1] if path.name.endswith(s)), "")
    return path.with_name(path.name.removesuffix(suffix) + META_SUFFIX)


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is either there whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _haystack(run: Kept) -> str:
    meta = run.meta
    words = (run.experiment, run.machine, run.at, run.outcome, meta.name, meta.note, *meta.tags)
    return " ".join(words).lower()
