"""What does a list of numbers cost? The same numbers in a list, a tuple, an array and NumPy.

Method: one thread, kept on one core (pinned), adds up the same numbers, held in each way. A list
holds addresses of objects; an array holds the numbers. The list is in order, as it was made, and
shuffled: then the same addresses lead far apart in memory. As a control, the array's numbers are
shuffled too: the order of what is added is as new, but no address is. Lengths and ways are shuffled
in each round; compared are the medians of the longest. Bytes are those that Python's own allocators
were asked for (`tracemalloc`). Numbers are then looked up in a list and in a set; an equal number
is asked for, not the same object.
Source: the source of CPython, `Objects/floatobject.c` and `Python/bltinmodule.c`.

Not shown: the bytes that the allocator adds by rounding up, and other Pythons.
"""

from __future__ import annotations

import array
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

from experiments import api as x

FLOATS, INTEGERS = KINDS = ("floats", "integers")
LIST, SHUFFLED, LOOP, TUPLE = "list", "shuffled_list", "list_loop", "tuple"
ARRAY, SHUFFLED_ARRAY, NUMPY, SET = "array", "shuffled_array", "numpy", "set"
WAYS = (SHUFFLED, LOOP, LIST, TUPLE, ARRAY, SHUFFLED_ARRAY, NUMPY)
HELD: dict[str, Callable[[Any], Any]] = {
    LIST: lambda numbers: numbers.tolist(),
    TUPLE: lambda numbers: tuple(numbers.tolist()),
    ARRAY: lambda numbers: array.array(numbers.dtype.char, numbers.tobytes()),
    NUMPY: lambda numbers: numbers.copy(),
    SET: lambda numbers: set(numbers.tolist()),
}
SHORTEST, MOST = 2**10, 2**28
FEWEST_SOUGHT, MOST_SOUGHT, SOUGHT = 2**4, 2**16, 32
TRACED = 2**16  # numbers whose bytes are counted
AT_ONCE, AT_ONCE_IN_NUMPY = 2**19, 2**23  # numbers in a sample of a millisecond or more
IN_LIST, IN_SET = 2**13, 2**10  # numbers gone through, and repeats, in a sample of look-ups
OBJECT_BYTES, HELD_BYTES = 32, 115  # of an object; of a number in all ways together
BUILD_S, ALL_WAYS_S = 250e-9, 60e-9  # of a number
LOOKUPS_S = 0.03  # in a round
FREE_SHARE = 0.12
SUMS_FRACTION = 0.9  # of the time
ALIKE = 1.2  # times as long: up to this, the order costs nothing worth a name
SHARED_BYTES = 16  # of a number in a list: below, it has no object of its own
RATIOS = {
    "shuffled_over_in_order": (SHUFFLED, LIST),
    "list_over_numpy": (LIST, NUMPY),
    "loop_over_sum": (LOOP, LIST),
    "array_shuffled_over_in_order": (SHUFFLED_ARRAY, ARRAY),
}


class Params(x.Params):
    """The parameters; integers are drawn from 0 up to `below`."""

    most_numbers: int = x.param(2**22, minimum=SHORTEST, maximum=MOST, scale="log2")
    kind: str = x.param(FLOATS, choices=KINDS)
    below: int = x.param(
        10**6, minimum=2, maximum=10**9, scale="log10", used_with=("kind", INTEGERS)
    )
    rounds: int = x.param(10, minimum=1, maximum=100)


class Summed(x.Row):
    """One repeat of adding up `numbers` in one way."""

    numbers: int = x.column(scale="log2")
    way: str
    repeat: int
    element_s: float = x.column(scale="log10")


class Sought(x.Row):
    """One repeat of looking up numbers that are there, at places spread evenly."""

    numbers: int = x.column(scale="log2")
    way: str
    repeat: int
    lookup_s: float = x.column(scale="log10")


