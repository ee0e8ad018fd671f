from __future__ import annotations

import os
import threading

import pytest

from experiments.core.bench import Bench, StopRequested
from experiments.core.judging.disturbed import Loss
from machine.model import Machine
from machine.processor.counters import Counts
from tests.experiments.machines import machine


class Clock:
    """A clock that stands still except during work."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def work(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def bench(clock):
    return Bench(machine(), clock=clock)


def test_the_time_of_a_call_is_told_by_the_clock(bench, clock):
    assert bench.time(lambda: clock.work(0.25)) == 0.25


def test_a_count_is_found_that_takes_long_enough(bench, clock):
    counts = []

    def work(count):
        counts.append(count)
        clock.work(count * 1e-6)

    found = bench.repeat_for(work, at_least_s=0.005, start=10)

    assert found * 1e-6 >= 0.005
    assert found == counts[-1]  # what is timed next has run before
    assert counts[0] == 10
    assert counts == sorted(set(counts))


def test_a_count_is_found_though_the_clock_is_too_coarse_for_the_first(bench, clock):
    def work(count):
        clock.work(0.001 * (count // 1000))

    assert bench.repeat_for(work, at_least_s=0.005, start=1) >= 5000


def test_a_start_that_takes_long_enough_is_kept(bench, clock):
    assert bench.repeat_for(lambda _: clock.work(1.0), at_least_s=0.005, start=7) == 7


def test_each_round_has_every_arm_once_in_another_order(bench):
    arms = list(range(20))
    turns = list(bench.interleave(arms, 3))
    rounds = [[arm for turn, arm in turns if turn.round == number] for number in range(3)]

    assert [sorted(each) for each in rounds] == [arms] * 3
    assert rounds[0] != rounds[1] != rounds[2]
    assert rounds[0] != arms


def test_the_share_that_is_done_grows_from_nothing_to_nearly_all(bench):
    fractions = [turn.fraction for turn, _ in bench.interleave("abc", 4)]

    assert fractions == [place / 12 for place in range(12)]


@pytest.mark.parametrize(
    ("arms", "name", "begins"),
    [
        ("abcdef", "e", "e"),
        ([(size, way) for size in (1, 2, 3) for way in ("up", "down")], "down", (1, "down")),
        ("abcdef", "nonsuch", "nonsuch"),
        ([None, "a", "b"], "", ""),
    ],
)
def test_what_holds_the_turns_names_the_first_and_changes_no_other(bench, arms, name, begins):
    usual = [arm for _, arm in bench.interleave(arms, 2)]
    asked: list[str] = []
    bench.before_turns = lambda: asked.append(name) or name
    turns = bench.interleave(arms, 2)
    assert not asked
    found = [arm for _, arm in turns]

    assert asked == [name]
    assert found[0] == begins or begins not in arms
    assert [arm for arm in found[: len(arms)] if arm != begins] == [
        arm for arm in usual[: len(arms)] if arm != begins
    ]
    assert found[len(arms) :] == usual[len(arms) :]
    assert [arm for _, arm in bench.interleave(arms, 2)] == usual  # it is held once


def test_what_waits_before_each_round_waits_at_the_end_too(bench):
    waits: list[int] = []
    seen: list[tuple[int, int]] = []
    bench.before_round = lambda: waits.append(len(seen))
    for turn, _ in bench.interleave("ab", 3):
        seen.append((turn.round, len(waits)))

    assert seen == [(number, number + 1) for number in range(3) for _ in "ab"]
    assert waits == [0, 2, 4, 6]  # once more after the last round, before what follows it


def test_the_order_is_the_same_in_each_run(bench):
    assert list(bench.interleave("abcdef", 2)) == list(bench.interleave("abcdef", 2))


def test_a_stop_is_obeyed_before_the_next_sample(clock):
    asked = []
    bench = Bench(machine(), stop=lambda: bool(asked), clock=clock)
    turns = bench.interleave("abc", 2)
    next(turns)

    asked.append("stop")

    with pytest.raises(StopRequested):
        next(turns)
    with pytest.raises(StopRequested):
        bench.time(lambda: clock.work(1.0))
    with pytest.raises(StopRequested):
        bench.repeat_for(lambda _: clock.work(1.0), at_least_s=0.1, start=1)
    assert clock.now_s == 0.0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be kept here")
def test_a_pinned_thread_stays_on_the_last_usable_one_and_is_let_go():
    from machine.inspect import inspect
    from machine.model import usable_threads

    here = inspect()
    before = os.sched_getaffinity(0)

    with Bench(here).pinned() as thread:
        assert thread == usable_threads(here)[-1].id
        assert os.sched_getaffinity(0) == {thread}

    assert os.sched_getaffinity(0) == before


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be kept here")
def test_a_thread_is_let_go_also_after_an_error():
    from machine.inspect import inspect

    before = os.sched_getaffinity(0)

    with pytest.raises(ZeroDivisionError), Bench(inspect()).pinned():
        _ = 1 / 0

    assert os.sched_getaffinity(0) == before


def test_where_no_thread_can_be_kept_the_measurement_goes_on():
    with Bench(Machine()).pinned() as thread:
        assert thread is None
    with Bench(machine(cores=4000)).pinned() as thread:  # a processor that is not there
        assert thread is None


# --- disturbed turns ------------------------------------------------------------------------------


def watching(*lost):
    """Return a bench whose timed calls lose these shares of their time, and then none."""
    losses = iter(lost)

    def watch():
        return lambda: Loss(next(losses, 0.0), 1)

    return Bench(machine(), watch=watch)


def turns_of(bench, arms, rounds):
    """Return round, arm, and whether it was disturbed of every turn, each with one timed call."""
    found = []
    for turn, arm in bench.interleave(arms, rounds):
        bench.time(lambda: None)
        found.append((turn.round, arm, bench.disturbed is not None))
    return found


def test_a_disturbed_turn_comes_again_in_its_round():
    first, again, *others = turns_of(watching(0.5), ["a", "b"], 4)

    assert first[2]
    assert again == (*first[:2], False)
    assert len(others) == 7
    assert not any(disturbed for _, _, disturbed in others)


def test_what_lost_little_counts():
    assert not any(disturbed for _, _, disturbed in turns_of(watching(0.04, 0.05), ["a"], 4))


def test_a_turn_comes_again_twice_at_most():
    found = turns_of(watching(*[0.5] * 4), ["a"], 16)

    assert [each for each in found if each[0] == 0] == [(0, "a", True)] * 3
    assert [each for each in found if each[0] == 1] == [(1, "a", True), (1, "a", False)]


def test_a_quarter_of_all_turns_is_added_at_most():
    assert len(turns_of(watching(*[0.5] * 1000), ["a", "b"], 6)) == 15


def test_looking_for_a_count_is_no_sample():
    bench = watching(*[0.5] * 1000)
    for _ in bench.interleave(["a"], 1):
        bench.repeat_for(lambda _count: None, at_least_s=0.0, start=1)
        assert bench.disturbed is None


def test_outside_of_turns_nothing_is_disturbed():
    bench = watching(0.5, 0.5)
    bench.time(lambda: None)

    assert bench.disturbed is None
    turns_of(bench, ["a"], 1)
    assert bench.disturbed is None


def test_of_threads_the_one_that_lost_most_tells():
    bench = watching(0.01, 0.3, 0.02)
    for _ in bench.interleave(["a"], 1):
        for _ in range(3):
            with bench.watched():
                pass
        assert bench.disturbed == Loss(0.3, 1)
        break


def test_without_a_watch_no_turn_comes_again():
    assert turns_of(Bench(machine()), ["a"], 3) == [(n, "a", False) for n in range(3)]


# --- counters of the processor --------------------------------------------------------------------


def test_counts_are_those_of_what_was_timed_since_they_were_last_taken(clock):
    def count():
        clock.work(1.0)  # what counting costs is no part of the time
        return lambda operations: (clock.work(1.0), Counts(events={"c": 5}, operations=operations))[
            1
        ]

    bench = Bench(machine(), clock=clock, count=count)
    for _ in bench.interleave(["a", "b"], 2):
        assert bench.take_counts() is None
        bench.repeat_for(lambda _count: None, at_least_s=0.0, start=1)  # no sample
        assert bench.time(lambda: clock.work(0.25), 10) == 0.25
        assert bench.take_counts() == Counts(events={"c": 5}, operations=10)
        bench.time(lambda: None, 1)
        bench.time(lambda: None, 2)
        assert bench.take_counts() == Counts(events={"c": 10}, operations=3)
        bench.time(lambda: None)  # another turn does not take these over


def test_a_thread_made_ready_has_opened_its_counters_and_counted_nothing():
    opened = []

    def count():
        opened.append(threading.get_ident())
        return lambda operations: Counts(events={"c": 5}, operations=operations)

    bench = Bench(machine(), count=count)
    for _ in bench.interleave(["a"], 1):
        bench.ready_thread()
        assert bench.take_counts() is None
    assert opened == [threading.get_ident()]
    Bench(machine()).ready_thread()


def test_without_counters_nothing_is_counted(bench):
    for _ in bench.interleave(["a"], 1):
        bench.time(lambda: None, 10)
        assert bench.take_counts() is None


def test_a_call_within_a_tick_of_the_clock_takes_that_tick_and_not_nothing():
    assert Bench(machine(), clock=lambda: 1.0).time(lambda: None) > 0
