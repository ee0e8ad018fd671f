"""Why is the first touch of memory slow, and what does it cost to find a page again?

Method: one thread, kept on the last core (pinned), asks the system for memory, writes to each page,
then once more. Pages have 4 KiB, or 2 MiB if the system gives them. The system counts the page
faults of each sample. Then the thread follows a shuffled chain through more and more pages, with
one line in each page. As a control the same number of lines lie packed side by side. Both fit the
same cache, so the extra time of the first is the way to the page. All take turns.
Source: M. Gorman, Understanding the Linux Virtual Memory Manager, chapter 4; U. Drepper, What Every
Programmer Should Know About Memory, section 4.

Not shown: the cost of a page that comes from a disk (a major fault).
"""

from __future__ import annotations

import math
import mmap
import sys

from experiments import api as x
from experiments.tools.buffers import HUGE_PAGE_BYTES, Buffer, Untouched, huge_pages_fraction

FIRST, AGAIN, HUGE_FIRST, HUGE_AGAIN = WAYS = ("first", "again", "huge_first", "huge_again")
PAGES, PACKED = LAYOUTS = ("pages", "packed")
PAGE_BYTES, LINE_BYTES = 4 * x.KIB, 64
SMALL_BYTES, HUGE_BYTES = 16 * x.MIB, 64 * x.MIB  # touched in a sample
SMALLEST_BYTES = 64 * x.KIB
SAMPLE_S = 0.003
FIRST_STEPS = 1_000
WALK_S = 0.1e-6  # a read that looks up its page, in a virtual machine
NEAR_PAGES = 512  # more than the first translation buffers hold, less than the second
KNEE = 4.0  # times as long as near, at least, or there is no end of the buffers to be seen
MOSTLY = 0.9


class Params(x.Params):
    """The parameters; the chains run through up to `largest_bytes`, in powers of two."""

    largest_bytes: int = x.param(256 * x.MIB, minimum=x.MIB, maximum=16 * x.GIB, scale="log2")
    rounds: int = x.param(12, minimum=1, maximum=100)


class Touch(x.Row):
    """One repeat: the time to write to a page, and how many page faults that took."""

    way: str
    repeat: int
    page_s: float = x.column(scale="log10")
    faults: float


