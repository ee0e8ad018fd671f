"""Does it matter in which order a disk is read, and how much is asked of it at a time?

Method: a file of random data is written once, past the page cache, and read back past it (direct
I/O). Blocks are read one after another in order, then shuffled. Then 32 threads read shuffled
blocks at once, and each thread waits for its own. A sample runs from one arrival to another while
all readers are at work. Blocks and ways are shuffled in each round; the best counts, and the ways
are compared round by round. Small reads one after another are timed one by one: a mean hides that
few take far longer. The same reads from the page cache are timed too, to check that the direct ones
really came from elsewhere.
Source: the method of fio (`--direct=1 --ioengine=psync`); J. D. C. Little (1961).

Not shown: what lies below a virtual disk, where the host's memory may answer; how the disk does
when it is full or hot; and how fast it writes, which would wear it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments import api as x
from experiments.tools.disk_file import PIECE_BYTES, DiskFile
from machine.devices import Disk
from machine.storage.place import FAR_AWAY, room_bytes, usual_folder

SMALL = 4 * x.KIB
BLOCKS = (SMALL, 16 * x.KIB, 64 * x.KIB, 256 * x.KIB, x.MIB, 4 * x.MIB)
FEW_BLOCKS = (SMALL, 64 * x.KIB, x.MIB)
IN_ORDER, AT_RANDOM, MANY = "sequential", "random", "random_32"
WAYS = (IN_ORDER, AT_RANDOM, MANY)
DEPTH = 32
# A disk that is told of free space (discard) takes back a GiB in 0.2 s: too long for a stop.
LEAST_BYTES, USUAL_BYTES, QUICK_BYTES = 64 * x.MIB, 512 * x.MIB, 64 * x.MIB
WRITE_BYTES_PER_S = 250e6  # for the estimate
TOO_MUCH = 1.02  # of the link's limit: then something is wrong
BINS_PER_DOUBLING = 16  # of the histogram: each is 4.4 % wide
FIRST_BIN_S = 1e-7
QUANTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
BEYOND = 10  # so many reads must have taken longer for a quantile to hold
NO_DISK_SO_FAST = 3.0  # times the page cache's time, at least


class Params(x.Params):
    """The parameters; the file is written once and removed."""

    folder: str = x.param("", is_folder=True)
    file_bytes: int = x.param(512 * x.MIB, minimum=8 * x.MIB, maximum=256 * x.GIB, scale="log2")
    few_blocks: bool = False
    sample_s: float = x.param(0.12, minimum=0.02, maximum=10.0, scale="log10")
    rounds: int = x.param(8, minimum=1, maximum=50)


class Where(x.Row):
    """The place of the file; the name is one of the machine's disks, "" if unknown."""

    disk: str
    file_system: str


class Read(x.Row):
    """One sample: blocks of one size, read in one way; `latency_s` is the time of each."""

    block_bytes: int = x.column(scale="log2")
    way: str
    repeat: int
    bytes_per_s: float = x.column(scale="log10")
    reads_per_s: float = x.column(scale="log10")
    latency_s: float = x.column(scale="log10")


class Cached(x.Row):
    """One sample of small reads from the page cache, in a program's own memory."""

    repeat: int
    latency_s: float = x.column(scale="log10")


