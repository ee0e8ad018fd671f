"""Puts a motion into words: its sentences, its time, and how much slower it is shown."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.core.teaching.motion import Motion
from experiments.core.units import many, show
from experiments.core.words import Words


def moment_text(t_s: float, motion: Motion) -> str:
    """Return a moment in the unit of the whole duration: 100 ns."""
    number, unit = show(motion.duration_s, "s").split(" ")
    places = len(number.partition(".")[2])
    return f"{float(number) * t_s / motion.duration_s:.{places}f} {unit}"


def time_text(words: Words, t_s: float, motion: Motion) -> str:
    """Return a moment, of the whole duration: 100 of 207 ns."""
    position = moment_text(t_s, motion).partition(" ")[0]
    total = show(motion.duration_s, "s")
    return words.say("lesson.motion_time", {"position": position, "total": total})


def factor_text(words: Words, motion: Motion) -> str:
    """Return how many times slower it is shown: slowed 30 million times."""
    if motion.factor == 1:
        return words.say("lesson.motion_as_fast")
    if motion.factor > 1:
        return words.say("lesson.motion_slowed", {"times": many(motion.factor)})
    return words.say("lesson.motion_faster", {"times": many(1 / motion.factor)})


def said_at(t_s: float, motion: Motion, texts: Mapping[str, str]) -> str:
    """Return the sentence that holds at a moment, "" before the first."""
    begun = [say for say in motion.says if say.start_s <= t_s]
    return texts[max(begun, key=lambda say: say.start_s).text] if begun else ""
