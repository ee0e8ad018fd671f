"""The lock that lets one measurement at a time run on a machine, over all users.

The lock is a file lock of the measuring process, so it dies with its holder. The file names the
holder for whoever waits.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

FOLDER_VARIABLE = "COREOPSIS_LOCK_FOLDER"  # for tests, which must not wait for each other
RETRY_S = 0.1
PATIENCE_S = 1.0  # for a holder to name itself
UNKNOWN = {"experiment": "?", "since": "?"}


def lock_path() -> Path:
    """Return the file that all programs of this machine agree on."""
    # Not the user's own temporary folder: another user's run disturbs just as much.
    import tempfile  # brings half a dozen modules; the window's first paint does without

    shared = tempfile.gettempdir() if sys.platform == "win32" else "/tmp"
    return Path(os.environ.get(FOLDER_VARIABLE, shared)) / "coreopsis-measure.lock"


class Lock:
    """The machine-wide lock, not yet taken."""

    def __init__(self, path: Path | None = None) -> None:
        self._file = _open_shared(path or lock_path())

    def take(self, holder: Mapping[str, str]) -> bool:
        """Take the lock and say who holds it; False while another process has it."""
        if not _lock(self._file):
            return False
        with contextlib.suppress(OSError):  # a full disk: held all the same, without a name
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, json.dumps(dict(holder)).encode())
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
        os.close(self._file)


@contextlib.contextmanager
def one_at_a_time(
    holder: Mapping[str, str],
    *,
    waiting: Callable[[Mapping[str, str]], None],
    check_stop: Callable[[], None],
    path: Path | None = None,
) -> Iterator[None]:
    """Hold the lock; while another has it call `waiting(holder)` once and `check_stop()` often.

    A holder that does not name itself is told of too, after a while, as `UNKNOWN`.
    """
    lock = Lock(path)
    try:
        told: Mapping[str, str] | None = None
        for attempt in itertools.count():
            if lock.take(holder):
                break
            other = lock.holder() or (UNKNOWN if attempt * RETRY_S >= PATIENCE_S else told)
            if other and other != told:
                waiting(other)
                told = other
            check_stop()
            time.sleep(RETRY_S)
        yield
    finally:
        lock.close()


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
    with contextlib.suppress(OSError, AttributeError):
        os.fchmod(new, 0o666)  # the umask would shut other users out
    return new


def _lock(file: int) -> bool:
    if sys.platform == "win32":
        import msvcrt

        try:
            # A byte far behind the text: a locked byte cannot be read on Windows.
            os.lseek(file, 2**20, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # any other error would be the same for ever: not to be waited for
        return False
    return True
