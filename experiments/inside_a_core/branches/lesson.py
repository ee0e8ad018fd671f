"""Functions that the lesson of branches calls."""

from __future__ import annotations

from experiments import api as x

from .experiment import BRANCHLESS, HALF, LENGTHS, RANDOM, SORTED

HELD_BACK = (BRANCHLESS,)
ALIKE = 1.25  # times the least of a line: up to this, the share makes no difference
AROUND = 0.1  # of the share: so exactly can one click
HALF_LEARNED = (1.5, 3.0)  # times as long as sorted: neither all is guessed, nor nothing
ROAD = ("guess", "check")  # of the drawing
WRONG, MOST = 3, 48  # wrong guesses that are shown; bytes that arrive, at most


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the times of a shuffled byte where all are added, and in the shortest array."""
    short = _line(run, RANDOM, "elements").get(LENGTHS[0])
    found = {"all_s": _line(run, RANDOM).get(1.0), "short_elements": LENGTHS[0], "short_s": short}
    return {name: value for name, value in found.items() if value is not None}


def option_by_share(run: x.LessonRun) -> int | None:
    """Return the answer by where shuffled bytes take longest; None where it was not measured."""
    line = _line(run, RANDOM)
    if not {0.0, HALF, 1.0} <= line.keys():
        return None
    if line[HALF] > ALIKE * max(line[0.0], line[1.0]):
        return 1
    return 2 if max(line.values()) <= ALIKE * min(line.values()) else 0


def top_of_the_hump(run: x.LessonRun) -> x.Spot:
    """Return the shares around which shuffled bytes are farthest above sorted ones."""
    random, ordered = _line(run, RANDOM), _line(run, SORTED)
    above = {share: random[share] - ordered[share] for share in random.keys() & ordered.keys()}
    if not above:
        return x.Spot()
    top = max(above, key=above.__getitem__)
    return x.Spot(low=top - AROUND, high=top + AROUND)


order_costs_nothing = x.found("order_costs_nothing")  # were shuffled bytes no slower?
learned_by_heart = x.limited("learned_by_heart")  # are they slower in longer arrays?
branch_is_faster_sorted = x.limited("branchless_slower")  # is sorted faster with a branch?


def in_cycles(run: x.LessonRun) -> bool:
    """Is a wrong guess known in cycles?"""
    return "mispredict_cycles" in run.values


def half_learned(run: x.LessonRun) -> bool:
    """Are shuffled bytes slower than sorted ones, but by far not as slow as in long arrays?"""
    low, high = HALF_LEARNED
    return learned_by_heart(run) and low <= run.values.get("penalty", 0.0) <= high


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Send sorted and shuffled bytes on their way, each with a guess; a wrong one stops the line.

    The way to the check takes as long as a wrong guess costs. At a share that is pointed at, as
    many guesses are wrong as the time of its shuffled bytes says; they are spread evenly.
    """
    way_s = run.values.get("mispredict_s", 0.0)
    share = HALF if pointed is None or pointed.at is None else pointed.at
    ordered_s, random_s = (_line(run, way).get(share) for way in (SORTED, RANDOM))
    if way_s <= 0 or ordered_s is None or random_s is None:
        return None
    wrong_share = min(1.0, max(0.0, random_s - ordered_s) / way_s)
    end_s = min(WRONG * (way_s + 2 * ordered_s), way_s + MOST * ordered_s)
    says = [x.Say(text="guesses", start_s=0.0)]
    says += [x.Say(text="is_wrong", start_s=end_s / 3)] if wrong_share else []
    times = ordered_s, way_s, end_s
    return x.Motion(
        scenes=(_scene(SORTED, 0.0, *times), _scene(RANDOM, wrong_share, *times)),
        duration_s=end_s,
        stills=(end_s / 6, end_s / 2, end_s),
        says=tuple(says),
    )


def _scene(title: str, wrong_share: float, each_s: float, way_s: float, end_s: float) -> x.Scene:
    """Return the bytes that arrive in time; behind a wrong guess none leaves until its check."""
    travels: list[x.Travel] = []
    in_vain: list[x.Hold] = []
    at_s = 0.0
    while at_s + way_s <= end_s * (1 + 1e-9):
        to_s, n = min(at_s + way_s, end_s), len(travels)
        wrong = int((n + 1) * wrong_share) > int(n * wrong_share)
        dot = x.Travel(along=ROAD, start_s=at_s, end_s=to_s, role="attention" if wrong else "main")
        travels.append(dot)
        at_s += each_s
        if wrong:
            in_vain.append(x.Hold(shape="way", start_s=at_s, end_s=to_s, label="in_vain"))
            at_s = to_s + each_s
    done = x.Count(shape="check", label="done", times=tuple(each.end_s for each in travels))
    return x.Scene(title=title, events=(*travels, *in_vain, done))


def _line(run: x.LessonRun, way: str, along: str = "taken_fraction") -> dict[float, float]:
    """Return the median time of a byte at each share that is added, or along the lengths."""
    rows = run.tables["lengths" if along == "elements" else "passes"]
    return x.medians((getattr(row, along), row.element_s) for row in rows if row.way == way)
