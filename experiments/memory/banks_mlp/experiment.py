"""How many reads from memory can be under way at once?

Method: one thread, kept on the last core (pinned), walks 1 to 32 chains of dependent reads side by
side. Within a chain a read waits for the one before; between chains nothing waits, so one core asks
for as many lines at once as there are chains, until it, or the memory, can take no more. The chains
are stretches of one random cycle, each walk on new ones, with the same number of reads for each
number of chains, after as many that are not timed; 4 KiB pages unless huge ones are asked for.
Rounds are shuffled; compared are the medians.
Source: google/multichase (`-c parallelN`); J. D. C. Little (1961): what is under way is rate times
latency.

What it cannot tell: which of the things on the way fills up first, the core's buffers for lines
that it waits for, the walk through the page tables, or the banks of the memory.
"""

from __future__ import annotations

from dataclasses import replace

from experiments import api as x
from experiments.tools.buffers import Buffer, huge_pages_fraction, huge_pages_told
from experiments.tools.chasing import LINE_BYTES
from experiments.tools.core_clock import Clock, clocks, core_hz
from experiments.tools.long_chain import LongChain, power_of_two

COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
SAMPLE_S = 0.003  # of the fastest; one chain takes about twenty times as long
FIRST_READS = 2_000
FREE_SHARE = 0.5


@x.record
class Params:
    """The parameters; the memory walked is the next power of two below `memory_bytes`."""

    memory_bytes: int = x.param(
        256 * x.MIB, unit="bytes", minimum=x.MIB, maximum=64 * x.GIB, scale="log2"
    )
    rounds: int = x.param(15, minimum=1, maximum=100)
    huge_pages: bool = x.param(False)


