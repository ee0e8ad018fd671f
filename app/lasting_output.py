"""Standard output and error that outlast a full disk and a closed terminal.

What cannot be written is dropped, so that a run still ends as it should, and `lost` tells why.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import Any

_lost: list[OSError] = []  # of standard output, since it was made lasting


class _Lasting(io.RawIOBase):
    """The end of a stream, which never raises; a pipe whose reader has gone does, unless told."""

    def __init__(self, raw: Any, *, is_error: bool) -> None:
        self._raw, self._is_error, self._is_gone = raw, is_error, False

    def write(self, data: Any) -> int:
        try:
            return len(data) if self._is_gone else int(self._raw.write(data) or 0)
        except OSError as error:
            if isinstance(error, BrokenPipeError) and not self._is_error:
                raise
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
    """Let no write to the standard streams raise but to a pipe that nobody reads."""
    _lost.clear()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _lasting(before[0]), _lasting(before[1], is_error=True)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none
                stream.flush()
        sys.stdout, sys.stderr = before


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
