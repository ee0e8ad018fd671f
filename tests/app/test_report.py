from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from app.report import (
    analysed_anew,
    conditions,
    named_values,
    note_text,
    report,
    when,
    without,
)
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.judging.disturbed import MOSTLY_DISTURBED, Loss, mark
from experiments.core.judging.statistics import TOO_FEW
from experiments.core.judging.trust import Trust
from experiments.core.needs import lacking
from experiments.core.units import About
from experiments.engine import messages
from experiments.engine.recording import read
from machine.record import Record
from tests.app.recordings import burst
from tests.cases import in_one
from tests.shipped import SHIPPED

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

    assert not any(getattr(told, field.name) for field in dataclasses.fields(told))


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
    assert note == messages.Note(key="other_version", values={"recorded": 0, "known": 2})


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
    assert "GPU and driver" not in facts


def test_a_run_on_a_gpu_names_it_and_its_driver():
    facts = dict(conditions(ENGLISH, read(SHIPPED["streams"]).started))

    assert facts["GPU and driver"] == "NVIDIA H100 80GB HBM3, 580.159.04"
    assert "Intel" in facts["Machine"]


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


class Sampled(Record, kw_only=False):
    repeat: int = 0


GIL = Catalogue().load("gil-threads")
TURNS = "threads_take_turns"
BUSY = messages.Note(key="machine_was_busy", values={"others_fraction": 0.3})
GIL_VALUES = {
    "serial_s": 2.0, "threads_s": 2.1, "processes_s": 1.0, "perfect_s": 0.5, "workers": 4.0,
}  # fmt: skip


def told(values=(), unclear=(), message=TURNS, rows=(), outcome="completed", **more):
    finding = messages.FindingSent(
        message=message, values=dict(values), limits=[], unclear=list(unclear),
        trust=more.pop("trust", Trust.SOLID),
    )  # fmt: skip
    finished = messages.Finished(outcome=messages.Outcome(outcome), finding=finding)
    given = {"tables": {"timings": list(rows)}, "quick": False, **more}
    return report(ENGLISH, given.pop("of", GIL), finished, **given)


def remarks(values=(), unclear=(), message=TURNS):
    return told(values, unclear, message).remarks


def test_of_what_nobody_can_tell_it_is_said_together():
    values = {"threads_speedup": 0.9, "processes_speedup": 1.1, "serial_s": 1.0}
    unclear = ["threads_speedup", "processes_speedup"]
    names = {"names": "speedup by threads, speedup by processes"}

    assert remarks(values, unclear) == (ENGLISH.say("outcomes.unclear", names),)
    assert remarks(values, unclear, TOO_FEW) == (ENGLISH.say("outcomes.too_few", names),)


def test_a_verdict_has_its_cause_and_three_numbers_with_their_marks():
    shown = told(GIL_VALUES)

    assert shown.finding == ENGLISH.say(f"gil-threads.findings.{TURNS}")
    assert shown.because == ENGLISH.say(f"gil-threads.because.{TURNS}", GIL_VALUES)
    assert [each.shown.shown for each in shown.keys] == ["2 s", "2.10 s", "1 s"]
    assert tuple(each.key for each in shown.keys) == GIL.keys


def test_what_nobody_could_tell_has_no_cause_and_no_badge():
    shown = told(GIL_VALUES, message="cannot_tell", quick=True)

    assert (shown.because, shown.badge) == ("", None)
    assert ENGLISH.say("outcomes.quick") in shown.remarks


def test_an_experiment_without_key_numbers_shows_the_first_with_a_figure():
    bare = msgspec.structs.replace(GIL, keys=())
    values = {**GIL_VALUES, "job_s": 0.1, "threads_speedup": 1.0}

    shown = told(values, ["job_s"], of=bare).keys

    assert [each.value for each in shown] == ["serial_s", "threads_s", "processes_s"]
    assert all(each.key is None for each in shown)


