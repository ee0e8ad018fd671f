"""What the page of the checkup shows, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from experiments.checkup.result import Word


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
