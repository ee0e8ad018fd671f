from __future__ import annotations

import json
import statistics
import subprocess
import sys

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.judging.trust import Trust, weigh
from experiments.python_at_work.race import experiment as race
from experiments.python_at_work.race import jobs as race_jobs
from experiments.python_at_work.race import lesson
from experiments.python_at_work.race.experiment import EXPERIMENT, Moment, Params, Race, analyse
from experiments.tools.interpreters import OWN
from machine.inspect import inspect
from machine.system.pythons import find
from tests.cases import in_one
from tests.experiments.doubling import takes_twice_as_long
from tests.experiments.machines import machine
from tests.experiments.python_at_work import lessons_of_race as lessons
from tests.experiments.python_at_work.recorded import lesson_of, recorded
from tests.experiments.stopping import stop_after_rows

AGREED = {"expected", "lost_fraction_bare", "lost_fraction_read_call_write", "locked_slowdown"}

PARAMS = Params(workers=4, times=1000, pythons=("3.8",))
TINY = Params(workers=2, times=20_000, switch_interval_s=0.001, rounds=2)


def races(form, lost, python=OWN, increment_s=5e-8):
    return [
        Race(
            form=form, python=python, repeat=n, increments=4000, count=round(4000 * (1 - each)),
            lost_fraction=each, increment_s=increment_s * (1 + n / 500),
        )
        for n, each in enumerate(lost)
    ]  # fmt: skip


def tables(*rows):
    return {"races": [row for each in rows for row in each], "moments": []}


@in_one(
    ("bare", "call", "message"),
    [
        ((0, 0, 0), (0.5, 0.6, 0.4), "only_the_call_lost"),
        ((0, 0.1, 0), (0.5, 0.6, 0.4), "both_lost"),
        ((0, 0, 0), (0, 0, 0), "nothing_lost"),
        ((0.2, 0, 0), (0, 0, 0), "bare_lost"),
        ((0, 0, 0), (0, 0, 0.001), "only_the_call_lost"),
    ],
)
def test_what_was_lost_is_said(bare, call, message):
    found = analyse(PARAMS, tables(races("bare", bare), races("read_call_write", call)), machine())

    assert found.message == message
    assert found.values["expected"] == 4000
    assert found.values["runs"] == 3
    assert ("no_promise" in found.limits) is (not any(bare))
    assert ("late_writes" in found.limits) is any((*bare, *call))


@in_one(
    ("lost", "is_told"), [(0.25, True), (0.75, True), (0.3, False), (0.0001, False), (0, False)]
)
def test_losing_whatever_some_threads_did_is_explained(lost, is_told):
    assert PARAMS.workers == 4
    rows = tables(races("bare", (0, 0, 0)), races("read_call_write", (0.1, 0.2, lost)))

    assert ("whole_shares" in analyse(PARAMS, rows, machine()).limits) is is_told


def test_the_price_of_the_lock_is_against_the_bare_form():
    rows = tables(
        races("bare", (0, 0)),
        races("read_call_write", (0, 0)),
        races("locked", (0, 0), increment_s=30e-8),
    )

    assert analyse(PARAMS, rows, machine()).values["locked_slowdown"] == pytest.approx(6)


def test_what_another_python_lost_is_told_beside():
    rows = tables(
        races("bare", (0.5, 0.7), "3.8"), races("bare", (0, 0)), races("read_call_write", (0, 0.5))
    )
    found = analyse(PARAMS, rows, machine())

    assert found.values["lost_fraction_bare"] == 0
    assert found.values["lost_fraction_elsewhere"] == pytest.approx(0.7)
    assert "not_everywhere" in found.limits


@pytest.mark.parametrize(
    ("others", "locked", "is_told"),
    [("3.8", (0,), True), ("3.8", (), False), (OWN, (0,), False)],
)
def test_where_the_lock_was_tried_is_told_beside_other_pythons(others, locked, is_told):
    rows = tables(races("bare", (0,)), races("bare", (0,), others), races("locked", locked))

    assert ("lock_here_only" in analyse(PARAMS, rows, machine()).limits) is is_told


@pytest.mark.parametrize(("raised_s", "is_told"), [(0.0049, False), (0.0025, True)])
def test_an_update_that_waits_on_after_the_other_is_over_has_a_reason(raised_s, is_told):
    rows = tables(races("bare", (0, 0)), races("read_call_write", (0, 0.5)))
    rows["moments"] = [
        Moment(worker=1, act="holds", start_s=0.0, end_s=0.0052, value=0, updates=1),
        Moment(worker=0, act="raises", start_s=0.0001, end_s=raised_s, value=0, updates=1),
    ]

    assert ("other_was_over" in analyse(PARAMS, rows, machine()).limits) is is_told