class Latency(x.Row):
    """One bin of the histogram of small random reads, one at a time: `at_s` is its middle."""

    repeat: int
    at_s: float = x.column(scale="log10")
    reads: int
    read_fraction: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield where the file lies, then a row for each block size, way and round."""
    folder = Path(params.folder) if params.folder else usual_folder()
    with DiskFile(folder, params.file_bytes, bench) as file:
        yield Where(disk="+".join(file.place.disks), file_system=file.place.file_system)
        writing = _writing_s(params) / seconds(params)
        for written in file.write():
            yield x.Progress(writing * written)
        arms = [(block, way) for block in _blocks(params) for way in WAYS]
        for arm, (block_bytes, way) in bench.interleave(arms, params.rounds):
            if (block_bytes, way) == arms[0]:
                rate = file.cached_reads_per_s(SMALL, sample_s=params.sample_s / 4)
                if rate is not None:
                    yield Cached(repeat=arm.round, latency_s=1 / rate)
            depth = DEPTH if way == MANY else 1
            rate = file.reads_per_s(
                block_bytes, depth, at_random=way != IN_ORDER, sample_s=params.sample_s
            )
            yield Read(
                block_bytes=block_bytes,
                way=way,
                repeat=arm.round,
                bytes_per_s=rate * block_bytes,
                reads_per_s=rate,
                latency_s=depth / rate,
            )
            if (block_bytes, way) == (SMALL, AT_RANDOM):
                yield from _histogram(file.took_s, arm.round)
            yield x.Progress(writing + (1 - writing) * arm.fraction)


def _histogram(took_s: Sequence[float], repeat: int) -> Iterator[Latency]:
    """Yield the bins that hold reads, from the shortest."""
    places = Counter(
        round(BINS_PER_DOUBLING * math.log2(max(each_s, FIRST_BIN_S) / FIRST_BIN_S))
        for each_s in took_s
    )
    for place, reads in sorted(places.items()):
        yield Latency(
            repeat=repeat,
            at_s=FIRST_BIN_S * 2 ** (place / BINS_PER_DOUBLING),
            reads=reads,
            read_fraction=reads / len(took_s),
        )


def _blocks(params: Params) -> tuple[int, ...]:
    return FEW_BLOCKS if params.few_blocks else BLOCKS


def _writing_s(params: Params) -> float:
    return params.file_bytes / WRITE_BYTES_PER_S


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare small random reads, one and 32 at a time, with reading in order."""
    best = x.best_of(tables["reads"], "reads_per_s", "way", "block_bytes", choose=max)
    disk, aside = _disk(tables, machine)
    limits = x.Limits()
    in_order = {block: rate for (way, block), rate in best.items() if way == IN_ORDER}
    values: dict[str, float] = {}
    if in_order:
        values["sequential_read_bytes_per_s"] = max(b * rate for b, rate in in_order.items())
    if disk is not None and disk.peak_bytes_per_s:
        values["link_bytes_per_s"] = disk.peak_bytes_per_s
        fastest = max((read.bytes_per_s for read in tables["reads"]), default=0.0)
        limits.add("above_the_link", fastest > TOO_MUCH * disk.peak_bytes_per_s)
    if tables["cached"]:
        values["cached_latency_s"] = min(row.latency_s for row in tables["cached"])
    one, many = (best.get((way, SMALL)) for way in (AT_RANDOM, MANY))
    if not in_order or one is None or many is None:
        return x.Finding("nothing_to_compare", values, (*limits, *aside))
    values |= {
        "random_4k_reads_per_s": one,
        "random_4k_latency_s": 1 / one,
        "random_4k_bytes_per_s": SMALL * one,
        "random_4k_deep_reads_per_s": many,
        "random_4k_deep_latency_s": DEPTH / many,
        "depth": DEPTH,
    }
    if values["random_4k_latency_s"] < NO_DISK_SO_FAST * values.get("cached_latency_s", 0.0):
        limits.append("answered_from_memory")
    of = x.spreads_of(tables["reads"], "bytes_per_s", "way", "block_bytes")
    fastest = max((of[IN_ORDER, block] for block in in_order), key=lambda row: row.median)
    alone, deep = of[AT_RANDOM, SMALL], of[MANY, SMALL]
    pairs = {"random_4k_fraction": (alone, fastest), "deep_over_one": (deep, alone)}
    _, unclear = x.ratios(pairs)
    tails = _quantiles(tables["latencies"])
    values |= tails
    limits.add("too_few_for_the_tail", tables["latencies"] and "random_4k_p999_s" not in tails)
    values |= {  # they stand beside the best
        "random_4k_fraction": SMALL * one / values["sequential_read_bytes_per_s"],
        "deep_over_one": many / one,
    }
    message = _message(fastest, alone, deep, of.get((IN_ORDER, SMALL)))
    if message == "size_costs_not_order":
        values["sequential_4k_latency_s"] = 1 / in_order[SMALL]
    return x.Finding(message, values, (*limits, *aside), unclear)


def _message(
    fastest: x.Spread, alone: x.Spread, deep: x.Spread, small_in_order: x.Spread | None
) -> str:
    if (unsure := x.unsure((alone, fastest), (alone, deep))) is not None:
        return unsure
    if not alone.is_below(fastest):
        return "small_reads_as_fast"
    if not alone.is_below(deep):
        return "one_at_a_time_anyway"
    is_as_slow = small_in_order is not None and alone.is_no_lower(small_in_order)
    return "size_costs_not_order" if is_as_slow else "many_at_a_time_help"


