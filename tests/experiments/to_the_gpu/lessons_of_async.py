"""Runs in which async shows something else than usual."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from experiments.core.declare import Tables
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.devices.device import CPU
from experiments.engine.recording import sent
from experiments.tools.lanes import CALLS, WORK, LaneSpan
from tests.experiments.machines import machine

module = importlib.import_module("experiments.to_the_gpu.async.experiment")  # its name is a keyword
Params = module.Params

GPU = "cuda:0"
CALL_S, MARK_S, ANSWER_S = 14e-6, 14e-6, 9e-6
FLOP_PER_S = {CPU: 1e11, GPU: 5e13}
ROOM = 1024  # calls that the queue holds


def product_s(params: Any) -> float:
    return max(2e-6, 2 * params.size**3 / FLOP_PER_S[params.device])


def moments(
    params: Any, count: int, mark_s: float = 0.0
) -> Iterator[tuple[float, float, float, float]]:
    """Yield when each call begins and returns, and when its product begins and ends.

    A mark between two calls takes `mark_s`.
    """
    done: list[float] = []
    back_s = 0.0
    for number in range(count):
        start_s = back_s + mark_s * (number > 0)
        if params.device == CPU:
            back_s = start_s + product_s(params)
            done.append(back_s)
            yield start_s, back_s, start_s, back_s
            continue
        room_s = done[number - ROOM] if number >= ROOM else 0.0
        back_s = max(start_s + CALL_S, room_s)
        begun_s = max([back_s, *done[-1:]])
        done.append(begun_s + product_s(params))
        yield start_s, back_s, begun_s, done[-1]


def modelled(params: Any) -> LessonRun:
    """Return the run of a machine whose GPU has a queue, and whose processor has none."""
    is_gpu, here = params.device != CPU, machine(gpus=1)
    calls, lanes = [], []
    for count in sorted({2**n for n in range(params.most.bit_length())} | {params.most}):
        *_, (_, back_s, _, end_s) = moments(params, count)
        until = {module.QUEUED: back_s, module.FINISHED: end_s + ANSWER_S * is_gpu}
        if is_gpu:
            until[module.WAITED] = count * (CALL_S + product_s(params) + ANSWER_S)
        calls += [
            module.Calls(products=count, kind=kind, repeat=n, until_s=until_s)
            for kind, until_s in until.items()
            for n in range(params.rounds)
        ]
    for step, (start_s, back_s, begun_s, end_s) in enumerate(moments(params, module.SHOWN, MARK_S)):
        for lane, from_s, to_s in ((CALLS, start_s, back_s), (WORK, begun_s, end_s)):
            lanes.append(LaneSpan(way=module.WAY, lane=lane, step=step, start_s=from_s, end_s=to_s))
    blockers = [
        module.Blocker(blocker=name, repeat=n, back_s=until[module.FINISHED])
        for name in module.BLOCKERS
        for n in range(params.rounds)
    ]
    tables: Tables = {"calls": calls, "blockers": blockers, "lanes": lanes, "conditions": []}
    return lesson_run(params, tables, here, sent(module.analyse(params, tables, here)))


REACHING = {
    "short_products_fill_it": Params(device=GPU, size=1024, most=4096),
    "waiting_doubles": Params(device=GPU, size=832),
}
RUNS = {
    "usual": modelled(Params(device=GPU, size=2048)),
    "quick": modelled(Params(device=GPU, size=2048, most=16, rounds=5)),
    "on_a_processor": modelled(Params()),
    "calls_set_the_pace": modelled(Params(device=GPU, size=128)),
    "large": modelled(Params(device=GPU, size=8192)),
    "about_twice": modelled(Params(device=GPU, size=890)),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
