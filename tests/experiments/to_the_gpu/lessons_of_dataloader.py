"""Runs in which dataloader shows something else than usual."""

from __future__ import annotations

from experiments.core.declare import Tables
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.devices.device import CPU
from experiments.engine.recording import sent
from experiments.to_the_gpu.dataloader.experiment import (
    COMPUTING,
    EXPERIMENT,
    LEARNING,
    LOADING,
    WAITING,
    Alone,
    Epoch,
    Params,
    StepPart,
    analyse,
    counts,
)
from tests.experiments.machines import machine

GPU = "cuda:0"
IMAGE_S, PASS_S = 8e-4, 6e-4  # to decode a picture, and to smooth it once
LEARN_S = {CPU: 8e-5, GPU: 2e-8}  # for a picture, times the width squared
HAND_OVER_S = 1e-5  # of a picture, which lies on the device in 'the network alone'


def modelled(params: Params, cores: int = 16, adds: float = 1.0) -> LessonRun:
    """Return the run of a pipeline that is as fast as its slower stage.

    Each further worker adds `adds` of the first's rate; beyond the cores none adds.
    """
    here = machine(cores=cores, gpus=1)
    learn_s = LEARN_S[params.device] * params.width**2
    load_s = IMAGE_S + PASS_S * params.passes
    epochs, steps = [], []
    for workers in counts(params):
        helping = min(workers, cores)
        delivered_s = load_s / (1 + adds * (helping - 1)) if helping else load_s
        taken_s = learn_s + HAND_OVER_S
        picture_s = max(delivered_s, taken_s) if workers else delivered_s + taken_s
        for n in range(params.rounds):
            slower = 1 + n / 1000
            for kind, each_s in ((LEARNING, picture_s), (LOADING, delivered_s)):
                rate = 1 / each_s / slower
                epochs.append(Epoch(workers=workers, kind=kind, repeat=n, samples_per_s=rate))
            for part, each_s in ((WAITING, picture_s - taken_s), (COMPUTING, taken_s)):
                step_s = each_s * params.batch * slower
                steps.append(StepPart(workers=workers, part=part, repeat=n, step_s=step_s))
    alone = [Alone(repeat=n, samples_per_s=1 / learn_s) for n in range(params.rounds)]
    tables: Tables = dict.fromkeys(EXPERIMENT.tables, ()) | {
        "epochs": epochs,
        "steps": steps,
        "alone": alone,
    }
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


USUAL = Params(device=GPU, width=64, most_workers=16, pin_memory=True)
REACHING = {
    "one_is_enough": Params(device=GPU, width=300, most_workers=4),
    "fed_all_the_same": Params(device=GPU, width=128, passes=4, most_workers=16),
}
RUNS = {
    "usual": modelled(USUAL),
    "too_few": modelled(Params(device=GPU, width=16, most_workers=16)),
    "few_cores": modelled(Params(device=GPU, width=32, most_workers=16), cores=4),
    "each_adds_less": modelled(Params(device=GPU, width=32, most_workers=16), adds=0.5),
    "two_keep_up": modelled(Params(device=GPU, width=216, most_workers=4), adds=0.7),
    "on_a_processor": modelled(Params(most_workers=4, width=2), cores=4),
    "wide_on_a_processor": modelled(Params(most_workers=4, width=64), cores=4),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
