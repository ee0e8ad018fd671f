"""Groups of what is alike, in the order of their first members."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Key = TypeVar("Key")
Member = TypeVar("Member")


def grouped(told: Iterable[tuple[Key, Member]]) -> dict[Key, list[Member]]:
    """Return the members of each key."""
    found: dict[Key, list[Member]] = {}
    for key, member in told:
        found.setdefault(key, []).append(member)
    return found
