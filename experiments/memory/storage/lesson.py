"""Functions that the lesson of storage calls."""

from __future__ import annotations

from experiments import api as x

from .experiment import AT_RANDOM, IN_ORDER, MANY, SMALL

HELD_BACK = (MANY,)
LARGE = x.MIB
ALIKE = 1.25  # times the shuffled rate
WIDE_BYTES, MANY_READS = 2 * x.GIB, 100_000


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return what the bytes of a small block take at full speed, and other reads beside it."""
    found: dict[str, float] = {}
    if full := run.values.get("sequential_read_bytes_per_s"):
        found["bytes_alone_s"] = SMALL / full
    large_s, small_s = _large_s(run), run.values.get("random_4k_latency_s")
    if large_s is not None and small_s is not None:
        found["large_over_small"] = large_s / small_s
    if (in_order := _small_rates(run).get(IN_ORDER)) is not None:
        found["small_in_order_bytes_per_s"] = in_order
    return found


def half_speed(run: x.LessonRun) -> x.Spot:
    """Return the stretch in which shuffled blocks, one at a time, reach half the full speed."""
    rates = x.best_of(run.tables["reads"], "bytes_per_s", "way", "block_bytes", choose=max)
    full = max((rate for (way, _), rate in rates.items() if way == IN_ORDER), default=0.0)
    blocks = sorted(block for way, block in rates if way == AT_RANDOM)
    beyond = [block for block in blocks if 2 * rates[AT_RANDOM, block] >= full]
    if not full or not beyond or beyond[0] == blocks[0]:
        return x.Spot()
    return x.Spot(low=blocks[blocks.index(beyond[0]) - 1], high=2 * beyond[0])


no_gain_together = x.found("one_at_a_time_anyway")  # did many at a time bring no more than one?
small_as_fast = x.found("small_reads_as_fast")  # did small blocks come as fast as large ones?


def order_gains_nothing(run: x.LessonRun) -> bool:
    """Did small blocks come about as slowly in order as shuffled, far below the full speed?"""
    rates, full = _small_rates(run), run.values.get("sequential_read_bytes_per_s", 0.0)
    if not {IN_ORDER, AT_RANDOM} <= rates.keys():
        return False
    is_alike = 1 / ALIKE <= rates[IN_ORDER] / rates[AT_RANDOM] <= ALIKE
    return is_alike and 2 * rates[IN_ORDER] <= full


hard_disk = x.limited("hard_disk")  # is it a disk with an arm?
virtual_disk = x.limited("virtual_disk")  # does a host lend the disk?
far_away = x.limited("not_in_this_machine")  # is the disk in another machine?
# Was something faster than a disk can be?
answered_from_memory = x.limited("answered_from_memory", "above_the_link")


def slowest_known(run: x.LessonRun) -> bool:
    """Were very many reads timed, all over a large file?"""
    timed = sum(each.reads for each in run.tables["latencies"])
    return bool(timed >= MANY_READS and run.params.file_bytes >= WIDE_BYTES)


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Return a small and a large read that leave together, then many small ones."""
    small_s, large_s = run.values.get("random_4k_latency_s"), _large_s(run)
    each_s, depth = run.values.get("random_4k_deep_latency_s"), int(run.values.get("depth", 0))
    if not small_s or not large_s or not each_s or large_s <= small_s:
        return None
    apart_s = each_s / depth  # J. D. C. Little: what is under way over the time of each
    leaves = [large_s + turn * apart_s for turn in range(depth)]
    end_s = leaves[-1] + each_s

    def read(name: str, start_s: float, took_s: float) -> x.Travel:
        road = (f"{name}_program", f"{name}_road", f"{name}_disk")
        return x.Travel(along=road, start_s=start_s, end_s=start_s + took_s, returns=True)

    back = tuple(min(start_s + each_s, end_s) for start_s in leaves)
    events = [read("small", 0.0, small_s), read("large", 0.0, large_s)]
    events += [read("many", start_s, min(each_s, end_s - start_s)) for start_s in leaves]
    return x.Motion(
        scenes=(
            x.Scene(events=(*events, x.Count(shape="many_program", label="back", times=back))),
        ),
        duration_s=end_s,
        stills=(0.5 * small_s, 0.5 * (small_s + large_s), leaves[-1]),
        says=(
            x.Say(text="both_leave", start_s=0.0),
            x.Say(text="small_back", start_s=small_s),
            x.Say(text="large_back", start_s=large_s),
        ),
    )


def _small_rates(run: x.LessonRun) -> dict[str, float]:
    """Return the best rate of small blocks, by their way."""
    return x.best_of(run.tables["reads"], "bytes_per_s", "way", block_bytes=SMALL, choose=max)


def _large_s(run: x.LessonRun) -> float | None:
    """Return the least time of a large shuffled block, one at a time; None if not measured."""
    reads = run.tables["reads"]
    return x.best_of(reads, "latency_s", "way", block_bytes=LARGE).get(AT_RANDOM)
