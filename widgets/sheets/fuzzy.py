"""Which of many texts does a person mean who types a few letters of it?

A whole word comes first, then the start of one, then the first letters of several, so that "cl"
finds "Cache ladder", then a part of one. Letters with gaps between them, in the order of the text,
are enough only where nothing else is found. Several words are found each for itself, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

SCATTERED, PART, INITIALS, START, WHOLE = range(5)  # how a word is found, the best at last
DETAIL, ABOUT = 0.25, 1.5  # what is found only beside the text, or in what is not shown, is less
LETTER, WORD_START, IN_A_ROW, TEXT_START = 1.0, 8.0, 10.0, 1.0
GAP = 0.05  # for each letter that is skipped

Text = tuple[str, str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Match:
    """How well a text fits, and which of its letters were meant."""

    score: float
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """One text of a list that fits: its number, its detail, and the letters meant in both."""

    number: int
    places: tuple[int, ...]
    detail: str  # with the phrases in which something was found
    detail_places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to find a word: in the text, or in a phrase beside it."""

    worth: float
    match: Match
    phrase: str | None = None


def match(pattern: str, text: str) -> Match | None:
    """Return the best way to find the letters of `pattern` in `text`; None if there is none."""
    places: set[int] = set()
    score = 0.0
    for word in _fold(pattern).split():
        found = _match_word(word, _fold(text))
        if found is None:
            return None
        score += found.score
        places.update(found.places)
    return Match(score, tuple(sorted(places)))


def rank(pattern: str, texts: Iterable[Text]) -> list[Hit]:
    """Return what fits of (text, detail, about), best first; all in their order for no pattern.

    In the detail, and in the phrases about a text, which are shown only where something was found
    in them, a word must stand from the start of a word: anything would be found in longer texts.
    """
    words = _fold(pattern).split()
    if not words:
        return [Hit(number, (), detail, ()) for number, (_, detail, _) in enumerate(texts)]
    found = [hit for number, text in enumerate(texts) if (hit := _hit(words, number, text))]
    found.sort(key=lambda each: each[0])
    is_any_typed = any(not order[0] for order, _ in found)
    return [hit for order, hit in found if not (is_any_typed and order[0])]


def _hit(
    words: Sequence[str], number: int, of: Text
) -> tuple[tuple[bool, float, float], Hit] | None:
    """Return the hit behind what it is sorted by: is it scattered, and how good is it."""
    text, detail, _ = of
    places: set[int] = set()
    detail_places: set[int] = set()
    worth = score = 0.0
    is_scattered = False
    for word in words:
        way = max(_ways(word, of), key=lambda way: way.worth, default=None)
        if way is None:
            return None
        worth, score = worth + way.worth, score + way.match.score
        is_scattered |= way.worth == SCATTERED
        if way.phrase is None:
            places.update(way.match.places)
            continue
        if way.phrase not in detail:
            detail = f"{detail} · {way.phrase}"
        at = detail.index(way.phrase)
        detail_places.update(at + place for place in way.match.places)
    hit = Hit(number, tuple(sorted(places)), detail, tuple(sorted(detail_places)))
    return (is_scattered, -worth, GAP * len(text) / 10 - score), hit


def _ways(word: str, of: Text) -> Iterator[_Way]:
    """Yield the ways to find a word, in folded letters; of equal ones the first is meant."""
    text, detail, about = of
    kind, typed = _typed(word, _fold(text))
    if kind >= START:
        yield _Way(kind, typed)
    elif (letters := _match_word(word, _fold(text))) is not None:
        starts = all(_starts_word(_fold(text), place) for place in letters.places)
        yield _Way(INITIALS, letters) if starts else _Way(kind, typed if kind else letters)
    for phrase, less in ((detail, DETAIL), *((each, ABOUT) for each in about)):
        kind, typed = _typed(word, _fold(phrase))
        if kind >= START:
            yield _Way(kind - less, typed, phrase)


def _typed(word: str, text: str) -> tuple[int, Match]:
    """Return how a word stands in a text as it is typed, and where at best."""
    best, at = SCATTERED, 0
    place = text.find(word)
    while place >= 0 and best < WHOLE:
        end = place + len(word)
        kind = PART
        if _starts_word(text, place):
            kind = START if text[end : end + 1].isalnum() else WHOLE
        if kind > best:
            best, at = kind, place
        place = text.find(word, place + 1)
    return best, Match(0.0, tuple(range(at, at + len(word))))


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
    return LETTER + (WORD_START if _starts_word(text, place) else 0.0)


def _starts_word(text: str, place: int) -> bool:
    return place == 0 or not text[place - 1].isalnum()


def _is_within(word: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in word)


def _fold(text: str) -> str:
    """Return the text in small letters, each at its place."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(one if len(one.lower()) != 1 else one.lower() for one in text)
