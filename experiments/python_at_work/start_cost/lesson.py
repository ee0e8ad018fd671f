"""Functions that the lesson of start-cost calls."""

from __future__ import annotations

import math
from itertools import pairwise

from experiments import api as x

from .experiment import PROCESSES

HELD_BACK = ("spawn",)
RANKED = ("thread", "call", "spawn", "process_pool_warm", "task")  # as the words name them
CALLS = (1.0, 50.0, 2e3, 1e6)  # that a vote offers
FAR_MORE = 2.0  # times a bare fork
LARGE_PART = 1 / 3  # of a new Python: from here on, a bare fork is costly
STEPS, STEP, FASTER, HELD_BYTES = 4, 5.0, 10.0, x.GIB  # of the goals
LANES = ("call", "thread", "os_fork", "spawn")
MOST_DRAWN = 60  # starts that move; more only count


def numbers(run: x.LessonRun, guess: x.Guess | None) -> dict[str, float]:
    """Return the ends of the ruler, what a task costs, and how many guessed places are right."""
    costs, order = _costs(run).values(), cheapest_first(run)
    found = {"cheapest_s": min(costs), "costliest_s": max(costs)} if costs else {}
    if {"task_s", "coroutine_s"} <= run.values.keys():
        found["task_over_coroutine"] = run.values["task_s"] / run.values["coroutine_s"]
    if guess is None or order is None:
        return found
    right_places = sum(one == other for one, other in zip(guess.at, order, strict=True))
    return found | {"right_places": right_places, "places": len(order)}


def cheapest_first(run: x.LessonRun) -> list[int] | None:
    """Return the numbers of the ranked things in the order of their times; None without all."""
    times = [run.values.get(f"{name}_s") for name in RANKED]
    known = {place: took_s for place, took_s in enumerate(times) if took_s is not None}
    return sorted(known, key=known.__getitem__) if len(known) == len(RANKED) else None


def option_by_calls(run: x.LessonRun) -> int | None:
    """Return the answer nearest to how many calls a thread costs."""
    calls = run.values.get("thread_over_call")
    if calls is None:
        return None
    return sum(calls > math.sqrt(less * more) for less, more in pairwise(CALLS))


def largest_jump(run: x.LessonRun) -> x.Spot:
    """Return the stretch of the ruler between the neighbours that are most times apart."""
    jumps = [*pairwise(sorted(_costs(run).values()))]
    if not jumps:
        return x.Spot()
    low, high = max(jumps, key=lambda jump: jump[1] / jump[0])
    return x.Spot(low=low, high=high)


measured_in_part = x.found("ladder_in_part")
some_cost_no_more = x.found("some_cost_no_more")
without_fork = x.limited("no_os_fork")  # was no bare fork measured?
# Is a job for a standing pool hardly cheaper than a new thread?
pool_saves_little = x.limited("pool_saves_little")


def fork_is_costly(run: x.LessonRun) -> bool:
    """Does a bare fork take a large part of what a new Python takes?"""
    fork_s, python_s = (run.values.get(name, 0.0) for name in ("os_fork_s", "spawn_s"))
    return fork_s > LARGE_PART * python_s > 0


def jump_to_the_event_loop(run: x.LessonRun) -> bool:
    """Is a task the next thing above an awaited coroutine, and the largest jump between them?"""
    jump = largest_jump(run)
    return jump != x.Spot() and (jump.low, jump.high) == (
        run.values.get("coroutine_s"), run.values.get("task_s")
    )  # fmt: skip


def server_costs_too(run: x.LessonRun) -> bool:
    """Does a child of a fork server cost far more than a bare fork, without a new Python?"""
    fork_s, server_s, python_s = (
        run.values.get(name, 0.0) for name in ("os_fork_s", "forkserver_s", "spawn_s")
    )
    return 0 < FAR_MORE * fork_s < server_s < python_s


def children_import(run: x.LessonRun) -> bool:
    """Did children import something before they ended?"""
    return bool(run.params.child_imports != "nothing")


def four_steps(run: x.LessonRun) -> bool:
    """Were just four measured without a new Python, each far costlier than the last?"""
    costs = _costs(run)
    steps = pairwise(sorted(costs.values()))
    is_chosen = len(costs) == STEPS and "spawn" not in costs
    return is_chosen and all(more >= STEP * less for less, more in steps)


def indifferent_to_memory(run: x.LessonRun) -> bool:
    """Did just one other process start far faster than a bare fork of a large parent?"""
    costs = _costs(run)
    fork_s = costs.pop("os_fork", 0.0)
    if run.params.parent_bytes < HELD_BYTES or len(costs) != 1 or not costs.keys() <= {*PROCESSES}:
        return False
    return fork_s >= FASTER * max(costs.values())


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Start calls, threads and forks again and again while a new Python starts once.

    A thread or a fork that is pointed at takes the place of the new Python.
    """
    costs = {name: run.values[f"{name}_s"] for name in LANES if f"{name}_s" in run.values}
    longest = pointed.name if pointed is not None and pointed.name in LANES[1:] else LANES[-1]
    if longest not in costs:
        return None
    end_s = costs[longest]
    lanes = [name for name in LANES if costs.get(name, math.inf) <= end_s]
    return x.Motion(
        scenes=tuple(_scene(name, costs[name], end_s) for name in lanes),
        duration_s=end_s,
        stills=(end_s / 10, end_s / 2, end_s),
        says=(x.Say(text="leave", start_s=0.0),),
    )


def _scene(name: str, each_s: float, end_s: float) -> x.Scene:
    """Return as many starts, one after another, as fit until the end."""
    count = int(end_s / each_s * (1 + 1e-9))
    done = x.Count(shape="end", label="done", end_s=end_s, every_s=each_s)
    if count > MOST_DRAWN:
        return x.Scene(
            title=name, events=(x.Hold(shape="way", start_s=0.0, end_s=end_s, label="again"), done)
        )
    travels = [
        x.Travel(along=("start", "end"), start_s=n * each_s, end_s=min((n + 1) * each_s, end_s))
        for n in range(count)
    ]
    return x.Scene(title=name, events=(*travels, done))


def _costs(run: x.LessonRun) -> dict[str, float]:
    """Return the median time of each thing that was started, as the ruler shows it."""
    return x.medians((row.method, row.each_s) for row in run.tables["starts"])
