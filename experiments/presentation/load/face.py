"""The words of a tile, and the formats of numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from experiments.core.words import Words

BEFORE_UNIT = re.compile(r"(\d) ")
UNITS = {"TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1}

ErrorState = Literal["unknown", "none", "some", "fault"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """The words of a tile. `number` is large; `known` is False if it says "unknown"."""

    number: str
    detail: str = ""
    errors: str = ""
    error_state: ErrorState = "unknown"
    attention: bool = False  # `detail` is a warning
    known: bool = True
    tip: str = ""


class Reasons:
    """Why a sample lacks values, by path: `gpus[*].busy` covers `gpus[3].busy`."""

    def __init__(self, missing: Sequence[Mapping[str, str]] = ()) -> None:
        self._by_path = {entry["what"]: entry for entry in missing}

    def why(self, *paths: str) -> str:
        """Return the reason of the first path that has one, or ""."""
        entry = self._entry(*paths)
        return "" if entry is None else entry["why"]

    def how(self, *paths: str) -> str:
        """Return how to get the first path that has a reason, or ""."""
        entry = self._entry(*paths)
        return "" if entry is None else entry.get("how", "")

    def _entry(self, *paths: str) -> Mapping[str, str] | None:
        for path in paths:
            for way in (path, re.sub(r"\[\d+\]", "[*]", path)):
                if way in self._by_path:
                    return self._by_path[way]
        return None


def percent(share: float) -> str:
    """Return a share without decimals, so that its width stays the same."""
    return f"{share * 100:.0f} %"


def shown_bytes(count: float) -> str:
    """Return a size with one decimal, so that its width stays the same."""
    unit = next((name for name, size in UNITS.items() if count >= size), "B")
    return f"{count / UNITS[unit]:.1f} {unit}" if unit != "B" else f"{count:.0f} B"


def part_of(words: Words, part: float | None, whole: float | None) -> str | None:
    """Return "1.5 of 24.0 GiB"; None if either is unknown."""
    if part is None or not whole:
        return None
    unit = shown_bytes(whole).rpartition(" ")[2]
    values = {"used": f"{part / UNITS[unit]:.1f}", "total": shown_bytes(whole)}
    return words.say("live.of", values)


def joined(parts: Iterable[str | None]) -> str:
    """Return the parts in one line, which never breaks between number and unit."""
    return BEFORE_UNIT.sub("\\1\N{NO-BREAK SPACE}", " · ".join(part for part in parts if part))


def lines(*texts: str) -> str:
    """Return the non-empty texts, one per line."""
    return "\n".join(text for text in texts if text)


def total(parts: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """Return the sum of the known values; None if all are unknown."""
    known = [value for part in parts if (value := part.get(name)) is not None]
    return sum(known) if known else None
