from __future__ import annotations

import pytest

from experiments.core import words
from experiments.core.glossary import Glossary

ENGLISH = words.load("en")
GLOSSARY = Glossary(ENGLISH)


def terms(text: str) -> list[tuple[str, str]]:
    return [(text[found.start : found.end], found.term) for found in GLOSSARY.find(text)]


@pytest.mark.parametrize("term", GLOSSARY.terms)
def test_every_term_has_a_text_of_one_or_two_sentences(term):
    text = GLOSSARY.explain(term)

    assert text.endswith(".")
    assert text[0].isupper()
    assert all(len(sentence.split()) <= 20 for sentence in text.split(". ")), text
    assert terms(f"Is it the {term}?") == [(term, term)]


def test_a_term_is_found_as_a_whole_word_and_once():
    assert terms("The GIL; GILs, a GIL.") == [("GIL", "GIL")]
    assert terms("vigil, page-locked, pageant, L12, gil") == []
    assert terms("Pages lie in pages.") == [("Pages", "page")]


def test_a_longer_term_goes_before_a_shorter_one():
    assert terms("Huge pages, then a page in the page cache.") == [
        ("Huge pages", "huge page"), ("page", "page"), ("page cache", "page cache"),
    ]  # fmt: skip
