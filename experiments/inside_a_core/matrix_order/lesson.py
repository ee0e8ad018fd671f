"""What the lesson of matrix-order computes."""

from __future__ import annotations

import math

from experiments import api as x

from .experiment import (
    BESIDE,
    BLOCKED,
    COLUMNS,
    LINE,
    ROWS,
    TRANSPOSE,
    WAYS,
    power_of,
)

HELD_BACK = (BLOCKED,)
CLEARLY = 1.5  # times as long as in both neighbours
AROUND = 1.15  # times the size: so exactly can one click
HELPS, HARDLY, TWICE = 3.0, 1.3, 2.0  # times as fast, of the goals
ANOTHER_LINE = 2.0  # times as long as along rows: from here on, most steps wait for a line
SHOWN, MOST = 12, 60  # steps down a column that move; lines along a row, at most


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the block, and how far apart two steps down a column lie, in the largest matrix."""
    side = run.values.get("largest_side")
    apart = {} if side is None else {"apart_bytes": 8 * side}
    return {"block": run.params.block} | apart


def option_by_spike(run: x.LessonRun) -> int | None:
    """Return the answer by what the power of two takes, beside both neighbours; None unmeasured."""
    line, power = _line(run, COLUMNS), power_of(run.params)
    around = [line[side] for side in (power - BESIDE, power + BESIDE) if side in line]
    if power not in line or len(around) < 2:
        return None
    if line[power] * CLEARLY < min(around):
        return 0
    return 2 if line[power] > CLEARLY * max(around) else 1


def highest_point(run: x.LessonRun) -> x.Spot:
    """Return the stretch around the size whose steps down a column take longest."""
    line = _line(run, COLUMNS)
    if not line:
        return x.Spot()
    top = max(line, key=line.__getitem__)
    return x.Spot(low=top / AROUND, high=top * AROUND)


swapping_costs_nothing = x.found("swapping_costs_nothing")  # were columns no slower than rows?


def no_spike(run: x.LessonRun) -> bool:
    """Was the power of two no slower, though columns were slower than rows?"""
    return "no_spike" in run.limits and run.message == "swapping_costs"


def transposes(run: x.LessonRun) -> bool:
    """Was a matrix transposed?"""
    return bool(run.params.job == TRANSPOSE)


def blocks_no_faster(run: x.LessonRun) -> bool:
    """Were blocks about as slow as whole columns, so that the explanation fails?"""
    gain = run.values.get("columns_over_blocked", HELPS)
    return run.message == "swapping_costs" and gain < HARDLY


def transposed_twice(run: x.LessonRun) -> bool:
    """Do blocks transpose at least twice as fast as rows and columns, at a power of two?"""
    at = _at(run, power_of(run.params))
    return (
        transposes(run)
        and len(at) == len(WAYS)
        and (TWICE * at[BLOCKED] <= min(at[ROWS], at[COLUMNS]))
    )


def helps_beside_it(run: x.LessonRun) -> bool:
    """Do blocks help beside the power of two, and hardly at it?"""
    power = power_of(run.params)
    at, beside = _at(run, power), _at(run, power + BESIDE)
    if transposes(run) or not {COLUMNS, BLOCKED} <= at.keys() & beside.keys():
        return False
    gain, gain_beside = (each[COLUMNS] / each[BLOCKED] for each in (at, beside))
    return gain <= HARDLY and gain_beside >= HELPS


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Bring the lines that rows, columns and blocks need, at the pace that was measured.

    Along a row and in a block each line serves all its numbers, down a column one. A line is on
    its way until the next is needed. None where columns hardly wait, or a matrix is transposed.
    """
    side = run.values.get("largest_side") if pointed is None else pointed.at
    at = _at(run, side)
    if transposes(run) or not {ROWS, COLUMNS} <= at.keys() or at[COLUMNS] < ANOTHER_LINE * at[ROWS]:
        return None
    used = {ROWS: LINE, COLUMNS: 1, BLOCKED: min(LINE, run.params.block)}
    end_s = min(SHOWN * at[COLUMNS], *(MOST * used[way] * each_s for way, each_s in at.items()))
    says = (x.Say(text="one_serves", start_s=0.0), x.Say(text="each_needs", start_s=end_s / 2))
    return x.Motion(
        scenes=tuple(_scene(way, used[way], at[way], end_s) for way in WAYS if way in at),
        duration_s=end_s,
        stills=(end_s / 10, end_s / 2, end_s),
        says=says,
    )


def _scene(title: str, used: int, each_s: float, end_s: float) -> x.Scene:
    """Return the lines that are needed in time, and the steps that they serve."""
    line_s = used * each_s
    begun = [n * line_s for n in range(math.floor(end_s / line_s * (1 + 1e-9)))]
    travels = [
        x.Travel(
            along=("memory", "core"), token=str(used), start_s=at, end_s=min(at + line_s, end_s)
        )
        for at in begun
    ]
    steps = x.Count(shape="core", label="steps", end_s=end_s, every_s=each_s)
    return x.Scene(title=title, events=(*travels, steps))


def _line(run: x.LessonRun, way: str) -> dict[int, float]:
    """Return the median time of a step at each size."""
    return x.medians((row.size, row.element_s) for row in run.tables["walks"] if row.way == way)


def _at(run: x.LessonRun, side: float | None) -> dict[str, float]:
    """Return the median time of a step of each way at a size."""
    return {way: line[side] for way in WAYS if side in (line := _line(run, way))}  # type: ignore[index]
