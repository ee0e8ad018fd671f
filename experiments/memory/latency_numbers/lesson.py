"""Functions that the lesson of latency-numbers calls."""

from __future__ import annotations

from itertools import pairwise

from experiments import api as x

HELD_BACK = ("memory", "process")
RANKED = ("call", "memory", "l1", "process", "thread")  # as the words name them
WIDE_BYTES = x.GIB
PATIENT = 20  # rounds
HOUR_S, DAY_S, MONTH_S = 3600.0, 86_400.0, 30 * 86_400.0


def numbers(run: x.LessonRun, guess: x.Guess | None) -> dict[str, float]:
    """Return times as if one from L1 took a second, and how many places of the guess are right."""
    found: dict[str, float] = {}
    if "l1_s" in run.values:
        for name in RANKED:
            if f"{name}_s" in run.values:
                found[f"{name}_as_if_s"] = run.values[f"{name}_s"] / run.values["l1_s"]
    if {"thread_s", "memory_s"} <= run.values.keys():
        thread_loads = run.values["thread_s"] / run.values["memory_s"]
        found["thread_loads"] = int(float(f"{thread_loads:.1e}"))
    if {"process_s", "thread_s"} <= run.values.keys():
        found["process_over_thread"] = run.values["process_s"] / run.values["thread_s"]
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


def vanished_in_many(run: x.LessonRun) -> bool:
    """Are caches the only distances on a ruler that was measured patiently?"""
    return memory_missing(run) and "l1_s" in run.values and _is_patient(run)


def disk_asked_far(run: x.LessonRun) -> bool:
    """Did many rounds read the disk all over a large file?"""
    return run.params.file_bytes >= WIDE_BYTES and "disk_s" in run.values and _is_patient(run)


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Return each operation begun again and again, until the first process has ended."""
    times = {name: run.values.get(f"{name}_s") for name in RANKED}
    known = {name: took_s for name, took_s in times.items() if took_s is not None}
    if len(known) < len(RANKED) or known["process"] < max(known.values()):
        return None
    end_s = known["process"]
    lit = [x.Hold(shape=name, start_s=0.0, end_s=end_s) for name in RANKED]
    counted = [
        x.Count(shape=name, label="done", start_s=0.0, end_s=end_s, every_s=took_s)
        for name, took_s in known.items()
    ]
    return x.Motion(
        scenes=(x.Scene(events=(*lit, *counted)),),
        duration_s=end_s,
        stills=(known["thread"], end_s / 2, end_s),
        says=(
            x.Say(text="all_start", start_s=0.0),
            x.Say(text="thread_ends", start_s=known["thread"]),
            x.Say(text="process_ends", start_s=end_s),
        ),
    )


def _is_patient(run: x.LessonRun) -> bool:
    rounds = len({number.repeat for number in run.tables["numbers"]})
    return bool(min(rounds, run.params.rounds) >= PATIENT)
