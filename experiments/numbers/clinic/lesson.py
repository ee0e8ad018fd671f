"""What the lesson of clinic computes."""

from __future__ import annotations

from experiments import api as x

from .experiment import PIECES, TRAIN

LONG = 1024  # words


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, int]:
    """Return how many programs there are, and how many stopped."""
    return {"programs": len(PIECES), "stopped": len(_stopped(run))}


def programs_that_stop(run: x.LessonRun) -> int | None:
    """Return the option that says how many stopped; None before all were tried."""
    return len(_stopped(run)) if run.tables["steps"] else None


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
on_processor = x.limited("processor_cares_little")  # did no GPU compute?
nothing_gained = x.found("nothing_gained")  # was no mended program faster?


def read_long(run: x.LessonRun) -> bool:
    """Did the next-word program read many words at once?"""
    return run.params.length >= LONG and "shapes_gain" in run.values


def shapes_told(run: x.LessonRun) -> bool:
    """Can the run tell whether multiples of 8 gain anything?"""
    return "shapes_gain" in run.values and "shapes_gain" not in run.unclear


def _stopped(run: x.LessonRun) -> set[str]:
    return {
        row.piece for row in run.tables["remarks"] if row.version == x.BROKEN and row.where == TRAIN
    }
