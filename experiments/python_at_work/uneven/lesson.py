"""What the lesson of uneven computes."""

from __future__ import annotations

from experiments import api as x

from .experiment import BLOCK, DYNAMIC, INTERLEAVED

HELD_BACK = (BLOCK,)
WAYS = (BLOCK, INTERLEAVED, DYNAMIC)  # in the order of the options; the last hands out single rows
LIKE = 1.1  # times: ways that are this close end together
BUSY = 0.7  # of the workers' time
CLEARLY = 1.5  # times: slower, and not by chance


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return how busy the workers were with blocks, and how many rows there are."""
    busy = _busy_with_blocks(run)
    return {"rows": run.params.rows} | ({} if busy is None else {"busy_fraction": busy})


def slowest_way(run: x.LessonRun) -> int | None:
    """Return the option of the way that was done last, or of none; None where it was close."""
    names = ("block_s", "interleaved_s", "dynamic_1_s")
    if run.params.workers == 1 or not run.values.keys() >= {*names}:
        return None
    times = [run.values[name] for name in names]
    first, second, last = sorted(times)
    if last <= LIKE * first:
        return len(WAYS)
    return times.index(last) if last > LIKE * second else None


def longest_tail(run: x.LessonRun) -> x.Spot:
    """Return the way in which a worker stops longest before the last one."""
    ends: dict[str, dict[int, float]] = {}
    for row in run.tables["slices"]:
        lanes = ends.setdefault(row.way, {})
        lanes[row.worker] = max(row.end_s, lanes.get(row.worker, 0.0))
    tails = {way: max(lanes.values()) - min(lanes.values()) for way, lanes in ends.items()}
    return x.Spot(names=(max(tails, key=lambda way: tails[way]),) if tails else ())


def one_core(run: x.LessonRun) -> bool:
    """Do all workers share one core?"""
    return x.physical_cores(run.machine) == 1


ways_alike = x.found("ways_alike")  # did blocks take the same as the best piece handed out?
blocks_won = x.found("block_wins")  # did handing out cost more than it evened out?
# Did dealing out in turn do as well as handing out?
dealt_as_well = x.limited("interleaved_as_good", "interleaved_as_good_by_order")
below_ideal = x.limited("below_ideal")  # was the best piece quicker than even sharing allows?
best_by_chance = x.limited("best_chunk_by_chance")  # can nobody tell which piece is the best?


def blocks_busy(run: x.LessonRun) -> bool:
    """Were the workers busy with their blocks most of the time?"""
    busy = _busy_with_blocks(run)
    return run.params.workers > 1 and busy is not None and busy >= BUSY


def rows_slower_than_one_worker(run: x.LessonRun) -> bool:
    """Did handing out single rows take clearly longer than one worker alone?"""
    if run.params.workers == 1 or not run.values.keys() >= {"dynamic_1_s", "serial_s"}:
        return False
    return run.values["dynamic_1_s"] > CLEARLY * run.values["serial_s"]


def _busy_with_blocks(run: x.LessonRun) -> float | None:
    shares = x.medians((row.way, row.efficiency_fraction) for row in run.tables["shares"])
    return shares.get(BLOCK)
