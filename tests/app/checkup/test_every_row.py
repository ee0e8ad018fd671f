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
NAMES = [f"{case.rule}-{case.reason}-{number}" for number, case in enumerate(CASES)]


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.:;?])\s+", text)


@pytest.fixture(params=CASES, ids=NAMES)
def case(request):
    return request.param


def test_a_row_says_what_was_found_and_what_was_expected(case):
    row = case.row()
    text = row_text(WORDS, row)
    own = f"checkup.rules.{row.rule}.found.{row.reason}"

    assert WORDS.has(own) or WORDS.has(f"checkup.reasons.{row.reason}")
    assert text.found not in ("", row.reason)
    assert text.title not in ("", row.rule)
    if row.word in JUDGED:
        assert text.expected
        assert text.sure


def test_a_row_that_is_not_fine_says_what_it_means_and_what_to_do(case):
    row = case.row()
    text = row_text(WORDS, row)

    assert bool(text.meaning) == bool(text.advice) == (row.word is not Word.FINE)


def test_nothing_is_left_to_fill_in(case):
    text = row_text(WORDS, case.row())

    assert not re.search(r"[{}]|\bNone\b|\bnan\b|\binf\b", " ".join(text))


def test_each_sentence_is_short(case):
    text = row_text(WORDS, case.row())

    for part in (text.found, text.expected, text.meaning, text.advice, text.sure):
        for sentence in sentences(part):
            assert len(sentence.split()) <= MOST_WORDS, sentence


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
