"""Functions that the lesson of async calls."""

from __future__ import annotations

import math
from itertools import pairwise

from experiments import api as x
from experiments.tools.lanes import CALLS, WORK

from .experiment import FINISHED, QUEUED

HELD_BACK = (FINISHED,)
TWICE, MANY = math.sqrt(2), math.sqrt(8)  # times the calls: from there on an answer is right
NEAR = 0.02  # of the lanes: so exactly can one click
COSTS = 1.05  # times: what is clearly longer
HELD = 0.5  # of a product: a call that takes longer was held back
SHORT_S = 1e-4
DOUBLE, WITHIN = 2.0, 0.1
DRAWN = 10  # places in the queue
SLOWER = "waited_over_finished"


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the time of a call and of a product among the most, with and without waits."""
    known, most = run.values, max((row.products for row in run.tables["calls"]), default=0)
    if not {"queued_s", "finished_s"} <= known.keys() or not most:
        return {}
    finished_s = known["finished_s"]
    found = {"each_call_s": known["queued_s"] / most, "each_product_s": finished_s / most}
    if "waited_s" in known:
        found |= {"each_waited_s": known["waited_s"] / most, SLOWER: known["waited_s"] / finished_s}
    return found


no_queue = x.found("no_queue")  # did the caller compute by itself?
calls_set_the_pace = x.found("caller_is_slower")  # was each product done before the next call?


def option_by_ratio(run: x.LessonRun) -> int | None:
    """Return the answer nearest to the work's time over that of its calls; None between two."""
    if no_queue(run) or calls_set_the_pace(run):
        return int(calls_set_the_pace(run))
    ratio = run.values.get("finished_over_queued", 0.0)
    return None if ratio < TWICE else 2 + (ratio > MANY)


def last_call(run: x.LessonRun) -> x.Spot:
    """Return the moment on the lanes at which the last call returns."""
    calls = _lane(run, CALLS)
    if not calls:
        return x.Spot()
    near_s, (_, back_s) = NEAR * max(row.end_s for row in run.tables["lanes"]), calls[-1]
    return x.Spot(low=back_s - near_s, high=back_s + near_s)


def waiting_costs(run: x.LessonRun) -> bool:
    """Did a wait after each product take clearly longer than one at the end?"""
    return numbers(run, None).get(SLOWER, 0.0) >= COSTS


def queue_is_full(run: x.LessonRun) -> bool:
    """Were the last calls held back until products were done, and the first calls not?"""
    times = x.medians(((row.kind, row.products), row.until_s) for row in run.tables["calls"])
    counts = sorted(count for kind, count in times if kind == QUEUED)
    if len(counts) < 4 or any((FINISHED, count) not in times for count in counts):
        return False

    def each_s(kind: str, fewer: int, more: int) -> float:
        return (times[kind, more] - times[kind, fewer]) / (more - fewer)

    first_s = each_s(QUEUED, counts[0], counts[len(counts) // 2])
    last_s = each_s(QUEUED, *counts[-2:])
    return first_s < HELD * last_s and last_s > HELD * each_s(FINISHED, *counts[-2:])


def short_products_fill_it(run: x.LessonRun) -> bool:
    """Was the queue full of products that are done soon?"""
    each_s = numbers(run, None).get("each_product_s", math.inf)
    return each_s <= SHORT_S and queue_is_full(run)


def waiting_doubles(run: x.LessonRun) -> bool:
    """Did a wait after each product take about twice as long as one at the end?"""
    return abs(numbers(run, None).get(SLOWER, 0.0) / DOUBLE - 1) <= WITHIN


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Let the products of the lanes pass the queue, and as many with a wait after each.

    Calls follow at once: the marks between them are left out. None where waiting was not timed.
    """
    calls, works = (_lane(run, lane)[:DRAWN] for lane in (CALLS, WORK))
    each_s = numbers(run, None).get("each_waited_s")
    if no_queue(run) or not each_s or not calls or len(calls) != len(works):
        return None
    called: list[x.Interval] = []
    worked: list[x.Interval] = []
    back_s = done_s = 0.0
    for call, work in zip(calls, works, strict=True):
        start_s, back_s = back_s, back_s + x.length_s([call])
        begun_s = max(back_s, done_s)
        done_s = begun_s + x.length_s([work])
        called.append((start_s, back_s))
        worked.append((begun_s, done_s))
    work_s = min(each_s, x.length_s(works) / len(works))
    call_s = min(each_s - work_s, back_s / len(calls))
    turns = [*pairwise(number * each_s for number in range(len(calls) + 1))]
    in_turn = [(start_s, start_s + call_s) for start_s, _ in turns]
    taken = [(start_s, start_s + work_s) for _, start_s in in_turn]
    waited = [(start_s + call_s, end_s) for start_s, end_s in turns]
    end_s = max(done_s, taken[-1][1], turns[-1][1])
    return x.Motion(
        scenes=(
            x.Scene(title="end", events=_events(called, worked, [(back_s, done_s)])),
            x.Scene(title="each", events=_events(in_turn, taken, waited)),
        ),
        duration_s=end_s,
        stills=(min(back_s, end_s / 4), end_s / 2, end_s),
        says=(
            x.Say(text="fills", start_s=0.0),
            x.Say(text="keeps_up" if calls_set_the_pace(run) else "drains", start_s=back_s),
            x.Say(text="empty", start_s=(back_s + end_s) / 2),
        ),
    )


def _events(
    calls: list[x.Interval], works: list[x.Interval], waits: list[x.Interval]
) -> tuple[x.Travel | x.Hold | x.Count, ...]:
    """Return how products pass the queue, each in a place of its own, and when one waits."""
    back, done = (tuple(end_s for _, end_s in spans) for spans in (calls, works))
    events: list[x.Travel | x.Hold | x.Count] = [
        x.Count(shape="program", label="calls", times=back),
        x.Count(shape="gpu", label="done", times=done),
        *(x.Hold(shape="program", start_s=s, end_s=e, label="waits") for s, e in waits),
    ]
    for n, ((start_s, back_s), (taken_s, done_s)) in enumerate(zip(calls, works, strict=True)):
        events += [
            x.Travel(along=("program", f"place_{n}"), start_s=start_s, end_s=back_s),
            x.Hold(shape=f"place_{n}", start_s=back_s, end_s=taken_s, role="second"),
            x.Hold(shape="gpu", start_s=taken_s, end_s=done_s, role="third"),
        ]
    return tuple(events)


def _lane(run: x.LessonRun, lane: str) -> list[x.Interval]:
    """Return when the calls or the works of the lanes began and ended, in order."""
    rows = (row for row in run.tables["lanes"] if row.lane == lane)
    return sorted((row.start_s, row.end_s) for row in rows)
