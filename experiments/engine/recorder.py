"""Writes the file of a run line by line, and notices where it is full or gone."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
from pathlib import Path

from experiments.engine import messages
from experiments.engine.seal import Seal

log = logging.getLogger(__name__)

KEPT_FRAMES_PER_S = 4


class Recorder:
    """Appends the lines of one run to a file of its own, each flushed before it is handed on.

    A disk that fills up does not end the run: what is written stays whole, the rest is kept in
    memory and tried again at the end. `problem` then says what could not be kept. `is_gone`: the
    file was deleted or moved meanwhile.
    """

    def __init__(self, path: Path) -> None:
        """Create the file. Raises OSError where that is not possible."""
        self.path = path
        self.problem: OSError | None = None
        self.is_gone = False
        self._file = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
        )
        self._made = os.fstat(self._file)
        self._size = 0
        self._unwritten: list[bytes] = []
        self._seal = Seal()
        self._frame_s = -1.0

    def keep(self, event: messages.Event, line: bytes) -> None:
        """Append one line; never raises."""
        if isinstance(event, messages.Frame):
            if event.t_s - self._frame_s < 1 / KEPT_FRAMES_PER_S:
                return
            self._frame_s = event.t_s
        self._unwritten.append(self._seal.sealed(event, line))
        if self.problem is None:
            self._write()

    def close(self) -> None:
        """Write what could not be written before, force it to the disk, and close."""
        if self._file < 0:
            return
        if self._unwritten:
            self._write()
        if not self._is_at_its_path():
            self._take_back()
        file, self._file = self._file, -1
        for last in (os.fsync, os.close):  # a disk elsewhere may tell only now that it is full
            try:
                last(file)
            except OSError as error:
                self.problem = self.problem or error

    def rescue(self, path: Path) -> None:
        """Copy the run with all its lines to a new file. Raises OSError, leaving none."""
        if self.is_gone and not self._unwritten:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path))
        written = b"" if self.is_gone else self.path.read_bytes()
        file = path.open("xb")  # what is there already stays, the run's own file above all
        try:
            with file:
                file.write(written + b"".join(self._unwritten))
        except OSError:
            with contextlib.suppress(OSError):
                path.unlink()
            raise

    def _is_at_its_path(self) -> bool:
        try:
            return os.path.samestat(self._made, self.path.stat())
        except OSError:
            return False

    def _take_back(self) -> None:
        """Read what was written while the file is still open: it may have no name any more."""
        self.is_gone = True
        self.problem = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        try:
            os.lseek(self._file, 0, os.SEEK_SET)
            with open(self._file, "rb", closefd=False) as file:
                self._unwritten.insert(0, file.read(self._size))
        except OSError as error:
            log.warning("cannot read %s again: %s", self.path.name, error)
            self._unwritten.clear()  # the rest alone is no run

    def _write(self) -> None:
        try:
            while self._unwritten:
                line = self._unwritten[0]
                if os.write(self._file, line) != len(line):
                    raise OSError(28, os.strerror(28))  # a short write: the disk is full
                self._size += len(line)
                del self._unwritten[0]
            self.problem = None
        except OSError as error:
            self.problem = error
            log.warning("cannot write to %s: %s", self.path.name, error)
            with contextlib.suppress(OSError):  # no torn line may stand where more will follow
                os.lseek(self._file, self._size, os.SEEK_SET)
                os.ftruncate(self._file, self._size)
