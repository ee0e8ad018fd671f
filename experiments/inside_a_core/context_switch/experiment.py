"""What does it cost to change over from one thread to another?

Method: two threads take turns through the kernel, by a futex (which locks use to sleep) and through
pipes. Both are first kept on one core (pinned), so each turn is a switch of threads. Then they are
kept on two cores, and each wakes the other core. One thread alone makes the same calls, without
anything to wait for. Its time is subtracted. A bare system call stands beside them. All take turns;
compared are medians.
Source: L. McVoy, C. Staelin, lmbench (USENIX 1996), lat_ctx; futex(2).

Not shown: the later cost of a switch, when the other thread's data fill the caches.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable

from experiments import api as x
from experiments.tools.batches import batch
from experiments.tools.buffers import Buffer
from experiments.tools.neighbours import by_topology
from experiments.tools.side_by_side import Futex, handed_s

CALL = "system_call"
FUTEX, PIPE = "futex", "pipe"
ALONE, ONE_CORE, TWO_CORES = "alone", "one_core", "two_cores"
WAYS = (
    CALL,
    *(f"{means}_{place}" for means in (FUTEX, PIPE) for place in (ALONE, ONE_CORE, TWO_CORES)),
)
SAMPLE_S = 0.008
FIRST_TURNS = 100
MOSTLY = 0.8
APART_BYTES = 256  # the bytes of both threads lie on lines of their own
NAMED = (
    (FUTEX, ONE_CORE, "switch_s"),
    (FUTEX, TWO_CORES, "wake_other_core_s"),
    (PIPE, ONE_CORE, "pipe_switch_s"),
    (PIPE, TWO_CORES, "pipe_wake_other_core_s"),
)  # each less the same calls alone
Sample = Callable[[int], float]  # takes the turns, returns the seconds of all


class Params(x.Params):
    """The parameters."""

    rounds: int = x.param(15, minimum=1, maximum=200)


class Turn(x.Row):
    """One repeat: the time of one call, or of handing over once, there or back.

    `switched_fraction` is the share of round trips in which the timing thread left its core. It
    slept, or the thread that it had woken took its place.
    """

    way: str
    repeat: int
    each_s: float = x.column(scale="log10")
    switched_fraction: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each way and round."""
    from experiments.kernels.system_calls import ask_kernel

    with bench.pinned() as own:
        if own is None:
            raise x.UserError("needs_linux")
        others = [thread.id for thread in by_topology(bench.machine) if thread.id != own]
        if not others:
            yield x.Note("one_core_only")
        cores = {ONE_CORE: own, **({TWO_CORES: others[-1]} if others else {})}
        with contextlib.closing(Futex()) as futex, contextlib.closing(Pipes()) as pipes:
            samples: dict[str, Sample] = {CALL: _alone(ask_kernel, bench)}
            for means, link in ((FUTEX, futex), (PIPE, pipes)):
                samples[f"{means}_{ALONE}"] = _alone(link.alone, bench)
                for place, core in cores.items():
                    samples[f"{means}_{place}"] = functools.partial(handed_s, link, core, bench)
            counts = {way: batch(of, SAMPLE_S, start=FIRST_TURNS) for way, of in samples.items()}
            for turn, way in bench.interleave(tuple(samples), params.rounds):
                before = _switches()
                each_s = samples[way](counts[way]) / counts[way]
                switched = min(1.0, (_switches() - before) / counts[way])
                yield Turn(way=way, repeat=turn.round, each_s=each_s, switched_fraction=switched)
                yield x.Progress(turn.fraction)


class Pipes:
    """A pipe there and one back."""

    def __init__(self) -> None:
        self._memory = Buffer(x.KIB)
        self._byte = int(self._memory.address)
        self._there, self._back = os.pipe(), os.pipe()
        self._open = [*self._there, *self._back]

    def begin(self, count: int) -> None:
        """Hand over `count` turns."""
        from experiments.kernels.handing_over import over_pipe

        over_pipe(count, self._back[0], self._there[1], self._byte, True)

    def answer(self, count: int) -> None:
        """Hand `count` turns back."""
        from experiments.kernels.handing_over import over_pipe

        over_pipe(count, self._there[0], self._back[1], self._byte + APART_BYTES, False)

    def alone(self, count: int) -> None:
        """Make the calls of `count` turns, through the pipe there."""
        from experiments.kernels.handing_over import over_pipe

        over_pipe(count, *self._there, self._byte, True)

    def close(self) -> None:
        """Close both; who still waits reads the end."""
        while self._open:
            os.close(self._open.pop())