@x.record
class Read:
    """One repeat with `chains`: the time per read, all chains together."""

    chains: int = x.column(scale="log2")
    repeat: int = x.column()
    latency_s: float = x.column("s", scale="log10")
    asked_bytes: int = x.column("bytes", scale="log2")
    line_bytes_per_s: float = x.column("bytes/s", scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each number of chains and round, and the clock of each round."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        buffer = Buffer(power_of_two(params.memory_bytes), huge=params.huge_pages)
        if params.huge_pages:
            yield from huge_pages_told(huge_pages_fraction(buffer))
        chain = LongChain(buffer, bench)
        reads = _reads(chain, bench)
        clocked = -1
        for turn, chains in bench.interleave(COUNTS, params.rounds):
            if turn.round > clocked:
                yield from clocks(bench, turn.round)
                clocked = turn.round
            latency_s = read_s(chain, chains, reads, bench)
            yield Read(
                chains=chains,
                repeat=turn.round,
                latency_s=latency_s,
                asked_bytes=chains * LINE_BYTES,
                line_bytes_per_s=LINE_BYTES / latency_s,
            )
            yield x.Progress(turn.fraction)


def _reads(chain: LongChain, bench: x.Bench) -> int:
    """Return how many reads take a sample's time in many chains, the fewest that are timed."""
    from experiments.kernels.many_chains import rounded_steps, walk_all

    def walk(steps: int) -> None:
        walk_all(steps, chain.stretches(COUNTS[-1], rounded_steps(steps)))

    steps = bench.repeat_for(walk, at_least_s=SAMPLE_S, start=FIRST_READS // COUNTS[-1])
    return steps * COUNTS[-1]


def read_s(chain: LongChain, chains: int, reads: int, bench: x.Bench) -> float:
    """Return the seconds per read for `reads` in `chains`."""
    from experiments.kernels.many_chains import rounded_steps, walk_all

    steps = rounded_steps(reads // chains)
    # How much of the page tables the caches hold depends on the reads just before: after
    # 32 chains a single one was a third faster for a while than when it is walked on and on.
    walk_all(steps, chain.stretches(chains, steps))
    places = chain.stretches(chains, steps)
    return bench.time(lambda: walk_all(steps, places)) / (steps * chains)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare one chain with the fastest number of chains."""
    of = x.spreads((read.chains, read.latency_s, read.repeat) for read in tables["reads"])
    limits = [] if params.huge_pages else ["page_translation_included"]
    cache_bytes = x.last_level_cache_bytes(machine)
    if cache_bytes is None or power_of_two(params.memory_bytes) < 4 * cache_bytes:
        limits.append("partly_in_cache")
    if 1 not in of or len(of) == 1:
        return x.Finding("nothing_to_compare", {}, tuple(limits))
    one, fastest = of[1], min(of, key=lambda chains: of[chains].median)
    best = of[fastest]
    values = {
        "one_chain_s": one.median,
        "best_s": best.median,
        "best_chains": fastest,
        "parallelism": one.median / best.median,
        "bytes_in_flight": LINE_BYTES * one.median / best.median,
        "best_bytes_per_s": LINE_BYTES / best.median,
    }
    if machine.memory.peak_bytes_per_s:
        values["bandwidth_limit_bytes_per_s"] = machine.memory.peak_bytes_per_s
    clock_hz = core_hz(tables)
    if clock_hz is None:
        limits.append("no_clock")
    else:
        values |= {"core_hz": clock_hz, "one_chain_cycles": one.median * clock_hz}
        values["best_cycles"] = best.median * clock_hz
    if fastest == max(COUNTS):
        limits.append("no_floor_reached")
    if any(one.low > chains * each.high for chains, each in of.items() if chains > 1):
        limits.append("more_than_chains")
    if not best.differs_from(one):
        unclear = ("parallelism", "bytes_in_flight")
        message = x.TOO_FEW if x.too_few((best, one)) else "one_at_a_time"
        return x.Finding(message, values, tuple(limits), unclear)
    return x.Finding(
        "many_under_way" if clock_hz is None else "many_under_way_in_cycles", values, tuple(limits)
    )


def defaults(machine: x.Machine) -> Params:
    """Walk through eight last-level caches, at least 256 MiB, within half of the free memory."""
    wanted = max(8 * (x.last_level_cache_bytes(machine) or 0), 256 * x.MIB)
    most = x.fits(wanted, FREE_SHARE)
    return Params(memory_bytes=max(power_of_two(most), x.MIB))


def quick(params: Params) -> Params:
    """Walk through half of the memory, five times."""
    return replace(
        params, memory_bytes=max(power_of_two(params.memory_bytes) // 2, x.MIB), rounds=5
    )


def seconds(params: Params) -> float:
    """Estimate: the same reads take longer the fewer chains they are in."""
    samples_s = 2 * sum(20 / min(chains, 20) for chains in COUNTS) * 1.3 * SAMPLE_S
    return 0.3 + params.memory_bytes / x.GIB * 1.2 + params.rounds * (samples_s + 0.01)


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"reads": Read, "clocks": Clock},
    measure=measure,
    analyse=analyse,
    views=(
        x.Lines(
            key="time",
            table="reads",
            x=x.Axis("chains", "log2"),
            y=x.Axis("latency_s", "log10"),
            limits=(x.Limit("floor", "best_s"), x.Limit("under_way", "parallelism", "x")),
        ),
        x.Lines(
            key="bandwidth",
            table="reads",
            x=x.Axis("asked_bytes", "log2"),
            y=x.Axis("line_bytes_per_s", "log10"),
            limits=(
                x.Limit("memory_bandwidth", "bandwidth_limit_bytes_per_s"),
                x.Limit("in_flight", "bytes_in_flight", "x"),
            ),
        ),
    ),
    values=(
        x.Value("one_chain_s", "s", x.Part.MEMORY),
        x.Value("best_s", "s", x.Part.MEMORY),
        x.Value("parallelism", ""),
        x.Value("bytes_in_flight", "bytes"),
        x.Value("best_chains", ""),
        x.Value("best_bytes_per_s", "bytes/s", x.Part.MEMORY),
        x.Value("bandwidth_limit_bytes_per_s", "bytes/s"),
        x.Value("one_chain_cycles", ""),
        x.Value("best_cycles", ""),
        x.Value("core_hz", "hz", x.Part.CORES),
    ),
    parts=(x.Part.CORES, x.Part.MEMORY),
    needs=(x.Need.NUMBA,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=quick,
    smallest=lambda params: replace(params, memory_bytes=x.MIB, rounds=2),
    seconds=seconds,
    memory_bytes=lambda params: power_of_two(params.memory_bytes) + 2 * x.MIB,
)
