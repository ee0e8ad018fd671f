from __future__ import annotations

import subprocess
import sys

import pytest
from msgspec.structs import replace

from app.evidence import evidence_of, shipped
from app.loaded_run import lesson_run_of
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.judging.statistics import CANNOT_TELL
from experiments.core.judging.trust import Trust

ENGLISH, CATALOGUE = words.load(), Catalogue()


def lessons():
    for experiment in CATALOGUE:
        lesson, recorded = CATALOGUE.lesson(experiment), shipped(CATALOGUE, experiment)
        if lesson is not None and recorded is not None:
            yield experiment.id, lesson, recorded


def test_each_lesson_explains_a_disturbed_run_with_its_recording_under_a_band():
    faults = []
    for name, lesson, recorded in lessons():
        run = lesson_run_of(recorded.run_state)
        for broken in (replace(run, trust=Trust.DISTURBED), replace(run, message=CANNOT_TELL)):
            found = evidence_of(ENGLISH, lesson, broken, None, lambda recorded=recorded: recorded)
            if found is None or not found.band.startswith("RECORDED"):
                faults.append(name)
    assert faults == []


def test_a_run_that_can_tell_explains_itself_and_no_guess_is_held_against_a_recording():
    lesson = CATALOGUE.lesson(CATALOGUE.load("gil-threads"))
    recorded = shipped(CATALOGUE, CATALOGUE.load("gil-threads"))
    run, guess = lesson_run_of(recorded.run_state), None
    own = evidence_of(ENGLISH, lesson, run, guess, lambda: pytest.fail("was read"))
    assert (own.run, own.band) == (run, "")
    disturbed = replace(run, trust=Trust.DISTURBED)
    assert evidence_of(ENGLISH, lesson, disturbed, guess, lambda: None) is None
    other = evidence_of(ENGLISH, lesson, disturbed, guess, lambda: recorded)
    assert other.explained.headline == own.explained.headline


WITHOUT = """
import sys
sys.modules |= dict.fromkeys(("torch", "numba"))  # what imports them fails
from app.evidence import evidence_of_recording, shipped
from experiments.core import words
from experiments.core.catalogue import Catalogue
catalogue, english = Catalogue(), words.load()
for experiment in catalogue:
    recorded, lesson = shipped(catalogue, experiment), catalogue.lesson(experiment)
    if recorded is not None and lesson is not None:
        found = evidence_of_recording(english, lesson, recorded, None, "why")
        assert found and found.band, experiment.id
        lesson.motion(found.run)
"""


def test_every_recording_explains_without_pytorch_and_numba():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
