"""Is every core as fast as the others of its kind?

Method: one thread does the same arithmetic on one hardware thread after another, kept there
(pinned). It computes polynomials over an array in the first-level cache. Before each sample the
thread works as long without being timed, so that the core's clock has risen. Hardware threads are
shuffled in each round. Each core is compared, round by round, with the usual core of its kind: the
upper median of that round.
Source: none; cores of one kind are each other's reference.

Not shown: how fast cores are while all work at once, limited by heat and power.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from experiments import api as x
from experiments.tools.arrays import spread_out

FIRST_LAPS = 100
MOVE_S = 0.001  # from core to core, and what surrounds a sample
SLOW = 0.95  # of the usual core; a core that does less is told of


class Params(x.Params):
    """The parameters; `threads` are hardware threads, the first of every core before siblings."""

    threads: int = x.param(2, minimum=1, maximum=4096, scale="log2")
    sample_s: float = x.param(0.01, minimum=0.001, maximum=1.0)
    rounds: int = x.param(15, minimum=1, maximum=100)


class CoreRate(x.Row):
    """One sample on one hardware thread; `core` is None where the system names no cores."""

    thread: int
    core: int | None
    repeat: int
    flop_per_s: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each hardware thread and round."""
    from experiments.kernels.polynomials import FLOP, numbers, polynomials

    points, threads = numbers(), spread_out(bench.machine)[: params.threads]
    with bench.pinned(threads[-1].id if threads else None):
        laps = bench.repeat_for(
            lambda count: polynomials(points, count), at_least_s=params.sample_s, start=FIRST_LAPS
        )
    refused: set[int] = set()
    for turn, thread in bench.interleave(threads, params.rounds):
        took_s = _sample_s(bench, thread.id, lambda: polynomials(points, laps))
        if took_s is not None:
            yield CoreRate(
                thread=thread.id,
                core=thread.core,
                repeat=turn.round,
                flop_per_s=laps * FLOP / took_s,
            )
        elif thread.id not in refused:
            refused.add(thread.id)
            yield x.Note("thread_refused", {"thread": thread.id})
        yield x.Progress(turn.fraction)


def _sample_s(bench: x.Bench, thread: int, work: Callable[[], object]) -> float | None:
    """Return the seconds of the work on a hardware thread, None where it cannot be kept there."""
    with bench.pinned(thread) as place:
        if place is None:
            return None
        work()
        return bench.time(work)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare every core with the usual one of its kind."""
    rates = tables["rates"]
    pairs = beside_usual(rates, machine)
    over = {core: one.median / usual.median for core, (one, usual) in pairs.items()}
    limits = x.Limits()
    if len({row.thread for row in rates}) < len(x.usable_threads(machine)):
        limits.append("threads_left_out")
    limits.add("virtual_machine", x.is_virtual(machine))
    limits.append("one_at_a_time")
    if len(pairs) < 2:
        return x.Finding("nothing_to_compare", {"cores_measured": len(pairs)}, tuple(limits))
    found = x.family(pairs, x.Spread.against)
    slow = [
        core
        for core, each in found.items()
        if each.outcome is x.Outcome.DIFFERS and not each.is_above and over[core] < SLOW
    ]
    slowest, fastest = min(slow or over, key=over.__getitem__), max(over, key=over.__getitem__)
    values = {
        "slowest_over_usual": over[slowest],
        "fastest_over_usual": over[fastest],
        "slowest_core": slowest,
        "cores_measured": len(pairs),
        "slowest_flop_per_s": pairs[slowest][0].median,
        "usual_flop_per_s": pairs[slowest][1].median,
    }
    if x.too_few(one for one, _ in pairs.values()):
        return x.Finding(x.TOO_FEW, values, tuple(limits))
    if slow:
        return x.Finding("core_is_slow", values, tuple(limits))
    is_known = all(each.outcome is not x.Outcome.UNKNOWN for each in found.values())
    message = "cores_agree" if is_known and over[slowest] >= SLOW else x.CANNOT_TELL
    return x.Finding(message, values, tuple(limits))


def beside_usual(
    rates: Sequence[CoreRate], machine: x.Machine
) -> dict[int, tuple[x.Spread, x.Spread]]:
    """Return, by its number, the rate of each core and that of the usual core of its kind.

    The usual one is in each round the upper median of all cores of the kind.
    """
    kinds = {thread.id: thread.kind for thread in machine.cpu.threads_list}
    kind_of = {_core(row): kinds.get(row.thread) for row in rates}
    of = x.spreads((_core(row), row.flop_per_s, row.repeat) for row in rates)
    by_round: dict[tuple[str | None, int], list[float]] = {}
    for core, each in of.items():
        for number, rate in each.by_round.items():
            by_round.setdefault((kind_of[core], number), []).append(rate)
    usual = x.spreads(
        (kind, statistics.median_high(of_kind), number)
        for (kind, number), of_kind in by_round.items()
    )
    return {core: (each, usual[kind_of[core]]) for core, each in of.items()}


def _core(row: CoreRate) -> int:
    """Return the number of a row's core; where it is unknown, that of its hardware thread."""
    return row.thread if row.core is None else row.core


def defaults(machine: x.Machine) -> Params:
    """Measure every hardware thread; where that takes too long, one a core, and fewer rounds."""
    threads = max(1, len(x.usable_threads(machine)))
    wanted = Params(threads=threads)
    if seconds(wanted) > x.Budget().full_s:
        wanted = replace(wanted, threads=x.physical_cores(machine) or threads)
    return wanted


def seconds(params: Params) -> float:
    """Estimate: each sample and as much before it, a fifth of it again; loading the loop."""
    sample_s = 2.2 * params.sample_s + MOVE_S
    return 0.3 + params.threads * params.rounds * sample_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"rates": CoreRate},
    measure=measure,
    loop="kernels/polynomials.py:polynomials",
    analyse=analyse,
    views=(
        x.Bars(
            "threads",
            "rates",
            "thread",
            "flop_per_s",
            limits=(x.Limit("usual", "usual_flop_per_s"),),
        ),
        x.Lines("rounds", "rates", x.Axis("repeat"), x.Axis("flop_per_s"), series="thread"),
    ),
    values=x.values(
        x.Value("slowest_over_usual", x.Part.CORES),
        "fastest_over_usual",
        "slowest_core",
        "cores_measured",
        "slowest_flop_per_s",
        "usual_flop_per_s",
    ),
    parts=(x.Part.CORES,),
    needs=(x.Need.CORE_PAIR,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=x.change(rounds=5),
    smallest=x.change(rounds=3, sample_s=0.001),
    budget=x.Budget(
        full={"rounds": 5, "sample_s": 0.002}, quick={"rounds": 3, "sample_s": 0.001, "threads": 2}
    ),
    seconds=seconds,
    memory_bytes=lambda _params: x.MIB,
)
