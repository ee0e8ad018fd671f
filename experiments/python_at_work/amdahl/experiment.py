"""How far does it scale? The same work with one worker, with two, with all that there are.

Method: a fixed amount of compiled work is done in two parts. One thread does a chosen share alone.
The rest is divided among n threads, one on each core first, then on their siblings. Numbers of
workers are shuffled in each round; a speedup is the gain over one worker in the same round.
Amdahl's law is fitted to each round, up to the physical cores. So the fit has a spread like
anything measured. Its speedup on all those cores is compared with the chosen share. If the problem
grows with the workers, n of them do n times the divided part. Then a speedup is that of the work
per second, and Gustafson's law is fitted instead. The work per worker and second shows the cause of
a loss: it falls if clock or bandwidth fall. So in each round the clock of one core is measured too,
alone and while more and more are busy.
Source: G. Amdahl (1967); J. Gustafson, Reevaluating Amdahl's Law (1988); A. Karp and H. Flatt,
Measuring Parallel Processor Performance (1990).

Not shown: which other program or guest took a core's time; only the amount is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise

from experiments import api as x
from experiments.tools.arrays import cache_count, counts, spread_out
from experiments.tools.side_by_side import CAN_PIN, seconds_together

from .busy_cores import SAMPLE_S, CoreSpeed, beside_busy_cores, core_speeds
from .divided_work import DividedWork, computing, in_memory

COMPUTE, MEMORY = KERNELS = ("compute", "memory")
FIXED, GROWING = PROBLEMS = ("fixed", "growing")
MEASURED, IDEAL, AMDAHL, GUSTAFSON = CURVES = ("measured", "ideal", "fitted", "gustafson")
FREE_SHARE = 0.25
LEAST_SHARE = 0.02  # of one worker's time: no fitted curve falls below


class Params(x.Params):
    """The parameters; the array is that of the memory kernel."""

    kernel: str = x.param(COMPUTE, choices=KERNELS)
    problem: str = x.param(FIXED, choices=PROBLEMS)
    serial_fraction: float = x.param(0.05, minimum=0.0, maximum=1.0)
    most_workers: int = x.param(4, minimum=1, maximum=4096, scale="log2")
    sample_s: float = x.param(0.2, minimum=0.01, maximum=10.0, scale="log10")
    array_bytes: int = x.param(
        128 * x.MIB, minimum=x.MIB, maximum=64 * x.GIB, scale="log2", used_with=("kernel", MEMORY)
    )
    rounds: int = x.param(12, minimum=1, maximum=50)


class Run(x.Row):
    """All the work, once; `each_per_s` is one worker's rate in the divided part."""

    workers: int
    repeat: int
    wall_s: float
    each_per_s: float


class Speedup(x.Row):
    """A point of a curve: measured, ideal, or a law as fitted to this round."""

    curve: str
    workers: int
    repeat: int
    speedup: float


