"""Lists of short texts, and groups of what is alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

Key = TypeVar("Key")
Member = TypeVar("Member")


def listed(*texts: Any, by: str = ", ") -> str:
    """Return the texts in a row; what is no text, or an empty one, is left out."""
    return by.join(text for text in texts if text and isinstance(text, str))


def counted(count: int | None, what: str) -> str | None:
    """Return "1 core" or "2 cores"; None for None."""
    return None if count is None else f"{count} {what}{'' if count == 1 else 's'}"


def alike(told: Iterable[tuple[Key, Member]]) -> dict[Key, list[Member]]:
    """Return the members of each key, in the order of their appearance."""
    found: dict[Key, list[Member]] = {}
    for key, member in told:
        found.setdefault(key, []).append(member)
    return found
