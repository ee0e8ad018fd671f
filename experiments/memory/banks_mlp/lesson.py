"""Functions that the lesson of banks-mlp calls."""

from __future__ import annotations

import math
from collections import deque
from itertools import chain

from experiments import api as x
from experiments.tools.long_chain import COUNTS

from .experiment import in_step

TWICE, FOUR_TIMES = math.sqrt(2), math.sqrt(8)  # times one chain: from there on an answer is right
FULL = 1.5  # times one core: what two cores read together where the memory is not full
NANOSECOND_S = 1e-9
NEAR_CYCLES, A_QUARTER = 150, 0.25
DRAWN = 32  # chains on the drawing
WAVES = 2  # so many times one read


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return how long four chains take against one, and the reads under way in whole ones."""
    found: dict[str, float] = {}
    four = _four_over_one(run)
    if four is not None:
        found["four_over_one"] = four
    if "parallelism" in run.values:
        found["under_way"] = round(run.values["parallelism"])
    return found


def option_by_four_chains(run: x.LessonRun) -> int | None:
    """Return the answer nearest to what four chains took; None without them."""
    four = _four_over_one(run)
    return None if four is None else 2 - sum(four > most for most in (TWICE, FOUR_TIMES))


def end_of_the_fall(run: x.LessonRun) -> x.Spot:
    """Return the stretch from the last chains that walk as one to the next number of them."""
    last = in_step(run.tables["reads"])
    if not last:
        return x.Spot()
    after = min((n for n in COUNTS if n > last), default=last)
    return x.Spot(low=last / math.sqrt(2), high=after * math.sqrt(2))


no_gain = x.found("no_gain")  # was no number of chains faster than one?
still_in_step = x.limited("no_floor_reached")  # did the most chains still walk as one?
in_cache = x.limited("partly_in_cache")  # did the last cache answer a part?
small_pages = x.limited("page_translation_included")  # were the pages of 4 KiB?


def core_is_full(run: x.LessonRun) -> bool:
    """Did the gain of one core end, and a second bring much, so that the memory was not full?"""
    ended = not (no_gain(run) or still_in_step(run))
    return ended and run.values.get("two_cores_gain", 0.0) >= FULL


def memory_is_full(run: x.LessonRun) -> bool:
    """Did a second core bring little, and no other load?"""
    return run.values.get("two_cores_gain", FULL) < FULL and run.trust == "solid"


def one_core(run: x.LessonRun) -> bool:
    """May the program use one core only?"""
    return x.physical_cores(run.machine) == 1 and "two_cores_gain" not in run.values


def a_line_each_nanosecond(run: x.LessonRun) -> bool:
    """Did a line come every nanosecond at least, with small pages?"""
    return not run.params.huge_pages and run.values.get("best_s", math.inf) <= NANOSECOND_S


def a_near_quarter(run: x.LessonRun) -> bool:
    """Was one chain's read near, with small pages, in as much as a part of the last cache?"""
    cache_bytes = x.last_level_cache_bytes(run.machine)
    cycles = run.values.get("one_chain_cycles", math.inf)
    return (
        cache_bytes is not None
        and not run.params.huge_pages
        and run.params.memory_bytes >= A_QUARTER * cache_bytes
        and cycles < NEAR_CYCLES
    )


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """One chain and many on one clock, each read as long as one alone.

    A point of the line chooses how many; more than are drawn, or as many as walk as one, are not.
    """
    read_s, under_way = run.values.get("one_chain_s"), run.values.get("parallelism")
    if not read_s or not under_way:
        return None
    chains = DRAWN
    if pointed is not None and pointed.view == "time" and pointed.at is not None:
        chains = min(max(2, round(pointed.at)), DRAWN)
    room = max(1, round(under_way))
    says = [x.Say(text="leave", start_s=0.0)]
    says.append(x.Say(text="back" if chains > room else "alone", start_s=read_s))
    return x.Motion(
        scenes=(_walk(1, room, read_s, "one"), _walk(chains, room, read_s, "many")),
        duration_s=WAVES * read_s,
        stills=(0.4 * read_s, read_s, 1.6 * read_s),
        says=tuple(says),
    )


def _walk(chains: int, room: int, read_s: float, title: str) -> x.Scene:
    """Return the reads of some chains of which `room` can be under way; the others wait."""
    queue = deque(range(chains))
    events: list[x.Hold | x.Travel] = []
    back: list[float] = []
    for wave in range(WAVES):
        start_s, end_s = wave * read_s, (wave + 1) * read_s
        leave = [queue.popleft() for _ in range(min(room, chains))]
        events += [
            x.Travel(along=(_name(n), "memory"), start_s=start_s, end_s=end_s, returns=True)
            for n in leave
        ]
        events += [
            x.Hold(shape=_name(n), start_s=start_s, end_s=end_s, role="attention") for n in queue
        ]
        queue.extend(leave)
        back += [end_s] * len(leave)
    answered = x.Count(shape="memory", label="answered", times=tuple(back))
    return x.Scene(events=tuple(chain(events, (answered,))), title=title)


def _name(number: int) -> str:
    return f"chain{number}"


def _four_over_one(run: x.LessonRun) -> float | None:
    """Return the time of four chains over that of one, with as many steps in each."""
    times = x.medians((row.chains, row.latency_s) for row in run.tables["reads"])
    return 4 * times[4] / times[1] if {1, 4} <= times.keys() else None