class Loss(x.Row):
    """The share that would have to be serial to explain a speedup, after Karp and Flatt."""

    workers: int
    repeat: int
    lost_fraction: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each number of workers and round; the curves once a round is complete."""
    threads: list[int | None] = [thread.id for thread in spread_out(bench.machine)]
    threads = threads[: params.most_workers] or [None]
    if not CAN_PIN:
        yield x.Note("not_pinned")
    if params.kernel == MEMORY:
        work = in_memory(bench, params.sample_s, params.array_bytes)
    else:
        work = computing(bench, params.sample_s)
    steps = counts(len(threads))
    cores = x.physical_cores(bench.machine) or 1
    walls: dict[int, Run] = {}
    of_round = 0
    for turn, workers in bench.interleave(steps, params.rounds):
        if turn.round != of_round:  # a turn may come again, so only now the last round is complete
            yield from curves_of_round(params, walls, cores)
            yield from core_speeds(bench, threads[:cores], of_round)
            walls, of_round = {}, turn.round
        run = run_once(params, bench, work, threads[:workers], turn.round)
        if bench.disturbed is None:
            walls[workers] = run
        yield run
        yield x.Progress(turn.fraction)
    yield from curves_of_round(params, walls, cores)
    yield from core_speeds(bench, threads[:cores], of_round)


def run_once(
    params: Params, bench: x.Bench, work: DividedWork, threads: list[int | None], turn: int
) -> Run:
    """Do the serial part in one thread, then the rest in all of them."""
    serial = params.serial_fraction
    serial_s = 0.0
    if serial > 0:
        serial_s = seconds_together(bench, [(threads[0], partial(work.job, 0.0, serial))])
    edges = [serial + (1 - serial) * place / len(threads) for place in range(len(threads) + 1)]
    times = len(threads) if params.problem == GROWING else 1
    jobs = [partial(_repeat, times, work.job, *part) for part in pairwise(edges)]
    divided_s = seconds_together(bench, list(zip(threads, jobs, strict=True)))
    each = (1 - serial) * times * work.steps / len(threads)
    return Run(
        workers=len(threads),
        repeat=turn,
        wall_s=serial_s + divided_s,
        each_per_s=each / divided_s,
    )


def _repeat(times: int, job: Callable[[float, float], object], start: float, end: float) -> None:
    """Repeat a part: it grows in time, not in memory, so each worker keeps its own array."""
    for _ in range(times):
        job(start, end)


def curves_of_round(
    params: Params, walls: Mapping[int, Run], cores: int
) -> Iterator[Speedup | Loss]:
    """Yield a round's points of each curve, and its losses; none without its one worker."""
    measured = speedups(params, {n: run.wall_s for n, run in walls.items()})
    fitted = parallel_fraction(params, measured, cores)
    for workers in sorted(measured):
        run = walls[workers]
        of = {IDEAL: float(workers), MEASURED: measured[workers]}
        if fitted is not None and len(walls) > 2:  # through a single point a fit would hide it
            law = GUSTAFSON if params.problem == GROWING else AMDAHL
            of[law] = by_law(params, fitted, workers)
        for curve, speedup in of.items():
            yield Speedup(curve=curve, workers=workers, repeat=run.repeat, speedup=speedup)
        if workers > 1:
            most, gained = _gain(params, workers, measured[workers])
            yield Loss(workers=workers, repeat=run.repeat, lost_fraction=1 - gained / most)


def speedups(params: Params, walls_s: Mapping[int, float]) -> dict[int, float]:
    """Return, by workers, the work in a second over one worker's; empty if that is not measured."""
    if 1 not in walls_s:
        return {}
    serial, grows = params.serial_fraction, params.problem == GROWING
    return {
        n: (serial + (1 - serial) * (n if grows else 1)) * walls_s[1] / wall_s
        for n, wall_s in walls_s.items()
    }


def _gain(params: Params, workers: int, speedup: float) -> tuple[float, float]:
    """Return (gain if p = 1, measured gain); in both laws p is the second over the first."""
    if params.problem == GROWING:  # S = 1 + p (n - 1)
        return workers - 1.0, speedup - 1
    return 1 - 1 / workers, 1 - 1 / speedup  # 1/S = 1 - p (1 - 1/n)


def by_law(params: Params, parallel: float, workers: int) -> float:
    """Return the speedup for this parallel share if only the serial part costs."""
    if params.problem == GROWING:
        return 1 + parallel * (workers - 1)
    return 1 / max(1 - parallel * (1 - 1 / workers), LEAST_SHARE)


