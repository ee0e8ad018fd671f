"""Functions that the lesson of matrix-order calls."""

from __future__ import annotations

from experiments import api as x

from .experiment import BESIDE, BLOCKED, COLUMNS, LINE, ROWS, TRANSPOSE, WAYS, power_of

HELD_BACK = (BLOCKED,)
CLEARLY = 1.5  # times as long as in both neighbours
AROUND = 1.15  # times the size: so exactly can one click
HELPS, HARDLY, TWICE = 3.0, 1.3, 2.0  # times as fast, of the goals
ANOTHER_LINE = 2.0  # times as long as along rows: from here on, most steps wait for a line
ROAD = ("memory", "core")  # of the drawing
SHOWN, MOST = 12, 60  # steps down a column that move; lines along a row, at most


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the block, and how far apart two steps down a column lie, in the largest matrix."""
    return {"block": run.params.block, "apart_bytes": 8 * (power_of(run.params) + BESIDE)}


def option_by_spike(run: x.LessonRun) -> int | None:
    """Return the answer by what the power of two takes, beside both neighbours; None unmeasured."""
    line, power = _columns(run), power_of(run.params)
    near = [line[side] for side in (power, power - BESIDE, power + BESIDE) if side in line]
    if len(near) < 3:
        return None
    at_power, *beside = near
    if at_power * CLEARLY < min(beside):
        return 0
    return 2 if at_power > CLEARLY * max(beside) else 1


def highest_point(run: x.LessonRun) -> x.Spot:
    """Return the stretch around the size whose steps down a column take longest."""
    if not (line := _columns(run)):
        return x.Spot()
    top = max(line, key=line.__getitem__)
    return x.Spot(low=top / AROUND, high=top * AROUND)


swapping_costs = x.found("swapping_costs")  # were columns slower than rows?
swapping_costs_nothing = x.found("swapping_costs_nothing")  # were they not?
transposes = x.found("blocks_win", "blocks_gain_nothing")  # was a matrix transposed?


def no_spike(run: x.LessonRun) -> bool:
    """Was the power of two no slower, though columns were slower than rows?"""
    return swapping_costs(run) and "no_spike" in run.limits


def spike_unclear(run: x.LessonRun) -> bool:
    """Did columns scatter too much to compare the power of two with the size beside it?"""
    return swapping_costs(run) and "power_of_two_penalty" in run.unclear


def blocks_no_faster(run: x.LessonRun) -> bool:
    """Were blocks about as slow as whole columns, so that the explanation fails?"""
    return swapping_costs(run) and run.values.get("columns_over_blocked", HELPS) < HARDLY


def transposed_twice(run: x.LessonRun) -> bool:
    """Do blocks transpose at least twice as fast as rows and columns, at a power of two?"""
    rows_s, columns_s, blocked_s = (run.values.get(f"{way}_spike_s", 0.0) for way in WAYS)
    return transposes(run) and 0 < TWICE * blocked_s <= min(rows_s, columns_s)


def helps_beside_it(run: x.LessonRun) -> bool:
    """Do blocks help beside the power of two, and hardly at it?"""
    columns_s, blocked_s = (run.values.get(f"{way}_s", 0.0) for way in (COLUMNS, BLOCKED))
    return 0 < HELPS * blocked_s <= columns_s and blocks_no_faster(run)


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Bring the lines that rows, columns and blocks need, at the pace that was measured.

    Along a row and in a block each line serves all its numbers, down a column one. A line is on
    its way until the next is needed. None where columns hardly wait, or a matrix is transposed.
    """
    side = power_of(run.params) + BESIDE if pointed is None else pointed.at
    at = x.medians((row.way, row.element_s) for row in run.tables["walks"] if row.size == side)
    waits = {ROWS, COLUMNS} <= at.keys() and at[COLUMNS] >= ANOTHER_LINE * at[ROWS]
    if run.params.job == TRANSPOSE or not waits:
        return None
    used = {ROWS: LINE, COLUMNS: 1, BLOCKED: min(LINE, run.params.block)}
    end_s = min(SHOWN * at[COLUMNS], *(MOST * used[way] * each_s for way, each_s in at.items()))
    return x.Motion(
        scenes=tuple(_scene(way, used[way], at[way], end_s) for way in WAYS if way in at),
        duration_s=end_s,
        stills=(end_s / 10, end_s / 2, end_s),
        says=(x.Say(text="one_serves", start_s=0.0), x.Say(text="each_needs", start_s=end_s / 2)),
    )


def _scene(title: str, used: int, each_s: float, end_s: float) -> x.Scene:
    """Return the lines that are needed in time, and the steps that they serve."""
    line_s = used * each_s
    starts = [n * line_s for n in range(int(end_s / line_s * (1 + 1e-9)))]
    travels = [
        x.Travel(along=ROAD, token=str(used), start_s=at_s, end_s=min(at_s + line_s, end_s))
        for at_s in starts
    ]
    steps = x.Count(shape="core", label="steps", end_s=end_s, every_s=each_s)
    return x.Scene(title=title, events=(*travels, steps))


def _columns(run: x.LessonRun) -> dict[int, float]:
    """Return the median time of a step down a column at each size."""
    return x.medians((row.size, row.element_s) for row in run.tables["walks"] if row.way == COLUMNS)
