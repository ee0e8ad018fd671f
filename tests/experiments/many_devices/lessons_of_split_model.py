"""Runs in which split-model shows something else than usual."""

from __future__ import annotations

from typing import Any

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.many_devices.split_model.experiment import (
    EXPERIMENT,
    Params,
    analyse,
    chosen,
    micro_batches_of,
)
from experiments.many_devices.split_model.steps import (
    EXPECTED,
    MEASURED,
    Bubble,
    Busy,
    Check,
    Size,
    StepTime,
    bubble,
)
from experiments.many_devices.split_model.ways import CHANNELS, DATA, FP32_BYTES, LAYERS, ONE
from tests.experiments.machines import machine

FLOP_PER_S, BYTES_PER_S, MESSAGE_S, UPDATE_S = 6e10, 1e9, 1e-3, 2e-4  # roughly as on two cores
ROUNDS = 5
Slices = list[list[tuple[float, float]]]  # of each device


def by_layers(devices: int, parts: int, forward_s: float, message_s: float) -> Slices:
    """Return when each stage computes: all micro-batches forward, then back in twice the time.

    A link carries one message at a time.
    """
    lanes: Slices = [[] for _ in range(devices)]
    given = [0.0] * parts  # when each micro-batch is there
    for stages, took_s in ((range(devices), forward_s), (range(devices)[::-1], 2 * forward_s)):
        for stage in stages:
            free_s = lanes[stage][-1][1] if lanes[stage] else 0.0
            made = []
            for at_s in given:
                start_s = max(free_s, at_s)
                free_s = start_s + took_s
                made.append(free_s)
            lanes[stage] += [(end_s - took_s, end_s) for end_s in made]
            if stage == stages[-1]:
                given = made
                continue
            given, link_s = [], 0.0
            for end_s in made:
                link_s = max(link_s, end_s) + message_s
                given.append(link_s)
    return [[*lane, (lane[-1][1], lane[-1][1] + UPDATE_S)] for lane in lanes]


def modelled(
    params: Params, *, cores: int = 4, differ: float = 1e-6, speed: float = 1.0
) -> LessonRun:
    """Return the run of devices that compute by weights and samples, and send by bytes.

    `speed`: how many times faster bytes travel.
    """
    p, here = params.devices, machine(cores=cores)
    bytes_per_s = BYTES_PER_S * speed
    weights = params.layers * params.width**2
    made = params.batch * params.width * FP32_BYTES
    forward_s = 2 * params.batch * weights / FLOP_PER_S
    moved = {
        ONE: 0,
        DATA: 2 * (p - 1) * weights * FP32_BYTES,
        LAYERS: 2 * (p - 1) * made,
        CHANNELS: (p - 1) * made * (3 * params.layers - 2),
    }
    lanes: dict[Any, Slices] = {ONE: [[(0.0, forward_s), (forward_s, 3 * forward_s)]]}
    sums_s = moved[DATA] / p / bytes_per_s
    back_s = 3 * forward_s / p
    lanes[DATA] = [
        [(0.0, back_s / 3), (back_s / 3, back_s), (back_s + sums_s, back_s + sums_s + UPDATE_S)]
    ] * p
    meetings = 2 * params.layers
    each_s, meet_s = back_s / meetings, moved[CHANNELS] / p / bytes_per_s / meetings + MESSAGE_S
    turns = [n * (each_s + meet_s) for n in range(meetings)]
    lanes[CHANNELS] = [[(at_s, at_s + each_s) for at_s in turns]] * p
    for parts in micro_batches_of(params):
        message_s = made / parts / bytes_per_s + MESSAGE_S
        lanes[parts] = by_layers(p, parts, forward_s / p / parts, message_s)
    lanes[LAYERS] = lanes[chosen(params)]

    def ends_s(way: Any) -> float:
        return max(lane[-1][1] for lane in lanes[way])

    def idle(way: Any) -> float:
        busy_s = sum(end_s - start_s for lane in lanes[way] for start_s, end_s in lane)
        return 1 - busy_s / len(lanes[way]) / ends_s(way)

    tables: dict[str, list[Any]] = {name: [] for name in EXPERIMENT.tables}
    for way in moved:
        tables["sizes"].append(Size(way=way, memory_bytes=weights, moved_bytes=moved[way]))
        for n, slices in enumerate(lanes[way]):
            tables["checks"].append(Check(way=way, device=str(n), difference_fraction=differ))
            tables["lanes"] += [
                Busy(way=way, device=str(n), start_s=start_s, end_s=end_s)
                for start_s, end_s in slices
            ]
        tables["steps"] += [
            StepTime(way=way, repeat=n, step_s=ends_s(way) * (1 + n / 500),
                     busy_fraction=1 - idle(way))
            for n in range(ROUNDS)
        ]  # fmt: skip
    for parts in micro_batches_of(params):
        for kind, share in ((MEASURED, idle(parts)), (EXPECTED, bubble(p, parts))):
            tables["bubbles"].append(
                Bubble(micro_batches=parts, kind=kind, repeat=0, idle_fraction=share)
            )
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


REACHING = {
    "hardly_idle": Params(batch=4096, micro_batches=16),
    "layers_beat_data": Params(width=2048, batch=128),
}
RUNS = {
    "usual": modelled(Params()),
    "four": modelled(Params(devices=4, layers=8, batch=4096)),
    "many_devices": modelled(Params(devices=8, layers=16)),
    "slow_link": modelled(Params(), speed=0.02),
    "alike": modelled(Params(micro_batches=64, batch=16384, width=4096), speed=1000),
    "other_results": modelled(Params(), differ=0.1),
    "take_turns": modelled(Params(), cores=1),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
