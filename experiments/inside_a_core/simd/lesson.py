"""Functions that the lesson of simd calls."""

from __future__ import annotations

import math
from collections.abc import Mapping

from experiments import api as x

from .experiment import NUMBERS_BITS, SCALAR, WIDTHS

CLOSE = 1.25  # times the least distance of the lines: up to this they are as close
WIDTH_COUNTS = 1.5  # times half the width: from here on, memory alone does not explain it
CLEARLY_LESS, FAR_LESS = 0.8, 0.5  # of the gain in L1
HALF, MOST, FLAT = 0.5, 0.75, 0.8  # of the goals
SIXTY_FOUR = "float64"
SHOWN, MOST_DRAWN = 3, 45  # instructions that move: of the slowest, and at most


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the additions, and how many billions in a second two widths add in memory.

    The two widths are the widest vectors and half of that, if both were measured. With them come
    the bytes per second in memory, of single numbers and of the widest vectors. The gain is that of
    the largest array that surely lies in L2.
    """
    found: dict[str, float] = {"additions": run.params.additions}
    at = _rates(run).get(_places(run).get("memory", 0), {})
    widest, half = str(_widest(at)), str(_widest(at) // 2)
    if half in at:
        found |= {"widest_far_billions": at[widest] / 1e9, "half_far_billions": at[half] / 1e9}
    if {SCALAR, widest} <= at.keys():
        bytes_each = NUMBERS_BITS[run.params.numbers] / 8 / run.params.additions
        found["single_far_bytes_per_s"] = at[SCALAR] * bytes_each
        found["widest_far_bytes_per_s"] = at[widest] * bytes_each
    l1_bytes, l2_bytes = (run.values.get(f"{name}_bytes", 0.0) for name in ("l1", "l2"))
    gains = {size: gain for size, gain in _gains(run).items() if l1_bytes < size <= l2_bytes / 2}
    if l1_bytes and gains:
        found |= {"l2_size_bytes": max(gains), "gain_in_l2": gains[max(gains)]}
    return found


def closest(run: x.LessonRun) -> x.Spot:
    """Return the stretch of sizes at which vectors are about the least times faster."""
    gains = _gains(run)
    if len(gains) < 2:
        return x.Spot()
    close = [size for size, gain in gains.items() if gain <= CLOSE * min(gains.values())]
    return x.Spot(low=min(close) / math.sqrt(2), high=max(close) * math.sqrt(2))


no_gain = x.found("no_gain")  # were vectors no faster, not even in L1?
# Was memory not reached, or does it scatter too much?
memory_not_seen = x.found("gain_in_cache", "gain_in_cache_memory_unclear")
no_gain_in_memory = x.found("gain_in_cache_alone", "gain_hardly_in_memory")
gains_everywhere = x.found("gain_everywhere")
l1_too_slow = x.limited("too_slow_for_vectors")  # do vectors gain less than their numbers in L1?
# Are vectors of half the width as fast in L1, or faster?
halves_alike = x.limited("no_wider_gain", "half_is_faster")


def one_width(run: x.LessonRun) -> bool:
    """Do vectors gain, in memory too or not, and say those of half their width nothing?"""
    is_alone = halves_alike(run) or "half_far_billions" not in numbers(run, None)
    return "memory" in _places(run) and is_alone and not no_gain(run)


def width_counts_in_memory(run: x.LessonRun) -> bool:
    """Do wide vectors clearly beat those of half their width, in memory too?"""
    known = numbers(run, None)
    half = known.get("half_far_billions", math.inf)
    return known.get("widest_far_billions", 0.0) > WIDTH_COUNTS * half


def still_gains(run: x.LessonRun) -> bool:
    """Is a part of the gain left in memory, with no more work for each number?"""
    return "still_gains" in run.limits and not (width_counts_in_memory(run) or adds_often(run))


def closer_in_memory(run: x.LessonRun) -> bool:
    """Do vectors gain far less in memory than in L1?"""
    near, far = (run.values.get(f"gain_in_{name}", math.nan) for name in ("l1", "memory"))
    return far <= FAR_LESS * near and "widest_far_bytes_per_s" in numbers(run, None)


def l2_gains_less(run: x.LessonRun) -> bool:
    """Do vectors gain clearly less in L2 than in L1?"""
    near, far = run.values.get("gain_in_l1", 0.0), numbers(run, None).get("gain_in_l2", math.inf)
    return far <= CLEARLY_LESS * near


def adds_often(run: x.LessonRun) -> bool:
    """Was each number added several times?"""
    return bool(run.params.additions > 1)


def gains_most_of_it(run: x.LessonRun) -> bool:
    """Do vectors of 64-bit numbers gain more than half of their numbers in memory, but not all?"""
    gain, lanes = (run.values.get(name, 0.0) for name in ("gain_in_memory", "lanes"))
    return _is_wide_and_worked(run) and HALF * lanes <= gain <= MOST * lanes


def flat_to_memory(run: x.LessonRun) -> bool:
    """Are vectors of 64-bit numbers about as fast in memory as in L1?"""
    places, rates = _places(run), _rates(run)
    if not _is_wide_and_worked(run) or "memory" not in places:
        return False
    near, far = (max(rates[places[name]].values()) for name in ("l1", "memory"))
    return far >= FLAT * near


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Send single numbers and vectors from L1 and from memory, or from a size pointed at.

    They arrive evenly, one after another, at the measured rate, until a few of the slowest have.
    """
    rates, places = _rates(run), _places(run)
    if pointed is not None and pointed.at is not None:
        places = {"here": round(pointed.at)}
    lanes = {
        f"{name}_{kind}": (each, each / rates[size][way])
        for name, size in places.items()
        for kind, way, each in _kinds(run, rates.get(size, {}))
    }
    if not lanes:
        return None
    takes_s = [each_s for _, each_s in lanes.values()]
    end_s = min(SHOWN * max(takes_s), MOST_DRAWN * min(takes_s))
    scenes = tuple(_scene(name, *lane, end_s) for name, lane in lanes.items())
    says = (x.Say(text="evenly", start_s=0.0),)
    return x.Motion(
        scenes=scenes, duration_s=end_s, stills=(end_s / 10, end_s / 2, end_s), says=says
    )


