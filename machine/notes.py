"""Where was each value read, and why is one not there? Kept while a machine is being inspected."""

from __future__ import annotations

from typing import TypeVar

from machine.model import Missing

T = TypeVar("T")


class Notes:
    """The `sources` and `missing` of one inspection."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self.missing: list[Missing] = []

    def keep(self, what: str, value: T, source: str, *, why: str, how: str) -> T:
        """Note the source of `value`, or where there is none, why and how to get it; return it."""
        if value is None or value == ():
            self.lack(what, why=why, how=how)
        else:
            self.sources[what] = source
        return value

    def lack(self, what: str, *, why: str, how: str) -> None:
        """Note that `what` is not known."""
        self.missing.append(Missing(what=what, why=why, how=how))
