from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from app.report import analysed_anew, conditions, named_values, note_text, report, when
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.disturbed import Loss, mark
from experiments.core.statistics import TOO_FEW
from experiments.engine import messages
from experiments.engine.recording import read
from tests.app.recordings import burst

ENGLISH = words.load("en")
NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
BURST = Catalogue().load("burst-random")


@pytest.fixture
def recording(tmp_path):
    def one(**more):
        return read(burst(**more).write(tmp_path / "x.coreopsis.jsonl"))

    return one


def test_what_does_not_apply_is_empty():
    finished = messages.Finished(outcome=messages.Outcome.COMPLETED)

    told = report(ENGLISH, BURST, finished, tables={}, quick=False)

    assert (told.ending, told.problem, told.finding, told.values, told.remarks) == (
        "", "", "", (), (),
    )  # fmt: skip


def test_an_experiment_may_have_notes_and_problems_of_its_own():
    values = {"measured": 8, "cores": 64}
    own = ENGLISH.say("core-to-core.notes.cores_thinned", values)
    assert note_text(ENGLISH, "cores_thinned", values, "core-to-core") == own != ""
    assert note_text(ENGLISH, "not_pinned", {}, "core-to-core") == ENGLISH.say("notes.not_pinned")

    problem = messages.ProblemSent(key="needs_lightning")
    finished = messages.Finished(outcome=messages.Outcome.FAILED, problem=problem)
    told = report(ENGLISH, Catalogue().load("data-parallel"), finished, tables={}, quick=False)
    assert "pip install lightning" in told.problem


def test_a_run_is_analysed_as_today(recording):
    kept = recording()
    forgetful = msgspec.structs.replace(kept.finished, finding=None)
    finished, note = analysed_anew(
        type(kept)(kept.started, kept.events, forgetful, kept.notes, kept.rows), BURST
    )

    assert finished.finding == kept.finished.finding
    assert note is None


def test_a_run_of_another_version_keeps_its_finding_and_says_so(recording):
    kept = recording(change=lambda started: msgspec.structs.replace(started, experiment_version=0))
    finished, note = analysed_anew(kept, BURST)

    assert finished is kept.finished
    assert note == messages.Note(key="other_version", values={"recorded": 0, "known": 1})


def test_the_conditions_are_those_that_are_known(recording):
    environment = {"python": "3.11.7", "governor": None, "libraries": {"numpy": "2.4"}}
    kept = recording(
        change=lambda started: msgspec.structs.replace(started, environment=environment)
    )

    facts = dict(conditions(ENGLISH, kept.started))

    assert facts["Python"] == "3.11.7"
    assert facts["Libraries"] == "numpy 2.4"
    assert facts["Measured at"] == "2026-05-04 03:02:01"
    assert "Governor" not in facts


def shown(experiment, values, unclear=(), message="m") -> dict[str, str]:
    judged = messages.FindingSent(message=message, values=values, limits=[], unclear=list(unclear))
    return {told.label: told.shown for told in named_values(ENGLISH, experiment, values, judged)}


def test_what_was_timed_is_said_also_for_another_python():
    gil = Catalogue().load("gil-threads")
    (ours,) = named_values(ENGLISH, gil, {"threads_s": 0.5})
    (other,) = named_values(ENGLISH, gil, {"threads_python_3_14t_s": 0.5})

    assert ours.about
    assert other.about == ours.about
    assert named_values(ENGLISH, gil, {"of_another_version": 0.5})[0].about == ""


def test_a_ratio_that_tells_nothing_apart_is_said_in_words():
    gil = Catalogue().load("gil-threads")
    values = {"threads_s": 0.5, "threads_speedup": 0.855, "processes_speedup": 1.9}

    told = shown(gil, values, unclear=["threads_speedup"])

    assert told["speedup by threads"] == ENGLISH.say("verdicts.unclear")
    assert told["speedup by processes"] == "1.90×"
    smt = Catalogue().load("smt")
    gains = {"arithmetic_gain": 1.05, "waiting_gain": 1.8}
    told = shown(smt, gains, unclear=["arithmetic_gain"])
    assert list(told.values()) == [ENGLISH.say("verdicts.unclear"), "1.80×"]
    burst_values = {"random_over_sequential": 1.1}
    (number,) = shown(BURST, burst_values, unclear=burst_values).values()
    assert number == ENGLISH.say("verdicts.unclear")
    (number,) = shown(BURST, burst_values, unclear=burst_values, message=TOO_FEW).values()
    assert number == "too few rounds"


def test_an_unclear_value_travels_and_older_files_know_none(recording):
    finding = messages.FindingSent(message="m", values={"a_speedup": 1.0}, limits=[], unclear=["a"])
    finished = messages.Finished(outcome=messages.Outcome.COMPLETED, finding=finding)

    assert messages.decode_event(messages.encode(finished)) == finished
    assert b"unclear" not in messages.encode(recording().finished)


@dataclass(frozen=True)
class Sampled:
    pass


def remarks(values=(), unclear=(), message="threads_gain", rows=()):
    finding = messages.FindingSent(
        message=message, values=dict(values), limits=[], unclear=list(unclear)
    )
    finished = messages.Finished(outcome=messages.Outcome.COMPLETED, finding=finding)
    gil = Catalogue().load("gil-threads")
    return report(ENGLISH, gil, finished, tables={"timings": list(rows)}, quick=False).remarks


def test_of_what_nobody_can_tell_it_is_said_together():
    values = {"threads_speedup": 0.9, "processes_speedup": 1.1, "serial_s": 1.0}
    unclear = ["threads_speedup", "processes_speedup"]
    names = {"names": "speedup by threads, speedup by processes"}

    assert remarks(values, unclear) == (ENGLISH.say("outcomes.unclear", names),)
    assert remarks(values, unclear, TOO_FEW) == (ENGLISH.say("outcomes.too_few", names),)


def test_how_many_rows_were_disturbed_is_said():
    row = Sampled()
    bad = mark(row, Loss(0.5, 1))

    assert remarks(rows=[row]) == ()
    assert remarks(rows=[row, bad]) == (ENGLISH.say("outcomes.one_disturbed"),)
    assert remarks(rows=[bad, bad]) == (ENGLISH.say("outcomes.disturbed", {"count": 2}),)


# --- how long ago ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(seconds=-5), "just now"),  # a clock that was set back
        (timedelta(seconds=20), "just now"),
        (timedelta(seconds=70), "1 minute ago"),
        (timedelta(minutes=12), "12 minutes ago"),
        (timedelta(minutes=61), "1 hour ago"),
        (timedelta(hours=5), "5 hours ago"),
        (timedelta(hours=30), "yesterday"),
        (timedelta(days=6), "6 days ago"),
        (timedelta(days=9), "2026-04-25"),
    ],
)
def test_a_time_is_told_as_people_do(ago, said):
    assert when(ENGLISH, (NOW - ago).isoformat(), NOW) == said


def test_a_text_that_is_no_time_is_shown_as_it_is():
    assert when(ENGLISH, "some day", NOW) == "some day"


def test_a_time_without_a_zone_is_that_of_greenwich():
    assert when(ENGLISH, "2026-05-04T11:30:00", NOW) == "30 minutes ago"