def test_the_badge_of_a_whole_run_counts_rounds_and_repeated_samples():
    rows = [Sampled(n) for n in range(11)]
    bad = mark(Sampled(3), Loss(0.5, 1))

    solid, repeated = told(rows=rows).badge, told(rows=[*rows, bad]).badge
    assert (solid.kind, solid.beside) == ("solid", "11 rounds")
    assert (repeated.kind, repeated.beside) == ("solid", "11 rounds, 1 sample repeated")
    assert ENGLISH.say("outcomes.disturbed", {"count": 1}) in repeated.reason
    quick = told(rows=rows, quick=True).badge
    assert (quick.kind, quick.reason) == ("quick", ENGLISH.say("outcomes.quick"))


@in_one("outcome", ["stopped", "failed", "killed", "lost"])
def test_a_run_that_is_not_whole_has_its_ending_and_no_badge(outcome):
    bad = mark(Sampled(), Loss(0.5, 1))
    shown = told(rows=[Sampled(), bad], outcome=outcome)

    assert shown.badge is None
    assert shown.ending
    assert shown.remarks == (ENGLISH.say("outcomes.disturbed", {"count": 1}),)


TAKEN = [BUSY, messages.Note(key="time_was_stolen", values={"stolen_fraction": 0.3})]


@pytest.mark.parametrize("note", TAKEN, ids=str)
def test_a_disturbed_run_says_first_who_took_the_processors_and_claims_nothing(note):
    shown = told(GIL_VALUES, notes=[note], trust=Trust.DISTURBED)

    assert shown.finding == ENGLISH.say("outcomes.was_disturbed")
    assert shown.badge.kind == "disturbed"
    assert shown.lead == ENGLISH.say(f"because.{note.key}", note.values)
    assert shown.badge.reason.startswith(shown.lead)
    assert (shown.because, shown.keys) == ("", ())
    assert len(shown.values) == len(GIL_VALUES)  # to be looked at all the same


@pytest.mark.parametrize("message", [MOSTLY_DISTURBED, TOO_FEW])
def test_a_run_of_which_little_was_left_says_that_and_not_that_load_could_do_it(message):
    shown = told(GIL_VALUES, notes=[BUSY], trust=Trust.DISTURBED, message=message)

    assert ENGLISH.say("badges.few_left_why") in shown.badge.reason
    assert ENGLISH.say("badges.disturbed_why") not in shown.badge.reason


@pytest.mark.parametrize("note", TAKEN, ids=str)
def test_a_busy_run_claims_what_stands_with_rough_numbers(note):
    shown = told(GIL_VALUES, notes=[note], trust=Trust.BUSY)

    bound = About(1 / (1 - 0.3))
    assert shown.lead == ENGLISH.say(f"stands.{note.key}", note.values | {"most_slowdown": bound})
    assert shown.finding != ENGLISH.say("outcomes.was_disturbed")
    assert shown.badge.kind == "busy"
    assert shown.because
    assert all(key.shown.shown.startswith("about ") for key in shown.keys)
    exact = {each.label: each.shown for each in told(GIL_VALUES).values}
    rough = {each.label: each.shown for each in shown.values}
    assert (
        rough[ENGLISH.say("gil-threads.values.workers")]
        == exact[ENGLISH.say("gil-threads.values.workers")]
    )


# --- how long ago ---------------------------------------------------------------------------


@in_one(
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


@pytest.mark.parametrize(("kind", "name"), [("windows", "Windows"), ("macos", "macOS")])
def test_what_a_system_cannot_do_for_an_experiment_is_one_short_sentence(kind, name):
    for experiment in Catalogue():
        said = without(ENGLISH, experiment, kind)
        assert bool(said) is bool(lacking(experiment, kind))
        assert len(said.split()) <= 20
        assert not said or said.startswith(f"{name} cannot ")
        assert "without." not in said.removesuffix("without.")  # no key without a text


def test_what_the_system_of_a_run_lacked_is_among_what_the_run_cannot_tell():
    experiment = Catalogue().load("false-sharing")
    recording = Catalogue().recording("false-sharing")
    tables = read(recording).tables(experiment)
    finished = read(recording).finished

    def remarks(system):
        return report(
            ENGLISH, experiment, finished, tables=tables, quick=False, system=system
        ).remarks

    assert {*remarks("macos")} - {*remarks("linux")} == {without(ENGLISH, experiment, "macos")}
    assert remarks("linux") == remarks(None)
