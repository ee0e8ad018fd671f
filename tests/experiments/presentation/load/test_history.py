from __future__ import annotations

import pytest

from experiments.presentation.load.history import GAP_S, SPAN_S, History

MEMORY = {"total_bytes": 100, "used_bytes": 40, "swap_total_bytes": 0, "swap_used_bytes": 0}


class Clock:
    def __init__(self) -> None:
        self.now_s = self.slept_s = 0.0

    def history(self) -> History:
        return History(lambda: self.now_s, lambda: self.slept_s)


def thread(number: int, busy: float | None = 0.5, hz: float | None = None, steal=None):
    return {"id": number, "busy": busy, "hz": hz, "steal_fraction": steal}


def filled(times, clock: Clock | None = None) -> History:
    clock = clock or Clock()
    history = clock.history()
    for t_s in times:
        clock.now_s = t_s
        history.add(t_s, [thread(0)], MEMORY)
    return history


def test_what_is_not_known_is_none_and_not_zero():
    moment = History().add(0.0, [thread(0, None), thread(1, None)], {})

    assert moment.busy_fraction is None
    assert moment.stolen_fraction is None
    assert moment.lowest_hz is None
    assert moment.memory_fraction is None
    assert moment.swap_fraction is None
    assert moment.threads == {0: None, 1: None}


def test_the_mean_is_that_of_the_threads_that_are_known():
    moment = History().add(0.0, [thread(0, 0.8), thread(1, None), thread(2, 0.4)], MEMORY)

    assert moment.busy_fraction == pytest.approx(0.6)


def test_no_swap_space_has_no_share():
    assert History().add(0.0, [], MEMORY).swap_fraction is None


@pytest.mark.parametrize("hz", [2.0, 5.0, 20.0])
def test_a_minute_is_kept_at_every_rate(hz):
    history = filled(n / hz for n in range(round(100 * hz)))

    assert history.now_s - history.moments[0].at_s >= SPAN_S
    assert history.now_s - history.moments[1].at_s <= SPAN_S


def test_another_rate_is_no_gap():
    history = filled([0.0, 0.05, 0.1, 0.6, 1.1, 1.15])

    assert [moment.after_gap for moment in history.moments] == [True] + [False] * 5


def test_a_pause_is_a_gap_of_which_no_sample_speaks():
    history = filled([0.0, 0.5, 10.0, 10.5])

    assert [moment.after_gap for moment in history.moments] == [True, False, True, False]
    assert history.at(5.0) is None
    assert history.at(0.2) is history.moments[-1]
    assert history.at(10.2) is history.moments[1]


def test_sleep_is_a_gap_though_the_clock_of_the_watch_stood_still():
    clock = Clock()
    history = filled([0.0, 0.5], clock)
    clock.slept_s = 20.0

    moment = history.add(1.0, [thread(0)], MEMORY)

    assert moment.after_gap
    assert moment.at_s == pytest.approx(21.0)


def test_time_goes_on_where_another_watch_begins():
    clock = Clock()
    history = filled([0.0, 5.0], clock)
    clock.now_s = 8.0

    moment = history.add(0.0, [thread(0, None)], MEMORY)

    assert moment.after_gap
    assert moment.at_s >= 8.0
    assert history.add(0.5, [thread(0)], MEMORY).at_s == pytest.approx(moment.at_s + 0.5)


def test_before_the_first_sample_nothing_is_known():
    history = filled([100.0, 100.5])

    assert history.at(30.0) is None
    assert history.at(0.0) is history.moments[-1]
    assert History().at(0.0) is None


def test_since_returns_what_is_new_in_order():
    history = filled([0.0, 0.5, 1.0, 1.5])

    assert [moment.at_s for moment in history.since(0.5)] == [1.0, 1.5]
    assert history.since(1.5) == []


def test_marks_are_numbered_and_go_with_their_time():
    clock = Clock()
    history = filled([0.0, 0.5], clock)
    first = history.mark(0.5)
    assert (first.number, first.at_s) == (1, 0.5)

    for n in range(round(SPAN_S / GAP_S) + 2):
        history.add(1.0 + n * GAP_S, [thread(0)], MEMORY)

    assert history.marks == []
    assert history.mark(history.now_s).number == 2


def test_a_frozen_history_does_not_change():
    history = filled([0.0, 0.5])
    frozen = history.freeze()
    history.add(1.0, [thread(0)], MEMORY)
    history.mark(1.0)

    assert frozen.now_s == 0.5
    assert frozen.marks == []
