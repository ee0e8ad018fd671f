"""Functions that the lesson of crossover calls."""

from __future__ import annotations

import math
from itertools import pairwise

from experiments import api as x

from .crossing import crossing
from .experiment import SMALLEST
from .ways import ALL, CALLED, COPIED, KERNEL, ONE

HELD_BACK = (KERNEL, CALLED, COPIED)
THOUSAND = 1000  # rows: up to which an answer of the vote is right
NEARLY = 1.1  # times: so exactly can one click
HALF_AGAIN = 1.5
END = 3072
COPIES_WIN = "crossover_size_with_copies_high"
WAY = ("program", "units")  # of calls and copies, on the drawing
FACTORS = 2 / 3  # of what is copied goes to the GPU, the rest comes back


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the rows from which the GPU wins, or all cores without one; also against one core."""
    known, lines = run.values, _lines(run)
    name = "threads_crossover_size_high" if no_gpu(run) else "crossover_size_high"
    found: dict[str, float] = {"win_size": int(known[name])} if name in known else {}
    against_one = crossing(lines.get(ONE, {}), lines.get(CALLED, {}))
    if against_one is not None and against_one.low is not None and not against_one.is_wide:
        found["one_core_size"] = against_one.size
    return found


def option_by_size(run: x.LessonRun) -> int | None:
    """Return the answer by the rows from which the GPU wins; None where that is unknown."""
    if no_gpu(run):
        return None
    win_size = numbers(run, None).get("win_size")
    if win_size is None:
        return 3 if run.message == "gpu_never_wins" else None
    return sum(win_size > most for most in (SMALLEST, THOUSAND))


def stays_below(run: x.LessonRun) -> x.Spot:
    """Return the stretch from which on the GPU's line with copies stays below that of all cores.

    Without a GPU it is the line of all cores, below that of one. As the plot shows it: by medians.
    """
    lines, (slow, quick) = _lines(run), (ONE, ALL) if no_gpu(run) else (ALL, COPIED)
    above, below = lines.get(slow, {}), lines.get(quick, {})
    sizes = sorted(above.keys() & below.keys())
    ahead = {size: below[size].median < above[size].median for size in sizes}
    if not sizes or not ahead[sizes[-1]]:
        return x.Spot()
    low = high = sizes[0]  # ahead at every size, unless a last loss is found
    for lost, won in pairwise(sizes):
        if not ahead[lost]:
            low, high = lost, won
    return x.Spot(low=low / NEARLY, high=high * NEARLY)


no_crossing = x.found("wins_from_the_smallest", "gpu_never_wins")
no_gpu = x.limited("needs_gpu")  # was the processor measured alone?
cores_win = x.found("cores_cross", "cores_cross_between", "cores_ahead")


def cores_scatter(run: x.LessonRun) -> bool:
    """Is it unknown where between a loss and a win the GPU's line crosses that of the cores?"""
    return "crossover_size_low" in run.values and "crossover_size" not in run.values


def one_core_is_steadier(run: x.LessonRun) -> bool:
    """Is the crossing with one core known where that with all is not, without other load?"""
    return run.trust == "solid" and cores_scatter(run) and "one_core_size" in numbers(run, None)


def copies_cross_later(run: x.LessonRun) -> bool:
    """Are both crossings known, that with copies at a larger size?"""
    called_size = run.values.get("crossover_size", math.inf)
    return called_size < run.values.get("crossover_size_with_copies", 0.0)


def copies_never_pay(run: x.LessonRun) -> bool:
    """Does the GPU win at some size, but at none with copies?"""
    return "crossover_size_high" in run.values and COPIES_WIN not in run.values


def copies_hardly_add(run: x.LessonRun) -> bool:
    """Was a product with copies at most half as long again, at a size where it wins?"""
    lines, least = _lines(run), run.values.get(COPIES_WIN, math.inf)
    called, copied = lines.get(CALLED, {}), lines.get(COPIED, {})
    return any(
        size >= least and copied[size].median <= HALF_AGAIN * called[size].median
        for size in called.keys() & copied.keys()
    )


def ends_at_3072(run: x.LessonRun) -> bool:
    """Did the line of one core end there because the next product would take too long?"""
    lines = _lines(run)
    alone = lines.get(ONE) or lines.get(ALL, {})  # one core has one line
    return run.params.largest > END and max(alone, default=0) == END


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Let each way make the same product on one clock: the smallest, or that which is pointed at.

    The call is what the GPU's time has beside that of the device alone. None without that.
    """
    lines = _lines(run)
    ways = (ALL, KERNEL, CALLED, COPIED)
    sizes = set.intersection(*(set(lines.get(way, ())) for way in ways))
    if not sizes:
        return None
    at = min(sizes) if pointed is None or pointed.at is None else pointed.at
    size = min(sizes, key=lambda each: abs(each - at))
    cores_s, kernel_s, called_s, copied_s = (lines[way][size].median for way in ways)
    call_s = max(0.0, called_s - kernel_s)
    copies_s = max(0.0, copied_s - call_s - kernel_s)
    end_s = max(cores_s, called_s, copied_s)
    says = sorted([(0.0, "begun"), (cores_s, "cores_done"), (called_s, "gpu_done")])
    return x.Motion(
        scenes=(
            _scene(ALL, 0.0, 0.0, cores_s),
            _scene(CALLED, call_s, 0.0, called_s),
            _scene(COPIED, call_s, copies_s, copied_s),
        ),
        duration_s=end_s,
        stills=(end_s / 10, end_s / 2, end_s),
        says=tuple(x.Say(text=text, start_s=start_s) for start_s, text in says),
    )


def _scene(way: str, call_s: float, copies_s: float, took_s: float) -> x.Scene:
    """Return a product: the call, the factors on their way, the work, and the way back."""
    there_s = min(took_s, call_s + FACTORS * copies_s)
    back_s = max(there_s, took_s - (1 - FACTORS) * copies_s)
    events = (
        x.Travel(along=WAY, token="call", start_s=0.0, end_s=call_s),
        x.Travel(along=WAY, token="copy", start_s=call_s, end_s=there_s),
        x.Hold(shape="units", label="multiplies", start_s=there_s, end_s=back_s),
        x.Travel(along=WAY[::-1], token="copy", start_s=back_s, end_s=took_s),
    )
    done = x.Count(shape="units", label="done", times=(took_s,))
    return x.Scene(title=way, events=(*(e for e in events if e.start_s < e.end_s), done))


def _lines(run: x.LessonRun) -> dict[str, dict[int, x.Spread]]:
    """Return the spread of each way's times by size."""
    lines: dict[str, dict[int, x.Spread]] = {}
    of = x.spreads_of(run.tables["products"], "product_s", "kind", "size")
    for (way, size), found in of.items():
        lines.setdefault(way, {})[size] = found
    return lines
