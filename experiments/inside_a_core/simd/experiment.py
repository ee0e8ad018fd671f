"""Many numbers at once: how much faster are vector instructions than one at a time?

Method: one thread, kept on the last core (pinned), adds up arrays of numbers. The additions are
single, or by vectors of 128, 256 and 512 bits if the processor has them. Each way keeps sixteen
sums, so that no addition waits for the previous one. Loads and additions are otherwise the same,
compiled from the same lines. Plain Python adds up a list of as many numbers, if the list is short
enough. Sizes and widths are shuffled in each round, and compared round by round.
Source: D. A. Patterson, J. L. Hennessy, Computer Architecture, chapter 4 (data-level parallelism).

Not shown: how much other loops gain; many cannot use vectors at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from experiments import api as x
from experiments.tools.buffers import Buffer

SMALLEST_BYTES = 4 * x.KIB
LONGEST_LIST_BYTES = 256 * x.KIB
SAMPLE_S = 0.003
FREE_SHARE = 0.5
NEARLY_ALL = 0.9  # of the gain of all lanes together
SMALL_PART = 1 / 3  # of the gain in L1: below, little is left in memory, even if unclear how little
QUICK_ROUNDS = 5
PYTHON, SCALAR = "python", "scalar"
WIDTHS = ("128", "256", "512")
ORDER = (PYTHON, SCALAR, *WIDTHS)
NUMBERS_BITS = {"float32": 32, "float64": 64}


class Params(x.Params):
    """The parameters; arrays are powers of two up to `largest_bytes`."""

    largest_bytes: int = x.param(128 * x.MIB, minimum=x.MIB, maximum=16 * x.GIB, scale="log2")
    numbers: str = x.param("float32", choices=tuple(NUMBERS_BITS))
    additions: int = x.param(1, minimum=1, maximum=32)
    rounds: int = x.param(12, minimum=1, maximum=100)


class Rate(x.Row):
    """One repeat at one size in one way: "python", "scalar", or the bits of a vector.

    `elements_per_s` counts a number as often as it is added, `read_bytes_per_s` once.
    """

    size_bytes: int = x.column(scale="log2")
    way: str
    repeat: int
    elements_per_s: float = x.column(scale="log10")
    read_bytes_per_s: float = x.column(scale="log10")


def sizes(params: Params) -> list[int]:
    """Return the sizes of the arrays, smallest first."""
    return x.ladder(SMALLEST_BYTES, params.largest_bytes, 2)


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each size, way and round."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        bits = NUMBERS_BITS[params.numbers]
        array = Buffer(max(sizes(params))).words.view(params.numbers)
        array.fill(1)
        ways = ways_for(bits, params.additions)
        arms = [
            (size, way)
            for size in sizes(params)
            for way in ways
            if way != PYTHON or size <= LONGEST_LIST_BYTES
        ]
        laps: dict[tuple[int, str], int] = {}
        for turn, (size_bytes, way) in bench.interleave(arms, params.rounds):
            count = size_bytes * 8 // bits
            numbers = array[:count].tolist() if way == PYTHON else array[:count]
            work = partial(ways[way], numbers)
            if (size_bytes, way) not in laps:
                laps[size_bytes, way] = bench.repeat_for(work, at_least_s=SAMPLE_S, start=1)
            times = laps[size_bytes, way]
            loaded_per_s = count * times / bench.time(partial(work, times))
            yield Rate(
                size_bytes=size_bytes,
                way=way,
                repeat=turn.round,
                elements_per_s=loaded_per_s * params.additions,
                read_bytes_per_s=loaded_per_s * bits / 8,
            )
            yield x.Progress(turn.fraction)


def ways_for(bits: int, additions: int = 1) -> dict[str, Callable[[Any, int], object]]:
    """Return each way of adding up numbers of that many bits, as far as the processor has it.

    Plain Python adds each number once, so it is left out where each is added more often.
    """
    from experiments.kernels.simd_sums import lane_sum, widest_bits

    python: dict[str, Callable[[Any, int], object]] = {PYTHON: _in_python} if additions == 1 else {}
    lanes = {SCALAR: 1} | {w: int(w) // bits for w in WIDTHS if int(w) <= widest_bits()}
    return python | {way: lane_sum(bits, each, additions) for way, each in lanes.items()}


def _in_python(numbers: list[float], laps: int) -> float:
    total = 0.0
    for _ in range(laps):
        for number in numbers:
            total += number
    return total


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the widest vectors with one number at a time, in the first cache and in memory."""
    of = x.spreads_of(tables["rates"], "elements_per_s", "way", "size_bytes")
    widest = max((int(way) for way, _ in of if way in WIDTHS), default=0)
    both = [size for size in sizes(params) if {(SCALAR, size), (str(widest), size)} <= of.keys()]
    limits = x.Limits()
    known, last_bytes = x.cache_sizes(machine), x.last_level_cache_bytes(machine)
    first_bytes = next(iter(known.values()), None)
    cached = [size for size in both if first_bytes and size <= first_bytes // 2]
    beyond = [size for size in both if last_bytes and size >= x.BEYOND_CACHE * last_bytes]
    element_bytes = NUMBERS_BITS[params.numbers] // 8
    values: dict[str, float] = {f"{name}_bytes": size for name, size in known.items()}
    limits.add("part_of_l3", "l3_bytes" in values and x.is_guest(machine))
    if machine.memory.peak_bytes_per_s:
        peak_per_s = machine.memory.peak_bytes_per_s / element_bytes
        values["bandwidth_limit_per_s"] = peak_per_s * params.additions
    limits.add("no_memory_gain", not beyond)
    if not cached:
        limits.append("no_l1_gain")
        return x.Finding("nothing_to_compare", values, tuple(limits))
    places = {"gain_in_l1": max(cached)} | ({"gain_in_memory": max(beyond)} if beyond else {})
    pairs = {name: (of[str(widest), size], of[SCALAR, size]) for name, size in places.items()}
    gains, unclear = x.ratios(pairs)
    vector, scalar = pairs["gain_in_l1"]
    lanes = widest // (8 * element_bytes)
    values |= {
        "scalar_per_s": scalar.median,
        "vector_per_s": vector.median,
        "width_bits": widest,
        "lanes": lanes,
        "all_lanes_per_s": lanes * scalar.median,
        **gains,
    }
    half = of.get((str(widest // 2), max(cached)))
    if half is not None and not x.too_few((half, vector)) and not half.is_below(vector):
        if half.is_as(vector):
            limits.append("no_wider_gain")
        else:
            limits.append("half_is_faster" if vector.is_below(half) else "half_is_unclear")
    elif vector.is_below(_times(NEARLY_ALL * lanes, scalar)):
        limits.append("too_slow_for_vectors")
    limits.add("still_gains", "gain_in_memory" in pairs and _gains(*pairs["gain_in_memory"]))
    if max(sizes(params)) > LONGEST_LIST_BYTES and any(way == PYTHON for way, _ in of):
        limits.append("python_ends_early")
    if (PYTHON, max(cached)) in of:
        values["python_per_s"] = of[PYTHON, max(cached)].median
    return x.Finding(_message(pairs, unclear), values, tuple(limits), unclear)


def _message(pairs: dict[str, tuple[x.Spread, x.Spread]], unclear: Sequence[str]) -> str:
    first = pairs["gain_in_l1"]
    if x.too_few(first):
        return x.TOO_FEW
    if "gain_in_l1" in unclear:
        return x.CANNOT_TELL
    if not _gains(*first):
        return "no_gain"
    if "gain_in_memory" not in pairs:
        return "gain_in_cache"
    memory = pairs["gain_in_memory"]
    if "gain_in_memory" in unclear:
        is_small = _ratio(*memory).is_below(_times(SMALL_PART, _ratio(*first)))
        return "gain_hardly_in_memory" if is_small else "gain_in_cache_memory_unclear"
    if not _gains(*memory):
        return "gain_in_cache_alone"
    return "gain_fades" if _ratio(*memory).is_below(_ratio(*first)) else "gain_everywhere"


def _gains(vector: x.Spread, scalar: x.Spread) -> bool:
    return scalar.is_below(vector)


def _times(factor: float, of: x.Spread) -> x.Spread:
    return x.spreads(("", factor * sample, n) for n, sample in of.by_round.items())[""]


def _ratio(one: x.Spread, other: x.Spread) -> x.Spread:
    """Return one over the other in each round; both have some in common."""
    both = one.by_round.keys() & other.by_round.keys()
    return x.spreads(("", one.by_round[n] / other.by_round[n], n) for n in both)[""]


def defaults(machine: x.Machine) -> Params:
    """Go to four last-level caches and at least 64 MiB, within half of the free memory."""
    wanted = max(x.BEYOND_CACHE * (x.last_level_cache_bytes(machine) or 0), 64 * x.MIB)
    largest = x.fits(wanted, FREE_SHARE)
    return Params(largest_bytes=max(_no_less(wanted) if largest == wanted else largest, x.MIB))


def _no_less(size_bytes: int) -> int:
    """Return the next power of two from a size on."""
    return 1 << (size_bytes - 1).bit_length()


def seconds(params: Params) -> float:
    """Estimate: in the first round growing to a sample; large arrays take longer than one.

    Many additions of each number take longer still.
    """
    byte_s = max(1 / 8e9, params.additions / 8e10)
    samples_s = sum(5 * max(1.3 * SAMPLE_S, size * byte_s) for size in sizes(params))
    return 0.6 + params.largest_bytes / x.GIB * 0.6 + (params.rounds + 1) * samples_s


_RATES: dict[str, Any] = {
    "table": "rates",
    "x": x.Axis("size_bytes"),
    "series": "way",
    "order": ORDER,
}

_CACHES = tuple(x.Limit(name, f"{name}_bytes", "x") for name in ("l1", "l2", "l3"))

EXPERIMENT = x.Experiment(
    version=3,
    params=Params,
    tables={"rates": Rate},
    measure=measure,
    loop="kernels/simd_sums.py:_summed",
    analyse=analyse,
    views=(
        x.Lines(
            "rate",
            y=x.Axis("elements_per_s"),
            limits=(
                *_CACHES,
                x.Limit("all_lanes", "all_lanes_per_s"),
                x.Limit("memory_bandwidth", "bandwidth_limit_per_s"),
            ),
            **_RATES,
        ),
        x.Lines("bytes", y=x.Axis("read_bytes_per_s"), limits=_CACHES, **_RATES),
    ),
    values=x.values(
        x.Value("scalar_per_s", x.Part.PORTS),
        x.Value("vector_per_s", x.Part.PORTS),
        "python_per_s",
        "gain_in_l1",
        "gain_in_memory",
        "width_bits",
        "lanes",
        "all_lanes_per_s",
        "bandwidth_limit_per_s",
        "l1_bytes",
        "l2_bytes",
        "l3_bytes",
    ),
    keys=(
        x.Key("scalar_per_s", "rate", (SCALAR,)),
        x.Key("vector_per_s", "rate", WIDTHS),
        x.Key("python_per_s", "rate", (PYTHON,)),
    ),
    next=x.Next("roofline", {"numbers": "float64"}),
    parts=(x.Part.CORES, x.Part.PORTS, x.Part.L1, x.Part.MEMORY),
    uses=(x.Use.PINNING,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=x.change(rounds=QUICK_ROUNDS, at_most={"largest_bytes": 128 * x.MIB}),
    smallest=x.change(largest_bytes=x.MIB, rounds=2),
    budget=x.Budget(full={"rounds": 3}),
    seconds=seconds,
    memory_bytes=lambda params: max(sizes(params)) + 12 * x.MIB,
)
