"""One thing has one word in all texts: reads are in order, shuffled or chained."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

import pytest

from experiments.core import words
from experiments.core.teaching.glossary import Glossary
from tests import ROOT

# What is not written, and what is written instead. People still find experiments by these words.
NOT_SAID = {
    r"in a row": "in order, of places in memory or in a file; one after another, of work",
    r"sequential(ly)?": "in order",
    r"consecutive(ly)?": "in order",
    r"strided": "in order, with the distance",
    r"(at|from) random": "shuffled",
    r"random(ly)? (order|access|places|reads?|chain)": "shuffled",
    r"random(ly)? scattered|scattered": "shuffled",
    r"(from|read) anywhere|all over( the place)?": "shuffled",
    r"dependent (reads?|loads?|access(es)?)|dependent": "chained",
    r"linked lists?|pointer[- ]chas(e|ing)": "chained",
    r"(put|sorted|lined up) (\w+ )?in order": "sort: in order is for places",
}
SAID_ANYWAY = {
    "Random access memory means that every access costs the same.",  # a belief, in its own words
}
NOT_TEXTS = {"found_by", "code"}  # names that people type; lines of a program
FILES = sorted(
    [
        *(ROOT / "experiments").rglob("words.en.toml"),
        *(ROOT / "experiments").rglob("lesson.en.toml"),
        *(ROOT / "resources" / "text").rglob("*.toml"),
        *(ROOT / "resources" / "lectures").glob("*.toml"),
        *(ROOT / "resources" / "new").glob("*.toml"),
    ]
)


def texts(tree: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the key and the text of everything that is said."""
    if isinstance(tree, dict):
        for name, branch in tree.items():
            if name not in NOT_TEXTS:
                yield from texts(branch, f"{key}.{name}")
    elif isinstance(tree, list):
        for branch in tree:
            yield from texts(branch, key)
    elif isinstance(tree, str):
        yield key, re.sub(r"\{\w+\}", "{}", tree)  # names of values are no words


def test_no_text_has_another_word_for_an_order():
    unwanted = re.compile(rf"\b(?:{'|'.join(NOT_SAID)})\b", re.IGNORECASE)
    said = [
        (path.relative_to(ROOT), key, found[0])
        for path in FILES
        for key, text in texts(tomllib.loads(path.read_text(encoding="utf-8")))
        if text not in SAID_ANYWAY and (found := unwanted.search(text))
    ]

    assert said == [], f"NOT_SAID has what is written instead: {NOT_SAID}"


@pytest.mark.parametrize("text", ["Read in a row.", "At random it is slow.", "A dependent load."])
def test_another_word_is_noticed(text):
    assert any(re.search(rf"\b(?:{each})\b", text, re.IGNORECASE) for each in NOT_SAID)


@pytest.mark.parametrize("term", ["in order", "shuffled", "chained"])
def test_the_glossary_has_each_order(term):
    glossary = Glossary(words.load("en"))

    assert [found.term for found in glossary.find(f"It was read {term}, twice.")] == [term]
    assert glossary.explain(term).endswith(".")
