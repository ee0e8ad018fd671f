from __future__ import annotations

import threading
import time

import pytest

from app.window.core.event_pump import EventPump
from experiments.core.problems import UserError
from tests.app.window.stage import settle


@pytest.fixture
def pump(qapp):
    taken, ends = [], []
    pump = EventPump(taken.append, ends.append)
    pump.taken, pump.ends = taken, ends
    yield pump
    pump.close()


def test_events_come_in_order_and_none_is_left_out(pump):
    pump.start(lambda _wish: iter(range(5000)))
    settle(lambda: pump.ends)

    assert pump.taken == [*range(5000)]
    assert pump.ends == [None]
    assert not pump.is_running


def test_a_turn_takes_no_more_than_there_is_time_for(qapp):
    taken, turns, ends = [], [], []
    pump = EventPump(lambda event: (taken.append(event), time.sleep(0.005)), ends.append)
    pump.turned.connect(lambda: turns.append(len(taken)))
    pump.start(lambda _wish: iter(range(3)))
    settle(lambda: ends)

    assert turns == [1, 2, 3]


def trouble(_wish):
    yield 1
    raise UserError("order_unreadable", reason="line 1")


def mistake(_wish):
    yield 1
    raise ZeroDivisionError


@pytest.mark.parametrize(("make", "key"), [(trouble, "order_unreadable"), (mistake, "unexpected")])
def test_what_goes_wrong_comes_after_the_events(pump, make, key, caplog):
    pump.start(make)
    settle(lambda: pump.ends)

    assert pump.taken == [1]
    assert pump.ends[0].key == key


def test_it_is_stopped_also_before_there_is_anything_to_stop(pump):
    goes_on, over = threading.Event(), threading.Event()

    def make(wish):
        goes_on.wait(10)
        wish.calls(over.set)
        over.wait(10)
        yield "last"

    pump.start(make)
    pump.stop()
    assert pump.is_stopping
    goes_on.set()
    settle(lambda: pump.ends)

    assert pump.taken == ["last"]


def test_what_is_forgotten_says_nothing_more_and_the_next_waits_for_its_end(pump):
    over = threading.Event()

    def first(wish):
        wish.calls(over.set)
        over.wait(10)
        yield "first"

    pump.start(first)
    pump.forget()
    assert not pump.is_running
    pump.start(lambda _wish: iter([over.is_set()]))
    settle(lambda: pump.ends)

    assert pump.taken == [True]