def _switches() -> int:
    """Return how often the calling thread has left its core by now."""
    if sys.platform == "linux":
        import resource

        used = resource.getrusage(resource.RUSAGE_THREAD)
        return used.ru_nvcsw + used.ru_nivcsw
    raise NotImplementedError


def _alone(loop: Callable[[int], object], bench: x.Bench) -> Sample:
    return lambda count: bench.time(lambda: loop(count), count)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Take the calls off the turns, and compare one core with two."""
    rows = tables["turns"]
    real = [row for row in rows if ALONE in row.way or row.way == CALL or _has_switched(row)]
    of = x.spreads_of(real, "each_s", "way")
    values: dict[str, float] = {}
    if CALL in of:
        values["system_call_s"] = of[CALL].median
    for means, place, name in NAMED:
        turns, calls = of.get(f"{means}_{place}"), of.get(f"{means}_{ALONE}")
        if turns and calls and turns.median > calls.median:
            values[name] = turns.median - calls.median
    alone, one, two = (of.get(f"{FUTEX}_{place}") for place in (ALONE, ONE_CORE, TWO_CORES))
    if alone is None or one is None:
        return x.Finding("nothing_to_compare", values)
    compared, unclear = x.ratios({"turn_over_calls": (one, alone)})
    values |= compared
    limits = x.Limits(["cold_caches"])
    limits.add("awake", len(real) < len(rows))
    limits.add("one_core_only", all(TWO_CORES not in row.way for row in rows))
    limits.add("virtual_machine", two is not None and x.is_virtual(machine))
    if unsure := x.unsure((one, alone), *([(two, one)] if two else [])):
        message = unsure
    elif not alone.is_below(one):
        message = "switch_costs_nothing"
    elif two is None:
        message = "switch_costs"
    elif one.is_as(two):
        message = "both_alike"
    else:
        message = "waking_costs_more" if one.is_below(two) else "waking_costs_less"
    return x.Finding(message, values, tuple(limits), unclear)


def _has_switched(row: Turn) -> bool:
    """Did the turns need the scheduler? Two threads that stay awake hand over without it."""
    return row.switched_fraction >= MOSTLY


def seconds(params: Params) -> float:
    """Estimate: seven samples a round, finding how many turns each takes, loading the loops."""
    return 0.8 + 7 * SAMPLE_S * (4 + 1.2 * params.rounds)


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"turns": Turn},
    measure=measure,
    loop="kernels/handing_over.py:over_futex",
    analyse=analyse,
    views=(
        x.Ruler("ruler", "turns", "way", "each_s", statistic="median", order=WAYS),
        x.Bars("bars", "turns", "way", "each_s", order=WAYS),
    ),
    values=x.values(
        "system_call_s",
        x.Value("switch_s", x.Part.CORES),
        "wake_other_core_s",
        "pipe_switch_s",
        "pipe_wake_other_core_s",
        "turn_over_calls",
    ),
    keys=(
        x.Key("system_call_s", "ruler", (CALL,)),
        x.Key("switch_s", "ruler", (f"{FUTEX}_{ONE_CORE}",)),
        x.Key("wake_other_core_s", "ruler", (f"{FUTEX}_{TWO_CORES}",)),
    ),
    next=x.Next("talk-cost", {"rounds": lambda rounds: max(rounds, 30)}),
    parts=(x.Part.CORES,),
    needs=(x.Need.LINUX,),
    imports=("numpy", "numba"),
    defaults=lambda _machine: Params(),
    quick=x.change(rounds=7),
    smallest=x.change(rounds=3),
    seconds=seconds,
    memory_bytes=lambda _params: x.MIB,
)
