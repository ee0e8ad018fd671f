"""What the lesson of noise computes."""

from __future__ import annotations

import math
from collections import Counter

from experiments import api as x

from .experiment import Gap

TWICE = 2.0  # how far beside the costliest length a click may be
SHORT_S, WATCHED_S = 1e-3, 10.0  # of a goal: the longest gap, and the time watched
MUCH, LITTLE = 0.4, 0.1  # of a goal: lost by one core, and by another
MOST_GAPS = 20  # that move
READINGS = 1000  # at once in a count

the_host = x.found("the_host")  # did the host say that it took most?
not_explained = x.found("not_explained")  # is most of it not explained?
hardly_any = x.found("hardly_any")  # was hardly any time lost?
stolen_untold = x.limited("stolen_untold")  # did the host of a virtual machine say nothing?


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

    The readings that came are counted; in a gap their number stands still.
    """
    lane = pointed.name if pointed is not None and pointed.view == "lanes" else ""
    gaps: list[Gap] = [gap for gap in run.tables["gaps"] if lane in ("", str(gap.thread))]
    longest = max(gaps, key=lambda gap: gap.end_s - gap.start_s, default=None)
    if longest is None or "reading_s" not in run.values:
        return None
    length_s = longest.end_s - longest.start_s
    begin_s, duration_s = longest.start_s - length_s / 2, 2 * length_s
    near = sorted(
        (gap.start_s - begin_s, gap.end_s - begin_s)
        for gap in gaps
        if gap.thread == longest.thread and gap.repeat == longest.repeat
    )
    taken = [(start, end) for start, end in near if start >= 0 and end <= duration_s][:MOST_GAPS]
    events: list[x.Travel | x.Hold | x.Count] = [
        x.Travel(along=("start", "clock", "end"), start_s=0.0, end_s=duration_s)
    ]
    free_s = 0.0
    for start_s, end_s in (*taken, (duration_s, duration_s)):
        if start_s > free_s:
            events.append(x.Hold(shape="loop", start_s=free_s, end_s=start_s))
        if end_s > start_s:
            events.append(x.Hold(shape="others", start_s=start_s, end_s=end_s, role="attention"))
        free_s = end_s
    every_s = run.values["reading_s"] * READINGS
    gap_s, back_s = longest.start_s - begin_s, longest.end_s - begin_s
    for shape, from_s, to_s in (("loop", 0.0, gap_s), ("loop_again", back_s, duration_s)):
        label = "before" if shape == "loop" else "after"
        events.append(
            x.Count(shape=shape, label=label, start_s=from_s, end_s=to_s, every_s=every_s)
        )
    return x.Motion(
        scenes=(x.Scene(events=tuple(events)),),
        duration_s=duration_s,
        stills=(gap_s / 2, gap_s + length_s / 2, duration_s),
        says=(
            x.Say(text="reads", start_s=0.0),
            x.Say(text="stands", start_s=gap_s),
            x.Say(text="finds", start_s=back_s),
        ),
    )
