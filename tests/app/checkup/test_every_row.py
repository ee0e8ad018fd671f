"""Every row that a check can give has its words, and they are plain."""

from __future__ import annotations

import re

import pytest

from app.checkup.in_words import MARKS, row_text
from experiments.checkup.result import Word
from experiments.core import words
from tests.experiments.checkup.cases import CASES

WORDS = words.load()
MOST_WORDS = 20  # of a sentence
JUDGED = (Word.FINE, Word.LOOK, Word.PROBLEM)


@pytest.fixture(scope="module")
def told():
    """Return each row with its name and its texts."""
    return [
        (f"{number} {case.rule} {case.reason}", row := case.row(), row_text(WORDS, row))
        for number, case in enumerate(CASES)
    ]


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.:;?])\s+", text)


def test_a_row_says_what_was_found_and_what_was_expected(told):
    def is_said(row, text):
        found = f"checkup.rules.{row.rule}.found"
        known = [f"{found}.{row.reason}", f"checkup.reasons.{row.reason}"]
        has_words = any(map(WORDS.has, [*known, *([f"{found}.measured"] if row.samples else [])]))
        is_judged = row.word in JUDGED
        return (
            has_words
            and text.found not in ("", row.reason)
            and text.title not in ("", row.rule)
            and (not is_judged or (text.expected and text.sure))
        )

    assert [name for name, row, text in told if not is_said(row, text)] == []


def test_a_row_that_is_not_fine_says_what_it_means_and_what_to_do(told):
    assert [
        name
        for name, row, text in told
        if not bool(text.meaning) == bool(text.advice) == (row.word is not Word.FINE)
    ] == []


def test_nothing_is_left_to_fill_in(told):
    left = re.compile(r"[{}]|\bNone\b|\bnan\b|\binf\b")

    assert [name for name, _, text in told if left.search(" ".join(text))] == []


def test_each_sentence_is_short(told):
    assert [
        (name, sentence)
        for name, _, text in told
        for part in (text.found, text.expected, text.meaning, text.advice, text.sure)
        for sentence in sentences(part)
        if len(sentence.split()) > MOST_WORDS
    ] == []


def test_no_text_stands_there_for_a_reason_that_no_check_gives():
    given = {f"checkup.rules.{case.rule}.found.{case.reason}" for case in CASES}
    written = {key for key in WORDS.keys("checkup.rules.") if ".found." in key}
    general = {key.rpartition(".")[2] for key in WORDS.keys("checkup.reasons.")}
    reasons = {case.reason for case in CASES}

    assert written - given == set()
    # A run may also end in these ways; a check that stumbles has a test of its own.
    assert general - reasons == {"killed", "lost", "stumbled", "time_was_stolen"}


def test_every_text_of_the_checkup_is_plain():
    for key in WORDS.keys("checkup."):
        text = WORDS.text(key)
        assert "!" not in text, key
        for sentence in sentences(text):
            assert len(sentence.split()) <= MOST_WORDS, (key, sentence)


def test_every_word_has_a_mark_of_its_own():
    assert MARKS.keys() == set(Word)
    assert len(set(MARKS.values())) == len(Word)
