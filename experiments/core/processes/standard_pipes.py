"""The standard pipes of a process that speaks a protocol through them, kept from all else in it.

Other code in the process finds an empty input, and its prints go to standard error. So a child that
an experiment starts eats no command. On Windows, a thread that reads the input blocks all other
threads that touch it. An import of numpy would wait there for the next command (numpy/numpy#24290).
"""

from __future__ import annotations

import errno
import io
import os
import sys


def take_input() -> int:
    """Return standard input under another number; 0 is empty from here on."""
    taken = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return taken


def take_output() -> int:
    """Return standard output under another number; prints, also of C code, go to the log."""
    taken = os.dup(1)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):  # so that the log has what a crash cuts short
        sys.stdout.reconfigure(line_buffering=True)
    return taken


def write(pipe: int, data: bytes) -> int:
    """Write what the pipe takes. Raises BrokenPipeError where its reader has gone."""
    try:
        return os.write(pipe, data)
    except OSError as error:
        if is_reader_gone(error):
            raise BrokenPipeError(*error.args) from error
        raise


def is_reader_gone(error: OSError) -> bool:
    """Does a write fail because its reader has gone? Windows says that an argument is invalid."""
    is_windows = sys.platform == "win32"
    return isinstance(error, BrokenPipeError) or (is_windows and error.errno == errno.EINVAL)
