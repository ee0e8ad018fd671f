"""True answers come from a kept run of this machine, a short run, or a recording."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from app.guesses import in_words, truths
from app.runs.library import Library
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.judging.trust import Trust
from experiments.core.units import About
from experiments.engine import messages
from experiments.engine.recording import read
from experiments.presentation.guesses.questions import questions
from experiments.presentation.guesses.quick_round import Source, Truth
from tests.app.recordings import ladder
from tests.cases import in_one
from tests.experiments.machines import machine
from tests.shipped import SHIPPED

WORDS, CATALOGUE = words.load(), Catalogue()
HERE = replace(machine(), fingerprint="here")
ELSEWHERE = replace(machine(), fingerprint="elsewhere")
BY_ID = {question.id: question for question in questions()}
L1 = BY_ID["l1"]


@pytest.fixture
def library(tmp_path) -> Library:
    return Library(tmp_path)


def kept(library, here=HERE) -> Truth | None:
    return truths.kept(L1, CATALOGUE, here, library.runs())


def test_a_kept_run_of_this_machine_answers(library):
    ladder(here=HERE).write(library.folder / "runs" / "a.coreopsis.jsonl")

    found = kept(library)

    assert (found.source, found.value) == (Source.KEPT, pytest.approx(1.5e-9))
    assert in_words.source(WORDS, found).startswith("Measured here, ")


def test_the_newest_run_counts(library):
    ladder(here=HERE).write(library.folder / "runs" / "a.coreopsis.jsonl")
    later = "2031-01-01T00:00:00+00:00"
    newer = ladder(here=HERE, at=later)
    newer.write(library.folder / "runs" / "b.coreopsis.jsonl")

    assert kept(library).at == later


def test_no_run_of_another_machine_answers(library):
    ladder(here=ELSEWHERE).write(library.folder / "runs" / "a.coreopsis.jsonl")

    assert kept(library) is None


def test_no_run_with_unusual_settings_answers(library):
    def small_pages(started):
        return msgspec.structs.replace(started, params={**started.params, "huge_pages": False})

    made = ladder(here=HERE, change=small_pages)
    made.write(library.folder / "runs" / "a.coreopsis.jsonl")

    assert kept(library) is None


STARTED = read(SHIPPED["cache-ladder"]).started


def ended(outcome=messages.Outcome.COMPLETED, **finding) -> messages.Finished:
    made = {"message": "ladder_in_part", "values": {L1.value: 2e-9}, "limits": [], **finding}
    return messages.Finished(outcome=outcome, finding=messages.FindingSent(**made))


def test_a_short_run_answers():
    found = truths.measured(L1, STARTED, ended())

    assert (found.source, found.value) == (Source.MEASURED, 2e-9)
    assert in_words.source(WORDS, found) == "Measured here while you thought."


@pytest.mark.parametrize("trust", [Trust.BUSY, Trust.DISTURBED])
def test_beside_other_programs_its_number_is_told_with_about(trust):
    found = truths.measured(L1, STARTED, ended(message="too_few_rounds", trust=trust))

    assert isinstance(found.value, About)


@pytest.mark.parametrize(("fraction", "is_told"), [(0.4, True), (0.6, False)])
def test_load_that_may_have_doubled_its_time_leaves_it_without_an_answer(fraction, is_told):
    note = messages.Note(key="machine_was_busy", values={"others_fraction": fraction})
    found = truths.measured(L1, STARTED, ended(trust=Trust.BUSY), [note])

    assert (found is not None) is is_told


@in_one(
    "finished",
    [
        ended(messages.Outcome.STOPPED),
        ended(values={}),
        ended(message="mostly_disturbed", trust=Trust.DISTURBED),
        messages.Finished(outcome=messages.Outcome.FAILED),
    ],
)
def test_a_run_that_was_stopped_or_disturbed_or_failed_does_not_answer(finished):
    assert truths.measured(L1, STARTED, finished) is None


@in_one("question", questions(), ids=lambda question: question.id)
def test_a_recording_answers_and_names_its_machine_and_date(question):
    found = truths.recorded(question, CATALOGUE)
    started = read(SHIPPED[question.experiment]).started

    said = in_words.source(WORDS, found)

    assert found.source is Source.RECORDED
    assert said.startswith("RECORDED")
    assert started.at[:10] in said
    assert found.machine in said
