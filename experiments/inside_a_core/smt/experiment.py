"""What do two threads on one core bring?

The same work is done by one thread, by the two hardware threads of a core, and by two cores.

Method: two kinds of work. Adding up: the sum of an array in the first cache, which keeps the units
of a core busy all by itself. Waiting: a chain of reads from memory, each of which needs the
previous one. Each round does each kind with one thread, with two on one core, and with two on two
cores. The work done per second while both run is divided by that of one thread in the same round.
Source: D. M. Tullsen, S. J. Eggers, H. M. Levy, Simultaneous Multithreading (1995).

Not shown: the gain of other work; most work lies between these two.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

from experiments import api as x
from experiments.tools.buffers import Buffer
from experiments.tools.long_chain import LongChain, power_of_two
from experiments.tools.neighbours import SAME_CORE, pairs
from experiments.tools.side_by_side import turn_seconds_together

ARRAY_BYTES = 8 * x.KIB  # two of them fit into any first cache
SAMPLE_S, TURN_S = 0.02, 0.001
FREE_SHARE = 0.5
ADDING, WAITING = "adding", "waiting"
ONE, SIBLINGS, CORES = PLACES = ("one_thread", "same_core", "two_cores")


class Params(x.Params):
    """The parameters; the chain is the next power of two below `chain_bytes`."""

    chain_bytes: int = x.param(128 * x.MIB, minimum=x.MIB, maximum=16 * x.GIB, scale="log2")
    rounds: int = x.param(15, minimum=1, maximum=100)


class WorkRate(x.Row):
    """One repeat: additions or reads in a second, by all threads together."""

    work: str
    place: str
    repeat: int
    work_per_s: float
    gain: float = x.column(unit="")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each work, place and round; a turn has all places, in changing order."""
    works = {ADDING: _adding(bench), WAITING: _waiting(params, bench)}
    placed = place_threads(bench.machine)
    names = list(placed)
    for turn, work in bench.interleave(list(works), params.rounds):
        first = turn.round % len(names)
        rates: dict[str, float] = {}
        for place in names[first:] + names[:first]:
            threads = placed[place]
            jobs, amount = works[work](len(threads))
            turns_s = turn_seconds_together(
                bench, list(zip(threads, jobs, strict=True)), at_least_s=SAMPLE_S
            )
            rates[place] = sum(amount / turn_s for turn_s in turns_s)
        for place, work_per_s in rates.items():
            yield WorkRate(
                work=work,
                place=place,
                repeat=turn.round,
                work_per_s=work_per_s,
                gain=work_per_s / rates[ONE],
            )
        yield x.Progress(turn.fraction)


Work = Callable[[int], tuple[list[Callable[[], object]], int]]  # of so many threads: turns, amount


def _adding(bench: x.Bench) -> Work:
    from experiments.kernels.sums import sum_in_a_row

    arrays = [Buffer(ARRAY_BYTES).words for _ in range(2)]
    laps = bench.repeat_for(
        lambda count: sum_in_a_row(arrays[0], count), at_least_s=TURN_S, start=100
    )

    def jobs(threads: int) -> tuple[list[Callable[[], object]], int]:
        work: list[Callable[[], object]] = [
            partial(sum_in_a_row, array, laps) for array in arrays[:threads]
        ]
        return work, laps * ARRAY_BYTES // 8

    return jobs


def _waiting(params: Params, bench: x.Bench) -> Work:
    from experiments.kernels.chains import rounded_steps, walk

    chain, lock = LongChain(Buffer(power_of_two(params.chain_bytes)), bench), threading.Lock()
    steps = rounded_steps(
        bench.repeat_for(
            lambda count: walk(count, *chain.stretches(1, count)), at_least_s=TURN_S, start=1000
        )
    )

    def turn() -> None:
        with lock:  # each turn of either thread goes where nobody has been in this lap
            (place,) = chain.stretches(1, steps)
        walk(steps, place)

    return lambda threads: ([turn] * threads, steps)


def place_threads(machine: x.Machine) -> dict[str, tuple[int, ...]]:
    """Return the hardware threads that work, for each place that this machine has."""
    found = pairs(machine)
    last = x.usable_threads(machine)[-1].id
    placed: dict[str, tuple[int, ...]] = {ONE: (last,)}
    if SAME_CORE in found:
        siblings = tuple(thread.id for thread in found[SAME_CORE])
        placed |= {ONE: siblings[-1:], SIBLINGS: siblings}
    cores = next((pair for name, pair in found.items() if name != SAME_CORE), None)
    if cores:
        placed[CORES] = tuple(thread.id for thread in cores)
    return placed


