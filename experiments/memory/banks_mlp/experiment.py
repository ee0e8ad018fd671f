"""How many reads from memory can be under way at once?

Method: one thread, kept on the last core (pinned), walks 1 to 48 chains of dependent reads side by
side. Within a chain a read waits for the previous one; between chains nothing waits. So one core
asks for a line of every chain at once, until core or memory can take no more. The chains are
stretches of one random cycle, each walk on new ones. Each number of chains is timed for the same
time, so that a disturbance hits all alike. A walk of the same length, not timed, comes first. Pages
are of 2 MiB where the system gives them: looking up small ones limits what can be under way. The
most chains are also walked on two cores at once: if memory was full, both read no more than one
core. Rounds are shuffled; compared are the medians.
Source: google/multichase (`-c parallelN`); J. D. C. Little (1961): what is under way is rate times
latency.

Not shown: which part of the core fills up first, its buffers for awaited lines or the walk through
page tables.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from experiments import api as x
from experiments.tools.buffers import Buffer, huge_pages_fraction, huge_pages_told
from experiments.tools.chasing import LINE_BYTES
from experiments.tools.core_clock import Clock, RoundClock, core_hz
from experiments.tools.long_chain import (
    COUNTS,
    WALK_S,
    LongChain,
    fastest_of,
    power_of_two,
    read_s,
    steps_for,
    under_way,
)
from experiments.tools.neighbours import by_topology
from experiments.tools.side_by_side import seconds_together

CORES = ("one_core", "two_cores")
IN_STEP = 1.25  # times one chain's time: so many chains still all read at once
FREE_SHARE = 0.5


class Params(x.Params):
    """The parameters; the memory walked is the next power of two below `memory_bytes`."""

    memory_bytes: int = x.param(256 * x.MIB, minimum=x.MIB, maximum=64 * x.GIB, scale="log2")
    rounds: int = x.param(15, minimum=1, maximum=100)
    huge_pages: bool = True


class Read(x.Row):
    """One repeat with `chains`: the time per read, all chains together."""

    chains: int = x.column(scale="log2")
    repeat: int
    latency_s: float = x.column(scale="log10")
    asked_bytes: int = x.column(scale="log2")
    line_bytes_per_s: float = x.column(scale="log10")


class Together(x.Row):
    """One repeat with the most chains on each of some cores: what all of them read."""

    on: str
    repeat: int
    line_bytes_per_s: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each number of chains or cores and round, and the clock of each round."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        buffer = Buffer(power_of_two(params.memory_bytes), huge=params.huge_pages)
        if params.huge_pages:
            yield from huge_pages_told(huge_pages_fraction(buffer))
        chain = LongChain(buffer, bench)
        steps = {chains: steps_for(chain, chains, bench) for chains in COUNTS}
        cores = [thread.id for thread in by_topology(bench.machine)[-len(CORES) :]]
        arms: list[tuple[type[x.Row], int]] = [(Read, chains) for chains in COUNTS]
        arms += [(Together, count) for count in range(1, len(cores) + 1)]
        clock = RoundClock(bench)
        for turn, (kind, count) in bench.interleave(arms, params.rounds):
            yield from clock.of(turn.round)
            if kind is Read:
                latency_s = read_s(chain, count, steps[count], bench)
                yield Read(
                    chains=count,
                    repeat=turn.round,
                    latency_s=latency_s,
                    asked_bytes=count * LINE_BYTES,
                    line_bytes_per_s=LINE_BYTES / latency_s,
                )
            else:
                rate = _together_bytes_per_s(chain, cores[-count:], steps[max(COUNTS)], bench)
                yield Together(on=CORES[count - 1], repeat=turn.round, line_bytes_per_s=rate)
            yield x.Progress(turn.fraction)


def _together_bytes_per_s(chain: LongChain, cores: list[int], steps: int, bench: x.Bench) -> float:
    """Return what these cores read together, each walking the most chains."""
    from experiments.kernels.many_chains import walk_all

    chains = max(COUNTS)

    def once() -> float:
        jobs: list[tuple[int | None, Callable[[], object]]] = [
            (core, functools.partial(walk_all, steps, chain.stretches(chains, steps)))
            for core in cores
        ]
        return seconds_together(bench, jobs)

    once()  # as before each walk that is timed
    return len(cores) * chains * steps * LINE_BYTES / once()


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare one chain with the fastest number of several."""
    of = x.spreads_of(tables["reads"], "latency_s", "chains")
    limits = x.Limits()
    cache_bytes = x.last_level_cache_bytes(machine)
    if cache_bytes is None or power_of_two(params.memory_bytes) < x.BEYOND_CACHE * cache_bytes:
        limits.append("partly_in_cache")
    limits.add("page_translation_included", not params.huge_pages)
    one, several = of.get(1), {chains: each for chains, each in of.items() if chains > 1}
    parallelism = under_way(of)
    if one is None or parallelism is None:
        return x.Finding("nothing_to_compare", {}, tuple(limits))
    fastest = fastest_of(several)
    best = several[fastest]
    values = {
        "one_chain_s": one.median,
        "best_s": best.median,
        "best_chains": fastest,
        "parallelism": parallelism,
        "bytes_in_flight": LINE_BYTES * parallelism,
        "best_bytes_per_s": LINE_BYTES / best.median,
    }
    if machine.memory.peak_bytes_per_s:
        values["bandwidth_limit_bytes_per_s"] = machine.memory.peak_bytes_per_s
    clock_hz = core_hz(tables)
    if clock_hz is not None:
        values |= {"core_hz": clock_hz, "one_chain_cycles": one.median * clock_hz}
        values["best_cycles"] = best.median * clock_hz
    values["chains_in_step"] = in_step(tables["reads"])
    limits.add("no_floor_reached", values["chains_in_step"] == max(of))
    rates = x.spreads_of(tables["together"], "line_bytes_per_s", "on")
    if rates.keys() >= set(CORES):
        values["two_cores_gain"] = rates["two_cores"].median / rates["one_core"].median
    if any(one.low > chains * each.high for chains, each in several.items()):
        limits = x.Limits(["more_than_chains", *limits])
    limits.add("no_clock", clock_hz is None)
    message = _message(one, several, fastest)
    is_clear = message not in (x.TOO_FEW, x.CANNOT_TELL)
    unclear = () if is_clear else ("parallelism", "bytes_in_flight")
    return x.Finding(message, values, tuple(limits), unclear)


