"""Functions that the lesson of clinic calls."""

from __future__ import annotations

import math

from experiments import api as x

from .experiment import LEAVES, TRAIN, checked_pieces

FEW, MANY_ROUNDS = 100, 30  # words, rounds
LEARNT, NOT_LEARNT = 0.5, 0.1  # of the differences between stations
SURE_BY_SIGMOID = 0.5  # of the differences between three kinds: more is not to be had behind one


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return how many programs there are, how many stopped, and what was learnt, rounded down."""
    found: dict[str, float] = {
        "programs": len(checked_pieces(run.tables)),
        "stopped": len(_stopped(run)),
    }
    if (learnt := _learnt(run)) is not None:
        found["learnt_at_least_fraction"] = math.floor(100 * learnt[1]) / 100
    return found


def programs_that_stop(run: x.LessonRun) -> int | None:
    """Return the option: none, fewer than half, more, all; None before all were tried."""
    stopped, programs = len(_stopped(run)), len(checked_pieces(run.tables))
    if not run.tables["steps"]:
        return None
    return 3 if stopped == programs else sum((stopped > 0, 2 * stopped >= programs))


def single_bar(run: x.LessonRun) -> x.Spot:
    """Return the bar of a program that could be timed in one version only."""
    codes: dict[str, set[str]] = {}
    for step in run.tables["steps"]:
        codes.setdefault(step.piece, set()).add(step.code)
    return x.Spot(
        names=tuple(code for found in codes.values() if len(found) == 1 for code in found)
    )


def feed_gained(run: x.LessonRun) -> bool:
    """Did mending make the weather program clearly faster?"""
    return run.message == "both_gain" or run.message.startswith("feed_gains")


# Did multiples of 8 make the next-word program clearly faster?
shapes_gained = x.found("both_gain", "shapes_gain")


def sizes_cost_nothing(run: x.LessonRun) -> bool:
    """Was the next-word program timed, and no faster with multiples of 8?"""
    return "shapes_gain" in run.values and not shapes_gained(run)


nothing_gained = x.found("nothing_gained")  # was no mended program faster?


def learns_only_mended(run: x.LessonRun) -> bool:
    """Did the weather program learn, and only once it was mended?"""
    broken, mended = _learnt(run) or (1.0, 0.0)
    return broken <= NOT_LEARNT and mended >= LEARNT


def stops_alone(run: x.LessonRun) -> bool:
    """Was each fault tried alone, and do the leaves stop with theirs?"""
    return "faults_that_stop" in run.values and LEAVES in _stopped(run)


def sigmoid_holds_back(run: x.LessonRun) -> bool:
    """Did the flowers learn with a sigmoid no more than it allows, and more once mended?"""
    held, mended = (
        run.values.get(f"learnt_flowers_{v}_fraction", 0) for v in ("sigmoid", x.MENDED)
    )
    return held <= SURE_BY_SIGMOID < mended


def learns_no_more(run: x.LessonRun) -> bool:
    """Did mending change too little in what the weather program learnt?"""
    return _learnt(run) is not None and not learns_only_mended(run)


def few_words_told(run: x.LessonRun) -> bool:
    """Do many rounds with few words say if multiples of 8 gain anything?"""
    is_told = "shapes_gain" in run.values and "shapes_gain" not in run.unclear
    return is_told and run.params.length < FEW and run.params.rounds >= MANY_ROUNDS


def _learnt(run: x.LessonRun) -> tuple[float, ...] | None:
    """Return what the weather program learnt, with its faults and mended; None if unknown."""
    names = ("learnt_broken_fraction", "learnt_mended_fraction")
    return tuple(run.values[name] for name in names) if run.values.keys() >= set(names) else None


def _stopped(run: x.LessonRun) -> set[str]:
    return {
        row.piece for row in run.tables["remarks"] if row.version == x.BROKEN and row.where == TRAIN
    }
