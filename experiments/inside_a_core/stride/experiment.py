"""Does reading every 16th number take a sixteenth of the time?

Method: one thread, kept on the last core (pinned), reads the same number of bytes at each stride.
It reads every byte, then every second one, every fourth, and so on. The largest stride reads one
byte in each page of 4 KiB. The memory is larger than every cache, and lies in pages of 2 MiB if the
system gives them. All of it was read before each sample, so that none of the sample's bytes is
still cached. The loop makes no vectors. Strides are shuffled in each round.
Source: I. Ermolov, Gallery of Processor Cache Effects (2010), example 2; U. Drepper, What Every
Programmer Should Know About Memory, section 3.3.

Not shown: the cost of a stride that no prefetcher follows, such as a random one.
"""

from __future__ import annotations

from itertools import pairwise

from experiments import api as x
from experiments.tools.buffers import Buffer, huge_pages_fraction, huge_pages_told

LINE_BYTES, PAGE_BYTES = 64, 4096
STRIDES = tuple(x.ladder(1, PAGE_BYTES, 2))
NUMBER_BYTES = 4  # of the question
EVERY = 16
RISES = 1.3  # times as long for twice the stride, at least
TOUCH_S = 4e-9  # on average of all strides
LINE_S = 5e-9  # to read all lines in order


class Params(x.Params):
    """The parameters."""

    memory_bytes: int = x.param(256 * x.MIB, minimum=x.MIB, maximum=16 * x.GIB, scale="log2")
    touches: int = x.param(2**22, minimum=2**16, maximum=2**26, scale="log2")
    rounds: int = x.param(12, minimum=1, maximum=100)
    huge_pages: bool = True


class Read(x.Row):
    """One repeat of a stride: the time of one read, and the cache lines that it met in a second."""

    stride_bytes: int = x.column(scale="log2")
    repeat: int
    touch_s: float = x.column(scale="log10")
    lines_per_s: float = x.column(scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each stride and round."""
    from .kernels import read_apart

    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        buffer = Buffer(params.memory_bytes, huge=params.huge_pages)
        size_bytes = params.memory_bytes
        if params.huge_pages:
            yield from huge_pages_told(huge_pages_fraction(buffer))
        for turn, stride_bytes in bench.interleave(STRIDES, params.rounds):
            read_apart(size_bytes // LINE_BYTES, buffer.address, size_bytes, LINE_BYTES)
            touch_s = touched_s(buffer, stride_bytes, params.touches, bench)
            yield Read(
                stride_bytes=stride_bytes,
                repeat=turn.round,
                touch_s=touch_s,
                lines_per_s=min(1.0, stride_bytes / LINE_BYTES) / touch_s,
            )
            yield x.Progress(turn.fraction)


def touched_s(buffer: Buffer, stride_bytes: int, touches: int, bench: x.Bench) -> float:
    """Return the seconds of one read, from `touches` reads at this stride."""
    from .kernels import read_apart

    address, size_bytes = buffer.address, buffer.size_bytes
    taken_s = bench.time(lambda: read_apart(touches, address, size_bytes, stride_bytes), touches)
    return taken_s / touches


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare every 16th number with all of them, and find where the time first stops to rise."""
    of = x.spreads_of(tables["reads"], "touch_s", "stride_bytes")
    values: dict[str, float] = {
        name: of[stride].median
        for name, stride in (
            ("stride_1_s", 1),
            ("stride_line_s", LINE_BYTES),
            ("stride_page_s", PAGE_BYTES),
        )
        if stride in of
    }
    if (seen := _line_bytes(of)) is not None:
        values["line_bytes_seen"] = seen
    limits = x.Limits(["prefetcher_helps"])
    told = {cache.line_bytes for cache in machine.cpu.caches} - {None}
    limits.add("other_line", seen is not None and told and seen not in told)
    cache_bytes = x.last_level_cache_bytes(machine)
    is_beyond = cache_bytes is None or params.memory_bytes >= 2 * cache_bytes
    limits.add("partly_in_cache", not is_beyond)
    if not {NUMBER_BYTES, EVERY * NUMBER_BYTES} <= of.keys():
        return x.Finding("nothing_to_compare", values, tuple(limits))
    one, apart = of[NUMBER_BYTES], of[EVERY * NUMBER_BYTES]
    compared, unclear = x.ratios({"touch_over_touch": (apart, one)})
    values |= compared
    values["all_over_every_16th"] = EVERY / compared["touch_over_touch"]
    message = x.unsure((apart, one)) or ("lines_count" if one.is_below(apart) else "a_sixteenth")
    unclear += ("all_over_every_16th",) if unclear else ()
    return x.Finding(message, values, tuple(limits), unclear)


def _line_bytes(of: dict[int, x.Spread]) -> int | None:
    """Return the first stride, after a rise, of which twice as much takes about as long."""
    rises = [(low, of[high].median > RISES * of[low].median) for low, high in pairwise(sorted(of))]
    begun = [stride for stride, is_rise in rises if is_rise]
    return next((s for s, is_rise in rises if begun and s > begun[0] and not is_rise), None)


def seconds(params: Params) -> float:
    """Estimate: filling the memory, and for each stride all of it once, and the touches."""
    whole_s = params.memory_bytes / LINE_BYTES * LINE_S
    sample_s = whole_s + params.touches * TOUCH_S
    return 0.6 + params.memory_bytes / x.GIB + params.rounds * len(STRIDES) * sample_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"reads": Read},
    measure=measure,
    confirmed_by="l1_misses",
    loop="kernels.py:read_apart",
    analyse=analyse,
    views=(
        x.Lines(
            "time",
            "reads",
            x.Axis("stride_bytes"),
            x.Axis("touch_s"),
            limits=(x.Limit("line_seen", "line_bytes_seen", "x"),),
        ),
        x.Lines("lines", "reads", x.Axis("stride_bytes"), x.Axis("lines_per_s")),
    ),
    values=x.values(
        x.Value("line_bytes_seen", x.Part.L1),
        "stride_1_s",
        x.Value("stride_line_s", x.Part.MEMORY),
        "stride_page_s",
        "all_over_every_16th",
        "touch_over_touch",
    ),
    keys=(
        *(
            x.Key(value, "time", at="line_bytes_seen")
            for value in ("all_over_every_16th", "line_bytes_seen", "stride_line_s")
        ),
    ),
    next=x.Next("cache-ladder", {"huge_pages": False}),
    parts=(x.Part.L1, x.Part.MEMORY),
    uses=(
        x.Use.PINNING,
        x.Use.HUGE_PAGES,
    ),
    imports=("numpy", "numba"),
    defaults=lambda machine: Params(
        memory_bytes=x.beyond_cache(machine, 256 * x.MIB, 0.25) // x.MIB * x.MIB
    ),
    quick=x.change(at_most={"rounds": 5, "touches": 2**21}),
    smallest=x.change(memory_bytes=4 * x.MIB, touches=2**16, rounds=3),
    budget=x.Budget(
        full={"rounds": 5}, quick={"rounds": x.ENOUGH, "memory_bytes": 64 * x.MIB, "touches": 2**18}
    ),
    seconds=seconds,
    memory_bytes=lambda params: params.memory_bytes + 4 * x.MIB,
)
