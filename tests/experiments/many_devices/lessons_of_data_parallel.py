"""Runs in which data-parallel shows something else than usual."""

from __future__ import annotations

from typing import Any

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.many_devices.data_parallel.all_reduce import Reduction
from experiments.many_devices.data_parallel.experiment import EXPERIMENT, Params, analyse
from experiments.many_devices.data_parallel.replicas import (
    ALONE,
    APART,
    AVERAGED,
    FP32_BYTES,
    Loss,
    parameter_count,
)
from experiments.many_devices.data_parallel.training_turns import (
    COMMUNICATION,
    COMPUTE,
    EACH_FULL,
    IDEAL,
    IDLE,
    Rate,
    StepPart,
    counts,
    own_batch,
)
from tests.experiments.machines import machine

SAMPLE_S, REDUCED_BYTES_PER_S, REDUCE_S = 4e-5, 5e8, 1e-3  # roughly as measured on two cores
IDLE_S, ROUNDS = 3e-4, 5


def modelled(
    params: Params,
    *,
    cores: int = 4,
    crowding: float = 0.03,
    beside_sum: float = 1.2,
    differ: float = 0.0,
) -> LessonRun:
    """Return the run of workers that compute by samples, and average by bytes.

    Each further worker adds the share `crowding` to the computing time of all. Averaging takes
    `beside_sum` times the time of a sum alone.
    """
    gradients = FP32_BYTES * parameter_count(params.width)
    reduce_s = REDUCE_S + gradients / REDUCED_BYTES_PER_S
    here, most = machine(cores=cores), params.most_workers
    alone_per_s = 1 / SAMPLE_S
    tables: dict[str, list[Any]] = {name: [] for name in EXPERIMENT.tables}
    for repeat in range(ROUNDS):
        noise = 1 + 0.004 * repeat
        rates = {(ALONE, 1): alone_per_s} | {(IDEAL, n): n * alone_per_s for n in counts(most)}
        for n in counts(most):
            own, with_others = own_batch(params, n), n > 1
            parts = {COMPUTE: own * SAMPLE_S * (1 + crowding * (n - 1))}
            if with_others:
                parts |= {COMMUNICATION: beside_sum * reduce_s, IDLE: IDLE_S}
            tables["shares"] += [
                StepPart(workers=n, part=part, repeat=repeat, step_s=step_s)
                for part, step_s in parts.items()
            ]
            rates[AVERAGED, n] = n * own / sum(parts.values())
            rates[APART, n] = n * own / (parts[COMPUTE] + parts.get(IDLE, 0.0))
        tables["rates"] += [
            Rate(workers=n, machines=1, run=way, repeat=repeat, samples_per_s=rate * noise)
            for (way, n), rate in rates.items()
        ]
        if most > 1:
            tables["reductions"].append(
                Reduction(message_bytes=gradients, repeat=repeat, reduce_s=reduce_s,
                          bus_bytes_per_s=gradients / reduce_s)
            )  # fmt: skip
    tables["losses"] += [
        Loss(workers=most, run=run, step=1, loss=loss)
        for run, loss in ((ALONE, 2.0), (AVERAGED, 2.0 * (1 + differ)))
    ]
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


REACHING = {
    "shared_and_scales": Params(most_workers=4, batch=32_768),
    "whole_and_short": Params(most_workers=4, batch=128, split=EACH_FULL),
}
RUNS = {
    "usual": modelled(Params(most_workers=4)),
    "two": modelled(Params(most_workers=2)),
    "eight": modelled(Params(most_workers=8), cores=8),
    "no_faster_than_one": modelled(Params(most_workers=4, batch=128)),
    "losses_differ": modelled(Params(most_workers=4), differ=0.1),
    "crowded": modelled(Params(most_workers=4, batch=8192), crowding=0.4),
    "take_turns": modelled(Params(most_workers=4, threads=1), cores=1, crowding=1.0),
    "wide": modelled(Params(most_workers=4, width=4096, batch=4096)),
    "beside_much_waiting": modelled(Params(most_workers=4), beside_sum=2.0),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
