"""Runs in which race shows something else than usual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from experiments.core.teaching.lesson_run import LessonRun
from experiments.python_at_work.race.experiment import (
    BARE,
    CALL,
    HOLDS,
    LOCKED,
    RAISES,
    Moment,
    Params,
    Race,
)  # fmt: skip
from experiments.tools.interpreters import OWN
from tests.experiments.machines import machine

USUAL = {
    "runs": 3, "workers": 4, "expected": 1000, "lost_fraction_read_call_write": 0.5,
    "lost_most_fraction": 0.6,
}  # fmt: skip
NOTHING = USUAL | {"lost_fraction_read_call_write": 0.0, "lost_most_fraction": 0.0}
CAUGHT = [
    Moment(worker=0, act=HOLDS, start_s=0.0, end_s=0.01, value=8, updates=1),
    Moment(worker=1, act=RAISES, start_s=0.001, end_s=0.009, value=8, updates=4000),
]


def races(form: str, lost: Sequence[float]) -> list[Race]:
    return [
        Race(
            form=form, python=OWN, repeat=n, increments=1000, count=round(1000 * (1 - each)),
            lost_fraction=each, increment_s=5e-8,
        )
        for n, each in enumerate(lost)
    ]  # fmt: skip


def made(
    message: str,
    *,
    bare: Sequence[float] = (0, 0, 0),
    call: Sequence[float] = (0.4, 0.5, 0.6),
    workers: int = 4,
    counters: int = 1,
    values: Mapping[str, float] = USUAL,
    moments: Sequence[Moment] = (),
) -> LessonRun:
    rows = [*races(BARE, bare), *races(CALL, call), *races(LOCKED, (0, 0, 0))]
    return LessonRun(
        params=Params(workers=workers, counters=counters),
        tables={"races": rows, "moments": moments},
        machine=machine(),
        message=message,
        values=values,
    )


def modelled(params: Params) -> LessonRun:
    """Return the run in which all but one share of each counter is lost, at the most."""
    lost = max(0.0, 1 - params.counters / params.workers)
    values = USUAL | {
        "workers": params.workers, "counters": params.counters, "lost_most_fraction": lost,
    }  # fmt: skip
    message = "only_the_call_lost" if lost else "one_owner_each"
    run = made(message, call=(0.4 * lost, 0.6 * lost, lost), values=values)
    return replace(run, params=params)


REACHING = {
    "many_lose_nothing": Params(workers=8, counters=8),
    "lost_much_of_several": Params(workers=32, counters=2),
}


RUNS = {
    "one_thread": made(
        "nothing_to_compare", call=(0, 0, 0), workers=1, values={"workers": 1, "expected": 1000}
    ),
    "call_lost_nothing": made("nothing_lost", call=(0, 0, 0), values=NOTHING),
    "same_in_each_run": made("only_the_call_lost", call=(0.5, 0.505, 0.5)),
    "bare_lost_alone": made("bare_lost", bare=(0.1, 0, 0.2), call=(0, 0, 0), values=NOTHING),
    "bare_lost_too": made("both_lost", bare=(0.1, 0, 0.2)),
    "caught": made("only_the_call_lost", moments=CAUGHT),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
