"""Functions that the lesson of ilp calls."""

from __future__ import annotations

import math

from experiments import api as x

from .experiment import FOUR, LINKED, OPERATIONS

HELD_BACK = (LINKED,)
ADD = OPERATIONS[0]
FLAT = 1.1  # times the least: up to this, more sums bring nothing
EIGHT = 8  # sums of a goal
TWO_ADDERS = 2.0  # times as fast: what they gain at most
TWICE, CLEARLY_MORE = 1.8, 1.25  # times, at least
LIKE, SIMILAR = 1.15, 1.4  # times, at most
SUMS = ("a", "b", "c", "d")  # of the drawing
SHOWN = 6  # additions of one sum that move


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return how many sums fill the adders, and cycles: of sums that wait, between divisions.

    Also how many times as long as one sum four sums take.

    An addition takes some cycles, and some begin in each: their product is under way at once.
    """
    found: dict[str, float] = {}
    latency, rate = (run.values.get(f"{ADD}_{name}") for name in ("latency_cycles", "per_cycle"))
    if latency is not None and rate is not None:
        found["sums_to_fill"] = round(latency * rate)
    if f"{ADD}_gain" in run.values:
        found["four_over_one"] = FOUR / run.values[f"{ADD}_gain"]
    if "divide_per_cycle" in run.values:
        found["divide_cycles"] = 1 / run.values["divide_per_cycle"]
    linked = _cycles(run).get(LINKED, {})
    return found | ({"linked_four_cycles": linked[FOUR]} if FOUR in linked else {})


def option_by_gain(run: x.LessonRun) -> int | None:
    """Return the answer nearest to how long four sums took; None where that is unknown."""
    gain = run.values.get(f"{ADD}_gain")
    return None if gain is None else sum(gain > limit for limit in (math.sqrt(2), math.sqrt(8)))


def first_flat(run: x.LessonRun) -> x.Spot:
    """Return the stretch around the first number of sums that is about as fast as the best."""
    of = _cycles(run).get(ADD, {})
    flat = [chains for chains, cycles in of.items() if cycles <= FLAT * min(of.values())]
    if len(of) < 2:
        return x.Spot()
    first = min(flat)
    before = max((chains for chains in of if chains < first), default=first / 2)
    after = min((chains for chains in of if chains > first), default=first * 2)
    return x.Spot(low=math.sqrt(before * first), high=math.sqrt(first * after))


one_at_a_time = x.found("one_at_a_time")  # were four sums no faster than one?
others_count_too = x.limited("linked_gain")  # did sums that wait gain too?
divider_is_busy = x.limited("divider_is_busy")  # does a division start only every few cycles?
# Are sixteen sums slower than eight?
registers_run_out = x.limited("more_chains_than_registers")


def more_than_two_adders(run: x.LessonRun) -> bool:
    """Did four sums gain clearly more than two adders without a pipeline allow?"""
    return run.values.get(f"{ADD}_gain", 0.0) > CLEARLY_MORE * TWO_ADDERS


def without_control(run: x.LessonRun) -> bool:
    """Were sums that wait for each other left out?"""
    return f"{LINKED}_gain" not in run.values


def gain_alike(run: x.LessonRun) -> bool:
    """Do just two operations gain as much from four sums, though one takes far longer in one?"""
    longer, gain = _apart(run, FOUR)
    return longer >= TWICE and 0 < gain <= LIKE


def gain_differently(run: x.LessonRun) -> bool:
    """Do just two operations take about as long in one sum, and gain differently from eight?"""
    longer, gain = _apart(run, EIGHT)
    return 0 < longer <= SIMILAR and gain >= CLEARLY_MORE


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Send the additions of one sum through the adder, and those of four; another operation too.

    Within a sum an addition leaves when the previous one is out, at the measured times.
    """
    name = pointed.name if pointed is not None and pointed.name in OPERATIONS else ADD
    took_s = x.medians(
        (row.chains, row.operation_s) for row in run.tables["steps"] if row.operation == name
    )
    if not {1, FOUR} <= took_s.keys() or name == LINKED:
        return None
    one_s, four_s = took_s[1], took_s[FOUR]
    duration_s = SHOWN * one_s
    alone = [(SUMS[0], n * one_s) for n in range(SHOWN)]
    beside = [(SUMS[n % FOUR], n * four_s) for n in range(int(duration_s / four_s) + 1)]
    return x.Motion(
        scenes=(
            _scene("one", alone, one_s, duration_s),
            _scene("four", beside, min(one_s, FOUR * four_s), duration_s),
        ),
        duration_s=duration_s,
        stills=(one_s / 2, duration_s / 2, duration_s),
        says=(x.Say(text="waits", start_s=0.0), x.Say(text="follows", start_s=one_s)),
    )


def _scene(title: str, begun: list[tuple[str, float]], way_s: float, duration_s: float) -> x.Scene:
    """Return the additions that begin at these moments; those count that are done in time."""
    done = [(name, at, at + way_s) for name, at in begun if at + way_s <= duration_s * (1 + 1e-9)]
    travels = [
        x.Travel(along=(name, f"end_of_{name}"), start_s=at, end_s=min(end, duration_s))
        for name, at, end in done
    ]
    counted = x.Count(shape="adder", label="done", times=tuple(each.end_s for each in travels))
    return x.Scene(title=title, events=(*travels, counted))


def _cycles(run: x.LessonRun) -> dict[str, dict[int, float]]:
    """Return the median cycles of each operation at each number of sums, the fewest first."""
    of: dict[str, dict[int, float]] = {}
    found = x.medians(((row.operation, row.chains), row.cycles) for row in run.tables["steps"])
    for (name, chains), cycles in sorted(found.items()):
        of.setdefault(name, {})[chains] = cycles
    return of


def _apart(run: x.LessonRun, chains: int) -> tuple[float, float]:
    """Return the ratio of two operations' latencies, and of their gains from `chains` sums.

    0 for both unless just two were measured.
    """
    of = {name: each for name, each in _cycles(run).items() if {1, chains} <= each.keys()}
    if len(of) != 2 or LINKED in of:
        return 0.0, 0.0
    latencies, gains = zip(
        *((each[1], each[1] / each[chains]) for each in of.values()), strict=True
    )
    return max(latencies) / min(latencies), max(gains) / min(gains)
