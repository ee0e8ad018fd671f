"""Functions that the lesson of smt calls."""

from __future__ import annotations

from collections.abc import Iterator

from experiments import api as x
from experiments.tools.long_chain import power_of_two

from .experiment import ONE, WAITING

WAITING_WINS = ("waiting_gains_more", "waiting_alone_gains")
NEAR = 1.05  # times: bars that end as near to one thread
LOST = 0.005  # of one thread's work: less is drawn as none
READS = 3  # of each thread, as drawn
MANY_ROUNDS, GAINED = 30, 1.5
THREADS = ("one", "other")  # on the drawing


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the gain of adding, where it is clear, and what is lost of one thread's work."""
    if "arithmetic_gain" in run.unclear or "arithmetic_gain" not in run.values:
        return {}
    gain = run.values["arithmetic_gain"]
    return {"adding_gain": gain, "lost_fraction": 1 - gain}


def nearest_one(run: x.LessonRun) -> x.Spot:
    """Return the bars of two threads that end nearest to what one thread does."""
    gains = _gains(run)
    away = {bar: max(gain, 1 / gain) for bar, gain in gains.items() if bar[0] != ONE}
    nearest = min(away.values(), default=0.0)
    return x.Spot(pairs=tuple(bar for bar, factor in away.items() if factor <= NEAR * nearest))


def adding_loses(run: x.LessonRun) -> bool:
    """Do two threads on one core add less than one alone, and reads gain?"""
    return run.message in WAITING_WINS and numbers(run, None).get("lost_fraction", 0.0) > LOST


adding_unclear = x.found("waiting_gains")
adding_gains = x.found("adding_gains_more", "adding_alone_gains", "adding_gains")
alike = x.found("both_alike")
host_chose = x.limited("virtual_machine")


def two_cores(run: x.LessonRun) -> bool:
    """Did two cores clearly add more than two threads of one?"""
    name, one_core = "cores_arithmetic_gain", numbers(run, None).get("adding_gain")
    if name not in run.values or name in run.unclear or one_core is None:
        return False
    return run.values[name] > max(GAINED, NEAR * one_core)


def cache_is_enough(run: x.LessonRun) -> bool:
    """Did reads gain much in many rounds, though the chain fits into the last cache?"""
    cache_bytes = x.last_level_cache_bytes(run.machine)
    rounds = {row.repeat for row in run.tables["shares"]}
    return (
        len(rounds) >= MANY_ROUNDS
        and cache_bytes is not None
        and power_of_two(run.params.chain_bytes) <= cache_bytes / 2
        and "waiting_gain" not in run.unclear
        and run.values.get("waiting_gain", 0.0) >= GAINED
    )


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Let two threads of a core add, and two wait for memory, on one clock.

    A part of adding is as long as one read, for one thread alone.
    """
    alone_s = [1 / row.work_per_s for row in run.tables["shares"]
               if (row.work, row.place) == (WAITING, ONE)]  # fmt: skip
    alone = x.spread(alone_s)
    if run.message not in WAITING_WINS or alone is None:
        return None
    read_s = len(THREADS) * alone.median / run.values["waiting_gain"]
    part_s, end_s = alone.median / run.values["arithmetic_gain"], READS * read_s
    return x.Motion(
        scenes=(
            x.Scene(title="adding", events=tuple(_adding(part_s, end_s))),
            x.Scene(title="waiting", events=tuple(_waiting(read_s))),
        ),
        duration_s=end_s,
        stills=(read_s / 4, end_s / 2, end_s),
        says=(x.Say(text="begin", start_s=0.0), x.Say(text="in_turn", start_s=read_s)),
    )


def _adding(part_s: float, end_s: float) -> Iterator[x.Hold | x.Count]:
    """Yield the parts that two threads add in turn."""
    added = x.Count(shape="units", label="added", end_s=end_s, every_s=part_s)
    yield added
    for part in range(added.at(end_s) + 1):
        start_s, there_s = part * part_s, min((part + 1) * part_s, end_s)
        if start_s < there_s:
            yield x.Hold(
                shape="units", role="second" if part % 2 else "main",
                label="second" if part % 2 else "first", start_s=start_s, end_s=there_s,
            )  # fmt: skip


def _waiting(read_s: float) -> Iterator[x.Travel | x.Count]:
    """Yield the reads of two threads, which are under way at once."""
    back_s = [(n + 1) * read_s for n in range(READS) for _ in THREADS]
    yield x.Count(shape="units", label="read", times=tuple(back_s))
    for end_s, thread in zip(back_s, THREADS * READS, strict=True):
        yield x.Travel(
            along=(thread, "units", f"chip_{thread}"), start_s=end_s - read_s, end_s=end_s,
            role="main" if thread == "one" else "second", returns=True,
        )  # fmt: skip


def _gains(run: x.LessonRun) -> dict[tuple[str, str], float]:
    """Return the median gain of each bar, by place and work."""
    return x.medians(((row.place, row.work), row.gain) for row in run.tables["shares"])
