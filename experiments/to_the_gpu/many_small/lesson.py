"""Functions that the lesson of many-small calls."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from experiments import api as x
from experiments.devices.device import CPU

from .experiment import EMPTY, SEPARATE, THOUSAND, TOGETHER

HELD_BACK = (TOGETHER,)
WAITS = 0.9  # of the time: a device that works less has waited
SAVED = 0.5  # of the time of separate calls: up to here one call for all has removed their price
KNEE, WITHIN = 2000, 0.1
TEN_THOUSAND, TEN = 10_000, 10.0
FEWEST_SHOWN, MOST_SHOWN = 10, 80  # calls of a motion
WAY = ("program", "units")  # of a call, on the drawing
BEYOND = 1.25  # times the knee: how far the motion goes on


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the time of a thousand calls that do next to nothing, and the most calls of a run."""
    found: dict[str, float] = {"most_calls": max((calls for calls, _ in _took(run)), default=0)}
    if "launch_s" in run.values:
        found["alone_s"] = THOUSAND * run.values["launch_s"]
    return found


def knee(run: x.LessonRun) -> x.Spot:
    """Return the stretch in which calls alone begin to take longer than the work in one call."""
    edges = _knee(run)
    return x.Spot() if edges is None else x.Spot(low=edges[0], high=edges[1])


def work_outweighs(run: x.LessonRun) -> bool:
    """Does the work in one call take longer than a thousand calls alone?"""
    return run.message == "no_difference" or (
        "thousand_over_one" in run.values and run.values.get("knee_calls", 0.0) > THOUSAND
    )


few_calls = x.limited("fewer_than_thousand")  # was the work cut into fewer pieces?


def device_waits(run: x.LessonRun) -> bool:
    """Did a GPU stand still for a part of the time?"""
    return run.values.get("busy_fraction", 1.0) < WAITS


def foreach_saves(run: x.LessonRun) -> bool:
    """Did one call for all pieces remove most of the price on a GPU, which joins them?"""
    return run.params.device != CPU and _spares(run)


def foreach_spares_python(run: x.LessonRun) -> bool:
    """Did it remove most of the price on a processor, which takes them one by one?"""
    return run.params.device == CPU and _spares(run)


def foreach_calls_inside(run: x.LessonRun) -> bool:
    """Did one call for all pieces on a processor still take most of the time?"""
    share = _share_of_together(run)
    return run.params.device == CPU and share is not None and share > SAVED


def cores_share_one(run: x.LessonRun) -> bool:
    """Do several cores share the big call, but none of the small calls?"""
    return run.params.device == CPU and (x.physical_cores(run.machine) or 1) > 1


def knee_at_2000(run: x.LessonRun) -> bool:
    """Does the knee lie near 2000 calls, within what was measured?"""
    found = run.values.get("knee_calls")
    near = found is not None and abs(found / KNEE - 1) <= WITHIN
    return near and _knee(run) is not None


def ten_thousand_hardly_cost(run: x.LessonRun) -> bool:
    """Did ten thousand calls take at most ten times as long as one?"""
    took = _took(run)
    one_s, many_s = (took.get((calls, SEPARATE)) for calls in (1, TEN_THOUSAND))
    return one_s is not None and many_s is not None and many_s <= TEN * one_s


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Play one call and the first of a thousand on one clock, until the single call is done.

    A call takes the way to the units, a piece keeps them busy. None where the work is too short.
    """
    known = run.values
    if not {"knee_calls", "thousand_ops_s"} <= known.keys():
        return None
    one_s, each_s = known["one_op_s"], known["thousand_ops_s"] / THOUSAND
    shown = min(MOST_SHOWN, max(FEWEST_SHOWN, round(BEYOND * one_s / each_s)))
    end_s = shown * each_s
    launch_s, done_s = min(known["launch_s"], end_s), min(one_s, end_s)
    says = {"one_price": 0.0, "paid_again": 2 * each_s}
    if one_s <= end_s:
        says["one_is_done"] = one_s
    one = (
        x.Travel(along=WAY, start_s=0.0, end_s=launch_s),
        x.Count(shape="program", label="calls", times=(0.0,)),
        x.Hold(shape="units", label="adds", start_s=launch_s, end_s=max(launch_s, done_s)),
    )
    counted = x.Count(shape="program", label="calls", end_s=end_s, every_s=each_s)
    many = (counted, *_calls(run, shown, each_s))
    return x.Motion(
        scenes=(x.Scene(title="one", events=one), x.Scene(title="many", events=many)),
        duration_s=end_s,
        stills=(end_s / 10, end_s / 2, end_s),
        says=tuple(x.Say(text=text, start_s=start_s) for text, start_s in says.items()),
    )


def _calls(run: x.LessonRun, shown: int, each_s: float) -> Iterator[x.Travel | x.Hold]:
    """Yield calls that begin every `each_s`, and the time that the units work on each piece.

    A processor adds before it calls again; a GPU adds while the program calls the next time.
    """
    own = x.spread(row.device_s for row in run.tables["pieces"])
    piece_s = min(each_s, own.median if own is not None else run.values["one_op_s"] / THOUSAND)
    call_s = each_s if own is not None else each_s - piece_s
    for number in range(shown):
        start_s = number * each_s
        there_s = start_s + call_s
        yield x.Travel(along=WAY, start_s=start_s, end_s=min(there_s, shown * each_s))
        if there_s + piece_s <= shown * each_s:
            yield x.Hold(shape="units", start_s=there_s, end_s=there_s + piece_s)


def _took(run: x.LessonRun) -> dict[tuple[int, str], float]:
    """Return the median seconds of each number of calls, by its way."""
    return x.medians(((row.calls, row.way), row.took_s) for row in run.tables["passes"])


def _knee(run: x.LessonRun) -> tuple[int, int] | None:
    """Return the neighbouring numbers of calls between which calling outgrows the work."""
    took = _took(run)
    one_s = took.get((1, SEPARATE))
    counts = sorted(calls for calls, way in took if way == EMPTY)
    if one_s is None:
        return None
    edges = (
        (few, more)
        for few, more in pairwise(counts)
        if took[few, EMPTY] <= one_s < took[more, EMPTY]
    )
    return next(edges, None)


def _spares(run: x.LessonRun) -> bool:
    """Did one call for all pieces take clearly less than the separate calls?"""
    share = _share_of_together(run)
    return share is not None and share <= SAVED


def _share_of_together(run: x.LessonRun) -> float | None:
    """Return the time of one call for a thousand pieces as a share of a thousand calls."""
    together_s, separate_s = (
        run.values.get(name) for name in ("thousand_together_s", "thousand_ops_s")
    )
    return together_s / separate_s if together_s is not None and separate_s else None
