"""Which of many texts does a person mean who types a few letters of it?

The letters must come in the order of the text, with gaps. Starts of words and letters in a row
count most, so that "cl" finds "Cache ladder" before "Recycle". Several words are found each for
itself, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LETTER, WORD_START, IN_A_ROW, TEXT_START = 1.0, 8.0, 10.0, 1.0
GAP = 0.05  # for each letter that is skipped
DETAIL = 0.5  # what is found only beside the text counts less


@dataclass(frozen=True, slots=True)
class Match:
    """How well a text fits, and which of its letters were meant."""

    score: float
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """One text of a list that fits: its number, and the letters meant in text and detail."""

    number: int
    places: tuple[int, ...]
    detail_places: tuple[int, ...]


def match(pattern: str, text: str) -> Match | None:
    """Return the best way to find `pattern` in `text`; None if there is none."""
    places: set[int] = set()
    score = 0.0
    for word in _fold(pattern).split():
        found = _match_word(word, _fold(text))
        if found is None:
            return None
        score += found.score
        places.update(found.places)
    return Match(score, tuple(sorted(places)))


def rank(pattern: str, texts: Iterable[tuple[str, str]]) -> list[Hit]:
    """Return what fits of (text, detail), best first; all in their order for no pattern.

    In a detail a word must stand as it is typed, from the start of a word: anything would be found
    in longer texts.
    """
    words = _fold(pattern).split()
    if not words:
        return [Hit(number, (), ()) for number, _ in enumerate(texts)]
    scored = []
    for number, (text, detail) in enumerate(texts):
        hit = _hit(words, number, _fold(text), _fold(detail))
        if hit is not None:
            scored.append(hit)
    scored.sort(key=lambda each: each[0])
    return [hit for _, hit in scored]


def _hit(words: list[str], number: int, text: str, detail: str) -> tuple[float, Hit] | None:
    places: set[int] = set()
    detail_places: set[int] = set()
    score = 0.0
    for word in words:
        if (found := _match_word(word, text)) is not None:
            score += found.score
            places.update(found.places)
        elif (start := _word_start(word, detail)) >= 0:
            score += DETAIL * (len(word) * (LETTER + IN_A_ROW))
            detail_places.update(range(start, start + len(word)))
        else:
            return None
    hit = Hit(number, tuple(sorted(places)), tuple(sorted(detail_places)))
    return -score + GAP * len(text) / 10, hit


def _match_word(word: str, text: str) -> Match | None:
    """Find the best places letter by letter, from the best places of the letter before."""
    if not _is_within(word, text):
        return None
    before: list[tuple[int, float, tuple[int, ...]]] = [(-1, 0.0, ())]
    for number, letter in enumerate(word):
        now = []
        best: tuple[float, tuple[int, ...]] | None = None  # before a gap; the gap counts from 0
        following = 0
        place = text.find(letter)
        while place >= 0:
            joined: tuple[float, tuple[int, ...]] | None = None
            while following < len(before) and before[following][0] < place:
                last, score, path = before[following]
                loose = score + GAP * (last + 1)
                if best is None or loose > best[0]:
                    best = (loose, path)
                if number and last == place - 1:
                    joined = (score + IN_A_ROW, path)
                following += 1
            if best is not None:
                score, path = best[0] - GAP * place, best[1]
                if joined is not None and joined[0] >= score:
                    score, path = joined
                now.append((place, score + _worth(text, place), (*path, place)))
            place = text.find(letter, place + 1)
        before = now
    _, score, path = max(before, key=lambda way: way[1])
    return Match(score, path)


def _worth(text: str, place: int) -> float:
    if place == 0:
        return LETTER + WORD_START + TEXT_START
    return LETTER + (0.0 if text[place - 1].isalnum() else WORD_START)


def _word_start(word: str, text: str) -> int:
    place = text.find(word)
    while place > 0 and text[place - 1].isalnum():
        place = text.find(word, place + 1)
    return place


def _is_within(word: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in word)


def _fold(text: str) -> str:
    """Return the text in small letters, each at its place."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(one if len(one.lower()) != 1 else one.lower() for one in text)
