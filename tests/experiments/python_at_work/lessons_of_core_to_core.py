"""Runs in which core-to-core shows something else than usual."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.python_at_work.core_to_core.experiment import Handover, Params, analyse, chosen
from experiments.tools.neighbours import SAME_CACHE, SAME_CORE, SAME_PACKAGE, relation
from machine.model import Machine
from tests.experiments.machines import machine

NOISE = (1.0, 1.02, 0.98, 1.01, 0.99)
WAYS_S = {SAME_CORE: 8e-9, SAME_CACHE: 25e-9, SAME_PACKAGE: 110e-9}
Far = Callable[[int, int], str]


def one_die(_a: int, _b: int) -> str:
    return SAME_CACHE


def dies_of(cores: int) -> Far:
    """Return what two cores share where `cores` neighbours have one last cache."""
    return lambda a, b: SAME_CACHE if a // cores == b // cores else SAME_PACKAGE


two_dies = dies_of(4)


def modelled(
    params: Params,
    here: Machine | None = None,
    far: Far = two_dies,
    ways_s: Mapping[str, float] = WAYS_S,
    share: float = 1.0,
) -> LessonRun:
    """Return the run of a machine whose cores are as near as `far` says; `share` of its rows."""
    here = here or machine(cores=8, threads_per_core=2)
    threads = chosen(params, here)
    rows = []
    for turn in range(params.rounds):
        for first, second in combinations(threads, 2):
            one, other = threads[first], threads[second]
            what = relation(here, one, other)
            if what != SAME_CORE:
                what = far(one.core or 0, other.core or 0)
            taken_s = ways_s[what] * NOISE[(turn + one.id + other.id) % len(NOISE)]
            timing, answering = (first, second) if turn % 2 == 0 else (second, first)
            rows.append(
                Handover(first=timing, second=answering, shared=what, repeat=turn,
                         latency_s=taken_s)
            )  # fmt: skip
    tables = {"handovers": rows[: round(share * len(rows))]}
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


ALL = Params(cores=8)
REACHING = {
    "siblings_nearer": Params(cores=16, hardware_threads=True),
    "clear_with_little": Params(lines=1, rounds=5),
}
RUNS = {
    "two_dies": modelled(ALL),
    "four_dies": modelled(ALL, far=dies_of(2)),
    "one_die": modelled(ALL, far=one_die),
    "a_virtual_machine": modelled(ALL, machine(cores=8, virtualization="kvm"), one_die),
    "a_step_at_a_time": modelled(
        ALL, far=lambda a, b: str(abs(a - b)), ways_s={str(n): 2e-8 * 1.2**n for n in range(8)}
    ),
    "two_cores": modelled(Params(cores=2), machine(cores=2)),
    "in_part": modelled(ALL, share=0.04),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
