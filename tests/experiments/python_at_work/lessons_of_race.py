"""Runs in which race shows something else than usual."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.core.teaching.lesson_run import LessonRun
from experiments.python_at_work.race.experiment import BARE, CALL, LOCKED, Params, Race
from experiments.tools.interpreters import OWN
from tests.experiments.machines import machine

USUAL = {"runs": 3, "lost_fraction_read_call_write": 0.5, "lost_most_fraction": 0.6}
NOTHING = USUAL | {"lost_fraction_read_call_write": 0.0, "lost_most_fraction": 0.0}
MUCH = USUAL | {"lost_most_fraction": 0.94}


def races(form: str, lost: Sequence[float]) -> list[Race]:
    return [
        Race(
            form=form, python=OWN, repeat=n, increments=1000, count=round(1000 * (1 - each)),
            kept_fraction=1 - each, increment_s=5e-8,
        )
        for n, each in enumerate(lost)
    ]  # fmt: skip


def made(
    message: str,
    *,
    bare: Sequence[float] = (0, 0, 0),
    call: Sequence[float] = (0.4, 0.5, 0.6),
    workers: int = 4,
    values: dict[str, float] | None = None,
) -> LessonRun:
    rows = [*races(BARE, bare), *races(CALL, call), *races(LOCKED, (0, 0, 0))]
    return LessonRun(
        params=Params(workers=workers),
        tables={"races": rows, "moments": []},
        machine=machine(),
        message=message,
        values=USUAL if values is None else values,
    )


RUNS = {
    "one_thread": made("nothing_to_compare", call=(0, 0, 0), workers=1, values={"workers": 1}),
    "call_lost_nothing": made("nothing_lost", call=(0, 0, 0), values=NOTHING),
    "bare_lost_alone": made("bare_lost", bare=(0.1, 0, 0.2), call=(0, 0, 0), values=NOTHING),
    "bare_lost_too": made("both_lost", bare=(0.1, 0, 0.2)),
    "lost_much": made("only_the_call_lost", workers=32, values=MUCH),
}  # fmt: skip
