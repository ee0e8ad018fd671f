"""The only clock of a measurement, with what belongs to it: repeats, order, pinning, stop.

If the bench watches, it measures a turn again when a timed thread was disturbed in it.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import operator
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from experiments.core.judging.disturbed import DISTURBED_FRACTION, Loss
from experiments.core.processes.affinity import allowed, can_keep, keep_on
from machine.model import Machine, usable_threads
from machine.processor.counters import Counts
from machine.record import Record

A = TypeVar("A")
AGAIN = 2  # times that a disturbed turn is measured again, at most
MORE_FRACTION = 0.25  # of all turns may be added by that
SEED = 20_26  # orders are shuffled, and the same in each run


class StopRequested(Exception):
    """Raised inside `measure` between two samples, so that a stop need not wait for a row."""


class Arm(Record, kw_only=False):
    """One turn of an interleaved measurement; `fraction` of the turns lie behind it."""

    round: int
    fraction: float


TICK_S = time.get_clock_info("perf_counter").resolution


class Bench:
    """Serves `measure`: times, watches, stops. A test hands it a clock and a stop of its own."""

    def __init__(
        self,
        machine: Machine,
        *,
        quick: bool = False,
        stop: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.perf_counter,
        watch: Callable[[], Callable[[], Loss]] | None = None,
        count: Callable[[], Callable[[int], Counts | None]] | None = None,
        quietest: Callable[[Sequence[int]], int] = max,
    ) -> None:
        self.machine = machine
        self.quick = quick
        self._stop = stop
        self.now_s = clock
        self._watch, self._count, self._quietest = watch, count, quietest
        self.before_turns: Callable[[], str] = lambda: ""  # called once; names the first arm, or ""
        self.before_round: Callable[[], object] = lambda: None  # called before each, and at the end
        self.wants_more: Callable[[], bool] = lambda: False  # asked after the last round
        self._losses: list[Loss] | None = None  # of what was timed in a turn; threads add to it
        self._counts: list[Counts] = []  # likewise

    def check_stop(self) -> None:
        """Raise StopRequested if the user asked to stop."""
        if self._stop():
            raise StopRequested

    def time(self, call: Callable[[], object], operations: int = 0) -> float:
        """Return how many seconds one call takes. The caller sizes it: a millisecond or more.

        `operations` is the number of operations in a call. With it the processor's counts can be
        given for one operation.
        """
        with self.watched(operations):  # Windows' clock may not tick within a call
            return max(self._once_s(call), TICK_S)

    @contextlib.contextmanager
    def watched(self, operations: int = 0) -> Iterator[None]:
        """Watch what the system takes from the calling thread; for what times itself in a turn.

        If the processor's counters are available, they run within. The cost of reading them lies
        outside the time that is taken within.
        """
        losses, counts = self._losses, self._counts
        if losses is None:
            yield
            return
        loss = self._watch() if self._watch is not None else None
        counted = self._count() if self._count is not None else None
        yield
        if counted is not None and (found := counted(operations)) is not None:
            counts.append(found)
        if loss is not None:
            losses.append(loss())

    @property
    def disturbed(self) -> Loss | None:
        """The greatest loss in this turn, if it spoils the turn's sample."""
        worst = max(self._losses or (), key=lambda loss: loss.lost_fraction, default=None)
        return worst if worst and worst.lost_fraction > DISTURBED_FRACTION else None

    def ready_thread(self) -> None:
        """Do what a new thread pays for once, so that `watched` begins soon after a barrier."""
        if self._count is not None:
            self._count()(0)

    def take_counts(self) -> Counts | None:
        """Return what was counted since this was last asked in this turn; None for nothing."""
        taken, self._counts = self._counts, []
        return functools.reduce(operator.add, taken) if taken else None

    def repeat_for(self, work: Callable[[int], object], *, at_least_s: float, start: int) -> int:
        """Return the first count, from `start` upwards, for which `work(count)` takes that long.

        Also the warm-up: the same code has run with the same data before anything is kept.
        """
        count = start
        while (taken_s := self._once_s(functools.partial(work, count))) < at_least_s:
            growth = 1.1 * at_least_s / taken_s if taken_s > 0 else 2
            count = max(int(count * min(growth, 100)), count + 1)
        return count

    def _once_s(self, call: Callable[[], object]) -> float:
        self.check_stop()
        start_s = self.now_s()
        call()
        return self.now_s() - start_s

    def interleave(self, arms: Sequence[A], rounds: int) -> Iterator[tuple[Arm, A]]:
        """Yield every arm once a round, each round shuffled, so that drift favours none.

        An arm whose turn was disturbed comes again at once, at most twice. All repeats together add
        at most a quarter more turns. After the last round more rounds follow, as long as
        `wants_more` returns True.
        """
        before, self.before_turns = self.before_turns, lambda: ""
        first = before()
        order, total = random.Random(SEED), len(arms) * rounds
        left = math.ceil(total * MORE_FRACTION)
        try:
            for number in itertools.count():
                self.before_round()
                if number >= rounds and not self.wants_more():
                    break
                turns = order.sample(arms, len(arms))
                if number == 0 and first:
                    _begin_with(first, arms, turns)
                for place, arm in enumerate(turns):
                    turn = Arm(number, min(1.0, (number * len(arms) + place) / total))
                    for again in range(AGAIN + 1):
                        self.check_stop()
                        self._losses, self._counts = [], []
                        yield turn, arm
                        if self.disturbed is None or not left or again == AGAIN:
                            break
                        left -= 1
        finally:
            self._losses = None

    @contextlib.contextmanager
    def pinned(self, to: int | None = None) -> Iterator[int | None]:
        """Keep this thread on one hardware thread; yield its id, None where it cannot be kept.

        Without `to` it is the quietest usable one.
        """
        usable = [thread.id for thread in usable_threads(self.machine)]
        if not usable or not can_keep():
            yield None
            return
        chosen = self._quietest(usable) if to is None else to
        try:
            before = allowed()
            keep_on({chosen})
        except OSError:
            yield None
            return
        try:
            yield chosen
        finally:
            keep_on(before)


def _begin_with(name: str, arms: Sequence[A], turns: list[A]) -> None:
    """Move the first arm that is called so, or has it among its parts, to the front."""
    for arm in arms:
        if name in map(str, arm if isinstance(arm, tuple) else (arm,)):
            turns.sort(key=lambda each: each is not arm)
            return