def analyse(_params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Say what a second thread on the core brings, for either work; and a second core beside it."""
    gains = x.spreads_of(tables["shares"], "gain", "work", "place")
    names = {ADDING: "arithmetic", WAITING: "waiting"}
    values, unclear = x.ratios(  # one thread is the measure: its own gain is 1 each time
        {
            f"{'' if place == SIBLINGS else 'cores_'}{names[work]}_gain": (found, _one(found))
            for (work, place), found in gains.items()
            if place != ONE
        }
    )
    values |= {"one": 1.0, "two": 2.0}
    limits = ["virtual_machine"] if x.is_virtual(machine) else []
    if SAME_CORE not in pairs(machine):
        return x.Finding("no_hardware_threads", values, tuple(limits), unclear)
    adding, waiting = gains.get((ADDING, SIBLINGS)), gains.get((WAITING, SIBLINGS))
    if adding is None or waiting is None:
        return x.Finding("nothing_to_compare", values, tuple(limits), unclear)
    message = x.unsure((adding, waiting)) or _message(adding, waiting, unclear)
    return x.Finding(message, values, tuple(limits), unclear)


def _one(gain: x.Spread) -> x.Spread:
    return x.Spread(1.0, 1.0, 1.0, gain.count, dict.fromkeys(gain.by_round, 1.0))


def _message(adding: x.Spread, waiting: x.Spread, unclear: Sequence[str]) -> str:
    """Return what to say of gains that clearly differ or are the same.

    A gain stands in a sentence only where it is clear itself.
    """
    if adding.is_as(waiting):
        return "both_alike"
    if adding.is_below(waiting):
        if "waiting_gain" in unclear:
            return x.CANNOT_TELL
        if "arithmetic_gain" in unclear:
            return "waiting_gains"
        return "waiting_alone_gains" if adding.is_as(_one(adding)) else "waiting_gains_more"
    if "arithmetic_gain" in unclear:
        return x.CANNOT_TELL
    if "waiting_gain" in unclear:
        return "adding_gains"
    return "adding_alone_gains" if waiting.is_as(_one(waiting)) else "adding_gains_more"


def seconds(params: Params) -> float:
    """Estimate: three places and two kinds of work, and laying out the chain."""
    return 0.3 + params.chain_bytes / x.GIB * 1.2 + params.rounds * 2 * len(PLACES) * 1.5 * SAMPLE_S


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"shares": WorkRate},
    measure=measure,
    loop="kernels/many_chains.py:walk_all",
    analyse=analyse,
    views=(
        x.Bars(
            "gain",
            "shares",
            "place",
            "gain",
            detail="work",
            order=PLACES,
            limits=(x.Limit("one_thread", "one", "x"), x.Limit("twice", "two", "x")),
        ),
        x.Bars("rate", "shares", "work", "work_per_s", detail="place"),
    ),
    values=x.values(
        x.Value("arithmetic_gain", x.Part.CORES),
        x.Value("waiting_gain", x.Part.CORES),
        "cores_arithmetic_gain",
        "cores_waiting_gain",
        "one",
        "two",
    ),
    keys=(
        x.Key("waiting_gain", "gain", (SIBLINGS,)),
        x.Key("arithmetic_gain", "gain", (SIBLINGS,)),
        x.Key("cores_waiting_gain", "gain", (CORES,)),
    ),
    next=x.Next("banks-mlp", {"chain_bytes": x.MIB}),
    parts=(x.Part.CORES,),
    needs=(x.Need.CORE_PAIR, x.Need.SMT),
    imports=("numpy", "numba"),
    defaults=lambda machine: Params(
        chain_bytes=power_of_two(x.beyond_cache(machine, 128 * x.MIB, FREE_SHARE))
    ),
    quick=x.change(rounds=5, chain_bytes=lambda size: max(power_of_two(size) // 2, x.MIB)),
    smallest=x.change(chain_bytes=x.MIB, rounds=2),
    seconds=seconds,
    memory_bytes=lambda params: power_of_two(params.chain_bytes) + 6 * x.MIB,
)
