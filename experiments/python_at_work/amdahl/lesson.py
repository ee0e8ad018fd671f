"""What the lesson of amdahl computes."""

from __future__ import annotations

from experiments import api as x

from .experiment import IDEAL, MEASURED, MEMORY

HELD_BACK = (MEASURED,)
HELPS = 1.05  # times: a gain below that is none
BELOW = 0.95  # of the ideal: clearly below
HALVED = 0.025  # of the work
NEAR = 1.2  # times the cores, or as many times fewer: about as many


def predicted_range(machine: x.Machine) -> tuple[float, float]:
    """Return up to twice as many workers as the machine has hardware threads."""
    return 1.0, max(4.0, 2.0 * len(x.usable_threads(machine)))


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return where the climb ends, and what Amdahl's law leaves to endlessly many workers."""
    found: dict[str, float] = {}
    line = _line(run, MEASURED)
    if line:
        enough = min(n for n, speedup in line.items() if speedup * HELPS >= max(line.values()))
        found |= {"enough_workers": enough, "enough_speedup": line[enough]}
    if run.params.serial_fraction:
        found["law_bound_speedup"] = 1 / run.params.serial_fraction
    return found


def option_by_cores(run: x.LessonRun) -> int | None:
    """Return the answer by where the climb ends; None where the cores or its end are unknown."""
    enough, cores = numbers(run, None).get("enough_workers"), x.physical_cores(run.machine)
    if enough is None or cores is None or cores == 1:
        return None
    if enough == max(_line(run, MEASURED)) < cores:
        return None
    if enough == 1:
        return 0
    return 1 if enough * NEAR < cores else 2 if enough <= cores * NEAR else 3


def first_below_ideal(run: x.LessonRun) -> x.Spot:
    """Return the stretch around the first point clearly below the ideal, or else the lowest."""
    ideal = _line(run, IDEAL)
    shares = {n: speedup / ideal[n] for n, speedup in _line(run, MEASURED).items() if n in ideal}
    if not shares:
        return x.Spot()
    lowest = min(shares, key=lambda n: shares[n])
    at = min((n for n, share in shares.items() if share < BELOW), default=lowest)
    before, after = (max((n for n in shares if n < at), default=at - 1),
                     min((n for n in shares if n > at), default=at + 1))  # fmt: skip
    return x.Spot(low=(before + at) / 2, high=(at + after) / 2)


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
    most = max(_line(run, MEASURED), default=0)
    ended = numbers(run, None).get("enough_workers")
    return ended == most and most < len(x.usable_threads(run.machine))


# Did the workers get less because they share the memory?
memory_is_shared = x.found("scales_less_memory", "grows_less_memory")
# Did it scale less than the law, without memory to blame?
workers_slowed_down = x.found("scales_less", "grows_less")
# Can nobody tell whether the law holds here?
law_unclear = x.found("scales_unclear", "grows_unclear")


def halved_serial_part(run: x.LessonRun) -> bool:
    """Was at most half of the usual part serial, and more workers faster?"""
    return run.message.startswith("scales") and run.params.serial_fraction <= HALVED


def read_memory(run: x.LessonRun) -> bool:
    """Did the workers read from memory, and were more of them faster?"""
    return run.params.kernel == MEMORY and run.message.startswith(("scales", "grows"))


def _line(run: x.LessonRun, curve: str) -> dict[int, float]:
    """Return the median speedup for each number of workers."""
    return x.medians(
        (row.workers, row.speedup) for row in run.tables["speedups"] if row.curve == curve
    )
