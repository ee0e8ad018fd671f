"""The words that the checkup's page shows of one result and of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from experiments.checkup.result import Word
from widgets.checkup.counts import Count


class RowLink(NamedTuple):
    """A link of an open row; `target` is what `followed` of the list carries."""

    target: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowData:
    """One row in words; `key` stays the same while what it says changes."""

    key: str
    word: Word
    word_text: str
    stage: str
    title: str
    found: str
    expected: str = ""
    meaning: str = ""
    advice: str = ""
    sure: str = ""
    rule: str = ""
    links: tuple[RowLink, ...] = ()

    @property
    def spoken(self) -> str:
        """The row as assistive technology says it."""
        return ", ".join(filter(None, (self.title, self.word_text, self.found, self.expected)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """`about` is the line above the title; `notes` are what may have disturbed the checks."""

    about: str = ""
    counts: Sequence[Count] = ()
    notes: Sequence[str] = ()
    rows: Sequence[RowData] = ()
    absent: Sequence[RowData] = ()
    trace: Sequence[Mapping[str, Any]] = ()
