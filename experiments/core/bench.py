"""The only clock of a measurement, with what belongs to it: repeats, order, pinning, stop."""

from __future__ import annotations

import contextlib
import functools
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from machine.model import Machine, usable_threads

A = TypeVar("A")
SEED = 20_26  # orders are shuffled, and the same in each run


class StopRequested(Exception):
    """Raised inside `measure` between two samples, so that a stop need not wait for a row."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One turn of an interleaved measurement; `fraction` of the turns lie behind it."""

    round: int
    fraction: float


class Bench:
    """What `measure` may ask for. A test hands it a clock and a stop of its own."""

    def __init__(
        self,
        machine: Machine,
        *,
        quick: bool = False,
        stop: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.machine = machine
        self.quick = quick
        self._stop = stop
        self.now_s = clock

    def check_stop(self) -> None:
        """Raise StopRequested if the user asked to stop."""
        if self._stop():
            raise StopRequested

    def time(self, call: Callable[[], object]) -> float:
        """Return how many seconds one call takes. The caller sizes it: a millisecond or more."""
        self.check_stop()
        start_s = self.now_s()
        call()
        return self.now_s() - start_s

    def repeat_for(self, work: Callable[[int], object], *, at_least_s: float, start: int) -> int:
        """Return the first count, from `start` upwards, for which `work(count)` takes that long.

        Also the warm-up: the same code has run with the same data before anything is kept.
        """
        count = start
        while (taken_s := self.time(functools.partial(work, count))) < at_least_s:
            growth = 1.1 * at_least_s / taken_s if taken_s > 0 else 2
            count = max(int(count * min(growth, 100)), count + 1)
        return count

    def interleave(self, arms: Sequence[A], rounds: int) -> Iterator[tuple[Arm, A]]:
        """Yield every arm once a round, each round shuffled, so that drift favours none."""
        order, total = random.Random(SEED), len(arms) * rounds
        for number in range(rounds):
            for place, arm in enumerate(order.sample(arms, len(arms))):
                self.check_stop()
                yield Arm(number, (number * len(arms) + place) / total), arm

    @contextlib.contextmanager
    def pinned(self, to: int | None = None) -> Iterator[int | None]:
        """Keep this thread on one hardware thread; yield its id, None where it cannot be kept.

        The last usable one, unless told: interrupts and desktops prefer the first.
        """
        usable = [thread.id for thread in usable_threads(self.machine)]
        if not usable or not hasattr(os, "sched_setaffinity"):
            yield None
            return
        before, chosen = os.sched_getaffinity(0), usable[-1] if to is None else to
        try:
            os.sched_setaffinity(0, {chosen})
        except OSError:
            yield None
            return
        try:
            yield chosen
        finally:
            os.sched_setaffinity(0, before)
