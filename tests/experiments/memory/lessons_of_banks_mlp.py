"""Runs in which banks-mlp shows something else than usual."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from experiments.core.teaching.lesson_run import LessonRun
from experiments.memory.banks_mlp.experiment import Params, Read
from experiments.tools.long_chain import COUNTS
from tests.experiments.machines import MIB, machine

USUAL = {
    "one_chain_s": 1.5e-7, "best_s": 1.5e-8, "best_chains": 16, "parallelism": 10.0,
    "bytes_in_flight": 640.0, "one_chain_cycles": 450.0, "two_cores_gain": 1.9,
}  # fmt: skip
NEAR = USUAL | {"one_chain_s": 1e-8, "best_s": 8e-10, "one_chain_cycles": 40.0}


def textbook_s(chains: int) -> float:
    """Ten reads under way at most."""
    return max(1.5e-7 / chains, 1.5e-8)


def made(
    message: str,
    *limits: str,
    values: Mapping[str, float] = USUAL,
    params: Params | None = None,
    cores: int = 4,
    read_s: Callable[[int], float] = textbook_s,
) -> LessonRun:
    reads = [
        Read(
            chains=chains,
            repeat=0,
            latency_s=read_s(chains),
            asked_bytes=64 * chains,
            line_bytes_per_s=64 / read_s(chains),
        )
        for chains in COUNTS
    ]
    return LessonRun(
        params=params or Params(),
        tables={"reads": reads, "together": [], "clocks": []},
        machine=machine(cores=cores),
        message=message,
        values=values,
        limits=limits,
    )


def without(name: str) -> dict[str, float]:
    return {key: value for key, value in USUAL.items() if key != name}


MANY = "many_under_way"
RUNS = {
    "no_gain": made("no_gain", read_s=lambda _chains: 1.5e-7),
    "still_in_step": made(MANY, "no_floor_reached", read_s=lambda chains: 1.5e-7 / chains),
    "memory_is_full": made(MANY, values=USUAL | {"two_cores_gain": 1.1}),
    "one_core": made(MANY, values=without("two_cores_gain"), cores=1),
    "in_cache": made(MANY, "partly_in_cache"),
    "small_pages": made(MANY, "page_translation_included"),
    "near_with_small_pages": made(
        MANY, values=NEAR, params=Params(memory_bytes=8 * MIB, huge_pages=False)
    ),
}
