"""The terms that are explained, found in a sentence."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from experiments.core.words import Words

SECTION = "glossary."


class Found(NamedTuple):
    """A term in a text, from `start` to before `end`."""

    start: int
    end: int
    term: str


class Glossary:
    """Finds each term once, as a whole word; a longer one goes before a shorter one in it."""

    def __init__(self, words: Words) -> None:
        self._words = words

    @functools.cached_property
    def terms(self) -> tuple[str, ...]:
        """Every term that has a text, the longest first."""
        found = (key.removeprefix(SECTION) for key in self._words.keys(SECTION))
        return tuple(sorted(found, key=len, reverse=True))

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        groups = "|".join(f"({_spelt(term)})" for term in self.terms)
        return re.compile(rf"(?<![\w-])(?:{groups})(?:e?s)?(?![\w-])")

    def explain(self, term: str) -> str:
        """Return what a term means."""
        return self._words.say(SECTION + term)

    def find(self, text: str) -> Iterator[Found]:
        """Yield the first place of each term, in the order of the text."""
        seen: set[str] = set()
        for found in self._pattern.finditer(text):
            term = self.terms[(found.lastindex or 1) - 1]
            if term not in seen:
                seen.add(term)
                yield Found(found.start(), found.end(), term)


def _spelt(term: str) -> str:
    """Return the pattern of a term; one in small letters may begin a sentence."""
    first, rest = term[0], re.escape(term[1:])
    return f"[{first}{first.upper()}]{rest}" if first.islower() else re.escape(first) + rest
