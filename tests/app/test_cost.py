from __future__ import annotations

import os

import pytest

from app.cost import Cost


class Times:
    now_s = used_s = 0.0

    def cost(self) -> Cost:
        return Cost(lambda: self.now_s, lambda: self.used_s)


def test_at_first_nothing_is_known():
    assert Times().cost().fraction(None) is None


def test_it_is_the_share_of_one_core_in_the_last_seconds():
    times = Times()
    cost = times.cost()
    for second in range(60):
        times.now_s = float(second)
        times.used_s += 0.5 if second < 30 else 0.01
        share = cost.fraction(None)

    assert share == pytest.approx(0.01)


def test_asked_often_it_looks_every_other_second():
    times = Times()
    looks = []
    cost = Cost(lambda: times.now_s, lambda: looks.append(1) or 0.0)
    for n in range(100):
        times.now_s = n / 25
        cost.fraction(None)

    assert len(looks) == 2


def test_another_worker_begins_anew_and_costs_nothing_that_it_used_before():
    times = Times()
    cost = times.cost()
    cost.fraction(None)
    times.now_s = 2.0

    assert cost.fraction(os.getpid()) is None


def test_a_worker_that_has_gone_is_no_error():
    times = Times()
    cost = times.cost()
    cost.fraction(2**22 + 1)
    times.now_s = 2.0

    assert cost.fraction(2**22 + 1) == 0.0