def _scene(title: str, each: int, each_s: float, end_s: float) -> x.Scene:
    """Return instructions of `each` numbers, one after another: those that arrive in time."""
    begun = [n * each_s for n in range(math.ceil(end_s / each_s * (1 - 1e-9)))]
    arrived = [at + each_s for at in begun if at + each_s <= end_s * (1 + 1e-9)]
    travels = [
        x.Travel(
            along=("array", "adder"), token=str(each), start_s=end - each_s, end_s=min(end, end_s)
        )
        for end in arrived
    ]
    added = x.Count(shape="adder", label="added", end_s=end_s, every_s=each_s / each)
    return x.Scene(title=title, events=(*travels, added))


def _kinds(run: x.LessonRun, at: Mapping[str, float]) -> list[tuple[str, str, int]]:
    """Return the single numbers and the widest vectors at a size: kind, way, numbers in each."""
    widest, lanes = _widest(at), round(run.values.get("lanes", 0))
    if SCALAR not in at or not widest or not lanes:
        return []
    return [("single", SCALAR, 1), ("wide", str(widest), lanes)]


def _places(run: x.LessonRun) -> dict[str, int]:
    """Return the sizes that were compared, as far as they were: in L1 and in memory."""
    sizes, l1_bytes = _rates(run), run.values.get("l1_bytes", 0)
    near = [size for size in sizes if size <= l1_bytes / 2]
    found = {"l1": max(near)} if near and "gain_in_l1" in run.values else {}
    return found | ({"memory": max(sizes)} if sizes and "gain_in_memory" in run.values else {})


def _rates(run: x.LessonRun) -> dict[int, dict[str, float]]:
    """Return the median numbers in a second of each way at each size."""
    rates: dict[int, dict[str, float]] = {}
    rows = (((row.size_bytes, row.way), row.elements_per_s) for row in run.tables["rates"])
    for (size, way), per_s in x.medians(rows).items():
        rates.setdefault(size, {})[way] = per_s
    return rates


def _gains(run: x.LessonRun) -> dict[int, float]:
    """Return how many times as fast as single numbers the widest vectors are at each size."""
    return {
        size: at[str(_widest(at))] / at[SCALAR]
        for size, at in _rates(run).items()
        if SCALAR in at and _widest(at)
    }


def _widest(at: Mapping[str, float]) -> int:
    """Return the bits of the widest vectors among these ways, 0 without any."""
    return max((int(way) for way in at if way in WIDTHS), default=0)


def _is_wide_and_worked(run: x.LessonRun) -> bool:
    """Were numbers of 64 bits each added several times?"""
    return run.params.numbers == SIXTY_FOUR and adds_often(run)
