"""Functions that the lesson of false-sharing calls."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from experiments import api as x

from .experiment import CORES, PLAIN, READERS, Increment

HELD_BACK = (READERS,)
LIKE, TWICE = 1.25, 2.0  # times
MANY_ROUNDS, NEARLY_ALL, EARLY_BYTES = 30, 0.8, 16
FIGHT = "neighbours_fight"
WRITES = 16  # of both cores together, as drawn


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the seconds of a plain increment, far apart."""
    times = x.medians(
        (row.distance_bytes, row.increment_s)
        for row in run.tables["increments"]
        if row.pair == PLAIN
    )
    return {"plain_far_s": times[max(times)]} if times else {}


def option_by_slowdown(run: x.LessonRun) -> int | None:
    """Return the option that says how much longer neighbours took; None where they were faster."""
    if "slowdown" not in run.values or run.message == "near_is_faster":
        return None
    return sum(run.values["slowdown"] > most for most in (LIKE, TWICE))


def largest_fall(run: x.LessonRun) -> x.Spot:
    """Return the neighbouring distances between which the time of the nearest cores falls most."""
    return _fall(x.medians((row.distance_bytes, row.increment_s) for row in _nearest(run)))


def one_core(run: x.LessonRun) -> bool:
    """May the program use one core only?"""
    return x.physical_cores(run.machine) == 1 and not _nearest(run)


apart_anyway = x.found("apart_anyway")  # did no two counters lie in one line?
no_fall = x.found("alike", "near_is_faster")  # were neighbours no slower than counters far apart?


def pair_of_lines(run: x.LessonRun) -> bool:
    """Do the times fall farther out than a line is long?"""
    line_bytes = run.values.get("line_bytes")
    return line_bytes is not None and run.values.get("line_bytes_seen", 0.0) > line_bytes


plain_lose_less = x.limited("plain_is_forwarded")  # do plain increments lose less than atomic ones?


def plain_lose_more(run: x.LessonRun) -> bool:
    """Do plain increments lose clearly more than atomic ones, because far apart they are quick?"""
    plain_s, atomic_s = numbers(run, None).get("plain_far_s"), run.values.get("far_apart_s", 0.0)
    if run.message != FIGHT or plain_s is None or LIKE * plain_s > atomic_s:
        return False
    return run.values.get("plain_slowdown", 0.0) > LIKE * run.values["slowdown"]


def falls_at_16(run: x.LessonRun) -> bool:
    """Did the time fall most at 16 bytes in nearly all of many rounds?"""
    by_round: dict[int, dict[int, float]] = {}
    for row in _nearest(run):
        by_round.setdefault(row.repeat, {})[row.distance_bytes] = row.increment_s
    falls = [_fall(times).high == EARLY_BYTES for times in by_round.values()]
    is_enough = len(falls) >= MANY_ROUNDS and sum(falls) >= NEARLY_ALL * len(falls)
    return run.message == FIGHT and is_enough


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Return how one line walks between two cores at each write, and how two stay at home."""
    near_s, far_s = run.values.get("same_line_s", 0.0), run.values.get("far_apart_s", 0.0)
    write_s = near_s / 2  # both cores write in turn
    if run.message != FIGHT or far_s >= write_s:
        return None
    duration_s = WRITES * write_s
    return x.Motion(
        scenes=(
            x.Scene(events=tuple(_walking(write_s, far_s, duration_s)), title="near"),
            x.Scene(events=tuple(_at_home(far_s, duration_s)), title="far"),
        ),
        duration_s=duration_s,
        stills=((far_s + write_s) / 2, write_s + far_s / 2, duration_s - write_s + far_s / 2),
        says=(
            x.Say(text="begin", start_s=0.0),
            x.Say(text="walks", start_s=far_s),
            x.Say(text="stays", start_s=duration_s / 2),
        ),
    )


def _walking(write_s: float, own_s: float, end_s: float) -> Iterator[x.Hold | x.Travel | x.Count]:
    """Yield the turns of two cores at one line: it is owned for a write, then it walks."""
    for turn in range(WRITES):
        at_s, here, there = turn * write_s, f"core_{turn % 2}", f"core_{1 - turn % 2}"
        written_s, next_s = at_s + own_s, min(at_s + write_s, end_s)
        yield x.Hold(shape=here, start_s=at_s, end_s=written_s, role="attention", label="owns")
        yield x.Travel(along=(here, there), start_s=written_s, end_s=next_s, token="line")
    for core in (0, 1):
        yield x.Count(
            shape=f"core_{core}", label="written",
            times=tuple(turn * write_s + own_s for turn in range(core, WRITES, 2)),
        )  # fmt: skip


def _at_home(own_s: float, end_s: float) -> Iterator[x.Hold | x.Count]:
    """Yield two cores that each keep a line and write into it without a pause."""
    for core in ("core_0", "core_1"):
        yield x.Hold(shape=core, start_s=0.0, end_s=end_s, label="own")
        yield x.Count(shape=core, label="written", end_s=end_s, every_s=own_s)


def _nearest(run: x.LessonRun) -> list[Increment]:
    """Return the rows of the nearest two cores."""
    rows = run.tables["increments"]
    pair = next((name for name in CORES if any(row.pair == name for row in rows)), None)
    return [row for row in rows if row.pair == pair]


def _fall(times: dict[int, float]) -> x.Spot:
    steps = [*pairwise(sorted(times))]
    if not steps:
        return x.Spot()
    low, high = max(steps, key=lambda step: times[step[0]] / times[step[1]])
    return x.Spot(low=low, high=high)
