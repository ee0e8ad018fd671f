"""The way to the terminal: the standard streams escape what it would obey.

Names of devices, files, runs and libraries come from strangers. Only what must write sequences of
its own, rich and `write_styled`, goes past the guard, and escapes the text itself.

The streams outlast a full disk and a closed terminal: what cannot be written is dropped. So a run
still ends as it should, and `lost` gives the reason.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from experiments.core.processes.standard_pipes import is_reader_gone
from machine.text import escaped

PLAIN = "\x1b[0m"

_lost: list[OSError] = []  # of standard output, since it was made lasting


class Guard:
    """A text stream that escapes all that is written to it. It has no `buffer`, on purpose."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text as a terminal may show it."""
        self._stream.write(escaped(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write all of these."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError("bytes would go past the guard")
        return getattr(self._stream, name)


def guard_streams() -> None:
    """Escape all that is printed, and never fail over a character that cannot be shown."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or isinstance(stream, Guard):
            continue
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=_encoding(stream), errors="replace")
        setattr(sys, name, Guard(stream))


def _encoding(stream: Any) -> str | None:
    """Return the encoding to write a stream in, None to keep the stream's own.

    Windows has an old one of 256 characters for files and pipes, without bars and ticks.
    """
    is_old = sys.platform == "win32" and not stream.isatty()
    return "utf-8" if is_old and "PYTHONIOENCODING" not in os.environ else None


def unguarded(stream: Any) -> Any:
    """Return the stream behind the guard, for what escapes its text itself."""
    return vars(stream)["_stream"] if isinstance(stream, Guard) else stream


def write_styled(text: str, style: str) -> None:
    """Write text in a style, a sequence of ours, where standard output is a terminal that can."""
    is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    if not style or is_plain or not sys.stdout.isatty():
        sys.stdout.write(text)
    else:
        unguarded(sys.stdout).write(f"{style}{escaped(text)}{PLAIN}")


def write_line(line: bytes) -> None:
    """Write a line of JSON at once; it stays the same JSON."""
    stream = unguarded(sys.stdout)
    stream.flush()
    stream.buffer.write(escaped(line.decode(errors="replace")).encode())
    stream.buffer.flush()


class _Lasting(io.RawIOBase):
    """The end of a stream, which raises only for an output pipe whose reader has gone."""

    def __init__(self, raw: Any, *, is_error: bool) -> None:
        self._raw, self._is_error, self._is_gone = raw, is_error, False

    def write(self, data: Any) -> int:
        try:
            return len(data) if self._is_gone else int(self._raw.write(data) or 0)
        except OSError as error:
            if is_reader_gone(error) and not self._is_error:
                raise BrokenPipeError(*error.args) from error
            self._is_gone = True
            if not self._is_error:
                _lost.append(error)
            return len(data)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def isatty(self) -> bool:
        return bool(self._raw.isatty())


@contextlib.contextmanager
def lasting_output() -> Iterator[None]:
    """Let no write to the standard streams raise, except to a pipe whose reader has gone."""
    _lost.clear()
    _open_closed()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _lasting(before[0]), _lasting(before[1], is_error=True)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none
                stream.flush()
        sys.stdout, sys.stderr = before


def _open_closed() -> None:
    """Let a standard stream that was closed lead nowhere.

    Else the next file that is opened takes its number, and what is printed is written into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            stream = open(number, "r" if number == 0 else "w", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def lost() -> OSError | None:
    """Return why standard output could not be written, None where it could."""
    return _lost[0] if _lost else None


def _lasting(stream: Any, *, is_error: bool = False) -> Any:
    """Return such a stream, the given one where it is no file."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    raw = getattr(stream.buffer, "raw", stream.buffer)
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(raw, is_error=is_error)),
        encoding=stream.encoding,
        errors="replace",  # never fail over a character that the terminal cannot show
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
