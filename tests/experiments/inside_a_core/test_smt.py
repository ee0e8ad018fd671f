from __future__ import annotations

import math

import pytest

from experiments.core.bench import Bench
from experiments.core.declare import Need
from experiments.core.judging.statistics import CANNOT_TELL
from experiments.core.needs import missing_need
from experiments.core.teaching.lesson_run import Spot
from experiments.core.teaching.motion import Count, Travel
from experiments.inside_a_core.smt import experiment as smt
from experiments.inside_a_core.smt import lesson
from experiments.inside_a_core.smt.experiment import (
    ADDING,
    CORES,
    EXPERIMENT,
    ONE,
    SIBLINGS,
    WAITING,
    Params,
    WorkRate,
    analyse,
    measure,
)
from machine.inspect import inspect
from tests.cases import in_one
from tests.experiments.inside_a_core import lessons_of_smt as lessons
from tests.experiments.inside_a_core.lessons_of_smt import gains, modelled
from tests.experiments.machines import GIB, MIB, machine

AGREED = {"arithmetic_gain", "waiting_gain"}

NOISE = (1.0, 1.005, 0.995, 1.002, 0.998)
UNSTEADY = (0.5, 1.0, 2.0, 1.0, 0.5)
WITH_SMT = machine(threads_per_core=2)
TEXTBOOK = {
    (ADDING, SIBLINGS): 1.1,
    (WAITING, SIBLINGS): 1.9,
    (ADDING, CORES): 2.0,
    (WAITING, CORES): 2.0,
}


def shares(gains, noise=NOISE):
    """`noise` is a factor for each round, or such factors for each work."""
    return [
        WorkRate(work=work, place=place, repeat=turn, work_per_s=1e9 * gain, gain=gain * factor)
        for (work, place), gain in gains.items()
        for turn, factor in enumerate(noise[work] if isinstance(noise, dict) else noise)
    ]


def found(gains, here=WITH_SMT, noise=NOISE):
    return analyse(Params(), {"shares": shares(gains, noise)}, here)


def test_waiting_gains_more_than_adding_up():
    finding = found(TEXTBOOK)

    assert finding.message == "waiting_gains_more"
    assert finding.values["arithmetic_gain"] == pytest.approx(1.1)
    assert finding.values["waiting_gain"] == pytest.approx(1.9)
    assert finding.values["cores_arithmetic_gain"] == pytest.approx(2.0)
    assert finding.unclear == ()


def test_gains_that_scatter_are_not_said_to_be_alike():
    noise = {ADDING: UNSTEADY, WAITING: UNSTEADY[::-1][2:] + UNSTEADY[:2]}
    finding = found(TEXTBOOK, noise=noise)

    assert finding.message == CANNOT_TELL
    assert {"arithmetic_gain", "waiting_gain"} <= set(finding.unclear)


def test_gains_that_are_the_same_are_said_to_be():
    finding = found(dict.fromkeys(TEXTBOOK, 1.5))

    assert finding.message == "both_alike"
    assert finding.unclear == ()


def test_two_rounds_make_no_gain_clear():
    finding = found(TEXTBOOK, noise=(1.0, 1.01))

    assert finding.message == "too_few_rounds"
    assert "waiting_gain" in finding.unclear


@pytest.mark.parametrize(
    ("work", "message", "name"),
    [
        (ADDING, "waiting_alone_gains", "arithmetic_gain"),
        (WAITING, "adding_alone_gains", "waiting_gain"),
    ],
)
def test_a_work_that_gains_nothing_is_said_to_and_shows_its_number(work, message, name):
    finding = found({key: 1.01 if key[0] == work else 1.8 for key in TEXTBOOK})

    assert finding.message == message
    assert finding.values[name] == pytest.approx(1.01)
    assert finding.unclear == ()


@pytest.mark.parametrize(
    ("work", "message", "name"),
    [(ADDING, "waiting_gains", "arithmetic_gain"), (WAITING, "adding_gains", "waiting_gain")],
)
def test_a_gain_of_which_nobody_can_tell_is_not_called_none(work, message, name):
    gains = {key: 1.05 if key[0] == work else 9.0 for key in TEXTBOOK}
    scattering = (0.9, 1.0, 1.1, 0.95, 1.05)
    finding = found(gains, noise=dict.fromkeys((ADDING, WAITING), (1.0,) * 5) | {work: scattering})

    assert finding.message == message
    assert name in finding.unclear


def test_the_larger_gain_is_not_told_where_nobody_can_tell_it():
    gains = {key: 0.3 if key[0] == ADDING else 1.05 for key in TEXTBOOK}
    finding = found(gains, noise={ADDING: (1.0,) * 5, WAITING: (0.9, 1.0, 1.1, 0.95, 1.05)})

    assert finding.message == CANNOT_TELL


def test_the_other_way_round_is_said_as_it_is():
    other = TEXTBOOK | {(ADDING, SIBLINGS): 1.8, (WAITING, SIBLINGS): 1.1}

    assert found(other).message == "adding_gains_more"


def test_one_kind_of_work_alone_is_not_compared():
    assert found({(ADDING, SIBLINGS): 1.05}).message == "nothing_to_compare"


def test_a_machine_without_hardware_threads_is_told_so():
    without = {key: gain for key, gain in TEXTBOOK.items() if key[1] == CORES}
    finding = found(without, machine())

    assert missing_need(EXPERIMENT, machine()) is Need.SMT
    assert finding.message == "no_hardware_threads"
    assert finding.values["cores_waiting_gain"] == pytest.approx(2.0)
    assert "waiting_gain" not in finding.values


