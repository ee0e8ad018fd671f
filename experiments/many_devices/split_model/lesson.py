"""The functions that the lesson of split-model names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from experiments import api as x

from .experiment import chosen
from .ways import CHANNELS, DATA, LAYERS, ONE

HELD_BACK = (LAYERS,)
SHARED = (DATA, LAYERS, CHANNELS)  # in the order of the answers
ALIKE = 1.1  # times the quickest step
BEYOND = 0.05  # of a step: so much more than the bubble is worth a word
HARDLY_IDLE = 0.2  # of a step
DRAWN = 4  # devices
MOST_PAUSES, MOST_PARTS = 60, 32  # of a motion: pauses, micro-batches, of all devices

other_results = x.found("other_results")
none_is_faster = x.found("none_is_faster")
take_turns = x.limited("more_threads_than_cores")


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the micro-batches, how unequally devices compute by layers, what the quickest send."""
    found: dict[str, float] = {"micro_batches": chosen(run.params)}
    busy_s = [sum(b - a for a, b in slices) for slices in _lanes(run, LAYERS).values()]
    if len(busy_s) > 1 and min(busy_s) > 0:
        found["stage_over_stage"] = max(busy_s) / min(busy_s)
    if (place := quickest_way(run)) is not None and place < len(SHARED):
        name = f"{SHARED[place]}_moved_bytes"
        found |= {"quickest_moved_bytes": run.values[name]} if name in run.values else {}
    return found


def quickest_way(run: x.LessonRun) -> int | None:
    """Return the option of the way clearly quickest, or of all alike; None where it is unclear."""
    times = [run.values.get(f"{way}_step_s", 0.0) for way in SHARED]
    if other_results(run) or not all(times):
        return None
    if max(times) <= ALIKE * min(times):
        return len(SHARED)
    first = times.index(min(times))
    others = (way for way in SHARED if way != SHARED[first])
    return first if all(_beats(run, SHARED[first], way) for way in others) else None


def longest_pause(run: x.LessonRun) -> x.Spot:
    """Return the longest stretch between two slices of a device that has some of the layers."""
    gaps = [
        (later[0] - earlier[1], earlier[1], later[0])
        for slices in _lanes(run, LAYERS).values()
        for earlier, later in pairwise(slices)
    ]
    _, low, high = max(gaps, default=(0.0, None, None))
    return x.Spot(low=low, high=high)


def data_is_quickest(run: x.LessonRun) -> bool:
    """Was the step quickest that shared the data?"""
    return quickest_way(run) == 0


def data_sends_more(run: x.LessonRun) -> bool:
    """Was another way quickest, and sent fewer bytes than sharing the data?"""
    sent = numbers(run, None).get("quickest_moved_bytes")
    return sent is not None and sent < run.values.get("data_moved_bytes", 0.0)


def idle_beyond_bubble(run: x.LessonRun) -> bool:
    """Did devices with some layers each idle longer than the bubble explains?"""
    if "stage_over_stage" not in numbers(run, None) or "bubble_fraction" not in run.values:
        return False
    return bool(run.values["bubble_fraction"] > run.values["expected_bubble_fraction"] + BEYOND)


def hardly_idle(run: x.LessonRun) -> bool:
    """Did devices with some layers each hardly wait, and clearly beat one device?"""
    return _beats(run, LAYERS, ONE) and run.values["bubble_fraction"] < HARDLY_IDLE


def layers_beat_data(run: x.LessonRun) -> bool:
    """Was sharing the layers clearly faster than sharing the data, and than one device?"""
    return _beats(run, LAYERS, DATA) and _beats(run, LAYERS, ONE)


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Return the quickest step by data and by layers, on one clock, as their slices were timed."""
    data, layers, pause = _lanes(run, DATA), _lanes(run, LAYERS), longest_pause(run)
    parts = chosen(run.params)
    is_drawn = 1 < len(layers) == len(data) <= DRAWN and parts * len(layers) <= MOST_PARTS
    if not is_drawn or pause.low is None or pause.high is None:
        return None
    end_s = max(slices[-1][1] for lanes in (data, layers) for slices in lanes.values())
    meet_s = max(slices[-2][1] for slices in data.values())
    met_s = max(meet_s, min(slices[-1][0] for slices in data.values()))
    ring = ((f"device_{n}", f"device_{(n + 1) % len(data)}") for n in data)
    exchange = (x.Travel(along=along, start_s=meet_s, end_s=met_s) for along in ring)
    says = {"fill": 0.0, "bubble": pause.low, "back": pause.high}
    return x.Motion(
        scenes=(
            x.Scene(title="data", events=(*_at_work(data, 1), *exchange)),
            x.Scene(title="layers", events=(*_at_work(layers, parts), *_handed_on(layers, parts))),
        ),
        duration_s=end_s,
        stills=(layers[0][0][1] / 2, (pause.low + pause.high) / 2, end_s),
        says=tuple(x.Say(text=text, start_s=start_s) for text, start_s in says.items()),
        without=tuple(f"device_{n}" for n in range(len(data), DRAWN)),
    )


def _beats(run: x.LessonRun, way: str, other: str) -> bool:
    """Was a step clearly shorter in one way than in the other, with the same weights?"""
    steps = x.spreads_of(run.tables["steps"], "step_s", "way")
    both = {way, other} <= steps.keys() and not other_results(run)
    return both and steps[way].is_below(steps[other])


def _at_work(lanes: dict[int, list[x.Interval]], parts: int) -> Iterator[x.Hold]:
    """Yield when each device computes, forward and back, and its waits that can be seen."""
    whole = [(0.0, max(slices[-1][1] for slices in lanes.values()))]
    shortest_s = whole[0][1] * len(lanes) / MOST_PAUSES
    for n, slices in lanes.items():
        name, free = f"device_{n}", x.without(whole, slices)
        pauses = [(low, high) for low, high in free if high - low > shortest_s]
        for low, high in pauses:
            yield x.Hold(shape=name, role="soft", label="waits", start_s=low, end_s=high)
        for place, (low, high) in enumerate(slices):
            number = str(place % parts + 1) if parts > 1 and place < 2 * parts else ""
            is_back = parts <= place < 2 * parts
            yield x.Hold(shape=name, role="second" if is_back else "main", label=number,
                         start_s=low, end_s=high)  # fmt: skip


def _handed_on(lanes: dict[int, list[x.Interval]], parts: int) -> Iterator[x.Travel]:
    """Yield results and gradients on their way between neighbours, as far as they were timed."""
    for (n, first), (_, second) in pairwise(lanes.items()):
        there = (f"device_{n}", f"device_{n + 1}")
        forward = zip(first[:parts], second[:parts], strict=False)
        back = zip(second[parts : 2 * parts], first[parts : 2 * parts], strict=False)
        for along, pairs in ((there, forward), (there[::-1], back)):
            for part, (sent, taken) in enumerate(pairs, 1):
                if sent[1] < taken[0]:
                    yield x.Travel(along=along, token=str(part), start_s=sent[1], end_s=taken[0])


def _lanes(run: x.LessonRun, way: str) -> dict[int, list[x.Interval]]:
    """Return when each device computed in the quickest step of a way; no lane with one slice."""
    found: dict[int, list[x.Interval]] = {}
    for row in sorted(run.tables["lanes"], key=lambda row: (row.device, row.start_s)):
        if row.way == way:
            found.setdefault(int(row.device), []).append((row.start_s, row.end_s))
    return {n: slices for n, slices in sorted(found.items()) if len(slices) > 1}
