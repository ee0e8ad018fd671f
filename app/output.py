"""The way to the terminal: the standard streams escape what it would obey.

Names of devices, files, runs and libraries come from strangers. Only what must write sequences of
its own, rich and `write_styled`, goes past the guard, and escapes the text itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from machine.text import escaped

PLAIN = "\x1b[0m"


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
            stream.reconfigure(errors="replace")
        setattr(sys, name, Guard(stream))


def unguarded(stream: Any) -> Any:
    """Return the stream behind the guard, for what escapes its text itself."""
    return vars(stream)["_stream"] if isinstance(stream, Guard) else stream


def write_styled(text: str, style: str) -> None:
    """Write text in a style, a sequence of ours, where standard output is a terminal."""
    if not style or not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        sys.stdout.write(text)
    else:
        unguarded(sys.stdout).write(f"{style}{escaped(text)}{PLAIN}")


def write_line(line: bytes) -> None:
    """Write a line of JSON at once; it stays the same JSON."""
    stream = unguarded(sys.stdout)
    stream.flush()
    stream.buffer.write(escaped(line.decode(errors="replace")).encode())
    stream.buffer.flush()
