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
    reads = run.tables["reads"]
    rates = x.best_of(reads, "bytes_per_s", "way", block_bytes=SMALL, choose=max)
    return x.Spot(names=tuple(way for way in rates if rates[way] * LIKE >= max(rates.values())))


no_gain_together = x.found("one_at_a_time_anyway")  # did many at a time bring no more than one?
small_as_fast = x.found("small_reads_as_fast")  # did small blocks come as fast as large ones?
hard_disk = x.limited("hard_disk")  # is it a disk with an arm?
virtual_disk = x.limited("virtual_disk")  # does a host lend the disk?
far_away = x.limited("not_in_this_machine")  # is the disk in another machine?
# Was something faster than a disk can be?
answered_from_memory = x.limited("answered_from_memory", "above_the_link")


def tail_known(run: x.LessonRun) -> bool:
    """Were enough reads timed to know the slowest in a thousand?"""
    return "random_4k_p999_s" in run.values


def spread_wide(run: x.LessonRun) -> bool:
    """Did the reads range over a large file?"""
    return run.params.file_bytes >= WIDE_BYTES and "random_4k_latency_s" in run.values