def _quantiles(bins: Sequence[Latency]) -> dict[str, float]:
    """Return the quantiles beyond which enough reads of all rounds lie."""
    reads = Counter[float]()
    for each in bins:
        reads[each.at_s] += each.reads
    total, found = reads.total(), {}
    for name, share in QUANTILES.items():
        if total * (1 - share) >= BEYOND:
            so_far = itertools.accumulate(reads[at_s] for at_s in sorted(reads))
            within = zip(sorted(reads), so_far, strict=True)
            found[f"random_4k_{name}_s"] = next(at for at, n in within if n >= share * total)
    return found


def _disk(tables: x.Tables, machine: x.Machine) -> tuple[Disk | None, list[str]]:
    """Return the single disk that held the file, None if unknown, and the limits."""
    where = tables["places"][0] if tables["places"] else None
    disk = next((disk for disk in machine.storage if where and disk.name == where.disk), None)
    limits = x.Limits()
    if where is not None and where.file_system.startswith(FAR_AWAY):
        limits.append("not_in_this_machine")
    elif where is not None and "+" in where.disk:
        limits.append("several_disks")
    elif where is not None and disk is None:
        limits.append("disk_not_known")
    limits.add("virtual_disk", disk is not None and disk.kind == "virtual")
    limits.add("hard_disk", disk is not None and disk.kind == "hdd")
    limits.add("no_link_known", disk is None or not disk.peak_bytes_per_s)
    limits.add("wear_not_told", disk is not None and disk.kind in ("nvme", "ssd"))
    return disk, limits


def defaults(_machine: x.Machine) -> Params:
    """Write 1 GiB, or less to leave a tenth of the disk free."""
    try:
        room = room_bytes(usual_folder())
    except OSError:
        return Params()
    return Params(file_bytes=max(LEAST_BYTES, min(USUAL_BYTES, room // x.MIB * x.MIB)))


def seconds(params: Params) -> float:
    """Estimate: writing the file, and the samples; many large blocks start slowly."""
    samples = params.rounds * len(_blocks(params)) * len(WAYS)
    return 0.3 + _writing_s(params) + samples * (params.sample_s + 0.05)


_SIZES: dict[str, Any] = {
    "table": "reads",
    "x": x.Axis("block_bytes"),
    "series": "way",
    "order": WAYS,
}

EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"places": Where, "reads": Read, "latencies": Latency, "cached": Cached},
    measure=measure,
    loop="kernels/disk.py:read_on",
    analyse=analyse,
    views=(
        x.Lines(
            "rate",
            y=x.Axis("bytes_per_s"),
            statistic="greatest",
            limits=(x.Limit("link", "link_bytes_per_s"),),
            **_SIZES,
        ),
        x.Lines(
            "latency",
            y=x.Axis("latency_s"),
            statistic="least",
            limits=(x.Limit("from_cache", "cached_latency_s"),),
            **_SIZES,
        ),
        x.Lines(
            "tail",
            "latencies",
            x.Axis("at_s"),
            x.Axis("read_fraction"),
            limits=tuple(x.Limit(name, f"random_4k_{name}_s", axis="x") for name in QUANTILES),
        ),
    ),
    values=x.values(
        x.Value("sequential_read_bytes_per_s", x.Part.STORAGE),
        x.Value("random_4k_reads_per_s", x.Part.STORAGE),
        *(f"random_4k_{name}_s" for name in QUANTILES),
        x.Value("random_4k_latency_s", x.Part.STORAGE),
        "random_4k_bytes_per_s",
        x.Value("random_4k_deep_reads_per_s", x.Part.STORAGE),
        "random_4k_deep_latency_s",
        "random_4k_fraction",
        "sequential_4k_latency_s",
        "deep_over_one",
        "depth",
        "link_bytes_per_s",
        "cached_latency_s",
    ),
    keys=(
        x.Key("sequential_read_bytes_per_s", "rate", (IN_ORDER,)),
        x.Key("random_4k_latency_s", "latency", (AT_RANDOM,)),
        x.Key("random_4k_p99_s", "tail", at="random_4k_p99_s"),
    ),
    next=x.Next("latency-numbers", {"sample_s": 0.3}),
    parts=(x.Part.STORAGE,),
    needs=(x.Need.DIRECT_IO,),
    uses=(x.Use.CACHED_READS,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=x.change(
        few_blocks=True, rounds=5, at_most={"file_bytes": QUICK_BYTES, "sample_s": 0.04}
    ),
    smallest=x.change(file_bytes=8 * x.MIB, sample_s=0.02, rounds=2),
    seconds=seconds,
    memory_bytes=lambda _params: (DEPTH + 1) * PIECE_BYTES,
)
