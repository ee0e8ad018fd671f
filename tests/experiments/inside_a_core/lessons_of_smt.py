"""Runs of smt, all made up: no machine with two threads on a core has recorded one yet."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.inside_a_core.smt.experiment import (
    ADDING,
    CORES,
    ONE,
    SIBLINGS,
    WAITING,
    Params,
    WorkRate,
    analyse,
)
from machine.model import Machine
from tests.experiments.machines import MIB, machine

ALONE_PER_S = {ADDING: 1.2e10, WAITING: 1e7}
STEADY, SCATTERED = (1.0, 1.005, 0.995, 1.002, 0.998), (0.9, 1.0, 1.1, 0.95, 1.05)
Gains = Mapping[tuple[str, str], float]


def gains(adding: float, waiting: float, cores: float = 2.0) -> Gains:
    """Return what two threads do of the work of one, on one core and on two."""
    return {
        (ADDING, ONE): 1.0, (ADDING, SIBLINGS): adding, (ADDING, CORES): cores,
        (WAITING, ONE): 1.0, (WAITING, SIBLINGS): waiting, (WAITING, CORES): cores,
    }  # fmt: skip


def modelled(
    params: Params,
    of: Gains = gains(1.1, 1.9),  # noqa: B008 (nobody changes it)
    here: Machine | None = None,
    scattered: str = "",
) -> LessonRun:
    """Return the run of a core whose second thread gains as `of` says; `scattered` names a work."""
    here = here or machine(threads_per_core=2)
    rows = []
    for turn in range(params.rounds):
        for (work, place), gain in of.items():
            noise = SCATTERED if work == scattered else STEADY
            shown = gain if place == ONE else gain * noise[turn % len(noise)]
            rate = ALONE_PER_S[work] * shown
            rows.append(WorkRate(work=work, place=place, repeat=turn, work_per_s=rate, gain=shown))
    tables = {"shares": rows}
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


ONE_CORE = {bar: gain for bar, gain in gains(1.1, 1.9).items() if bar[1] != CORES}
REACHING = {"cache_is_enough": Params(chain_bytes=MIB, rounds=30)}
RUNS = {
    "usual": modelled(Params()),
    "adding_gains_nothing": modelled(Params(), gains(1.01, 1.8)),
    "adding_loses": modelled(Params(), gains(0.9, 1.8)),
    "adding_unclear": modelled(Params(), gains(1.05, 9.0), scattered=ADDING),
    "adding_gains_more": modelled(Params(), gains(1.8, 1.2)),
    "adding_alone_gains": modelled(Params(), gains(1.8, 1.0)),
    "waiting_unclear": modelled(Params(), gains(9.0, 1.05), scattered=WAITING),
    "alike": modelled(Params(), gains(1.5, 1.5)),
    "one_core": modelled(Params(), ONE_CORE, machine(cores=1, threads_per_core=2)),
    "a_virtual_machine": modelled(Params(), here=machine(threads_per_core=2, virtualization="kvm")),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