def parallel_fraction(params: Params, of: Mapping[int, float], cores: int) -> float | None:
    """Return the law's p, fitted by least squares up to `cores`; None without two speedups."""
    gains = [_gain(params, n, speedup) for n, speedup in of.items() if 1 < n <= cores]
    weight = sum(most**2 for most, _ in gains)
    return sum(most * gained for most, gained in gains) / weight if weight else None


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Fit every round; compare the fits with what the law gives for the chosen share."""
    cores = x.physical_cores(machine)
    serial = params.serial_fraction
    values = {"serial_fraction": serial, "chosen_parallel_fraction": 1 - serial}
    values |= {"logical_cpus": len(x.usable_threads(machine)), "cores": cores} if cores else {}
    clock_values, unclear, is_slowed = beside_busy_cores(tables)
    values |= clock_values
    aside = _aside(params, machine, is_slowed)
    walls: dict[int, dict[int, float]] = {}
    for run in tables["runs"]:
        walls.setdefault(run.repeat, {})[run.workers] = run.wall_s
    rounds = {number: speedups(params, walls_s) for number, walls_s in walls.items()}
    of = x.spreads(
        ((n, sped, number) for number, each in rounds.items() for n, sped in each.items()),
        lambda workers: -workers,
    )
    fits = {n: parallel_fraction(params, each, cores or 1) for n, each in rounds.items()}
    fit = x.spreads(("", p, n) for n, p in fits.items() if p is not None).get("")
    if fit is None:
        return x.Finding("nothing_to_compare", values, aside, unclear)
    pairs = {n: (of[n], of[1]) for n in of if n != 1}
    over_one = x.family(pairs, x.Spread.against)
    gaining = [n for n, r in over_one.items() if r.outcome is x.Outcome.DIFFERS and r.is_above]
    best = max(gaining or of, key=lambda workers: of[workers].median)
    values["best_speedup"] = of[best].median
    standing = x.standing({n: of[n] for n in {*pairs, best}}, best)
    limits = x.Limits()
    limits.add("above_ideal", any(s > n > 1 for each in rounds.values() for n, s in each.items()))
    if standing is x.Outcome.UNKNOWN:
        limits.append("best_by_chance")
    elif standing is x.Outcome.SAME:
        limits.append("others_as_fast")
    if not gaining:
        message = x.unsure(*pairs.values())
        if message == x.TOO_FEW:  # each round still has its fit
            values["parallel_fraction"] = fit.median
        else:
            limits.append("no_fit")
        unclear += ("best_speedup",) if message else ()
        return x.Finding(message or "does_not_scale", values, (*limits, *aside), unclear)
    fitted = [n for n in pairs if n <= (cores or 1)]
    limits.add("fit_of_one", len(fitted) == 1)
    values |= {
        "best_workers": best,
        "law_speedup": by_law(params, 1 - serial, best),
        "parallel_fraction": fit.median,
        "parallel_least_fraction": fit.low,
        "parallel_most_fraction": fit.high,
    }
    if params.problem == FIXED and fit.high < 1 - LEAST_SHARE / 10:
        values["bound_speedup"] = 1 / (1 - fit.median)
    elif params.problem == FIXED:
        limits.append("no_bound")
    message = _message(params, fit, max(fitted))
    is_from_memory = params.kernel == MEMORY and "partly_in_cache" not in aside
    if is_from_memory and message in ("scales_as_chosen", "grows_as_chosen"):
        limits.append("memory_suffices")
    limits += aside
    limits.append("amdahls_law" if params.problem == FIXED else "gustafsons_law")
    return x.Finding(message, values, tuple(limits), unclear)


def _aside(params: Params, machine: x.Machine, is_slowed: bool | None) -> tuple[str, ...]:
    """Return the limits that hold whatever the speedups are."""
    limits = x.Limits()
    if params.kernel == MEMORY:
        if params.array_bytes < x.BEYOND_CACHE * _all_caches_bytes(machine):
            limits.append("partly_in_cache")
        limits.add("memory_on_one_node", len(x.usable_nodes(machine)) > 1)
    if is_slowed is None:
        limits.append("one_core_may_be_faster")
    else:
        limits.append("clock_falls" if is_slowed else "clock_stays")
    limits.add("virtual_machine", x.is_virtual(machine))
    return tuple(limits)


def _message(params: Params, fit: x.Spread, workers: int) -> str:
    """Return the message: the speedup of each round's fit for `workers`, against the law's."""
    reached, chosen = (
        x.spreads(
            ((busy, by_law(params, parallel, workers), n) for n, parallel in of.items()),
            lambda busy: -busy,
        )[busy]
        for busy, of in (
            (workers, fit.by_round),
            (0, dict.fromkeys(fit.by_round, 1 - params.serial_fraction)),
        )
    )
    is_fixed = params.problem == FIXED
    found = reached.against(chosen, within=x.alike_within())
    if found.outcome is x.Outcome.UNKNOWN:
        return "scales_unclear" if is_fixed else "grows_unclear"
    if found.outcome is x.Outcome.SAME:
        return "scales_as_chosen" if is_fixed else "grows_as_chosen"
    if found.is_above:
        return "scales_more" if is_fixed else "grows_more"
    if params.kernel == MEMORY:
        return "scales_less_memory" if is_fixed else "grows_less_memory"
    return "scales_less" if is_fixed else "grows_less"


def _all_caches_bytes(machine: x.Machine) -> int:
    last = x.last_level_cache_bytes(machine) or 32 * x.MIB
    return last * cache_count(machine, x.usable_threads(machine))


def defaults(machine: x.Machine) -> Params:
    """Use all logical CPUs; the memory kernel's array goes far beyond all caches."""
    wanted = x.BEYOND_CACHE * max(_all_caches_bytes(machine), 32 * x.MIB)
    array_bytes = x.fits(wanted, FREE_SHARE)
    most = max(1, len(x.usable_threads(machine)))
    return Params(most_workers=most, array_bytes=max(array_bytes, x.MIB))


