"""Fuzzy search: ranks texts by how well they match a few typed letters.

A whole word ranks first, then the start of a word. Next come the initials of several words ("cl"
finds "Cache ladder"), then a part of a word. Scattered letters in the right order count only if
nothing else matches. Several typed words are matched one by one, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

SCATTERED, PART, INITIALS, START, WHOLE = range(5)  # how a word matches, the best last
DETAIL, ABOUT = 0.25, 1.5  # deducted for a match in the detail, or in a hidden phrase
LETTER, WORD_START, IN_A_ROW, TEXT_START = 1.0, 8.0, 10.0, 1.0
GAP = 0.05  # per skipped letter

Text = tuple[str, str, Sequence[str]]  # text, detail, hidden phrases


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching text of a list: its number, its detail, and the matched letters of both."""

    number: int
    places: tuple[int, ...]
    detail: str  # with the hidden phrases that matched
    detail_places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _WordMatch:
    """One match of one word, and its letters: in the text, or in a phrase beside it."""

    worth: float
    score: float  # of scattered letters
    places: tuple[int, ...]
    phrase: str | None = None


def rank(pattern: str, texts: Iterable[Text]) -> list[Hit]:
    """Return the matches of (text, detail, about), best first; without a pattern, all in order.

    In the detail and in the phrases `about` a text, a match begins at the start of a word.
    Otherwise such long texts would match anything. A phrase is shown only if it matches.
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
    """Return the sort key (is scattered, ranks) and the hit; None without a match."""
    text, detail, _ = of
    places: set[int] = set()
    detail_places: set[int] = set()
    worth = score = 0.0
    is_scattered = False
    for word in words:
        found = max(_matches(word, of), key=lambda one: one.worth, default=None)
        if found is None:
            return None
        worth, score = worth + found.worth, score + found.score
        is_scattered |= found.worth == SCATTERED
        if found.phrase is None:
            places.update(found.places)
            continue
        if found.phrase not in detail:
            detail = f"{detail} · {found.phrase}"
        at = detail.index(found.phrase)
        detail_places.update(at + place for place in found.places)
    hit = Hit(number, tuple(sorted(places)), detail, tuple(sorted(detail_places)))
    return (is_scattered, -worth, GAP * len(text) / 10 - score), hit


def _matches(word: str, of: Text) -> Iterator[_WordMatch]:
    """Yield the matches of a folded word; of equally good ones the first counts."""
    text, detail, about = of
    kind, typed = _typed(word, _fold(text))
    if kind >= START:
        yield _WordMatch(kind, 0.0, typed)
    elif (letters := _match_word(word, _fold(text))) is not None:
        starts = all(_starts_word(_fold(text), place) for place in letters[1])
        found = letters if starts or not kind else (0.0, typed)
        yield _WordMatch(INITIALS if starts else kind, *found)
    for phrase, less in ((detail, DETAIL), *((each, ABOUT) for each in about)):
        kind, typed = _typed(word, _fold(phrase))
        if kind >= START:
            yield _WordMatch(kind - less, 0.0, typed, phrase)


def _typed(word: str, text: str) -> tuple[int, tuple[int, ...]]:
    """Return how a text contains a word unbroken, and where it does so best."""
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
    return best, tuple(range(at, at + len(word)))


def _match_word(word: str, text: str) -> tuple[float, tuple[int, ...]] | None:
    """Return the best scattered match, found letter by letter (dynamic programming)."""
    if not _is_within(word, text):
        return None
    before: list[tuple[int, float, tuple[int, ...]]] = [(-1, 0.0, ())]
    for number, letter in enumerate(word):
        now = []
        best: tuple[float, tuple[int, ...]] | None = None  # before a gap, counted from place 0
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
    return score, path


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
    """Return the text in lower case, of the same length."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(one if len(one.lower()) != 1 else one.lower() for one in text)
