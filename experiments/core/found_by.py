"""The names by which people look for an experiment, one list for every search of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

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
    return all(re.search(rf"(?<![^\W_]){re.escape(word)}", told) for word in typed_words)
