"""What the lesson of storage computes."""

from __future__ import annotations

from experiments import api as x

from .experiment import MANY, SMALL

HELD_BACK = (MANY,)
LIKE = 1.15  # times: lines that are this close look as high
WIDE_BYTES = 2 * x.GIB


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return how long the bytes of a small block take at the full speed."""
    full = run.values.get("sequential_read_bytes_per_s")
    return {"bytes_alone_s": SMALL / full} if full else {}


def highest_on_the_left(run: x.LessonRun) -> x.Spot:
    """Return the ways that read small blocks fastest."""
    rates: dict[str, float] = {}
    for read in run.tables["reads"]:
        if read.block_bytes == SMALL:
            rates[read.way] = max(read.bytes_per_s, rates.get(read.way, 0.0))
    return x.Spot(names=tuple(way for way in rates if rates[way] * LIKE >= max(rates.values())))


def no_gain_together(run: x.LessonRun) -> bool:
    """Did many at a time bring no more than one?"""
    return run.message == "one_at_a_time_anyway"


def small_as_fast(run: x.LessonRun) -> bool:
    """Did small blocks come as fast as large ones?"""
    return run.message == "small_reads_as_fast"


def hard_disk(run: x.LessonRun) -> bool:
    """Is it a disk with an arm?"""
    return "hard_disk" in run.limits


def virtual_disk(run: x.LessonRun) -> bool:
    """Does a host lend the disk?"""
    return "virtual_disk" in run.limits


def far_away(run: x.LessonRun) -> bool:
    """Is the disk in another machine?"""
    return "not_in_this_machine" in run.limits


def answered_from_memory(run: x.LessonRun) -> bool:
    """Was something faster than a disk can be?"""
    return not {"answered_from_memory", "above_the_link"}.isdisjoint(run.limits)


def tail_known(run: x.LessonRun) -> bool:
    """Were enough reads timed to know the slowest in a thousand?"""
    return "random_4k_p999_s" in run.values


def spread_wide(run: x.LessonRun) -> bool:
    """Did the reads range over a large file?"""
    return run.params.file_bytes >= WIDE_BYTES and "random_4k_latency_s" in run.values
