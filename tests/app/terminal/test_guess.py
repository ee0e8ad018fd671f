"""`coreopsis guess`: the whole round through standard input; nothing is measured but once."""

from __future__ import annotations

import io

import pytest

from app.guesses.meanwhile import Meanwhile
from app.terminal.predict import read_number
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.engine.recording import read
from experiments.presentation.guesses.questions import questions
from experiments.presentation.guesses.quick_round import Source, Truth
from tests.app.recordings import ladder
from tests.cases import in_one
from tests.experiments.machines import machine
from tests.shipped import SHIPPED

ENGLISH, CATALOGUE = words.load(), Catalogue()
NEAR = {"per_s": "5 G/s", "bytes/s": "20 GB/s", "s": "1 us"}


@pytest.fixture
def unmeasured(monkeypatch):
    """Measure nothing."""
    monkeypatch.setattr(Meanwhile, "begin", lambda self, question: None)


@pytest.fixture
def guessing(inside, monkeypatch):
    def run(lines, *options):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return inside(*options, "guess")

    return run


def told(text: str) -> str:
    return " ".join(text.split())


def test_a_whole_round_asks_answers_and_ends_with_the_lessons(unmeasured, guessing):
    said = guessing([NEAR[question.unit] for question in questions()])
    text = told(said.out)

    assert (said.code, said.err) == (0, "")
    for question in questions():
        assert told(ENGLISH.text(f"guess.{question.id}.ask")) in text
        assert told(ENGLISH.text(f"guess.{question.id}.because")) in text
        started = read(SHIPPED[question.experiment]).started
        assert started.at[:10] in text
    assert text.count("RECORDED ·") == 10  # never a number of another machine without its mark
    assert "10 of 10" in text
    assert "of 10 within a factor of ten" in text
    assert text.count("` explains '") == 3


def test_what_is_no_answer_is_asked_again_and_enter_skips(unmeasured, guessing):
    said = guessing(["many", "3 ns", "0 /s", "1e99", "3,5 billion", "", "2 us"])

    assert said.out.count("Type something like") == 4
    assert "You said 3.50 G/s" in said.out
    assert said.out.count("Skipped.") == 1
    assert "You said 2 µs" in told(said.out)


def test_the_end_of_the_input_ends_the_round(unmeasured, guessing):
    said = guessing([])

    assert (said.code, said.err) == (0, "")
    assert "The input has ended" in said.out
    assert "within a factor" not in said.out


def test_the_end_of_the_input_keeps_what_was_answered(unmeasured, guessing):
    said = guessing(["1 G/s"])

    assert said.code == 0
    assert " of 1 within a factor of ten" in said.out


def test_who_only_skips_is_not_said_to_have_guessed_well(unmeasured, guessing):
    said = guessing(["", ""])
    out = " ".join(said.out.split())

    assert words.load().say("guess.no_guesses") in out
    assert words.load().say("guess.no_misses") not in out


@pytest.mark.parametrize("stdin", [None, io.TextIOWrapper(io.BytesIO(b"\xff\n"), "utf-8")])
def test_an_input_that_cannot_be_read_ends_the_round(unmeasured, inside, monkeypatch, stdin):
    monkeypatch.setattr("sys.stdin", stdin)

    assert inside("guess").code == 0


def test_what_was_measured_meanwhile_answers(guessing, monkeypatch):
    measured = Truth(value=1e-7, source=Source.MEASURED)
    monkeypatch.setattr(Meanwhile, "begin", lambda self, question: None)
    monkeypatch.setattr(Meanwhile, "end", lambda self: measured)

    said = guessing(["", "50 ns"])

    assert "The answer: 100 ns." in said.out
    assert "Measured here while you thought." in said.out


def test_a_kept_run_answers_and_nothing_is_measured_for_it(guessing, coreopsis, monkeypatch):
    begun = []
    monkeypatch.setattr(Meanwhile, "begin", lambda self, question: begun.append(question.id))
    monkeypatch.setattr("app.context.Context.machine", machine())
    ladder(here=machine()).write(coreopsis.data / "runs" / "a.coreopsis.jsonl")

    said = guessing(["1 G/s", "1 ns", ""])

    assert "The answer: 1.50 ns." in said.out
    assert "Measured here, " in said.out
    assert begun == ["add", "mispredict"]  # the run has the times of L1 and of memory


def test_a_machine_from_a_file_measures_nothing_and_says_so(guessing, machine_file, monkeypatch):
    monkeypatch.setattr(Meanwhile, "begin", pytest.fail)

    said = guessing(["1 G/s"], "--fake-machine", machine_file)

    assert said.code == 0
    assert "This machine comes from a file." in told(said.out)
    assert "RECORDED ·" in said.out


def test_a_measurement_that_has_begun_leaves_nothing_behind(coreopsis):
    said = coreopsis("guess")  # its input ends at once; the fixture looks for what is left

    assert (said.code, said.err) == (0, "")


@in_one(
    ("typed", "unit", "value"),
    [
        ("20 ns", "s", 20e-9), ("1.5us", "s", 1.5e-6), ("1,5 ms", "s", 1.5e-3), ("2e-3", "s", 2e-3),
        ("3 GB/s", "bytes/s", 3e9), ("3 G", "bytes/s", 3e9), ("5 billion", "per_s", 5e9),
        ("5 M/s", "per_s", 5e6), ("1e6", "per_s", 1e6),
        ("5 ns", "per_s", None), ("5 GB", "s", None), ("-1", "s", None), ("1e-30", "s", None),
        ("nan", "s", None), ("ns", "s", None), ("1 2", "s", None), ("99 s", "s", None),
    ],
)  # fmt: skip
def test_numbers_are_read_with_the_units_of_what_is_asked(typed, unit, value):
    limits = (1e-12, 10.0) if unit == "s" else (1e3, 1e13)

    assert read_number(typed, limits, unit) == (value and pytest.approx(value))
