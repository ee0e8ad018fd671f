"""Functions that the lesson of streams calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments import api as x
from experiments.devices.host_memory import PAGEABLE

from .experiment import PieceSpan
from .pieces import PARTS

SCALE_S = 0.03  # three parts of 10 ms, as the question has them
OPTIONS_S = (0.03, 0.02, 0.013, 0.008)  # in the order of the answers
ASKED_PIECES, ASKED_STREAMS = 8, 4
DRAWN_PIECES = 16
LITTLE = 0.8  # of the time in one stream: a product that leaves more of it nearly fills the GPU
HARDLY = 0.1  # of the copying overlaps
CLEARLY = 1.05  # times
NEAR, SAVED, AS_FAST = 1.25, 2 / 3, 1.05  # times the longest part, one stream, more streams
ROADS = {"to_gpu": ("memory", "to_gpu", "compute"), "from_gpu": ("compute", "from_gpu", "memory")}
ROLES: Mapping[str, Any] = dict(zip(PARTS, ("main", "second", "third"), strict=True))


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return several streams on the scale of the question, and shares that the texts name."""
    known, pieces = run.values, run.params.pieces
    found: dict[str, float] = {"pieces": pieces, "ends_fraction": 2 / pieces}
    if {"best_s", "sum_s"} <= known.keys():
        found["on_scale_s"] = SCALE_S * known["best_s"] / known["sum_s"]
    if {"to_gpu_s", "from_gpu_s"} <= known.keys():
        found["copies_s"] = known["to_gpu_s"] + known["from_gpu_s"]
    if {"compute_in_two_s", "compute_s"} <= known.keys():
        found["in_two_fraction"] = known["compute_in_two_s"] / known["compute_s"]
    calls = x.medians((row.memory, row.called_s / row.total_s) for row in run.tables["totals"])
    if PAGEABLE in calls:
        found["calls_fraction"] = min(1.0, calls[PAGEABLE])
    return found


def option_by_share(run: x.LessonRun) -> int | None:
    """Return the answer nearest to what several streams took; None if other things were asked."""
    took_s, params = numbers(run, None).get("on_scale_s"), run.params
    if took_s is None or params.pieces < ASKED_PIECES or params.streams < ASKED_STREAMS:
        return None
    if parts_differ(run) or calls_set_the_pace(run):
        return None
    off = [max(each / took_s, took_s / each) for each in OPTIONS_S]
    return off.index(min(off))


def all_at_work(run: x.LessonRun) -> x.Spot:
    """Return the stretch from the first to the last moment at which all three parts work."""
    of = [_ran(run.tables["several_streams"], part) for part in PARTS]
    found = x.in_both(x.in_both(of[0], of[1]), of[2])
    return x.Spot(low=found[0][0], high=found[-1][1]) if found else x.Spot()


no_gain = x.found("no_gain")  # were several streams no faster than one?
not_compared = x.found("one_queue", "in_part")  # were one stream and several not both measured?
parts_differ = x.limited("parts_differ")  # does computing take clearly more or less than a copy?
calls_set_the_pace = x.limited("calls_set_the_pace")  # did the GPU wait for calls?


def copies_both_ways(run: x.LessonRun) -> bool:
    """Did all take clearly less than one copy after the other?"""
    return _gained(run) and CLEARLY * run.values["best_s"] < numbers(run, None)["copies_s"]


def products_fill(run: x.LessonRun) -> bool:
    """Did products alone gain little from a second stream?"""
    return _gained(run) and numbers(run, None).get("in_two_fraction", 0.0) > LITTLE


def two_keep_two(run: x.LessonRun) -> bool:
    """Were two streams clearly slower than more, with parts of equal length?"""
    two_s = run.values.get("two_streams_s")
    slower = two_s is not None and two_s > CLEARLY * run.values["best_s"]
    return _gained(run) and slower and not parts_differ(run)


def pageable_waits(run: x.LessonRun) -> bool:
    """Did hardly anything overlap from pageable memory, because the calls took the time?"""
    waited = numbers(run, None).get("calls_fraction", 0.0) > 1 - HARDLY
    return _gained(run) and waited and run.values.get("pageable_overlap_fraction", 1.0) < HARDLY


def near_the_longest(run: x.LessonRun) -> bool:
    """Did equal parts take at most a quarter longer than the longest of them?"""
    is_equal = not parts_differ(run) and "above_the_limit" not in run.limits
    return _gained(run) and is_equal and run.values["best_s"] <= NEAR * run.values["longest_part_s"]


def two_are_enough(run: x.LessonRun) -> bool:
    """Were two streams as fast as more, and much faster than one?"""
    known = run.values
    if not _gained(run) or run.params.streams <= 2 or "two_streams_s" not in known:
        return False
    two_s = known["two_streams_s"]
    return two_s <= min(AS_FAST * known["best_s"], SAVED * known["one_stream_s"])


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Return when copy engines and compute units worked, in one stream and in several."""
    one, several = run.tables.get("one_stream", ()), run.tables.get("several_streams", ())
    if not one or not several or run.params.pieces > DRAWN_PIECES:
        return None
    ends_s = [max(row.end_s for row in rows) for rows in (one, several)]
    done_s, duration_s = ends_s[1], max(ends_s)
    says = [x.Say(text="one_by_one", start_s=0.0)]
    if (together := all_at_work(run)).low is not None:
        says.append(x.Say(text="at_once", start_s=together.low))
    if done_s < duration_s:
        says.append(x.Say(text="done", start_s=done_s))
    return x.Motion(
        scenes=(
            x.Scene(events=(*_works(one),), title="one"),
            x.Scene(events=(*_works(several),), title="several"),
        ),
        duration_s=duration_s,
        stills=(duration_s / 20, done_s / 2, duration_s),
        says=tuple(says),
    )


def _works(rows: Sequence[PieceSpan]) -> Iterator[x.Travel | x.Hold | x.Count]:
    """Yield each piece on its roads, what works on it, and how many are back."""
    for row in rows:
        when: dict[str, Any] = {"start_s": row.start_s, "end_s": row.end_s, "role": ROLES[row.part]}
        yield x.Hold(shape=row.part, **when)
        if row.part in ROADS:
            yield x.Travel(along=ROADS[row.part], token=str(row.piece + 1), **when)
    back = sorted(row.end_s for row in rows if row.part == "from_gpu")
    yield x.Count(shape="memory", label="back", times=tuple(back))


def _ran(rows: Sequence[PieceSpan], part: str) -> list[x.Interval]:
    """Return when a part was at work."""
    return [(row.start_s, row.end_s) for row in rows if row.part == part]


def _gained(run: x.LessonRun) -> bool:
    """Were several streams faster than one?"""
    return run.message.startswith("hidden") and "best_s" in run.values