def seconds(params: Params) -> float:
    """Estimate by the law; shared cores take longer."""
    serial, steps = params.serial_fraction, counts(params.most_workers)
    whole = [serial + (1 - serial) / (1 if params.problem == GROWING else n) for n in steps]
    one_round_s = (sum(whole) + 0.005 * sum(steps) / 64) * params.sample_s
    filling_s = params.array_bytes / x.GIB * 0.6 if params.kernel == MEMORY else 0.0
    round_s = 1.3 * one_round_s + len(steps) * 1.3 * SAMPLE_S
    return 0.2 + filling_s + 3 * params.sample_s + params.rounds * round_s


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"speedups": Speedup, "runs": Run, "losses": Loss, "core_speeds": CoreSpeed},
    measure=measure,
    loop="kernels.py:mix",
    analyse=analyse,
    views=(
        x.Lines(
            "speedup",
            "speedups",
            x.Axis("workers"),
            x.Axis("speedup"),
            series="curve",
            order=CURVES,
            limits=(x.Limit("cores", "cores", "x"), x.Limit("logical_cpus", "logical_cpus", "x")),
        ),
        x.Lines(
            "each",
            "runs",
            x.Axis("workers"),
            x.Axis("each_per_s"),
            limits=(x.Limit("cores", "cores", "x"),),
        ),
        x.Lines("lost", "losses", x.Axis("workers"), x.Axis("lost_fraction")),
        x.Lines("clock", "core_speeds", x.Axis("busy_cores"), x.Axis("core_hz")),
    ),
    values=x.values(
        "parallel_fraction",
        "parallel_least_fraction",
        "parallel_most_fraction",
        x.Value("best_speedup", x.Part.CORES),
        x.Value("best_workers", x.Part.CORES),
        "law_speedup",
        "bound_speedup",
        "serial_fraction",
        "chosen_parallel_fraction",
        "clock_alone_hz",
        "clock_beside_hz",
        "clock_beside_over_alone",
        "taken_beside_fraction",
        "cores",
        "logical_cpus",
    ),
    keys=(
        x.Key("best_speedup", "speedup", (MEASURED,), at="best_workers"),
        x.Key("parallel_fraction", "lost", at="cores"),
        x.Key("clock_beside_hz", "clock", at="cores"),
    ),
    next=x.Next("stream", {"serial_fraction": 0.5}),
    parts=(x.Part.CORES,),
    uses=(x.Use.PINNING,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=x.change(sample_s=lambda sample_s: sample_s / 4, rounds=10),
    smallest=x.change(sample_s=0.01, rounds=2),
    budget=x.Budget(full={"sample_s": 0.01}, quick={"sample_s": 0.01}),
    seconds=seconds,
    memory_bytes=lambda params: (
        (params.array_bytes if params.kernel == MEMORY else 0) + 100 * x.MIB
    ),
)