@in_one(
    ("here", "places"),
    [
        (machine(cores=1), {ONE: (0,)}),
        (machine(cores=2), {ONE: (1,), CORES: (0, 1)}),
        (machine(cores=2, threads_per_core=2), {ONE: (3,), SIBLINGS: (1, 3), CORES: (0, 3)}),
        (machine(cores=1, threads_per_core=2), {ONE: (1,), SIBLINGS: (0, 1)}),
    ],
)
def test_threads_are_put_on_one_core_and_on_two(here, places):
    assert smt.place_threads(here) == places


def test_two_siblings_are_measured_like_any_two_threads(monkeypatch):
    """No hardware threads here: two cores play them, which changes nothing in the work."""
    here = inspect()
    threads = tuple(thread.id for thread in here.cpu.threads_list[:2])
    monkeypatch.setattr(
        smt, "place_threads", lambda _machine: {ONE: threads[:1], SIBLINGS: threads}
    )
    rows = [
        item
        for item in measure(Params(chain_bytes=MIB, rounds=2), Bench(here))
        if isinstance(item, WorkRate)
    ]

    assert len(rows) == 8
    assert all(row.gain == 1 for row in rows if row.place == ONE)
    assert all(0 < row.gain < math.inf for row in rows)  # disturbed, a short sample may take long
    for row in rows:  # the gain is against the single thread of the same round
        (one,) = (r for r in rows if (r.work, r.repeat, r.place) == (row.work, row.repeat, ONE))
        assert row.gain == pytest.approx(row.work_per_s / one.work_per_s)


def test_places_take_turns_in_being_first(monkeypatch):
    """All places of a work are measured in one turn: what disturbs it, disturbs all of them."""
    order = []
    monkeypatch.setattr(
        smt, "place_threads", lambda _machine: {ONE: (0,), SIBLINGS: (0, 0), CORES: (0, 0, 0)}
    )
    monkeypatch.setattr(smt, "_adding", lambda _bench: lambda threads: ([None] * threads, 1))
    monkeypatch.setattr(
        smt, "_waiting", lambda _params, _bench: lambda threads: ([None] * threads, 1)
    )
    monkeypatch.setattr(
        smt,
        "turn_seconds_together",
        lambda _bench, jobs, **_: order.append(len(jobs)) or [1.0] * len(jobs),
    )
    rows = [i for i in measure(Params(rounds=3), Bench(inspect())) if isinstance(i, WorkRate)]

    assert {tuple(order[at : at + 3]) for at in range(0, 18, 6)} == {
        (1, 2, 3),
        (2, 3, 1),
        (3, 1, 2),
    }
    assert {(row.place, row.gain) for row in rows} == {(ONE, 1.0), (SIBLINGS, 2.0), (CORES, 3.0)}


def test_the_chain_leaves_half_of_the_free_memory(free_memory):
    free_memory(GIB)
    assert smt.EXPERIMENT.defaults(machine(caches=(2**15, MIB, GIB))).chain_bytes == 512 * MIB
    assert smt.EXPERIMENT.defaults(machine()).chain_bytes == 128 * MIB


# --- the lesson ---------------------------------------------------------------------------------


@in_one(
    ("name", "bars"),
    [
        ("usual", {ADDING}),
        ("adding_loses", {ADDING}),
        ("adding_gains_more", {WAITING}),
        ("alike", {ADDING, WAITING}),
    ],
)
def test_the_bar_nearest_to_one_thread_is_one_of_two_threads_on_one_core(name, bars):
    spot = lesson.nearest_one(lessons.RUNS[name])

    assert spot == Spot(pairs=tuple((SIBLINGS, work) for work in sorted(bars)))


def test_a_gain_that_is_unclear_judges_nobody_and_is_not_named():
    assert "adding_gain" not in lesson.numbers(lessons.RUNS["adding_unclear"], None)
    assert lesson.numbers(lessons.RUNS["usual"], None)["adding_gain"] == pytest.approx(1.1)


@in_one(("cores", "is_said"), [(2.0, True), (1.1, False)])
def test_two_cores_are_named_only_where_they_add_more(cores, is_said):
    assert lesson.two_cores(modelled(Params(), gains(1.1, 1.9, cores))) is is_said


@in_one(
    ("params", "waiting", "is_reached"),
    [
        (Params(chain_bytes=MIB, rounds=30), 1.9, True),
        (Params(chain_bytes=MIB, rounds=30), 1.3, False),
        (Params(chain_bytes=MIB), 1.9, False),
        (Params(rounds=100), 1.9, False),
        (Params(chain_bytes=32 * MIB, rounds=30), 1.9, False),
    ],
)
def test_a_cache_that_is_waited_for_takes_two_settings(params, waiting, is_reached):
    assert lesson.cache_is_enough(modelled(params, gains(1.1, waiting))) is is_reached


def test_what_moves_is_as_much_as_was_measured():
    """While two threads read six times, they add what the gains say."""
    run = lessons.RUNS["usual"]
    motion = lesson.motion(run, None)
    adding, waiting = (scene.events for scene in motion.scenes)
    reads = [event for event in waiting if isinstance(event, Travel)]
    (added,) = (event for event in adding if isinstance(event, Count))

    alone_s = 1 / lessons.ALONE_PER_S[WAITING]
    assert len(reads) == 6
    assert all(each.end_s - each.start_s == pytest.approx(2 * alone_s / 1.9) for each in reads)
    assert added.every_s == pytest.approx(alone_s / 1.1)
    assert lesson.motion(lessons.RUNS["alike"], None) is None
