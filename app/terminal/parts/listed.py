"""Lists of short texts, and counts with their plural."""

from __future__ import annotations

from typing import Any


def listed(*texts: Any, by: str = ", ") -> str:
    """Return the texts in a row; what is no text, or an empty one, is left out."""
    return by.join(text for text in texts if text and isinstance(text, str))


def counted(count: int | None, what: str) -> str | None:
    """Return "1 core" or "2 cores"; None for None."""
    return None if count is None else f"{count} {what}{'' if count == 1 else 's'}"
