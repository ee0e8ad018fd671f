"""Functions that the lesson of diffusion calls."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from experiments import api as x

from .experiment import ITEM_BYTES, USUAL
from .solvers import COMPILED_ONE, MOVED, NUMPY, TORCH_CPU, TORCH_ONE

HELD_BACK = (COMPILED_ONE,)
LOOP_WINS = 3  # the answer
ONCE = "memory_once"
CLEARLY = 1.25  # times the gain on the largest plate
FAR_BELOW = 0.5  # of what memory allows, as counted; reading before writing is half as much again
ALIKE = 1.1  # times: up to here two engines are as fast
BY_CORES = 0.7  # of the number of cores: a gain that large is about their number
NEAR = 1.25  # times as far from the limit as the nearest line
ARRAYS = (2, 3, 3, 3, 2)  # that each of the five operations reads or writes
GIGABYTE, TWENTIETH = 1e9, 0.05
FIVE_MS, TENTH = 5e-3, 0.1


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return what the loop on one core and what all cores of torch gain, and the loop's share."""
    known, found = run.values, {}
    if (ahead := _loop_over_torch(run)) is not None:
        found["loop_over_torch"] = ahead
    for name, plate in (("torch_cpu_over_one", "_large"), ("torch_cpu_near_over_one", "")):
        one, all_ = (known.get(f"{each}{plate}_cells_per_s") for each in (TORCH_ONE, TORCH_CPU))
        if one and all_:
            found[name] = all_ / one
    loop, allowed = (known.get(f"{each}_cells_per_s") for each in (f"{COMPILED_ONE}_large", ONCE))
    if loop and allowed:
        found["loop_of_memory_fraction"] = loop / allowed
    return found


def option_by_engine(run: x.LessonRun) -> int | None:
    """Return the answer by how much torch on all cores is ahead of the loop on one."""
    ahead, cores = _loop_over_torch(run), x.physical_cores(run.machine)
    if ahead is None or cores is None:
        return None
    if ahead * ALIKE >= 1:
        return LOOP_WINS if ahead > ALIKE else 2
    return 1 if 1 / ahead < BY_CORES * cores else 0


def at_the_limit(run: x.LessonRun) -> x.Spot:
    """Return the processor's lines that end nearest to what five passes through memory allow."""
    limit = run.values.get("memory_passes_cells_per_s")
    known = _rates(run, [name for name in MOVED if f"{name}_large_cells_per_s" in run.values])
    if limit is None or not known:
        return x.Spot()
    apart = {name: max(rate / limit, limit / rate) for name, rate in known.items()}
    nearest = min(apart.values())
    return x.Spot(names=tuple(name for name in apart if apart[name] <= NEAR * nearest))


no_loop = x.limited("not_compiled")  # was there no compiled loop on the processor?
may_be_cached = x.limited("partly_in_cache")  # may caches hold a part of the plate?
gpu_gains_nothing = x.found("gpu_is_not_faster")  # was the GPU as fast as the processor, or slower?


def one_pass_gains_nothing(run: x.LessonRun) -> bool:
    """Was the loop on one core as fast as NumPy, or slower?"""
    return run.values.get("compiled_one_over_numpy", ALIKE) < ALIKE


def one_core(run: x.LessonRun) -> bool:
    """May the program use one core only?"""
    return x.physical_cores(run.machine) == 1


def cores_win(run: x.LessonRun) -> bool:
    """Was torch on all cores ahead of the loop on one?"""
    ahead = _loop_over_torch(run)
    return ahead is not None and ahead * ALIKE < 1


def in_cache(run: x.LessonRun) -> bool:
    """May caches hold a part of the plate, and was torch on all cores not ahead?"""
    return may_be_cached(run) and not cores_win(run)


def cores_gain_in_cache(run: x.LessonRun) -> bool:
    """Do all cores gain torch clearly more on a plate that a cache may hold?"""
    told = numbers(run, None)
    if not _small_fits(run) or not {"torch_cpu_over_one", "torch_cpu_near_over_one"} <= told.keys():
        return False
    return told["torch_cpu_near_over_one"] >= CLEARLY * told["torch_cpu_over_one"]


