"""Functions that the lesson of stream calls."""

from __future__ import annotations

import math

from experiments import api as x
from experiments.tools.chasing import LINE_BYTES

from .experiment import NEARLY, SAYS_NO_GAIN

TRIAD, ARRAYS = "triad", 3
HARDLY = 1.1  # times one thread: hardly more
CLEARLY = 1.25  # times what memory gives: the cores could do more
MUCH = 0.8  # of what the last cache gives
DRAWN = 4  # cores
LINES = 12  # that come through the channels while the drawing moves


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return what all threads move over what one does, in memory and in the last cache."""
    gains = {"most_over_one": _gain(run, "moves"), "cached_most_over_one": _gain(run, "cached")}
    return {name: gain for name, gain in gains.items() if gain is not None}


def option_by_gain(run: x.LessonRun) -> int | None:
    """Return the answer by what all threads move over what one does; None for one thread."""
    line = _line(run)
    if len(line) < 2:
        return None
    gain, perfect = max(line.values()) / line[min(line)], max(line) / min(line)
    return 2 if gain >= NEARLY * perfect else 1 if gain > HARDLY else 0


def nearly_full(run: x.LessonRun) -> x.Spot:
    """Return the stretch around the fewest threads that move nine tenths of the most."""
    line = _line(run)
    if not line:
        return x.Spot()
    at = min(n for n, rate in line.items() if rate >= NEARLY * max(line.values()))
    before = max((n for n in line if n < at), default=at / 2)
    after = min((n for n in line if n > at), default=2 * at)
    return x.Spot(low=math.sqrt(before * at), high=math.sqrt(at * after))


is_full = x.found("full_before_all", "adds_less", *SAYS_NO_GAIN)
one_fills = x.found(*SAYS_NO_GAIN)  # did one thread move nearly as much as all?
memory_not_full = x.found("still_rising")  # did each further thread bring as much as the first?
one_thread = x.found("one_thread_alone")  # did only one thread work?
others_gain = x.limited("other_loops_gain")  # do other loops gain from more threads?
in_cache = x.limited("partly_in_cache")  # did the caches answer a part?


def cores_could_more(run: x.LessonRun) -> bool:
    """Do more threads gain clearly more where the last cache holds their data?

    A core with few buffers moves more data from a cache too, but each core alike.
    """
    gains = numbers(run, None)
    if not {"most_over_one", "cached_most_over_one"} <= gains.keys():
        return False
    return is_full(run) and gains["cached_most_over_one"] >= CLEARLY * gains["most_over_one"]


def cache_no_faster(run: x.LessonRun) -> bool:
    """Did they move hardly more there, though memory answered all other reads?"""
    gain = _cached_over_memory(run)
    return gain is not None and gain < CLEARLY and not in_cache(run)


def from_the_last_cache(run: x.LessonRun) -> bool:
    """Does one thread move arrays as in the last cache, though its own caches are too small?"""
    own_bytes = _own_caches_bytes(run)
    gain = _cached_over_memory(run)
    if own_bytes is None or gain is None or run.params.threads > 1:
        return False
    return ARRAYS * run.params.array_bytes >= 2 * own_bytes and MUCH * gain <= 1


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Lines of one thread, and of all in turn, through the same channels on one clock.

    A line takes the channels for as long as at the most that was measured. Four cores at most are
    drawn; the lines of all threads are dealt out among them.
    """
    one, all_ = run.values.get("one_thread_bytes_per_s"), run.values.get("triad_bytes_per_s")
    threads = round(run.values.get("most_threads", 1))
    if not one or not all_ or threads < 2:
        return None
    slot_s, seldom_s = LINE_BYTES / all_, LINE_BYTES / one
    duration_s = LINES * slot_s
    return x.Motion(
        scenes=(
            _lines(seldom_s, slot_s, duration_s, 1, "one"),
            _lines(slot_s, slot_s, duration_s, min(threads, DRAWN), "all"),
        ),
        duration_s=duration_s,
        stills=(0.5 * slot_s, 0.5 * duration_s, duration_s),
        says=(
            x.Say(text="gaps", start_s=0.0),
            x.Say(text="turns", start_s=duration_s / 2),
        ),
    )


def _lines(every_s: float, slot_s: float, duration_s: float, cores: int, title: str) -> x.Scene:
    """Return lines that start one after another and come to some cores in turn."""
    events: list[x.Travel | x.Hold | x.Count] = []
    came: list[float] = []
    number = 0
    while (end_s := number * every_s + slot_s) <= duration_s * (1 + 1e-9):
        start_s, end_s, core = number * every_s, min(end_s, duration_s), number % cores
        along = ("memory", "channels", f"core{core}")
        events.append(x.Travel(along=along, start_s=start_s, end_s=end_s))
        events.append(x.Hold(shape="channels", start_s=start_s, end_s=end_s, role="attention"))
        came.append(end_s)
        number += 1
    events.append(x.Count(shape="memory", label="lines", times=tuple(came)))
    return x.Scene(events=tuple(events), title=title)


def _gain(run: x.LessonRun, table: str) -> float | None:
    """Return how many times the data of one thread most threads move; None without both.

    By medians: a single fast round would make the gain in the small arrays of a cache too large.
    """
    rows = [row for row in run.tables[table] if row.kernel == TRIAD]
    line = x.medians((row.threads, row.bytes_per_s) for row in rows)
    return line[max(line)] / line[min(line)] if len(line) > 1 else None


def _line(run: x.LessonRun) -> dict[int, float]:
    """Return the best rate of the triad for each number of threads."""
    return x.best_of(run.tables["moves"], "bytes_per_s", "threads", kernel=TRIAD, choose=max)


def _cached_over_memory(run: x.LessonRun) -> float | None:
    """Return how many times as much the triad moves in the last cache; None where not measured."""
    cached, far = run.values.get("cached_triad_bytes_per_s"), run.values.get("triad_bytes_per_s")
    return cached / far if cached and far else None


def _own_caches_bytes(run: x.LessonRun) -> float | None:
    """Return the size of the caches before the last, one for each thread; None if unknown."""
    sizes = [*x.cache_sizes(run.machine).values()]
    threads = run.values.get("most_threads")
    return sizes[-2] * threads if len(sizes) > 1 and threads else None
