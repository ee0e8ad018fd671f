"""How many reads from memory can be under way at once?

Method: one thread, kept on the last core (pinned), walks 1 to 48 chains of dependent reads side by
side. Within a chain a read waits for the one before; between chains nothing waits, so one core asks
for as many lines at once as there are chains, until it, or the memory, can take no more. The chains
are stretches of one random cycle, each walk on new ones. Each number of chains is timed for the
same time, so that a disturbance hits all alike, after a walk as long that is not timed. Pages are
of 2 MiB where the system gives them: looking up small ones limits what can be under way. Rounds are
shuffled; compared are the medians.
Source: google/multichase (`-c parallelN`); J. D. C. Little (1961): what is under way is rate times
latency.

What it cannot tell: which of the things on the way fills up first, the core's buffers for lines
that it waits for, the walk through the page tables, or the banks of the memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from experiments import api as x
from experiments.tools.buffers import Buffer, huge_pages_fraction, huge_pages_told
from experiments.tools.chasing import LINE_BYTES
from experiments.tools.core_clock import Clock, clocks, core_hz
from experiments.tools.long_chain import LongChain, power_of_two
from experiments.tools.under_way import COUNTS, SAMPLE_S, fastest_of, read_s, steps_for, under_way

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


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each number of chains and round, and the clock of each round."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        buffer = Buffer(power_of_two(params.memory_bytes), huge=params.huge_pages)
        if params.huge_pages:
            yield from huge_pages_told(huge_pages_fraction(buffer))
        chain = LongChain(buffer, bench)
        steps = {chains: steps_for(chain, chains, bench) for chains in COUNTS}
        clocked = -1
        for turn, chains in bench.interleave(COUNTS, params.rounds):
            if turn.round > clocked:
                yield from clocks(bench, turn.round)
                clocked = turn.round
            latency_s = read_s(chain, chains, steps[chains], bench)
            yield Read(
                chains=chains,
                repeat=turn.round,
                latency_s=latency_s,
                asked_bytes=chains * LINE_BYTES,
                line_bytes_per_s=LINE_BYTES / latency_s,
            )
            yield x.Progress(turn.fraction)


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
    limits.add("no_floor_reached", fastest == max(COUNTS))
    if any(one.low > chains * each.high for chains, each in several.items()):
        limits = x.Limits(["more_than_chains", *limits])
    limits.add("no_clock", clock_hz is None)
    message = _message(one, several, fastest)
    is_clear = message not in (x.TOO_FEW, x.CANNOT_TELL)
    unclear = () if is_clear else ("parallelism", "bytes_in_flight")
    return x.Finding(message, values, tuple(limits), unclear)


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
    samples_s = len(COUNTS) * 2 * 1.2 * SAMPLE_S
    return 0.3 + params.memory_bytes / x.GIB * 1.2 + (params.rounds + 1) * (samples_s + 0.01)


EXPERIMENT = x.Experiment(
    version=3,
    params=Params,
    tables={"reads": Read, "clocks": Clock},
    measure=measure,
    loop="kernels/many_chains.py:walk_all",
    analyse=analyse,
    views=(
        x.Lines(
            "time",
            "reads",
            x.Axis("chains"),
            x.Axis("latency_s"),
            limits=(x.Limit("floor", "best_s"), x.Limit("under_way", "parallelism", "x")),
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
    ),
    values=x.values(
        x.Value("one_chain_s", x.Part.MEMORY),
        x.Value("best_s", x.Part.MEMORY),
        "parallelism",
        "bytes_in_flight",
        "best_chains",
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
    parts=(x.Part.CORES, x.Part.MEMORY),
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
