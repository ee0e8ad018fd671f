from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console

from app.report import label
from app.terminal.report import tell
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.judging.trust import Trust
from experiments.engine import messages
from experiments.engine.recording import read
from tests.app.recordings import burst, ladder, threads

ENGLISH = words.load("en")
RUNS = {"burst-random": burst, "cache-ladder": ladder, "gil-threads": threads}
MADE = [Catalogue().load(experiment_id) for experiment_id in RUNS]


@pytest.fixture
def told(tmp_path):
    """Return a function that puts a made run into words, ended in the way of `changes`."""

    def one(made, *, width=80, quick=False, rows=None, notes=(), **changes):
        recording = read(made.write(tmp_path / "x.coreopsis.jsonl"))
        experiment = Catalogue().load(recording.started.experiment)
        tables = recording.tables(experiment) if rows is None else rows
        finished = recording.finished
        fields = {"outcome": finished.outcome, "finding": finished.finding, **changes}
        console = Console(file=io.StringIO(), width=width, markup=False)
        finished = messages.Finished(**fields)
        tell(console, ENGLISH, experiment, tables, finished, quick=quick, notes=notes)
        return console.file.getvalue()

    return one


@pytest.mark.parametrize("experiment", MADE, ids=lambda e: e.id)
def test_a_run_is_told_with_its_sentence_and_all_its_values(told, experiment):
    made = RUNS[experiment.id]()
    finding = messages.decode_event(made.lines[-1]).finding
    said = told(made)
    flat = " ".join(said.split())

    assert ENGLISH.say(f"{experiment.id}.findings.{finding.message}", finding.values) in flat
    for name in finding.values:
        assert label(ENGLISH, experiment, name) in said
    for key in finding.limits:
        assert ENGLISH.say(f"{experiment.id}.limits.{key}", finding.values) in flat
    assert "{" not in said


@pytest.mark.parametrize("experiment", MADE, ids=lambda e: e.id)
def test_every_value_has_a_name_in_words(told, experiment):
    finding = messages.decode_event(RUNS[experiment.id]().lines[-1]).finding

    for name in finding.values:
        assert "_" not in label(ENGLISH, experiment, name)


def test_a_value_of_another_python_is_named_after_ours():
    gil_threads = Catalogue().load("gil-threads")

    assert label(ENGLISH, gil_threads, "threads_python_3_14t_s") == "in threads, Python 3.14t"
    assert label(ENGLISH, gil_threads, "serial_python_3_13_0_s") == (
        "all jobs one after another, Python 3.13.0"
    )


def test_a_value_that_nobody_named_is_called_by_its_key():
    assert label(ENGLISH, Catalogue().load("gil-threads"), "unheard_of_s") == "unheard_of_s"


def test_a_long_remark_goes_on_below_its_own_first_word(told):
    lines = [line.rstrip() for line in told(ladder(), width=40).splitlines()]
    (first,) = (number for number, line in enumerate(lines) if line.startswith("· Each read looks"))

    assert lines[first + 1].startswith("  ")
    assert not lines[first + 1].startswith("   ")


def test_a_quick_run_says_so(told):
    assert ENGLISH.say("outcomes.quick") in told(burst(), quick=True)
    assert ENGLISH.say("outcomes.quick") not in told(burst())


def test_the_cause_and_the_badge_stand_below_the_verdict(told):
    said = " ".join(told(threads()).split())
    finding = messages.decode_event(threads().lines[-1]).finding
    because = ENGLISH.say(f"gil-threads.because.{finding.message}", finding.values)

    assert said.index(because) < said.index(ENGLISH.say("badges.solid_why"))


def test_a_disturbed_run_is_told_as_one_with_its_numbers(told):
    note = messages.Note(key="machine_was_busy", values={"others_fraction": 0.3})
    finding = messages.decode_event(threads().lines[-1]).finding
    disturbed = msgspec.structs.replace(finding, trust=Trust.DISTURBED)
    said = " ".join(told(threads(), notes=[note], finding=disturbed).split())

    assert ENGLISH.say("outcomes.was_disturbed") in said
    assert said.count(ENGLISH.say("because.machine_was_busy", note.values)) == 1
    assert ENGLISH.say(f"gil-threads.findings.{finding.message}", finding.values) not in said
    assert ENGLISH.say("gil-threads.values.threads_s") in said


def test_a_stopped_run_says_how_many_rows_were_kept(told):
    said = told(burst(), outcome=messages.Outcome.STOPPED)

    assert "Stopped; rows of data kept: 105." in said
    assert ENGLISH.say("outcomes.partial") in said


def test_a_run_stopped_before_its_first_row_says_only_that(told):
    said = told(burst(), outcome=messages.Outcome.STOPPED, finding=None, rows={"reads": []})

    assert said.strip() == "Stopped before the first row."


@pytest.mark.parametrize("outcome", ["failed", "killed", "lost"])
def test_a_run_that_did_not_end_well_says_why(told, outcome):
    problem = messages.ProblemSent(key="silent_too_long", values={"limit_s": 20.0})
    said = told(burst(), outcome=messages.Outcome(outcome), finding=None, problem=problem)

    assert ENGLISH.say(f"outcomes.{outcome}") in said
    assert "It was silent for 20 s" in " ".join(said.split())


def test_brackets_in_a_problem_are_no_markup(told):
    problem = messages.ProblemSent(key="experiment_raised", values={"error": "[/bold] [red]"})

    said = told(burst(), outcome=messages.Outcome.FAILED, problem=problem)
    assert "[/bold] [red]" in said
