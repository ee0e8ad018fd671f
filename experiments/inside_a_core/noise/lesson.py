"""Functions that the lesson of noise calls."""

from __future__ import annotations

import math
from collections import Counter

from experiments import api as x

from .experiment import Gap

TWICE = 2.0  # how far beside the costliest length a click may be
SHORT_S, WATCHED_S = 1e-3, 10.0  # of a goal: the longest gap, and the time watched
MUCH, LITTLE = 0.4, 0.1  # of a goal: lost by one core, and by another
READINGS = 1000  # at once in a count

the_host = x.found("the_host")  # did the host say that it took most?
not_explained = x.found("not_explained")  # is most of it not explained?
hardly_any = x.found("hardly_any")  # was hardly any time lost?
stolen_untold = x.limited("stolen_untold")  # may a host have taken what is not explained?


def costliest_length(run: x.LessonRun) -> x.Spot:
    """Return the stretch around the length whose gaps took the most time together."""
    of = x.best_of(run.tables["lengths"], "gaps", "gap_s", choose=max)
    if not of:
        return x.Spot()
    costliest_s = max(of, key=lambda gap_s: gap_s * of[gap_s])
    return x.Spot(low=costliest_s / TWICE, high=costliest_s * TWICE)


def long_and_undisturbed(run: x.LessonRun) -> bool:
    """Was each core watched for long enough without a long gap?"""
    watched_s = Counter[int]()
    for row in run.tables["slices"]:
        watched_s[row.thread] += row.watched_s
    longest_s = run.values.get("longest_gap_s", math.inf)
    return min(watched_s.values(), default=0.0) >= WATCHED_S and 0 < longest_s <= SHORT_S


def one_core_alone(run: x.LessonRun) -> bool:
    """Did one core lose much of its time, and another little?"""
    lost = x.medians((row.thread, row.lost_s / row.watched_s) for row in run.tables["slices"])
    return len(lost) > 1 and max(lost.values()) >= MUCH and min(lost.values()) <= LITTLE


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Run the clock through the longest gap, of a core that is pointed at, and as long beside it.

    Counted are the readings since the gap before it, and those until the next.
    """
    lane = pointed.name if pointed is not None and pointed.view == "lanes" else ""
    gaps: list[Gap] = [gap for gap in run.tables["gaps"] if lane in ("", str(gap.thread))]
    longest = max(gaps, key=lambda gap: gap.end_s - gap.start_s, default=None)
    if longest is None or "reading_s" not in run.values:
        return None
    length_s = longest.end_s - longest.start_s
    begin_s, duration_s = longest.start_s - length_s / 2, 2 * length_s
    gap_s, back_s = longest.start_s - begin_s, longest.end_s - begin_s
    here = [gap for gap in gaps if (gap.thread, gap.repeat) == (longest.thread, longest.repeat)]
    near = [(gap.start_s - begin_s, gap.end_s - begin_s) for gap in here]
    taken = x.in_both([(0.0, duration_s)], near)
    counts: list[x.Count] = []
    events: list[x.Travel | x.Hold] = [
        x.Travel(along=("start", "end"), start_s=0.0, end_s=duration_s),
        *(x.Hold(shape="others", start_s=a, end_s=b, role="attention") for a, b in taken),
    ]
    every_s = run.values["reading_s"] * READINGS
    for side, from_s, to_s, beside in (
        ("before", 0.0, gap_s, -1),
        ("after", back_s, duration_s, 0),
    ):
        free = x.without([(from_s, to_s)], taken) or [(from_s, from_s)]
        events += [x.Hold(shape=side, start_s=start_s, end_s=end_s) for start_s, end_s in free]
        start_s, end_s = free[beside]
        counts.append(
            x.Count(shape=side, label=side, start_s=start_s, end_s=end_s, every_s=every_s)
        )
    return x.Motion(
        scenes=(x.Scene(events=(*events, *counts)),),
        duration_s=duration_s,
        stills=((counts[0].start_s + counts[0].end_s) / 2, gap_s + length_s / 2, duration_s),
        says=(
            x.Say(text="reads", start_s=0.0),
            x.Say(text="stands", start_s=gap_s),
            x.Say(text="finds", start_s=back_s),
        ),
    )
