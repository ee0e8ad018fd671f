from __future__ import annotations

from experiments.core import words
from experiments.core.teaching.glossary import Glossary

ENGLISH = words.load("en")
GLOSSARY = Glossary(ENGLISH)


def terms(text: str) -> list[tuple[str, str]]:
    return [(text[found.start : found.end], found.term) for found in GLOSSARY.find(text)]


def test_every_term_has_a_text_of_one_or_two_sentences():
    def is_right(term, text):
        is_short = all(len(sentence.split()) <= 20 for sentence in text.split(". "))
        is_found = terms(f"Is it the {term}?") == [(term, term)]
        return text.endswith(".") and text[0].isupper() and is_short and is_found

    assert [each for each in GLOSSARY.terms if not is_right(each, GLOSSARY.explain(each))] == []


def test_a_term_is_found_as_a_whole_word_and_once():
    assert terms("The GIL; GILs, a GIL.") == [("GIL", "GIL")]
    assert terms("vigil, page-locked, pageant, L12, gil") == []
    assert terms("Pages lie in pages.") == [("Pages", "page")]


def test_a_longer_term_goes_before_a_shorter_one():
    assert terms("Huge pages, then a page in the page cache.") == [
        ("Huge pages", "huge page"), ("page", "page"), ("page cache", "page cache"),
    ]  # fmt: skip


def test_a_gradient_points_where_the_loss_rises_and_tf32_keeps_ten_bits_of_a_number():
    assert "the loss rises" in GLOSSARY.explain("gradient")
    assert "about three digits" in GLOSSARY.explain("TF32")  # 2 to the 10th is about 10 to the 3rd
