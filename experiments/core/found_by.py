"""The names by which people look for an experiment, one list for every search of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from experiments.core.words import Words

SECTION = "found_by"  # of the program's words: names of a part or a library
PUNCTUATION = ".,;:()\"'"


def found_by(
    words: Words, experiment_id: str, kinds: Iterable[str], *, has_lesson: bool
) -> tuple[str, ...]:
    """Return what an experiment is found by, beside its question and its id.

    `kinds` are the parts of the machine that it measures, and what it needs.
    """
    found = [words.say(f"{experiment_id}.topic")]
    for key in (f"{experiment_id}.{SECTION}", *(f"{SECTION}.{each}" for each in kinds)):
        found += words.say(key).split(", ") if words.has(key) else []
    if has_lesson:
        found.append(words.say("catalogue.lesson"))
    return tuple(dict.fromkeys(found))


def is_found(typed: str, texts: Sequence[str]) -> bool:
    """Return whether each typed word begins a word of these texts."""
    told = "\n".join(texts).casefold()
    typed_words = (word.strip(PUNCTUATION) for word in typed.casefold().split())
    return all(any(_starts_word(told, at) for at in _places(told, word)) for word in typed_words)


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _starts_word(text: str, at: int) -> bool:
    return at == 0 or not text[at - 1].isalnum()
