"""Why do 16 numbers not fit into the first cache?

Method: one thread, kept on the last core (pinned), follows a shuffled chain through 1 to 32 cache
lines. The lines lie so far apart that all belong to the same set of the first cache: 4096 bytes on
most processors. As a control they lie one line farther apart, each in another set. Then the thread
writes to one place and reads another: at the same offset in another page, and at another offset.
All take turns; the medians count.
Source: J. L. Hennessy, D. A. Patterson, Computer Architecture, appendix B (set-associative caches);
A. Fog, The Microarchitecture of Intel, AMD and VIA CPUs (4K aliasing).

Not shown: the ways of the next caches, whose sets follow physical addresses.
"""

from __future__ import annotations

import functools
import math

from experiments import api as x
from experiments.tools.buffers import Buffer

SAME_SET, OTHER_SETS = SETS = ("same_set", "other_sets")
SAME_OFFSET, OTHER_OFFSET = OFFSETS = ("same_offset", "other_offset")
MOST = 32
LINE_BYTES, PAGE_BYTES = 64, 4096
FAR_BYTES = 1024  # another offset, in another line
SAMPLE_S = 0.0015
FIRST_STEPS = 2_000
LAYOUT_STEPS = 2_000  # of warm-up
JUMPS = 1.3  # times as long with most lines as in sets of their own, at least


class Params(x.Params):
    """The parameters; `apart_bytes` between two lines put them into the same set."""

    apart_bytes: int = x.param(PAGE_BYTES, minimum=LINE_BYTES, maximum=64 * x.KIB, scale="log2")
    rounds: int = x.param(10, minimum=1, maximum=100)


class Read(x.Row):
    """One repeat: a chained read through `lines` lines."""

    sets: str
    lines: int
    repeat: int
    read_s: float = x.column(scale="log10")


class Pair(x.Row):
    """One repeat: a write and a read, together."""

    offset: str
    repeat: int
    pair_s: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield rows of both tables, in turns."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        buffer = Buffer((MOST + 1) * (params.apart_bytes + LINE_BYTES))
        chains = [(sets, lines) for lines in range(1, MOST + 1) for sets in SETS]
        for turn, (what, lines) in bench.interleave(
            [*chains, *((offset, 0) for offset in OFFSETS)], params.rounds
        ):
            if lines:
                apart = params.apart_bytes + (LINE_BYTES if what == OTHER_SETS else 0)
                taken_s = read_s(buffer, lines, apart, turn.round, bench)
                yield Read(sets=what, lines=lines, repeat=turn.round, read_s=taken_s)
            else:
                taken_s = pair_s(buffer, 0 if what == SAME_OFFSET else FAR_BYTES, bench)
                yield Pair(offset=what, repeat=turn.round, pair_s=taken_s)
            yield x.Progress(turn.fraction)


def read_s(buffer: Buffer, lines: int, apart_bytes: int, turn: int, bench: x.Bench) -> float:
    """Return the seconds of one chained read through `lines` lines."""
    import numpy as np

    from experiments.kernels.chains import link_apart, rounded_steps, walk

    key = np.uint64(turn * 7919 + lines)
    place = link_apart(buffer.address, lines, apart_bytes, False, key)
    place = walk(LAYOUT_STEPS, place)
    steps = bench.repeat_for(lambda n: walk(n, place), at_least_s=SAMPLE_S, start=FIRST_STEPS)
    reads = rounded_steps(steps)
    return bench.time(lambda: walk(steps, place), reads) / reads