def loop_wins_in_cache(run: x.LessonRun) -> bool:
    """Is the loop on one core ahead of torch on all, also on a plate that a cache may hold?"""
    loop, torch = (run.values.get(f"{name}_cells_per_s") for name in (COMPILED_ONE, TORCH_CPU))
    if not loop or not torch or not _small_fits(run):
        return False
    return loop > ALIKE * torch and option_by_engine(run) == LOOP_WINS


def loop_below_memory(run: x.LessonRun) -> bool:
    """Does the loop on one core stay far below what memory allows, though no cache holds it?"""
    share = numbers(run, None).get("loop_of_memory_fraction", 1.0)
    return not may_be_cached(run) and share < FAR_BELOW


def gpu_gains(run: x.LessonRun) -> bool:
    """Was the GPU faster, and are both memories known?"""
    is_faster = run.message in {"gpu_is_faster", "gpu_is_faster_in_caches"}
    return is_faster and "gpu_memory_over_memory" in run.values


def one_gigabyte(run: x.LessonRun) -> bool:
    """Did a step of NumPy in double precision move about a gigabyte, as counted?"""
    moved = MOVED[NUMPY] * ITEM_BYTES[run.params.dtype] * run.params.large**2
    return _is_double(run) and abs(moved / GIGABYTE - 1) <= TWENTIETH


def five_milliseconds(run: x.LessonRun) -> bool:
    """Did a step of NumPy in double precision take about 5 ms?"""
    return _is_double(run) and abs(_step_s(run, NUMPY) / FIVE_MS - 1) <= TENTH


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Let the numbers of one step travel from memory to the core and back, five times and once.

    None where one of both was not measured.
    """
    if len(_rates(run, (NUMPY, COMPILED_ONE))) < 2:
        return None
    five_s, once_s = _step_s(run, NUMPY), _step_s(run, COMPILED_ONE)
    ends_s = [five_s * arrays / sum(ARRAYS) for arrays in accumulate(ARRAYS)]
    end_s = max(five_s, once_s)
    says = {"way": 0.0, "once_is_done": once_s, "five_are_done": five_s}
    return x.Motion(
        scenes=(
            x.Scene(title="five", events=_passes(ARRAYS, [*ends_s[:-1], five_s])),
            x.Scene(title="once", events=_passes((MOVED[COMPILED_ONE],), [once_s])),
        ),
        duration_s=end_s,
        stills=(end_s / 10, end_s / 2, end_s),
        says=tuple(
            x.Say(text=text, start_s=says[text]) for text in sorted(says, key=says.__getitem__)
        ),
    )


def _passes(arrays: Iterable[int], ends_s: list[float]) -> tuple[x.Travel | x.Count, ...]:
    """Return passes one after another, each with its number of arrays."""
    trips = [
        x.Travel(
            along=("memory", "core"), start_s=start_s, end_s=end_s, token=str(count), returns=True
        )
        for count, start_s, end_s in zip(arrays, [0.0, *ends_s], ends_s, strict=False)
    ]
    return (*trips, x.Count(shape="core", label="passes", times=tuple(ends_s)))


def _loop_over_torch(run: x.LessonRun) -> float | None:
    """Return how many times as fast the loop on one core is as torch on all."""
    known = _rates(run, (COMPILED_ONE, TORCH_CPU))
    return known[COMPILED_ONE] / known[TORCH_CPU] if len(known) == 2 else None


def _rates(run: x.LessonRun, engines: Iterable[str]) -> dict[str, float]:
    """Return the cells that engines update in a second on the largest plate, where measured."""
    named = {engine: run.values.get(f"{engine}_large_cells_per_s") for engine in engines}
    return {engine: rate for engine, rate in named.items() if rate}


def _step_s(run: x.LessonRun, engine: str) -> float:
    """Return the time of a step on the largest plate."""
    side: int = run.params.large
    return side**2 / _rates(run, (engine,))[engine]


def _small_fits(run: x.LessonRun) -> bool:
    """May the last cache hold both fields of the usual plate, but not those of the largest?"""
    fields_bytes = 2 * USUAL**2 * ITEM_BYTES[run.params.dtype]
    return not may_be_cached(run) and fields_bytes <= (x.last_level_cache_bytes(run.machine) or 0)


def _is_double(run: x.LessonRun) -> bool:
    """Was NumPy measured in double precision?"""
    return run.params.dtype == "float64" and NUMPY in _rates(run, (NUMPY,))