class Held(x.Row):
    """The bytes of a number in one way, its object and its address included."""

    way: str
    element_bytes: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield what a number takes, then sums and look-ups for each length, way and round."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        for way in HELD:
            yield Held(way=way, element_bytes=bytes_each(way, drawn(params, TRACED)))
        of = dict[tuple[int, str], tuple[Any, Any]]()
        for length, way, held in summed(params):
            bench.check_stop()
            of[length, way] = held
        for turn, (length, way) in bench.interleave([*of], params.rounds):
            taken_s = element_s(way, of[length, way], bench)
            yield Summed(numbers=length, way=way, repeat=turn.round, element_s=taken_s)
            yield x.Progress(SUMS_FRACTION * turn.fraction)
        lengths = x.ladder(FEWEST_SOUGHT, min(params.most_numbers, MOST_SOUGHT), 4)
        sought = {(n, way): HELD[way](drawn(params, n)) for n in lengths for way in (LIST, SET)}
        for turn, (length, way) in bench.interleave([*sought], params.rounds):
            asked = drawn(params, length)[:: -(-length // SOUGHT)].tolist()
            times = IN_SET if way == SET else max(1, IN_LIST // length)
            taken_s = lookup_s(asked, sought[length, way], times, bench)
            yield Sought(numbers=length, way=way, repeat=turn.round, lookup_s=taken_s)
            yield x.Progress(1 - (1 - SUMS_FRACTION) * (1 - turn.fraction))


def drawn(params: Params, length: int) -> Any:
    """Return `length` numbers as a NumPy array, the same in each call."""
    import numpy as np

    chance = np.random.default_rng(x.SEED)
    is_whole = params.kind == INTEGERS
    return chance.integers(0, params.below, length) if is_whole else chance.random(length)


def summed(params: Params) -> Iterator[tuple[int, str, tuple[Any, Any]]]:
    """Yield each length and way with what holds the numbers, and its first piece.

    Lists share their objects. A piece is made beforehand: making it touches each object.
    """
    import numpy as np

    numbers = drawn(params, params.most_numbers)
    objects, chance = numbers.tolist(), np.random.default_rng(x.SEED)
    for length in x.ladder(SHORTEST, params.most_numbers, 4):
        order, places = chance.permutation(length), np.empty(length, object)
        places[:] = in_order = objects[:length]
        some = numbers[:length]
        lists = (places[order].tolist(), in_order, in_order, tuple(in_order))
        arrays = (HELD[ARRAY](some), HELD[ARRAY](some[order]), some.copy())
        for way, held in zip(WAYS, (*lists, *arrays), strict=True):
            yield length, way, (held, held if way == NUMPY else held[:AT_ONCE])


def add_up(way: str, held: Any, times: int) -> None:
    """Add up all numbers `times` times."""
    for _ in range(times):
        if way == NUMPY:
            held.sum()
        elif way == LOOP:
            total = 0
            for number in held:
                total += number
        else:
            sum(held)


def times_for(way: str, length: int) -> int:
    """Return how often `length` numbers are added up in a sample."""
    return max(1, (AT_ONCE_IN_NUMPY if way == NUMPY else AT_ONCE) // length)


def element_s(way: str, held: tuple[Any, Any], bench: x.Bench) -> float:
    """Return the seconds of one number in the piece, once all numbers were added up.

    A short sample is seldom disturbed, and finds in the caches what a whole sum leaves there.
    """
    whole, piece = held
    times = times_for(way, len(piece))
    add_up(way, whole, 1)
    numbers = times * len(piece)
    return bench.time(lambda: add_up(way, piece, times), numbers) / numbers


def lookup_s(asked: list[Any], held: Any, times: int, bench: x.Bench) -> float:
    """Return the seconds of one look-up, of those that are asked for."""

    def look_up() -> None:
        for _ in range(times):
            for number in asked:
                _ = number in held

    return bench.time(look_up) / (times * len(asked))


def bytes_each(way: str, numbers: Any) -> float:
    """Return the bytes that Python was asked for to hold a number in one way."""
    tracemalloc.start()
    try:
        held = HELD[way](numbers)
        return round(tracemalloc.get_traced_memory()[0] / len(held), 1)
    finally:
        tracemalloc.stop()


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the ways at the greatest length that all of them reached."""
    of = x.spreads_of(tables["sums"], "element_s", "numbers", "way")
    values = {f"{row.way}_bytes": row.element_bytes for row in tables["bytes"]}
    limits = x.Limits(["interpreter_included", "rounded_up"])
    whole = [n for n, way in of if way == LIST and all((n, each) in of for each in WAYS)]
    if not whole:
        return x.Finding("nothing_to_compare", values, tuple(limits))
    length = max(whole)
    ways = {way: of[length, way] for way in WAYS}
    values |= {"numbers": length} | {f"{way}_s": each.median for way, each in ways.items()}
    compared, unclear = x.ratios(
        {n: (ways[one], ways[other]) for n, (one, other) in RATIOS.items()},
        verdict=("shuffled_over_in_order", "list_over_numpy"),
    )
    values |= compared
    found = x.medians(((row.numbers, row.way), row.lookup_s) for row in tables["lookups"])
    if both := [n for n, way in found if way == LIST and (n, SET) in found]:
        values |= {f"{way}_lookup_s": found[max(both), way] for way in (LIST, SET)}
    cache_bytes = x.last_level_cache_bytes(machine)
    limits.add("partly_in_cache", cache_bytes and length * OBJECT_BYTES <= cache_bytes)
    limits.add("shared_objects", values.get("list_bytes", SHARED_BYTES) < SHARED_BYTES)
    limits.add("loop_is_slower", ways[LIST].is_below(ways[LOOP]))
    return x.Finding(_message(ways), values, tuple(limits), unclear)


def _message(ways: dict[str, x.Spread]) -> str:
    """Return the message: the shuffled list against the ordered list, that against NumPy."""
    in_order, shuffled, numpy = ways[LIST], ways[SHUFFLED], ways[NUMPY]
    if (unsure := x.unsure((shuffled, in_order), (in_order, numpy))) is not None:
        return unsure
    if not numpy.is_below(in_order):
        return "numpy_no_faster"
    is_dearer = in_order.is_below(shuffled) and shuffled.median > ALIKE * in_order.median
    return "objects_all_over" if is_dearer else "order_is_free"


def defaults(machine: x.Machine) -> Params:
    """Take enough numbers that their objects are far larger than the caches."""
    room = x.beyond_cache(machine, 128 * x.MIB, FREE_SHARE) // OBJECT_BYTES
    return Params(most_numbers=x.ladder(SHORTEST, room, 4)[-1])


def seconds(params: Params) -> float:
    """Estimate from making the objects, and from the sums with their warm-ups."""
    added = sum(n + AT_ONCE for n in x.ladder(SHORTEST, params.most_numbers, 4))
    rounds_s = params.rounds * (LOOKUPS_S + added * ALL_WAYS_S)
    return 0.6 + params.most_numbers * BUILD_S + rounds_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"sums": Summed, "lookups": Sought, "bytes": Held},
    measure=measure,
    confirmed_by="l1_misses",
    loop="experiment.py:add_up",
    analyse=analyse,
    views=(
        x.Lines("time", "sums", x.Axis("numbers"), x.Axis("element_s"), series="way", order=WAYS),
        x.Bars("bytes", "bytes", "way", "element_bytes", order=tuple(HELD)),
        x.Lines("lookup", "lookups", x.Axis("numbers"), x.Axis("lookup_s"), series="way"),
    ),
    values=x.values(
        *(f"{way}_s" for way in WAYS),
        *(f"{way}_bytes" for way in HELD),
        *RATIOS,
        f"{LIST}_lookup_s",
        f"{SET}_lookup_s",
        "numbers",
    ),
    keys=(
        x.Key("list_s", "time", (LIST,), at="numbers"),
        x.Key("shuffled_list_s", "time", (SHUFFLED,), at="numbers"),
        x.Key("numpy_s", "time", (NUMPY,), at="numbers"),
    ),
    next=x.Next("cache-ladder", {"kind": INTEGERS}),
    parts=(x.Part.MEMORY,),
    uses=(x.Use.PINNING,),
    imports=("numpy",),
    defaults=defaults,
    quick=x.change(at_most={"most_numbers": 2**20, "rounds": 5}),
    smallest=x.change(most_numbers=2**12, rounds=3),
    budget=x.Budget(
        full={"rounds": 8, "most_numbers": 2**20}, quick={"rounds": 4, "most_numbers": SHORTEST}
    ),
    seconds=seconds,
    memory_bytes=lambda params: params.most_numbers * HELD_BYTES + 16 * x.MIB,
)
