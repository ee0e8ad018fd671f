"""A temporary file that is written and read past the system's memory of files.

On Linux it never has a name, macOS takes it at once, and Windows removes the closed file.
Source: open(2) on O_DIRECT, fcntl(2) of macOS on F_NOCACHE, "CreateFileW function" of Microsoft.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_F_NOCACHE = 48  # macOS
_READ_AND_WRITE, _SHARED = 0xC0000000, 7  # GENERIC_, FILE_SHARE_ of winnt.h
_OPEN_EXISTING, _NO_BUFFERING = 3, 0x20000000
_IS_WINDOWS = sys.platform == "win32"


def has_direct_io() -> bool:
    """Can a file be read past the system's memory here, by means that this program knows?"""
    return hasattr(os, "O_DIRECT") or sys.platform in ("darwin", "win32")


class DirectFile:
    """An empty file; its maker closes it. Sizes and places are whole pages."""

    def __init__(self, folder: Path) -> None:
        """Raise OSError if the folder takes none."""
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115

    def close(self) -> None:
        """Close and so remove it."""
        self._file.close()

    @contextlib.contextmanager
    def opened(self) -> Iterator[int]:
        """Yield the descriptor of an opening past the system's memory. Raises OSError.

        Windows lets the reads of one opening wait for each other, so each reader has its own.
        """
        if _IS_WINDOWS:
            with open(self._file.name, "r+b", buffering=0, opener=_unbuffered) as file:
                yield file.fileno()
        else:
            go_direct(self._file.fileno(), True)
            yield self._file.fileno()

    @contextlib.contextmanager
    def cached(self) -> Iterator[int | None]:
        """Yield the descriptor of an opening through the system's memory. Raises OSError.

        None on macOS, which would serve the file from there ever after.
        """
        file = self._file.fileno()
        if _IS_WINDOWS:
            yield file
        elif not hasattr(os, "O_DIRECT"):
            yield None
        else:
            go_direct(file, False)
            try:
                yield file
            finally:
                go_direct(file, True)
                if sys.platform == "linux":
                    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


def go_direct(file: int, direct: bool) -> None:
    """Let an opening bypass the memory, or use it again, on Linux and macOS. Raises OSError."""
    if sys.platform == "linux":
        import fcntl

        flags = fcntl.fcntl(file, fcntl.F_GETFL)
        fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_DIRECT if direct else flags & ~os.O_DIRECT)
    elif sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(file, _F_NOCACHE, int(direct))


def _unbuffered(path: str, _flags: int) -> int:
    """Open a file of Windows past its memory; return the descriptor. Raises OSError."""
    flags = _OPEN_EXISTING, _NO_BUFFERING
    handle = _create_file()(path, _READ_AND_WRITE, _SHARED, None, *flags, None)
    msvcrt: Any = importlib.import_module("msvcrt")  # on Windows only
    return int(msvcrt.open_osfhandle(handle, os.O_RDWR))  # OSError for a handle of -1


@functools.cache
def _create_file() -> Any:
    create = ctypes.WinDLL("kernel32").CreateFileW  # type: ignore[attr-defined,unused-ignore]
    number, place = ctypes.c_uint32, ctypes.c_void_p
    create.argtypes = (ctypes.c_wchar_p, number, number, place, number, number, place)
    create.restype = ctypes.c_ssize_t
    return create
