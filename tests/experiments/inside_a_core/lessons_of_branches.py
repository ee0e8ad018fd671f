"""Runs in which branches shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.inside_a_core.branches.experiment import (
    BRANCHLESS,
    HALF,
    LENGTHS,
    RANDOM,
    SHARES,
    SORTED,
    WAYS,
    Length,
    Params,
    Pass,
    analyse,
    limit_of,
)
from experiments.tools.core_clock import Clock
from tests.experiments.machines import machine

HZ, RIGHT_S, WRONG_S, BRANCHLESS_S = 4e9, 0.3e-9, 6e-9, 0.4e-9
NOISE = (1.0, 1.01, 0.99, 1.005, 0.995)


def tables(
    *,
    wrong_s: float = WRONG_S,
    branchless_s: float = BRANCHLESS_S,
    learned: int = 2**14,
    learned_share: float = 0.0,
    noise: tuple[float, ...] = NOISE,
    clock: bool = True,
) -> dict[str, list]:
    """Return rows of a core that guesses the likelier answer; short arrays it knows by heart."""

    def cost(way: str, share: float, known: float = 0.0) -> float:
        wrong = min(share, 1 - share) * (1 - known) if way == RANDOM else 0.0
        return branchless_s if way == BRANCHLESS else RIGHT_S + wrong * wrong_s

    shares = [1 - limit_of(share) / 256 for share in SHARES]
    passes = [
        Pass(
            elements=2**18,
            taken_fraction=share,
            way=way,
            repeat=turn,
            element_s=cost(way, share, known) * factor,
        )
        for way in WAYS
        for share in shares
        for turn, factor in enumerate(noise[::-1] if way == RANDOM else noise)
        for known in [learned_share]
    ]
    lengths = [
        Length(
            elements=n,
            taken_fraction=HALF,
            way=way,
            repeat=turn,
            element_s=cost(way, HALF, n <= learned) * factor,
        )
        for way in (SORTED, RANDOM)
        for n in LENGTHS
        for turn, factor in enumerate(noise)
    ]
    clocks = [Clock(repeat=turn, core_hz=HZ) for turn in range(3)] if clock else []
    return {"passes": passes, "lengths": lengths, "clocks": clocks}


def made(**given) -> LessonRun:
    params, rows = Params(), tables(**given)
    return lesson_run(params, rows, machine(), sent(analyse(params, rows, machine())))


RUNS = {
    "usual": made(),
    "order_costs_nothing": made(wrong_s=0.0),
    "branch_is_no_faster": made(branchless_s=0.25e-9),
    "half_learned": made(learned_share=0.9),
    "without_clock": made(clock=False),
}
