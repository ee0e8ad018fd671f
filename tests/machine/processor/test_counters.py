from __future__ import annotations

import mmap
import os
import platform
import sys
import threading

import pytest

from machine.processor import counters
from machine.processor.counters import (
    KNOWN_REFUSALS,
    NO_LINUX,
    SOFTWARE,
    Counters,
    Counts,
    Reading,
    Refused,
    opened,
    refusal,
)

FAULTS, CLOCK = {"page_faults": (SOFTWARE, 2)}, {"task_clock_ns": (SOFTWARE, 1)}
PAGES = 500


class Fake:
    """Counters that go on by a step between two readings; they note when they were switched."""

    def __init__(self, **steps: Reading) -> None:
        self._now = dict.fromkeys(steps, Reading(100, 1_000, 900))
        self._steps = steps
        self.switched: list[bool] = []

    def _read(self, name: str) -> Reading:
        now, step = self._now[name], self._steps[name]
        self._now[name] = Reading(
            now.value + step.value,
            now.enabled_ns + step.enabled_ns,
            now.running_ns + step.running_ns,
        )
        return now

    def counters(self) -> Counters:
        read = {name: (lambda name=name: self._read(name)) for name in self._steps}
        return Counters(read, self.switched.append)


def test_what_came_between_is_counted_and_they_are_off_again():
    fake = Fake(cycles=Reading(4_000, 50, 50), branch_misses=Reading(7, 50, 50))
    end = fake.counters().begin()
    assert fake.switched == [True]

    assert end(10) == Counts(events={"cycles": 4_000, "branch_misses": 7}, operations=10)
    assert fake.switched == [True, False]


def test_counters_that_took_turns_are_scaled_and_say_so():
    fake = Fake(cycles=Reading(4_000, 100, 100), l1_misses=Reading(30, 100, 25))

    counts = fake.counters().begin()(0)

    assert counts == Counts(events={"cycles": 4_000, "l1_misses": 120}, running_fraction=0.25)


def test_an_event_that_never_ran_is_left_out():
    never = Reading(0, 100, 0)

    counts = Fake(cycles=Reading(8, 100, 100), l1_misses=never).counters().begin()(0)

    assert counts == Counts(events={"cycles": 8})
    assert Fake(l1_misses=never).counters().begin()(0) is None


def test_two_samples_together_have_the_events_and_operations_of_both():
    one = Counts(events={"cycles": 5, "l1_misses": 1}, operations=2, running_fraction=0.5)
    other = Counts(events={"cycles": 7}, operations=4)

    assert one + other == Counts(events={"cycles": 12}, operations=6, running_fraction=0.5)
    assert (one + Counts(events={"cycles": 1})).operations == 0  # nothing says how many


@pytest.fixture
def software():
    """Open events of the kernel itself, which need no counter of the processor."""
    if (why := _refused(FAULTS)) or (why := _refused(CLOCK)):
        pytest.skip(f"this system lends no counters: {why}")


def _refused(events):
    try:
        opened(events)
    except Refused as error:
        return str(error)
    return ""


def _touch(pages):
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(pages):
            memory[page * mmap.PAGESIZE] = 1


@pytest.mark.usefixtures("software")
def test_real_page_faults_are_counted_while_they_are_on():
    both = opened(FAULTS | CLOCK)
    _touch(PAGES)  # they are off
    end = both.begin()
    _touch(PAGES)
    counts = end(PAGES)
    _touch(PAGES)

    assert PAGES <= counts.events["page_faults"] < 1.5 * PAGES
    assert counts.events["task_clock_ns"] > 0
    assert counts.running_fraction == 1


@pytest.mark.usefixtures("software")
def test_each_thread_counts_its_own_and_closes_it(monkeypatch):
    monkeypatch.setattr(counters, "EVENTS", FAULTS)
    monkeypatch.setattr(counters, "_of_thread", threading.local())
    monkeypatch.setattr(counters, "opened", lambda: opened(FAULTS))
    files, found = set(os.listdir("/proc/self/fd")), []

    def other():
        end = counters.count()
        _touch(PAGES)
        found.append(end(0))

    end = counters.count()
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()

    assert found[0].events["page_faults"] >= PAGES
    assert end(0).events["page_faults"] < PAGES
    del end, counters._of_thread.counters  # noqa: SLF001  (as at the end of a thread)
    assert set(os.listdir("/proc/self/fd")) <= files


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lends them")
def test_a_refusal_is_the_name_of_the_error(monkeypatch):
    monkeypatch.setattr(counters, "_CALL", {platform.machine(): 100_000})  # there is no such call

    assert refusal() == "ENOSYS"
    monkeypatch.setattr(counters, "_of_thread", threading.local())
    assert counters.count()(5) is None  # a measurement goes on without


def test_another_system_lends_none(monkeypatch):
    monkeypatch.setattr("platform.system", lambda: "Darwin")

    assert refusal() == NO_LINUX


def test_the_processor_counts_here_or_there_is_a_known_reason():
    if why := refusal():
        assert why in KNOWN_REFUSALS
        pytest.skip(f"this system lends no counter of the processor: {why}")
    end = opened().begin()
    total = sum(range(100_000))
    counts = end(0)

    assert total
    assert counts.events["instructions"] > 100_000
