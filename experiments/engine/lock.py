"""The lock that lets one measurement at a time run on a machine, over all users.

The lock is a file lock of the measuring process, so it dies with its holder. The file names the
holder to waiting programs. The file may be removed during a run. So on Linux the lock also holds a
name that lies in no file system.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

FOLDER_VARIABLE = "COREOPSIS_LOCK_FOLDER"  # for tests, which must not wait for each other
RETRY_S = 0.1
PATIENCE_S = 1.0  # for a holder to name itself
UNKNOWN = {"experiment": "?", "since": "?"}
PROCESS = "process"  # of the holder, "PID:START"
NAME_BYTES = 90  # of its path: a name has 107 at most
STOPPED = "stopped"  # its process id, where it is stopped


def lock_path() -> Path:
    """Return the file that all programs of this machine agree on."""
    # Not the user's own temporary folder: another user's run disturbs just as much.
    import tempfile  # brings half a dozen modules; the window's first paint does without

    shared = tempfile.gettempdir() if sys.platform == "win32" else "/tmp"
    return Path(os.environ.get(FOLDER_VARIABLE, shared)) / "coreopsis-measure.lock"


class Lock:
    """The machine-wide lock, not yet taken."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or lock_path()
        self._file = _open_shared(self._path)
        self._name: socket.socket | None = None

    def take(self, holder: Mapping[str, str]) -> bool:
        """Take the lock and say who holds it; False while another process has it."""
        if self._is_replaced():
            os.close(self._file)
            self._file = _open_shared(self._path)
        if not _lock(self._file):
            return False
        try:
            self._name = _take_name(self._path)
        except BlockingIOError:  # held by one whose file was removed
            _unlock(self._file)
            return False
        with contextlib.suppress(OSError):  # a full disk: held all the same, without a name
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, json.dumps(dict(holder)).encode())
        return True

    def _is_replaced(self) -> bool:
        """Has the file been removed since it was opened? Then others lock another one."""
        if os.name == "nt":  # there an open file cannot be removed
            return False
        try:
            return not os.path.samestat(os.fstat(self._file), os.lstat(self._path))
        except OSError:
            return True

    def holder(self) -> dict[str, str]:
        """Return what the holder said of itself; empty if it has not yet, or nothing sensible."""
        try:
            os.lseek(self._file, 0, os.SEEK_SET)
            # Anybody may write into the file: strictly read, so that it can be sent on.
            found = json.loads(os.read(self._file, 4096))
            if isinstance(found, dict) and all(isinstance(v, str) for v in found.values()):
                " ".join([*found, *found.values()]).encode()  # no half characters
                return found
        except (OSError, ValueError, RecursionError):
            pass
        return {}

    def close(self) -> None:
        """Let go."""
        if self._name is not None:
            self._name.close()
        os.close(self._file)


@contextlib.contextmanager
def one_at_a_time(
    holder: Mapping[str, str],
    *,
    waiting: Callable[[Mapping[str, str]], None],
    check_stop: Callable[[], None],
    unavailable: Callable[[OSError], object] | None = None,
    path: Path | None = None,
) -> Iterator[None]:
    """Hold the lock; while another has it call `waiting(holder)` once and `check_stop()` often.

    `waiting` is called with `UNKNOWN` if after a while the holder has not named itself. If the
    holder is stopped, its `STOPPED` names the process. If no folder is writable for all, there is
    no lock. Then `unavailable` is called with the error, and the work goes on; without
    `unavailable`, raises OSError.
    """
    with contextlib.ExitStack() as stack:
        try:
            lock = Lock(path)
            stack.callback(lock.close)
            told: Mapping[str, str] | None = None
            for attempt in itertools.count():
                if lock.take(holder):
                    break
                other = lock.holder() or (UNKNOWN if attempt * RETRY_S >= PATIENCE_S else told)
                other = _seen(other) if other else None
                if other and other != told:
                    waiting(other)
                    told = other
                check_stop()
                time.sleep(RETRY_S)
        except OSError as error:
            if unavailable is None:
                raise
            unavailable(error)
        yield


def _seen(holder: Mapping[str, str]) -> dict[str, str]:
    """Return the public facts of a holder: not its process, unless that is stopped."""
    from experiments.engine.guardian import is_stopped, start_of  # not for the first paint

    told = {key: value for key, value in holder.items() if key not in (PROCESS, STOPPED)}
    pid, _, start = holder.get(PROCESS, "").partition(":")
    if pid.isdecimal() and start and start_of(int(pid)) == start and is_stopped(int(pid)):
        told[STOPPED] = pid
    return told


def _take_name(path: Path) -> socket.socket | None:
    """Take the name that stands for this file, also for one that is removed.

    Raises BlockingIOError where another has it. LIMIT: None but on Linux, where the file is all.
    """
    name = None
    if sys.platform == "linux":
        import socket

        whole = os.fsencode(os.path.join(os.path.realpath(path.parent), path.name))
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(b"\0coreopsis:" + whole[-NAME_BYTES:])
        except OSError as error:
            name.close()
            if error.errno == errno.EADDRINUSE:
                raise BlockingIOError from None
            raise
    return name


def _open_shared(path: Path) -> int:
    # Never O_CREAT on an existing file: in a sticky folder Linux refuses that to other users.
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        pass
    try:
        new = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return os.open(path, flags)
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.fchmod(new, 0o666)  # the umask would shut other users out
    return new


if sys.platform == "win32":
    import msvcrt

    _BEHIND_TEXT = 2**20  # a locked byte cannot be read on Windows

    def _lock(file: int) -> bool:
        try:
            os.lseek(file, _BEHIND_TEXT, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(file: int) -> None:
        os.lseek(file, _BEHIND_TEXT, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # any other error would be the same for ever: not to be waited for
            return False
        return True

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