class Read(x.Row):
    """One repeat: a chained read of one line in each page, or of as many lines side by side."""

    layout: str
    size_bytes: int = x.column(scale="log2")
    repeat: int
    read_s: float = x.column(scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield rows of both tables, in turns."""
    if not hasattr(mmap, "MAP_PRIVATE") or mmap.PAGESIZE != PAGE_BYTES:
        raise x.UserError("no_small_pages")
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        sizes = x.ladder(SMALLEST_BYTES, params.largest_bytes, 2)
        buffer = Buffer(max(sizes))
        arms = [*((layout, size) for size in sizes for layout in LAYOUTS), (FIRST, 0)]
        if gives_huge_pages():
            arms.append((HUGE_FIRST, 0))
        else:
            yield x.Note("no_huge_pages")
        for turn, (what, size_bytes) in bench.interleave(arms, params.rounds):
            if size_bytes:
                taken_s = read_s(buffer, size_bytes, turn.round, bench, packed=what == PACKED)
                yield Read(layout=what, size_bytes=size_bytes, repeat=turn.round, read_s=taken_s)
            else:
                first, again = touched(bench, huge=what == HUGE_FIRST)
                ways = WAYS[2:] if what == HUGE_FIRST else WAYS[:2]
                for way, (page_s, faults) in zip(ways, (first, again), strict=True):
                    yield Touch(way=way, repeat=turn.round, page_s=page_s, faults=faults)
            yield x.Progress(turn.fraction)


def gives_huge_pages() -> bool:
    """Does the system give nearly all memory in pages of 2 MiB, where it is asked to?"""
    return (huge_pages_fraction(Buffer(HUGE_BYTES, huge=True)) or 0.0) >= MOSTLY


def touched(bench: x.Bench, *, huge: bool) -> list[tuple[float, float]]:
    """Return seconds and page faults for each page of new memory: at first, and again."""
    if sys.platform != "win32":
        import resource

        from experiments.kernels.pages import touch

        size_bytes, page_bytes = (
            (HUGE_BYTES, HUGE_PAGE_BYTES) if huge else (SMALL_BYTES, PAGE_BYTES)
        )
        pages = size_bytes // page_bytes
        with Untouched(size_bytes, huge=huge) as address:

            def once() -> tuple[float, float]:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
                taken_s = bench.time(lambda: touch(address, page_bytes, pages), pages)
                faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
                return taken_s / pages, faults / pages

            return [once(), once()]
    raise NotImplementedError


def read_s(buffer: Buffer, size_bytes: int, turn: int, bench: x.Bench, *, packed: bool) -> float:
    """Return the seconds of one chained read: a line in each page, or the lines side by side."""
    import numpy as np

    from experiments.kernels.chains import link_apart, rounded_steps, walk

    nodes = size_bytes // PAGE_BYTES
    apart = LINE_BYTES if packed else PAGE_BYTES
    place = link_apart(buffer.address, nodes, apart, not packed, np.uint64(turn * 7919 + 1))
    place = walk(2 * nodes, place)
    steps = bench.repeat_for(lambda n: walk(n, place), at_least_s=SAMPLE_S, start=FIRST_STEPS)
    place = walk(steps, place)  # go on: the lines just read are cached now
    reads = rounded_steps(steps)
    return bench.time(lambda: walk(steps, place), reads) / reads


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the first touch with the second, and find where the translation buffers end."""
    touches = x.spreads_of(tables["touches"], "page_s", "way")
    values: dict[str, float] = {
        name: touches[way].median
        for way, name in (
            (FIRST, "first_touch_s"),
            (AGAIN, "second_touch_s"),
            (HUGE_FIRST, "huge_first_touch_s"),
        )
        if way in touches
    }
    if HUGE_FIRST in touches:
        values["huge_part_s"] = touches[HUGE_FIRST].median * PAGE_BYTES / HUGE_PAGE_BYTES
    values |= _translation(x.spreads_of(tables["reads"], "read_s", "layout", "size_bytes"))
    limits = x.Limits()
    limits.add("virtual_machine", x.is_virtual(machine))
    limits.add("no_huge_pages", HUGE_FIRST not in touches)
    limits.add("no_end_seen", "tlb_reach_bytes" not in values)
    if not {FIRST, AGAIN} <= touches.keys():
        return x.Finding("nothing_to_compare", values, tuple(limits))
    first, again = touches[FIRST], touches[AGAIN]
    compared, unclear = x.ratios({"first_over_second": (first, again)})
    message = x.unsure((first, again)) or (
        "first_touch_slow" if again.is_below(first) else "first_touch_alike"
    )
    return x.Finding(message, values | compared, tuple(limits), unclear)


def _translation(of: dict[tuple[str, int], x.Spread]) -> dict[str, float]:
    """Return the cost of the way to a page in the largest memory, and where it is still low.

    It is low while the buffers hold the addresses. They end at the size whose extra time passes the
    middle between few pages and all. The middle is taken on a logarithmic axis.
    """
    extra_s = {
        size: of[PAGES, size].median - of[PACKED, size].median
        for layout, size in sorted(of)
        if layout == PAGES and (PACKED, size) in of
    }
    if not extra_s or extra_s[max(extra_s)] <= 0:
        return {}
    walk_s, near_s = extra_s[max(extra_s)], extra_s.get(NEAR_PAGES * PAGE_BYTES, 0.0)
    found = {"walk_s": walk_s, "largest_bytes": max(extra_s)}
    if near_s <= 0 or walk_s < KNEE * near_s:
        return found
    beyond = min(size for size, each in extra_s.items() if each > math.sqrt(near_s * walk_s))
    return found | {"tlb_reach_bytes": beyond // 2}


def seconds(params: Params) -> float:
    """Estimate: filling the memory; each round touches new pages, lays out and walks the chains."""
    sizes = x.ladder(SMALLEST_BYTES, params.largest_bytes, 2)
    nodes = sum(sizes) / PAGE_BYTES
    touches_s = 2e-6 * SMALL_BYTES / PAGE_BYTES + 200e-6 * HUGE_BYTES / HUGE_PAGE_BYTES
    round_s = len(sizes) * 2 * 2.5 * SAMPLE_S + nodes * 3 * WALK_S + touches_s
    return 0.8 + params.largest_bytes / x.GIB + params.rounds * round_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"touches": Touch, "reads": Read},
    measure=measure,
    loop="kernels/pages.py:touch",
    analyse=analyse,
    views=(
        x.Bars("touches", "touches", "way", "page_s", order=WAYS),
        x.Lines(
            "reads",
            "reads",
            x.Axis("size_bytes"),
            x.Axis("read_s"),
            series="layout",
            order=LAYOUTS,
            limits=(x.Limit("buffers_end", "tlb_reach_bytes", "x"),),
        ),
    ),
    values=x.values(
        x.Value("first_touch_s", x.Part.MEMORY),
        "second_touch_s",
        "first_over_second",
        "huge_first_touch_s",
        "huge_part_s",
        x.Value("tlb_reach_bytes", x.Part.TRANSLATION),
        x.Value("walk_s", within="largest_bytes"),
        "largest_bytes",
    ),
    keys=(
        x.Key("first_touch_s", "touches", (FIRST,)),
        x.Key("second_touch_s", "touches", (AGAIN,)),
        x.Key("tlb_reach_bytes", "reads", (PAGES,), at="tlb_reach_bytes"),
    ),
    next=x.Next("burst-random", {"largest_bytes": lambda size: min(4 * size, x.GIB)}),
    parts=(x.Part.MEMORY, x.Part.TRANSLATION),
    needs=(x.Need.POSIX,),
    uses=(
        x.Use.PINNING,
        x.Use.HUGE_PAGES,
    ),
    imports=("numpy", "numba"),
    defaults=lambda _machine: Params(largest_bytes=x.fits(256 * x.MIB, 0.25)),
    quick=x.change(at_most={"rounds": 5}),
    smallest=x.change(largest_bytes=2 * x.MIB, rounds=3),
    budget=x.Budget(full={"rounds": 5}, quick={"rounds": x.ENOUGH, "largest_bytes": 16 * x.MIB}),
    seconds=seconds,
    memory_bytes=lambda params: params.largest_bytes + HUGE_BYTES + 8 * x.MIB,
)
