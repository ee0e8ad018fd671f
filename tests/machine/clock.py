"""A clock that jumps past every time limit once the asked process hangs."""

from __future__ import annotations

import time
from pathlib import Path

LONG_S = 3600.0  # beyond the limit of every question


class Clock:
    """Jumps once the process that is asked has come to where it hangs.

    `hang` is a line of Python that defines `hang()`, `in_shell` a line of shell that hangs.
    """

    def __init__(self, reached: Path) -> None:
        self._reached, self._ahead_s = reached, 0.0
        self.hang = (
            "import time\n"
            f"def hang(*_, **__): open({str(reached)!r}, 'w').close(); time.sleep({LONG_S})\n"
        )
        self.in_shell = f": >'{reached}'; exec sleep {LONG_S:.0f}\n"

    def monotonic(self) -> float:
        """Return the time that the limits of the questions are held against."""
        if self._reached.exists():
            self._reached.unlink()  # another question may hang as well
            self._ahead_s += LONG_S
        return time.monotonic() + self._ahead_s
