"""What do two threads on one core bring?

The same work is done by one thread, by the two hardware threads of a core, and by two cores.

Method: two kinds of work. Adding up: the sum of an array in the first cache, which keeps the units
of a core busy all by itself. Waiting: a chain of reads from memory, each of which needs the one
before. In each round each kind is done by one thread, by two on one core, and by two on two cores,
as much by each thread; what is done in a second is divided by what one thread did in that round.
Source: D. M. Tullsen, S. J. Eggers, H. M. Levy, Simultaneous Multithreading (1995).

What it cannot tell: what other work gains; most lies between these two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from experiments import api as x
from experiments.tools.buffers import Buffer
from experiments.tools.long_chain import LongChain, power_of_two
from experiments.tools.neighbours import SAME_CORE, pairs
from experiments.tools.side_by_side import seconds_together

ARRAY_BYTES = 8 * x.KIB  # two of them fit into any first cache
SAMPLE_S = 0.02
FREE_SHARE = 0.5
ADDING, WAITING = "adding", "waiting"
ONE, SIBLINGS, CORES = PLACES = ("one_thread", "same_core", "two_cores")


@x.record
class Params:
    """The parameters; the chain is the next power of two below `chain_bytes`."""

    chain_bytes: int = x.param(
        128 * x.MIB, unit="bytes", minimum=x.MIB, maximum=16 * x.GIB, scale="log2"
    )
    rounds: int = x.param(15, minimum=1, maximum=100)


@x.record
class WorkRate:
    """One repeat: additions or reads in a second, by all threads together."""

    work: str = x.column()
    place: str = x.column()
    repeat: int = x.column()
    work_per_s: float = x.column("per_s")
    gain: float = x.column()


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each work, place and round, once the round's single thread is known."""
    works = {ADDING: _adding(bench), WAITING: _waiting(params, bench)}
    placed = place_threads(bench.machine)
    rates: dict[tuple[int, str], dict[str, float]] = {}
    arms = [(work, place) for work in works for place in placed]
    for turn, (work, place) in bench.interleave(arms, params.rounds):
        threads = placed[place]
        jobs, amount = works[work](len(threads))
        taken_s = seconds_together(bench, list(zip(threads, jobs, strict=True)))
        of_round = rates.setdefault((turn.round, work), {})
        of_round[place] = amount * len(threads) / taken_s
        if ONE in of_round:
            for known in list(of_round) if place == ONE else [place]:
                yield WorkRate(
                    work=work,
                    place=known,
                    repeat=turn.round,
                    work_per_s=of_round[known],
                    gain=of_round[known] / of_round[ONE],
                )
        yield x.Progress(turn.fraction)


Work = Callable[[int], tuple[list[Callable[[], object]], int]]  # of so many threads: jobs, amount


def _adding(bench: x.Bench) -> Work:
    from experiments.kernels.sums import sum_in_a_row

    arrays = [Buffer(ARRAY_BYTES).words for _ in range(2)]
    laps = bench.repeat_for(
        lambda count: sum_in_a_row(arrays[0], count), at_least_s=SAMPLE_S, start=1000
    )

    def jobs(threads: int) -> tuple[list[Callable[[], object]], int]:
        work: list[Callable[[], object]] = [
            partial(sum_in_a_row, array, laps) for array in arrays[:threads]
        ]
        return work, laps * ARRAY_BYTES // 8

    return jobs


def _waiting(params: Params, bench: x.Bench) -> Work:
    from experiments.kernels.chains import rounded_steps, walk

    chain = LongChain(Buffer(power_of_two(params.chain_bytes)), bench)
    steps = bench.repeat_for(
        lambda count: walk(count, *chain.stretches(1, count)), at_least_s=SAMPLE_S, start=1000
    )

    def jobs(threads: int) -> tuple[list[Callable[[], object]], int]:
        places = chain.stretches(threads, rounded_steps(steps))
        return [partial(walk, steps, place) for place in places], rounded_steps(steps)

    return jobs


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
    gains = x.spreads(
        ((share.work, share.place), share.gain, share.repeat) for share in tables["shares"]
    )
    names = {ADDING: "arithmetic", WAITING: "waiting"}
    values, unclear = x.ratios(  # one thread is the measure: its own gain is 1 each time
        {
            f"{'' if place == SIBLINGS else 'cores_'}{names[work]}_gain": (
                found,
                x.Spread(1.0, 1.0, 1.0, found.count, dict.fromkeys(found.by_round, 1.0)),
            )
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
    return x.Finding(_message(adding, waiting, unclear), values, tuple(limits), unclear)


def _message(adding: x.Spread, waiting: x.Spread, unclear: Sequence[str]) -> str:
    """Return what to say; both gains stand in a sentence only where both are clear ones."""
    if x.too_few((adding, waiting)):
        return x.TOO_FEW
    if not adding.differs_from(waiting):
        return "both_alike"
    if waiting.is_below(adding):
        return "adding_alone_gains" if "waiting_gain" in unclear else "adding_gains_more"
    return "waiting_alone_gains" if "arithmetic_gain" in unclear else "waiting_gains_more"


def defaults(machine: x.Machine) -> Params:
    """Walk through four last-level caches and at least 128 MiB, within half of the free memory."""
    wanted = max(4 * (x.last_level_cache_bytes(machine) or 0), 128 * x.MIB)
    most = x.fits(wanted, FREE_SHARE)
    return Params(chain_bytes=max(power_of_two(most), x.MIB))


def quick(params: Params) -> Params:
    """Take five rounds through half a chain."""
    return replace(params, chain_bytes=max(power_of_two(params.chain_bytes) // 2, x.MIB), rounds=5)


def seconds(params: Params) -> float:
    """Estimate: three places and two kinds of work, and laying out the chain."""
    return 0.3 + params.chain_bytes / x.GIB * 1.2 + params.rounds * 2 * len(PLACES) * 1.5 * SAMPLE_S


EXPERIMENT = x.Experiment(
    version=1,
    params=Params,
    tables={"shares": WorkRate},
    measure=measure,
    analyse=analyse,
    views=(
        x.Bars(
            key="gain",
            table="shares",
            label="place",
            detail="work",
            value="gain",
            order=PLACES,
            limits=(x.Limit("one_thread", "one", "x"), x.Limit("twice", "two", "x")),
        ),
        x.Bars(key="rate", table="shares", label="work", detail="place", value="work_per_s"),
    ),
    values=(
        x.Value("arithmetic_gain", "ratio", x.Part.CORES),
        x.Value("waiting_gain", "ratio", x.Part.CORES),
        x.Value("cores_arithmetic_gain", "ratio"),
        x.Value("cores_waiting_gain", "ratio"),
        x.Value("one", ""),
        x.Value("two", ""),
    ),
    parts=(x.Part.CORES,),
    needs=(x.Need.NUMBA, x.Need.CORE_PAIR, x.Need.SMT),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=quick,
    smallest=lambda params: replace(params, chain_bytes=x.MIB, rounds=2),
    seconds=seconds,
    memory_bytes=lambda params: power_of_two(params.chain_bytes) + 6 * x.MIB,
)