@pytest.mark.parametrize(
    ("caught_s", "reasons"),
    [(0.0052, set()), (0.008, {"waited_for_a_core"}), (0.0044, {"handed_over_early"})],
)
def test_a_wait_that_is_not_about_one_switch_interval_has_a_reason(caught_s, reasons):
    rows = tables(races("bare", (0, 0)), races("read_call_write", (0, 0.5)))
    rows["moments"] = [
        Moment(worker=1, act="holds", start_s=0.0, end_s=caught_s, value=0, updates=1),
        Moment(worker=0, act="raises", start_s=0.0001, end_s=0.005, value=0, updates=1),
    ]
    found = analyse(PARAMS, rows, machine())

    assert found.values["caught_s"] == caught_s
    assert {"waited_for_a_core", "handed_over_early"} & set(found.limits) == reasons


def test_a_thread_that_owns_its_counter_is_safe_and_not_lucky():
    rows = tables(races("bare", (0, 0, 0)), races("read_call_write", (0, 0, 0)))
    owned = analyse(Params(workers=4, counters=4), rows, machine())
    shared = analyse(Params(workers=4, counters=3), rows, machine())

    assert (owned.message, shared.message) == ("one_owner_each", "nothing_lost")
    assert ("no_promise" in owned.limits, "no_promise" in shared.limits) == (False, True)
    assert owned.values["all_but_one_fraction"] == 0
    assert shared.values["all_but_one_fraction"] == pytest.approx(0.25)


@pytest.mark.parametrize("call", [(0, 0, 0), (0.5, 0.6, 0.4)])
def test_what_was_lost_stands_however_busy_the_machine_was(call):
    """An explanation with "do not trust its numbers" under it stood there once."""
    rows = tables(races("bare", (0, 0, 0)), races("read_call_write", call))

    assert weigh(lambda: analyse(PARAMS, rows, machine()), 0.9)[1] is Trust.BUSY


def test_one_thread_cannot_lose_and_nothing_is_no_error():
    rows = tables(races("bare", (0,)), races("read_call_write", (0,)))

    assert analyse(Params(workers=1), rows, machine()).message == "nothing_to_compare"
    assert analyse(PARAMS, tables(races("bare", (0,))), machine()).message == "nothing_to_compare"
    assert analyse(PARAMS, tables(), machine()).message == "nothing_to_compare"


def test_nothing_is_lost_under_a_lock_and_no_counter_is_too_high():
    before_s = sys.getswitchinterval()
    rows = [r for r in EXPERIMENT.measure(TINY, Bench(inspect())) if isinstance(r, Race)]

    assert sys.getswitchinterval() == before_s  # that of this process stays as it is
    assert all(r.count == r.increments for r in rows if r.form == "locked")
    assert all(0 < r.count <= r.increments for r in rows)
    assert all(r.lost_fraction == 1 - r.count / r.increments for r in rows)


def test_threads_live_for_twenty_switch_intervals_however_few_increments_are_asked_for():
    """Shorter ones run one after another, and nothing could be lost (methods.md)."""
    few = replace(TINY, times=1000, rounds=3)
    rows = [r for r in EXPERIMENT.measure(few, Bench(inspect())) if isinstance(r, Race)]

    for form in ("bare", "read_call_write"):
        lives_s = [r.increments * r.increment_s for r in rows if r.form == form]
        assert statistics.median(lives_s) >= 20 * few.switch_interval_s


def test_a_quick_run_loses_increments():
    params = EXPERIMENT.params_for(inspect(), quick=True)
    rows = EXPERIMENT.measure(replace(params, rounds=2), Bench(inspect()))
    called = (r for r in rows if isinstance(r, Race) and r.form == "read_call_write")

    assert any(r.lost_fraction > 0.01 for r in called)


def test_a_call_between_reading_and_writing_loses_increments():
    counts = (race_jobs.race("read_call_write", 4, 200_000)["count"] for _ in range(20))

    assert any(1 - count / 800_000 > 0.01 for count in counts)


def test_threads_with_counters_of_their_own_lose_nothing():
    found = race_jobs.race("read_call_write", 4, 200_000, counters=4)

    assert found["count"] == 800_000


@pytest.mark.parametrize("form", race_jobs.FORMS)
def test_twice_as_many_take_twice_as_long(form):
    assert takes_twice_as_long(lambda times: race_jobs.race(form, 1, times)["wall_s"], 20_000)


def test_the_moments_of_a_lost_update_lie_within_each_other():
    found = next((t for _ in range(10) if (t := race_jobs.trace(100_000))["late"]), None)
    assert found is not None
    holds, raises = race.moments_of(found)

    assert isinstance(holds, Moment)
    assert {holds.worker, raises.worker} == {0, 1}
    assert holds.start_s == 0 <= raises.start_s < raises.end_s <= holds.end_s
    assert found["undone"] > 1


