"""What the lesson of latency-numbers computes."""

from __future__ import annotations

from itertools import pairwise

from experiments import api as x

HELD_BACK = ("memory", "process")
RANKED = ("call", "memory", "l1", "process", "thread")  # as the words name them
WIDE_BYTES = 2 * x.GIB
PATIENT = 20  # rounds
HOUR_S, DAY_S, MONTH_S = 3600.0, 86_400.0, 30 * 86_400.0


def numbers(run: x.LessonRun, guess: x.Guess | None) -> dict[str, float]:
    """Return times as if one from L1 took a second, and how many places of the guess are right."""
    found: dict[str, float] = {}
    if "l1_s" in run.values:
        for name in RANKED:
            if f"{name}_s" in run.values:
                found[f"{name}_as_if_s"] = run.values[f"{name}_s"] / run.values["l1_s"]
    if guess is not None and (order := quickest_first(run)) is not None:
        found["right_places"] = sum(
            one == other for one, other in zip(guess.at, order, strict=True)
        )
        found["places"] = len(order)
    return found


def quickest_first(run: x.LessonRun) -> list[int] | None:
    """Return the numbers of the ranked operations in the order of their times."""
    times = {at: run.values.get(f"{name}_s") for at, name in enumerate(RANKED)}
    known = {at: took_s for at, took_s in times.items() if took_s is not None}
    return sorted(known, key=known.__getitem__) if len(known) == len(RANKED) else None


def option_by_process(run: x.LessonRun) -> int | None:
    """Return the answer by the start of a process, as if a load from L1 took a second."""
    as_if_s = numbers(run, None).get("process_as_if_s")
    return None if as_if_s is None else sum(as_if_s >= each for each in (HOUR_S, DAY_S, MONTH_S))


def widest_gap(run: x.LessonRun) -> x.Spot:
    """Return the stretch of the ruler between the neighbours that are most times apart."""
    best = x.best_of(run.tables["numbers"], "took_s", "what")
    gaps = list(pairwise(sorted(best.values())))
    if not gaps:
        return x.Spot()
    low, high = max(gaps, key=lambda gap: gap[1] / gap[0])
    return x.Spot(low=low, high=high)


def memory_missing(run: x.LessonRun) -> bool:
    """Was memory left out?"""
    return "memory_s" not in run.values


disk_missing = x.limited("no_disk")  # could the disk not be read past the page cache?
is_virtual = x.limited("virtual_machine")  # does a host lend this machine?
# Did a word to a thread take longer than a byte to a process?
thread_behind_loopback = x.limited("thread_behind_loopback")


def memory_vanished(run: x.LessonRun) -> bool:
    """Are caches the only distances on the ruler?"""
    return memory_missing(run) and "l1_s" in run.values


def walked_far(run: x.LessonRun) -> bool:
    """Was much memory walked through?"""
    return run.params.memory_bytes >= WIDE_BYTES and not memory_missing(run)


def timed_often(run: x.LessonRun) -> bool:
    """Was everything timed in many rounds?"""
    return len({number.repeat for number in run.tables["numbers"]}) >= PATIENT
