from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Sequence

import pytest

from app import garbage


class Knot:
    """Something that only the collector can find, since it holds itself."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def collected_by_python_itself():
    gc.collect()
    gc.enable()
    yield
    gc.disable()  # as in all tests: tests/conftest.py collects


MANY = 100_000  # objects at once: any generation is due after them


def allocate(kept: list[list[object]], number: int) -> None:
    kept.extend([] for _ in range(number))


def knotted(ends: list[threading.Thread]) -> None:
    weakref.finalize(Knot(), lambda: ends.append(threading.current_thread()))


def test_only_the_thread_that_asks_collects():
    ends: list[threading.Thread] = []
    garbage.leave_to_us()
    knotted(ends)
    kept: list[list[object]] = []

    worker = threading.Thread(target=allocate, args=(kept, MANY))
    worker.start()
    worker.join()
    assert ends == []

    garbage.collect_due()
    assert ends == [threading.current_thread()]


def test_a_command_collects_seldom_and_the_window_as_python_does():
    usual = gc.get_threshold()
    garbage.seldom()
    assert gc.get_threshold() > usual
    garbage.leave_to_us()
    assert gc.get_threshold() == usual


def test_nothing_is_collected_before_it_is_due():
    ends: list[threading.Thread] = []
    garbage.leave_to_us()
    knotted(ends)

    garbage.collect_due()

    assert ends == []


def test_old_objects_are_collected_after_many_collections_of_young_ones():
    ends: list[threading.Thread] = []
    garbage.leave_to_us()
    knot = Knot()
    weakref.finalize(knot, lambda: ends.append(threading.current_thread()))
    gc.collect()  # the knot is now among the oldest
    del knot

    young, middle, _ = gc.get_threshold()
    kept: list[list[object]] = []
    for _ in range((middle + 2) ** 2):
        allocate(kept, 2 * young)
        garbage.collect_due()

    assert ends == [threading.current_thread()]


def test_nothing_is_collected_while_many_things_are_made():
    ends: list[threading.Thread] = []
    garbage.leave_to_us()
    knotted(ends)

    kept: list[list[object]] = []

    def make() -> Sequence[object]:
        allocate(kept, MANY)
        garbage.collect_due()  # as the window does meanwhile
        assert ends == []
        return ()

    garbage.spared(make, ())
    garbage.collect_due()
    assert ends == [threading.current_thread()]


def test_what_comes_in_bulk_and_lasts_is_never_looked_at_again():
    before = [[number] for number in range(garbage.MANY)]
    came = [[number] for number in range(garbage.MANY + 1)]
    frozen = gc.get_freeze_count()

    assert garbage.spared(lambda: before, ()) is before
    garbage.spared(lambda: [*before, *came[1:]], before)
    assert gc.get_freeze_count() == frozen

    garbage.spared(lambda: [*before, *came], before)
    assert gc.get_freeze_count() > frozen
    looked_at = set(map(id, gc.get_objects()))
    assert not any(id(each) in looked_at for each in (*before, *came))
