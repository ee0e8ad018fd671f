"""Opens files that a person named or sent. Pipes, devices and endless files are refused."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

# The user's data folder, in the environment of all that the program starts.
DATA_FOLDER = "COREOPSIS_DATA"


def open_file(path: Path) -> io.BufferedReader:
    """Open a file to read it. Raises OSError also for what is none, without waiting for it."""
    _check(os.stat(path).st_mode, path)  # before: to open a device may make it act
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    number = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
    try:
        _check(os.fstat(number).st_mode, path)  # it may have become another meanwhile
        return os.fdopen(number, "rb")
    except OSError:
        os.close(number)
        raise


def read_file(path: Path, limit_bytes: int) -> bytes:
    """Return all that is in a file. Raises OSError, also for one that is too large."""
    with open_file(path) as file:
        data = file.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        size = f"it is larger than {limit_bytes // 2**20} MiB"
        raise OSError(errno.EFBIG, size, str(path))
    return data


def _check(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", str(path))
