"""The functions that the lesson of data-parallel names."""

from __future__ import annotations

from experiments import api as x

from .replicas import APART, AVERAGED
from .training_turns import COMMUNICATION, EACH_FULL, IDEAL, PARTS, SHARED_OUT, own_batch

HELD_BACK = (APART,)
MOST_OF_OPTIONS = (0.9, 2 / 3)  # of the ideal: down to which each answer but the last is right
FAR_MORE = 1.5  # times a sum alone: averaging that takes longer has another cause besides
DRAWN, MOST_STEPS = 4, 8
TOLD = ("scales_well", "scales_partly", "as_fast_as_one", "more_is_slower")  # without a doubt


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return which share of the ideal the most workers reached, and how long its step would be."""
    known, found = run.values, dict[str, float]()
    if "efficiency" in known:
        found["reached_fraction"] = known["efficiency"]
        rate = known["one_worker_samples_per_s"]
        found["ideal_step_s"] = own_batch(run.params, round(known["most_workers"])) / rate
    if drawn := _drawn(run):
        found["drawn_workers"] = drawn
    return found


def option_by_ideal(run: x.LessonRun) -> int | None:
    """Return the answer by the share of the ideal; None where the workers learned otherwise."""
    reached = run.values.get("efficiency")
    if reached is None or losses_differ(run):
        return None
    return sum(reached < least for least in MOST_OF_OPTIONS)


def first_below_ideal(run: x.LessonRun) -> x.Spot:
    """Return where the workers that average first lie clearly below the ideal."""
    averaged, ideal = (
        x.medians((r.workers, r.samples_per_s) for r in run.tables["rates"] if r.run == way)
        for way in (AVERAGED, IDEAL)
    )
    return x.first_below(averaged, ideal)


losses_differ = x.found("losses_differ")
take_turns = x.limited("more_threads_than_cores")  # did workers share a core?
hardly_costs = x.found("scales_well")


def computing_slows(run: x.LessonRun) -> bool:
    """Does a step lose much, and more of it to slower computing than to averaging and waiting?"""
    ideal_s = numbers(run, None).get("ideal_step_s")
    compute_s, shown_s, idle_s = (run.values.get(f"{part}_s") for part in PARTS)
    if ideal_s is None or compute_s is None or shown_s is None or idle_s is None:
        return False
    return not hardly_costs(run) and compute_s - ideal_s > shown_s + idle_s


def one_bucket(run: x.LessonRun) -> bool:
    """Do all gradients fit into one bucket, which is averaged when the last of them is there?"""
    held = run.values.get("gradients_bytes")
    return held is not None and held <= run.params.bucket_bytes


def more_than_the_sum(run: x.LessonRun) -> bool:
    """Does averaging show for far longer than a sum of all gradients takes by itself?"""
    alone_s, shown_s = (
        run.values.get(name) for name in ("gradients_allreduce_s", f"{COMMUNICATION}_s")
    )
    return alone_s is not None and shown_s is not None and shown_s > FAR_MORE * alone_s


def shared_and_scales(run: x.LessonRun) -> bool:
    """Did workers that share one batch come close to the ideal?"""
    return bool(run.params.split == SHARED_OUT and run.message == "scales_well")


def whole_and_short(run: x.LessonRun) -> bool:
    """Did workers with a whole batch each stay far below the ideal, each on cores of its own?"""
    is_asked = run.params.split == EACH_FULL and run.message in TOLD and not take_turns(run)
    return bool(is_asked and run.values["efficiency"] < MOST_OF_OPTIONS[-1])


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Let one process learn a batch, and several workers theirs, on one clock.

    The slowest worker takes longer by the measured wait. The others take less, so that the mean is
    the measured one. While averaging shows, all wait.
    """
    drawn, one_rate = _drawn(run), run.values.get("one_worker_samples_per_s")
    if drawn is None or not one_rate:
        return None
    one_s = own_batch(run.params, 1) / one_rate
    compute_s, shown_s, idle_s = (_parts(run)[drawn, part] for part in PARTS)
    slowest_s = compute_s + idle_s
    step_s = slowest_s + shown_s
    quicker_s = max(0.0, compute_s - idle_s / (drawn - 1))
    steps = min(MOST_STEPS, max(1, round(one_s / step_s)))
    duration_s = max(one_s, steps * step_s)
    alone = (
        x.Travel(along=("batch", "worker_0"), start_s=0.0, end_s=one_s, role="main"),
        x.Hold(shape="worker_0", label="computes", start_s=0.0, end_s=one_s),
        x.Count(shape="batch", label="steps", times=(one_s,)),
    )
    several: list[x.Travel | x.Hold | x.Count] = []
    for start_s in (step * step_s for step in range(steps)):
        meet_s, end_s = start_s + slowest_s, min(start_s + step_s, duration_s)
        for n in range(drawn):
            name, done_s = f"worker_{n}", meet_s if n == drawn - 1 else start_s + quicker_s
            several += [
                x.Travel(along=("batch", name), start_s=start_s, end_s=done_s, role="main"),
                x.Hold(shape=name, label="computes", start_s=start_s, end_s=done_s),
                x.Hold(shape=name, role="soft", label="waits", start_s=done_s, end_s=end_s),
                x.Travel(along=(name, "mean"), start_s=meet_s, end_s=end_s, returns=True),
            ]
        several.append(x.Hold(shape="mean", role="attention", start_s=meet_s, end_s=end_s))
    ends_s = tuple(min((step + 1) * step_s, duration_s) for step in range(steps))
    several.append(x.Count(shape="batch", label="steps", times=ends_s))
    return x.Motion(
        scenes=(
            x.Scene(title="one", events=alone),
            x.Scene(title="several", events=tuple(several)),
        ),
        duration_s=duration_s,
        stills=(slowest_s / 2, slowest_s + shown_s / 2, duration_s),
        says=(x.Say(text="shares", start_s=0.0), x.Say(text="meet", start_s=slowest_s)),
        without=tuple(f"worker_{n}" for n in range(drawn, DRAWN)),
    )


def _drawn(run: x.LessonRun) -> int | None:
    """Return the largest number of workers whose steps were timed and can be drawn."""
    parts = _parts(run)
    whole = (
        n for n, part in parts if part == COMMUNICATION and {(n, e) for e in PARTS} <= parts.keys()
    )
    return max((n for n in whole if n <= DRAWN), default=None)


def _parts(run: x.LessonRun) -> dict[tuple[int, str], float]:
    """Return the median seconds of each part of a step, by the number of workers."""
    return x.medians(((row.workers, row.part), row.step_s) for row in run.tables["shares"])