def in_step(reads: Sequence[Read]) -> int:
    """Return up to how many chains all take a step in about the time of one; 0 without rows."""
    found = x.medians((row.chains, row.latency_s) for row in reads)
    alone_s = found.get(1, 0.0)
    within = takewhile(lambda n: n * found[n] <= IN_STEP * alone_s, sorted(found))
    return max(within, default=0)


def _message(one: x.Spread, several: Mapping[int, x.Spread], fastest: int) -> str:
    """Return the message; all numbers of chains are one family, as the fastest is picked."""
    if x.too_few((one, several[fastest])):
        return x.TOO_FEW
    pairs = {chains: (each, one) for chains, each in several.items()}
    found = x.family(pairs, x.Spread.against)[fastest]
    if found.outcome is x.Outcome.UNKNOWN:
        return x.CANNOT_TELL
    gains = found.outcome is x.Outcome.DIFFERS and not found.is_above
    return "many_under_way" if gains else "no_gain"


def seconds(params: Params) -> float:
    """Estimate: laying out the chain, then two walks for each number of chains."""
    samples_s = (len(COUNTS) + len(CORES)) * 2 * 1.2 * WALK_S
    return 0.3 + params.memory_bytes / x.GIB * 1.2 + (params.rounds + 1) * (samples_s + 0.01)


EXPERIMENT = x.Experiment(
    version=3,
    params=Params,
    tables={"reads": Read, "together": Together, "clocks": Clock},
    measure=measure,
    loop="kernels/many_chains.py:walk_all",
    analyse=analyse,
    views=(
        x.Lines(
            "time",
            "reads",
            x.Axis("chains"),
            x.Axis("latency_s"),
            limits=(x.Limit("floor", "best_s"),),
        ),
        x.Lines(
            "bandwidth",
            "reads",
            x.Axis("asked_bytes"),
            x.Axis("line_bytes_per_s"),
            limits=(
                x.Limit("memory_bandwidth", "bandwidth_limit_bytes_per_s"),
                x.Limit("in_flight", "bytes_in_flight", "x"),
            ),
        ),
        x.Bars("together", "together", "on", "line_bytes_per_s", order=CORES),
    ),
    values=x.values(
        x.Value("one_chain_s", x.Part.MEMORY),
        x.Value("best_s", x.Part.MEMORY),
        x.Value("parallelism", x.Part.FILL_BUFFERS),
        x.Value("bytes_in_flight", x.Part.FILL_BUFFERS),
        "best_chains",
        "chains_in_step",
        "two_cores_gain",
        x.Value("best_bytes_per_s", x.Part.MEMORY),
        "bandwidth_limit_bytes_per_s",
        "one_chain_cycles",
        "best_cycles",
        x.Value("core_hz", x.Part.CORES),
    ),
    keys=(
        x.Key("parallelism", "time", at="parallelism"),
        x.Key("best_s", "time", at="best_chains"),
        x.Key("bytes_in_flight", "bandwidth", at="bytes_in_flight"),
    ),
    next=x.Next("burst-random", {"huge_pages": False}),
    parts=(x.Part.CORES, x.Part.FILL_BUFFERS, x.Part.MEMORY),
    uses=(x.Use.PINNING, x.Use.HUGE_PAGES),
    imports=("numpy", "numba"),
    defaults=lambda machine: Params(
        memory_bytes=power_of_two(x.beyond_cache(machine, 256 * x.MIB, FREE_SHARE, times=8))
    ),
    quick=x.change(
        memory_bytes=lambda size: max(power_of_two(size) // 2, x.MIB), at_most={"rounds": 10}
    ),
    smallest=x.change(memory_bytes=x.MIB, rounds=2),
    seconds=seconds,
    memory_bytes=lambda params: power_of_two(params.memory_bytes) + 2 * x.MIB,
)