def test_an_update_after_which_the_other_thread_went_on_is_caught_rather_than_one_after_its_end():
    early, late = (2.0, 9.0, 0), (11.0, 19.0, 5)
    undone_early, undone_late = (
        [(n + 0.1, n + 0.2, n) for n in each] for each in ((3, 4), (12, 13))
    )

    found = race_jobs.caught([[*undone_early, late], [early, *undone_late]])
    assert (found["worker"], found["late"], found["undone"]) == (1, early, 2)
    assert race_jobs.caught([[late], undone_late])["late"] == late  # better than none
    assert race_jobs.caught([[early], undone_late])["late"] is None


@in_one("python", find(), ids=lambda p: p.name)
def test_every_python_of_this_machine_can_race(python):
    request = {"form": "read_call_write", "workers": 2, "counters": 1, "times": 1000}
    request["switch_s"] = 0.005
    ran = subprocess.run(
        [python.path, "-I", "-S", race_jobs.__file__],
        input=json.dumps(request) + "\n", capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip

    assert 0 < json.loads(ran.stdout)["count"] <= 2000


def test_an_old_and_a_free_threaded_python_race_too_where_there_are_such(monkeypatch):
    class Python:
        def __init__(self, name, free_threaded=False):
            self.name, self.version, self.free_threaded = name, name.rstrip("t"), free_threaded

    pythons = [Python("3.8"), Python("3.9"), Python("3.13"), Python("3.14t", True)]
    monkeypatch.setattr(race, "find", lambda **_: pythons)
    assert race.defaults(machine()).pythons == ("3.14t", "3.8")
    monkeypatch.setattr(race, "find", lambda **_: [Python("3.13")])
    assert race.defaults(machine()).pythons == ()


def test_nothing_is_left_of_a_run():
    stop_after_rows(EXPERIMENT, TINY, 3)


@pytest.mark.parametrize(
    ("locked_s", "unclear"),
    [((30e-8,) * 3, ()), ((5e-8,) * 3, ()), ((2e-8, 30e-8, 9e-8), ("locked_slowdown",))],
    ids=["dear", "the same", "cannot tell"],
)
def test_the_price_of_a_lock_is_told_where_it_is_clear(locked_s, unclear):
    nothing = (0, 0, 0)
    locked = [
        replace(row, increment_s=s * (1 + row.repeat / 500))
        for row, s in zip(races("locked", nothing), locked_s, strict=True)
    ]
    rows = tables(races("bare", nothing), races("read_call_write", nothing), locked)

    assert analyse(PARAMS, rows, machine()).unclear == unclear


# --- the lesson ---------------------------------------------------------------------------------


@in_one("run", [recorded("race"), *lessons.RUNS.values()])
def test_a_lock_is_never_said_to_be_the_only_way(run):
    told = lesson_of("race").explain(run, None)
    said = " ".join((told.text, told.answer, *told.beside))

    assert "nly the lock" not in said
    assert "nly a lock" not in said
    assert "owner" in said


def test_one_measure_of_the_loss_is_drawn_asked_said_and_explained():
    (counts,) = (view for view in EXPERIMENT.plots if view.key == "counts")
    words = lesson_of("race").words
    run = recorded("race")
    own = [row for row in run.tables["races"] if row.python not in run.params.pythons]
    worst = max(row.lost_fraction for row in own if row.form == "read_call_write")

    assert counts.value == "lost_fraction"
    assert run.values["lost_most_fraction"] == worst
    assert "{lost_most_fraction}" in words.explain.headline


def test_no_share_is_promised_that_a_run_lost():
    """ "One share in 4" was said to survive four threads; a run of the recording kept less."""
    run = recorded("race")
    kept = 1 - max(row.lost_fraction for row in run.tables["races"])
    said = lesson_of("race").explain(run, None).why_not_double

    assert kept < 1 / run.params.workers
    assert not any(character.isdigit() for character in said)


def test_the_late_write_takes_the_time_that_was_recorded():
    motion = lesson.motion(lessons.RUNS["caught"], None)
    (scene,) = motion.scenes
    out, waits, counts, other_out, other_back, count, back = scene.events

    assert (out.start_s, out.end_s, back.start_s, back.end_s) == (0.0, 0.001, 0.009, 0.01)
    assert waits.end_s - waits.start_s == pytest.approx(8 * (out.end_s - out.start_s))
    assert (counts.start_s, counts.end_s) == (waits.start_s, waits.end_s) == (0.001, 0.009)
    assert [count.at(each) for each in (0.001, 0.005, 0.009, 0.01)] == [0, 2000, 4000, 4000]
    assert other_back.end_s - other_out.start_s == pytest.approx(0.008 / 4000)  # the first of them
    assert (other_out.token, other_back.token, out.token, back.token) == ("8", "9", "8", "9")
    assert lesson.motion(lessons.made("nothing_lost"), None) is None