def pair_s(buffer: Buffer, offset_bytes: int, bench: x.Bench) -> float:
    """Return the seconds of a write and a read, `offset_bytes` apart within their pages."""
    from .kernels import write_and_read

    read = int(buffer.address)
    loop = functools.partial(write_and_read, written=read + PAGE_BYTES + offset_bytes, read=read)
    times = bench.repeat_for(loop, at_least_s=SAMPLE_S, start=FIRST_STEPS)
    return bench.time(lambda: loop(times), times) / times


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Find the last number of lines that fits, and compare the most with the control."""
    of = x.spreads_of(tables["reads"], "read_s", "sets", "lines")
    pairs = x.spreads_of(tables["pairs"], "pair_s", "offset")
    values: dict[str, float] = {}
    told = next((cache.ways for cache in machine.cpu.caches if _is_first(cache)), None)
    if told:
        values["ways_told"] = told
    compared: dict[str, tuple[x.Spread, x.Spread]] = {}
    if {(SAME_SET, MOST), (OTHER_SETS, MOST)} <= of.keys():
        compared["conflict_penalty"] = of[SAME_SET, MOST], of[OTHER_SETS, MOST]
    if set(OFFSETS) <= pairs.keys():
        compared["same_offset_penalty"] = pairs[SAME_OFFSET], pairs[OTHER_OFFSET]
    penalties, unclear = x.ratios(compared)
    values |= penalties
    limits = x.Limits()
    offset = compared.get("same_offset_penalty")
    limits.add("offsets_alias", offset and offset[1].is_below(offset[0]))
    if "conflict_penalty" not in compared:
        return x.Finding("nothing_to_compare", values, tuple(limits), unclear)
    same, other = compared["conflict_penalty"]
    if unsure := x.unsure((same, other)):
        return x.Finding(unsure, values, tuple(limits), unclear)
    if penalties["conflict_penalty"] < JUMPS or not other.is_below(same):
        return x.Finding("no_conflict", values, tuple(limits), unclear)
    seen = _ways({lines: found.median for (sets, lines), found in of.items() if sets == SAME_SET})
    values["ways_seen"] = seen
    limits.add("other_ways", told and told != seen)
    return x.Finding("ways_full", values, tuple(limits), unclear)


def _is_first(cache: object) -> bool:
    return getattr(cache, "level", 0) == 1 and getattr(cache, "kind", "") != "instruction"


def _ways(read_s: dict[int, float]) -> int:
    """Return how many lines are read before the time first passes the middle of its range.

    The middle lies on a logarithmic axis.
    """
    middle_s = math.sqrt(min(read_s.values()) * read_s[MOST])
    return min(lines for lines, taken_s in read_s.items() if taken_s > middle_s) - 1


def apart_bytes(machine: x.Machine) -> int:
    """Return the bytes of one way of the first cache: lines so far apart share a set."""
    caches = filter(_is_first, machine.cpu.caches)
    sizes = [c.size_bytes // c.ways for c in caches if c.size_bytes and c.ways]
    return max(PAGE_BYTES, sizes[-1]) if sizes else PAGE_BYTES


def seconds(params: Params) -> float:
    """Estimate: each sample is first sized; loading the compiled loops."""
    return 0.8 + params.rounds * (len(SETS) * MOST + len(OFFSETS)) * 2.6 * SAMPLE_S


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"reads": Read, "pairs": Pair},
    measure=measure,
    confirmed_by="l1_misses",
    loop="kernels/chains.py:walk",
    analyse=analyse,
    views=(
        x.Lines(
            "reads",
            "reads",
            x.Axis("lines"),
            x.Axis("read_s"),
            series="sets",
            order=SETS,
            limits=(x.Limit("ways", "ways_seen", "x"),),
        ),
        x.Bars("pairs", "pairs", "offset", "pair_s", order=OFFSETS),
    ),
    values=x.values(
        x.Value("ways_seen", x.Part.L1),
        "conflict_penalty",
        "same_offset_penalty",
        "ways_told",
    ),
    keys=(
        x.Key("ways_seen", "reads", (SAME_SET,), at="ways_seen"),
        x.Key("conflict_penalty", "reads", (SAME_SET,)),
        x.Key("same_offset_penalty", "pairs", (SAME_OFFSET,)),
    ),
    next=x.Next("cache-ladder", {"apart_bytes": PAGE_BYTES // 2}),
    parts=(x.Part.L1,),
    uses=(x.Use.PINNING,),
    imports=("numpy", "numba"),
    defaults=lambda machine: Params(apart_bytes=apart_bytes(machine)),
    quick=x.change(at_most={"rounds": 5}),
    smallest=x.change(rounds=3),
    budget=x.Budget(quick={"rounds": x.ENOUGH}),
    seconds=seconds,
    memory_bytes=lambda params: (MOST + 1) * params.apart_bytes + 4 * x.MIB,
)
