"""Functions that the lesson of amdahl calls."""

from __future__ import annotations

from experiments import api as x

from .experiment import COMPUTE, FIXED, GROWING, IDEAL, MEASURED, Params, by_law

HELD_BACK = (MEASURED,)
ASKED_CORES, ASKED_SERIAL = 16, 0.05  # in the question
MOST_OF_OPTIONS = (5.0, 12.0, 15.5)  # times as fast: up to which each answer but the last is right
HELPS = 1.05  # times: a gain below that is none
SLOWER = 0.01  # of a worker's rate alone: more is worth a word
FEW, LOOKS_ALIKE = 2, 0.1  # workers; up to this serial share 1 - s is about 1 / (1 + s)
HALF, PASSED = 0.5, 1.05  # of the work; times what the law allows
DRAWN = 4  # workers


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return what the law allows sixteen cores, and how many workers are drawn.

    Three shares come with them. They are: the share that acted as if alone; the best speedup's
    distance from the law; a worker's loss beside others.
    Source: Amdahl's law, 1 / (1 - p + p / n), with the p that was fitted.
    """
    found: dict[str, float] = {}
    parallel = run.values.get("parallel_fraction")
    if parallel is not None and run.params.problem == FIXED:
        found["sixteen_speedup"] = by_law(run.params, parallel, ASKED_CORES)
        found["alone_fraction"] = max(0.0, 1 - parallel)
    if run.values.keys() >= {"best_speedup", "law_speedup"}:
        found["off_law_fraction"] = abs(run.values["best_speedup"] / run.values["law_speedup"] - 1)
    rates = x.medians((row.workers, row.each_per_s) for row in run.tables["runs"])
    if {1, best := run.values.get("best_workers")} <= rates.keys():
        found["slower_fraction"] = 1 - rates[best] / rates[1]
    if drawn := _drawn(run):
        found["drawn_workers"] = drawn
    return found


def option_of_sixteen(run: x.LessonRun) -> int | None:
    """Return the answer by what sixteen cores reach or would; None if another share was alone."""
    params: Params = run.params
    is_asked = params.serial_fraction == ASKED_SERIAL and params.kernel == COMPUTE
    speedup = numbers(run, None).get("sixteen_speedup")
    if speedup is not None and (x.physical_cores(run.machine) or 0) >= ASKED_CORES:
        speedup = _line(run, MEASURED).get(ASKED_CORES, speedup)
    if speedup is None or not is_asked:
        return None
    return sum(speedup > most for most in MOST_OF_OPTIONS)


def first_below_ideal(run: x.LessonRun) -> x.Spot:
    """Return where the measured line first lies clearly below the ideal."""
    return x.first_below(_line(run, MEASURED), _line(run, IDEAL))


def one_core(run: x.LessonRun) -> bool:
    """May the program use one core only, so that nothing could be compared?"""
    return run.message == "nothing_to_compare" and x.physical_cores(run.machine) == 1


no_gain = x.found("does_not_scale")  # was no number of workers faster than one?


def work_grows(run: x.LessonRun) -> bool:
    """Did the work grow with the workers, and were more of them faster?"""
    return run.message.startswith("grows")


def all_shared(run: x.LessonRun) -> bool:
    """Was all of the work shared?"""
    return run.message.startswith("scales") and not run.params.serial_fraction


def beyond_cores(run: x.LessonRun) -> bool:
    """Were there more workers than cores?"""
    cores = x.physical_cores(run.machine)
    return cores is not None and max(_line(run, MEASURED), default=0) > cores


def more_were_possible(run: x.LessonRun) -> bool:
    """Did the climb go on to the last number of workers, though the machine has room for more?"""
    line = _line(run, MEASURED)
    if not line:
        return False
    enough = min(n for n, speedup in line.items() if speedup * HELPS >= max(line.values()))
    return enough == max(line) < len(x.usable_threads(run.machine))


# Did the workers get less because they share the memory?
memory_is_shared = x.found("scales_less_memory", "grows_less_memory")
# Did it scale less than the law, without memory to blame?
workers_slowed_down = x.found("scales_less", "grows_less")
# Do the points scatter too much to test the law?
law_unclear = x.found("scales_unclear", "grows_unclear")


def few_workers(run: x.LessonRun) -> bool:
    """Were there too few workers to distinguish the law from a plain loss of the serial share?"""
    is_small = 0 < run.params.serial_fraction <= LOOKS_ALIKE and run.params.problem == FIXED
    return is_small and max(_line(run, MEASURED), default=0) == FEW


def slower_beside_others(run: x.LessonRun) -> bool:
    """Is the speedup below the law, and each worker slower beside others?"""
    if run.message not in ("scales_as_chosen", "scales_less", "grows_less"):
        return False
    is_below = run.values.get("best_speedup", 0.0) < run.values.get("law_speedup", 0.0)
    return is_below and numbers(run, None).get("slower_fraction", 0.0) > SLOWER


def clock_is_not_it(run: x.LessonRun) -> bool:
    """Did the clock fall by less than half of what each worker lost?"""
    name = "clock_beside_over_alone"
    if name in run.unclear or not slower_beside_others(run):
        return False
    return 2 * (1 - run.values.get(name, 0.0)) < numbers(run, None)["slower_fraction"]


def passed_the_law(run: x.LessonRun) -> bool:
    """Did much work stay alone, and was the speedup above what Amdahl's law allows?"""
    serial, workers = run.values.get("serial_fraction", 0.0), run.values.get("best_workers")
    if workers is None or serial < HALF or not run.message.startswith(("scales", "grows")):
        return False
    allowed = 1 / (serial + (1 - serial) / workers)
    return run.values["best_speedup"] >= PASSED * allowed


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Return how one worker and several do the same job: the serial part, then the rest."""
    walls_s = _walls_s(run)
    several = _drawn(run)
    if several is None or run.params.problem == GROWING:
        return None
    one_s, several_s = walls_s[1], walls_s[several]
    serial_s = run.params.serial_fraction * one_s
    if not serial_s < several_s < one_s:
        return None
    return x.Motion(
        scenes=(
            x.Scene(events=_at_work(1, serial_s, one_s), title="one"),
            x.Scene(events=_at_work(several, serial_s, several_s), title="several"),
        ),
        duration_s=one_s,
        stills=(serial_s / 2, (serial_s + several_s) / 2, (several_s + one_s) / 2),
        says=(
            x.Say(text="serial", start_s=0.0),
            x.Say(text="shared", start_s=serial_s),
            x.Say(text="done", start_s=several_s),
        ),
        without=tuple(f"worker_{n}" for n in range(several, DRAWN)),
    )


def _at_work(workers: int, serial_s: float, end_s: float) -> tuple[x.Hold, ...]:
    alone = x.Hold(shape="worker_0", start_s=0.0, end_s=serial_s, role="attention", label="alone")
    shared = (x.Hold(shape=f"worker_{n}", start_s=serial_s, end_s=end_s) for n in range(workers))
    return (alone, *shared) if serial_s else tuple(shared)


def _drawn(run: x.LessonRun) -> int | None:
    """Return the largest number of workers that was timed and can be drawn, beside one alone."""
    walls_s = _walls_s(run)
    return max((n for n in walls_s if 1 < n <= DRAWN and 1 in walls_s), default=None)


def _walls_s(run: x.LessonRun) -> dict[int, float]:
    """Return the median time of all the work for each number of workers."""
    return x.medians((row.workers, row.wall_s) for row in run.tables["runs"])


def _line(run: x.LessonRun, curve: str) -> dict[int, float]:
    """Return the median speedup for each number of workers."""
    return x.medians(
        (row.workers, row.speedup) for row in run.tables["speedups"] if row.curve == curve
    )
