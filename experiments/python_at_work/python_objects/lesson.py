"""Functions that the lesson of python-objects calls."""

from __future__ import annotations

import math

from experiments import api as x

from .experiment import ALIKE, INTEGERS, LIST, NUMPY, SET, SHUFFLED

HELD_BACK = (SHUFFLED,)
TWICE = 2.0  # times as long
LIKE = 1.15  # times, at most
MANY = 2**20  # numbers of a goal
HUNDRED = 100  # times as long, of a goal
MANY_ROUNDS = 20
SHOWN = 3  # numbers of the shuffled list that move
MOST_DRAWN = 60  # dots of one way
ROADS = {
    NUMPY: ("numpy", "numpy_numbers"),
    LIST: ("list", "list_places", "list_objects"),
    SHUFFLED: ("shuffled", "shuffled_places", "shuffled_objects"),
}

order_is_free = x.found("order_is_free")  # did the shuffled list take hardly longer?
numpy_no_faster = x.found("numpy_no_faster")  # was NumPy no faster than the list?
shared_objects = x.limited("shared_objects")  # do the lists share a few objects?
loop_is_slower = x.limited("loop_is_slower")  # did a loop take longer than `sum`?


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, str]:
    """Return in words how the shuffled array compares with the ordered array."""
    ratio = run.values.get("array_shuffled_over_in_order", 1.0)
    return {"array_took": "about as long as" if ratio <= LIKE else f"{ratio:.1f}× as long as"}


def option_by_order(run: x.LessonRun) -> int | None:
    """Return the answer by how much longer the shuffled list took; None where that is unknown."""
    ratio = run.values.get("shuffled_over_in_order")
    return None if ratio is None else sum(ratio > limit for limit in (ALIKE, TWICE))


def first_twice(run: x.LessonRun) -> x.Spot:
    """Return the stretch in which the shuffled list begins to take twice as long as in order."""
    of = x.medians(((row.numbers, row.way), row.element_s) for row in run.tables["sums"])
    beyond = [
        n for n, way in of if way == SHUFFLED and of[n, way] >= TWICE * of.get((n, LIST), math.inf)
    ]
    return x.Spot(low=min(beyond) / 2, high=min(beyond) * 2) if beyond else x.Spot()


def array_makes_objects(run: x.LessonRun) -> bool:
    """Did `sum` take longer over an array than over the list in order?"""
    of = run.values
    return of.get("array_s", 0.0) > LIKE * of.get("list_s", math.inf)


def order_of_values_counts(run: x.LessonRun) -> bool:
    """Did the shuffled array take clearly longer than the ordered array?"""
    ratio = run.values.get("array_shuffled_over_in_order", 1.0)
    return ratio > LIKE and "array_shuffled_over_in_order" not in run.unclear


def many_in_any_order(run: x.LessonRun) -> bool:
    """Does a list of a million integers take as long in any order, because it shares objects?"""
    is_alike = run.values.get("shuffled_over_in_order", math.inf) <= LIKE
    is_many = run.values.get("numbers", 0) >= MANY
    return run.params.kind == INTEGERS and is_many and is_alike


def shortest_for_a_set(run: x.LessonRun) -> bool:
    """Is the longest list, in many rounds, the first where a set is a hundred times as fast?"""
    of = x.medians(((row.numbers, row.way), row.lookup_s) for row in run.tables["lookups"])
    ratios = [of[n, LIST] / of[n, SET] for n, way in sorted(of) if way == LIST and (n, SET) in of]
    is_sure = run.params.rounds >= MANY_ROUNDS and len(ratios) > 1
    return is_sure and ratios[-1] >= HUNDRED > ratios[-2]


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Fetch numbers in three ways on one clock, each as long as it took on average."""
    took_s = {way: run.values.get(f"{way}_s", 0.0) for way in ROADS}
    if run.message != "objects_all_over":
        return None
    end_s = SHOWN * took_s[SHUFFLED]
    events: list[x.Travel | x.Count] = []
    for way, every_s in took_s.items():
        fetched = round(end_s / every_s)
        for place in range(0, fetched, math.ceil(fetched / MOST_DRAWN)):
            start_s = min(place * every_s, end_s - every_s)
            events.append(
                x.Travel(along=ROADS[way], start_s=start_s, end_s=start_s + every_s, returns=True)
            )
        events.append(x.Count(shape=ROADS[way][0], label="added", end_s=end_s, every_s=every_s))
    return x.Motion(
        scenes=(x.Scene(events=tuple(events)),),
        duration_s=end_s,
        stills=(0.25 * took_s[SHUFFLED], 0.5 * end_s, end_s),
        says=(
            x.Say(text="follows", start_s=0.0),
            x.Say(text="waits", start_s=took_s[SHUFFLED]),
            x.Say(text="adds", start_s=2 * took_s[SHUFFLED]),
        ),
    )
