"""Which rows of a table have come since it was last looked at?

A live table only grows at its end. With 100 000 rows in it, looking at all of them for each
picture would take longer than to draw it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Newcomers:
    """Remembers how much of a table has been seen."""

    def __init__(self) -> None:
        self._count = 0
        self._first: Any = None
        self._last: Any = None

    def among(self, rows: Sequence[Any]) -> tuple[Sequence[Any], bool]:
        """Return the new rows, and whether they are all: the table is another one than before."""
        seen = self._count
        is_same = seen == 0 or (
            len(rows) >= seen and rows[0] is self._first and rows[seen - 1] is self._last
        )
        self._count = len(rows)
        self._first, self._last = (rows[0], rows[-1]) if len(rows) else (None, None)
        return (rows[seen:], False) if is_same and seen else (rows, True)
