"""An SQLite index of a folder of run files, so that they are not all read again.

It holds nothing of its own: a damaged index is rebuilt from the files. In a folder that cannot be
written, it lives in memory.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, TypeVar

import msgspec

from app.runs.run_notes import notes_name
from experiments.engine.recording import SUFFIXES

log = logging.getLogger(__name__)
Entry = TypeVar("Entry")

BUSY_S = 0.5  # how long to wait for another program that has locked the index
IN_USE = 32  # the error of Windows where another program has a file open
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
FILE_COLUMNS = ("name", "size", "changed")

Facts = Callable[[Path], Sequence[Any]]


class OtherVersionError(sqlite3.DatabaseError):
    """The index was made by another version, and has other columns."""


class Index:
    """An index in one file, over the runs of a folder and the notes beside them.

    `locked` is called when another
    program keeps the index locked for longer than BUSY_S; the files are read instead.
    """

    def __init__(
        self,
        path: Path,
        folder: Path,
        *,
        columns: Sequence[str],
        locked: Callable[[], object],
    ) -> None:
        self._path, self._folder = path, folder
        self._columns = (*FILE_COLUMNS, *columns)
        self._locked = locked
        self._made: dict[str, tuple[tuple[Any, ...], Any]] = {}  # entries by name, with their row
        self._is_over = self._is_in_use = False

    def entries(self, facts: Facts, entry: Callable[[Mapping[str, Any]], Entry]) -> list[Entry]:
        """Return an entry for each file; `facts` reads the columns of a changed one.

        If it raises FileNotFoundError, the file is left out, and read again the next time.
        """
        for _ in range(2):
            if self._is_in_use:
                break
            try:
                return self._through(self._path, facts, entry)
            except sqlite3.OperationalError as error:  # a read-only folder, none yet, or locked
                log.info("index in memory: %s", error)
                if error.sqlite_errorcode & 0xFF in LOCKED:
                    self._locked()
                break
            except OtherVersionError:
                log.info("the index is of another version and is made anew")
                with contextlib.suppress(OSError):
                    self.forget()
            except (sqlite3.DatabaseError, msgspec.MsgspecError, ValueError, TypeError) as error:
                log.warning("the index is damaged (%s) and is made anew", error)
                with contextlib.suppress(OSError):
                    self.forget()
        return self._through(":memory:", facts, entry)

    def close(self) -> None:
        """End an update in another thread early, with what it has so far."""
        self._is_over = True

    def forget(self) -> None:
        """Delete the index; the next look makes it anew. Raises OSError.

        Windows deletes no file that another program has open; the files are read instead.
        """
        try:
            self._path.unlink(missing_ok=True)
        except PermissionError as error:
            if getattr(error, "winerror", None) != IN_USE:
                raise
            self._is_in_use = True
            self._locked()

    def _through(
        self, path: Path | str, facts: Facts, entry: Callable[[Mapping[str, Any]], Entry]
    ) -> list[Entry]:
        with contextlib.closing(self._connect(path)) as index:
            self._update(index, facts)
            before, now = self._made, {}
            for row in index.execute("SELECT * FROM runs"):
                made = before.get(row[0])
                if made is None or made[0] != row:
                    made = row, entry(dict(zip(self._columns, row, strict=True)))
                now[row[0]] = made
            self._made = now
            return [found for _, found in now.values()]

    def _update(self, index: sqlite3.Connection, facts: Facts) -> None:
        """Bring the index up to date with the folder."""
        known = {
            name: (size, changed)
            for name, size, changed in index.execute("SELECT name, size, changed FROM runs")
        }
        here = self._files()
        values = ", ".join("?" * len(self._columns))
        with index:
            for name in known.keys() - here.keys():
                index.execute("DELETE FROM runs WHERE name = ?", (name,))
            for name, state in here.items():
                if self._is_over:
                    break
                if known.get(name) == state:
                    continue
                # It may come back unchanged, and must be read again then.
                with contextlib.suppress(FileNotFoundError):
                    row = (name, *state, *facts(self._folder / name))
                    index.execute(f"INSERT OR REPLACE INTO runs VALUES ({values})", row)

    def _files(self) -> dict[str, tuple[int, int]]:
        """Return the size and the last change of each file, by its name."""
        found: dict[str, os.stat_result] = {}
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                        found[entry.name] = entry.stat()
        except OSError:
            return {}
        files = {}
        for name, stat in found.items():
            if name.endswith(SUFFIXES) and _can_be_indexed(name, stat):
                beside = found.get(notes_name(name), stat)
                files[name] = (stat.st_size, max(stat.st_mtime_ns, beside.st_mtime_ns))
        return files

    def _connect(self, path: Path | str) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=BUSY_S)
        try:
            names = ", ".join(f'"{name}"' for name in self._columns[1:])  # one is a word of SQL
            connection.execute(f"CREATE TABLE IF NOT EXISTS runs (name TEXT PRIMARY KEY, {names})")
            columns = tuple(row[1] for row in connection.execute("PRAGMA table_info(runs)"))
            if columns != self._columns:  # of another version: the files know everything
                raise OtherVersionError
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _can_be_indexed(name: str, stat: os.stat_result) -> bool:
    """Is the name valid text, and is it no pipe, which would be read for ever?"""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return S_ISREG(stat.st_mode) or S_ISDIR(stat.st_mode)
