"""The time of several jobs at once, each on its own hardware thread, and of turns between two."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from experiments.core.bench import Bench
from experiments.core.processes.affinity import can_keep, keep_on
from experiments.core.sizes import KIB
from experiments.tools.buffers import Buffer

CAN_PIN = can_keep()
LEAST_TURNS = 3  # of each job while all run
WARM_UP = 50  # turns handed over, in which the other thread is started

Placed = tuple[int | None, Callable[[], object]]  # a hardware thread, and the job that runs on it


def pin(thread: int | None) -> None:
    """Keep the calling thread on one hardware thread, if the system allows it."""
    if thread is not None and CAN_PIN:
        with contextlib.suppress(OSError):
            keep_on({thread})


def seconds_together(bench: Bench, jobs: Sequence[Placed]) -> float:
    """Return the seconds from the start of the first job to the end of the last.

    For a fixed amount of work that the jobs share: until all of it is done is what its user waits.
    Each must release the GIL. They start together, within a thread's time to wake (50 to 100 µs,
    far more on a busy machine). The last job ends alone. `turn_seconds_together` shows the effect
    of two jobs on each other.
    """
    from concurrent.futures import ThreadPoolExecutor  # not for those who only list experiments

    bench.check_stop()
    together = threading.Barrier(len(jobs))

    def one(thread: int | None, job: Callable[[], object]) -> tuple[float, float]:
        pin(thread)
        bench.ready_thread()
        together.wait()
        with bench.watched():
            start_s = bench.now_s()
            job()
            return start_s, bench.now_s()

    with ThreadPoolExecutor(len(jobs)) as pool:
        spans = [run.result() for run in [pool.submit(one, *job) for job in jobs]]
    return max(end_s for _, end_s in spans) - min(start_s for start_s, _ in spans)


def turn_seconds_together(
    bench: Bench, jobs: Sequence[Placed], *, at_least_s: float
) -> list[float]:
    """Return the seconds of one turn of each job while all of them run.

    Each job is repeated until all have run together for `at_least_s`. Only turns that lie wholly
    within the window in which all ran are counted. Outside of it a job had less beside it. A turn
    should take a small part of `at_least_s`, and must release the GIL.
    """
    window = _Window(len(jobs), bench.now_s, at_least_s)
    repeated = [(thread, partial(window.fill, n, job)) for n, (thread, job) in enumerate(jobs)]
    seconds_together(bench, repeated)
    return window.turn_seconds()


class _Window:
    """When each job's turns began and ended; jobs in several threads add to it."""

    def __init__(self, jobs: int, clock: Callable[[], float], at_least_s: float) -> None:
        self._clock, self._at_least_s = clock, at_least_s
        self._starts_s = [math.inf] * jobs
        self._turns: list[list[tuple[float, float]]] = [[] for _ in range(jobs)]
        self._has_failed = False

    def fill(self, place: int, job: Callable[[], object]) -> None:
        """Repeat a job until all have run together for long enough, or one has failed."""
        turns = self._turns[place]
        start_s = self._starts_s[place] = self._clock()
        try:
            while not self._is_over(start_s):
                start_s = self._clock()
                job()
                turns.append((start_s, self._clock()))
        except BaseException:
            self._has_failed = True
            raise

    def turn_seconds(self) -> list[float]:
        """Return the mean of each job's turns between the last start and the first end."""
        begin_s, end_s = max(self._starts_s), min(turns[-1][1] for turns in self._turns)
        means = []
        for turns in self._turns:
            inside = [
                to_s - from_s for from_s, to_s in turns if begin_s <= from_s and to_s <= end_s
            ]
            means.append(sum(inside) / len(inside))
        return means

    def _is_over(self, now_s: float) -> bool:
        begin_s = max(self._starts_s)
        if self._has_failed or now_s < begin_s + self._at_least_s:
            return self._has_failed
        return all(
            len(turns) > LEAST_TURNS and turns[-LEAST_TURNS - 1][0] >= begin_s
            for turns in self._turns
        )


class Link(Protocol):
    """The means by which two threads hand over their turns."""

    def begin(self, count: int) -> None:
        """Hand over `count` turns."""

    def answer(self, count: int) -> None:
        """Hand `count` turns back."""

    def close(self) -> None:
        """Let who still waits give up."""


class Futex:
    """A word in memory on which two threads sleep in turn."""

    def __init__(self) -> None:
        self._memory = Buffer(KIB)
        self._word, self._memory.words[0] = int(self._memory.address), 0

    def begin(self, count: int) -> None:
        """Hand over `count` turns."""
        from experiments.kernels.handing_over import over_futex

        over_futex(count, self._word, 0, 1)

    def answer(self, count: int) -> None:
        """Hand `count` turns back."""
        from experiments.kernels.handing_over import over_futex

        over_futex(count, self._word, 1, 0)

    def alone(self, count: int) -> None:
        """Make the calls of `count` turns."""
        from experiments.kernels.handing_over import futex_alone

        futex_alone(count, self._word)

    def close(self) -> None:
        """Let who still waits give up."""
        from experiments.kernels.handing_over import GIVEN_UP

        self._memory.words[0] = GIVEN_UP
        self.alone(1)  # it wakes


def handed_s(link: Link, core: int | None, bench: Bench, count: int) -> float:
    """Return the seconds of `count` turns, each handed to a thread on a core or back.

    Not by `bench.time`: on one core, each thread waits in the queue while the other still runs,
    which is no disturbance. And the processor's counters would cost time at each switch.
    """

    def answer() -> None:
        pin(core)
        link.answer(WARM_UP + count)

    partner = threading.Thread(target=answer, name="answering")
    partner.start()
    try:
        bench.check_stop()
        link.begin(WARM_UP)
        start_s = bench.now_s()
        link.begin(count)
        return (bench.now_s() - start_s) / 2
    except BaseException:
        link.close()
        raise
    finally:
        partner.join()
