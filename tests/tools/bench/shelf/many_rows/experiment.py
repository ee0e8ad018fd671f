"""An experiment that sends rows as fast as worker, pipe, check and file take them."""

from __future__ import annotations

from experiments.core import declare
from experiments.core.bench import Bench
from experiments.core.declare import Experiment, Finding, Measured, param


class Params(declare.Params):
    rows: int = param(100_000, minimum=1)


class Point(declare.Row):
    place: int
    start_s: float
    end_s: float
    name: str


def measure(params: Params, bench: Bench) -> Measured:
    for place in range(params.rows):
        yield Point(place=place, start_s=place * 1e-3, end_s=place * 1e-3 + 5e-4, name="slice")


EXPERIMENT = Experiment(
    version=1,
    params=Params,
    tables={"points": Point},
    measure=measure,
    analyse=lambda params, tables, machine: Finding("done"),
    views=(),
    values=(),
    parts=(),
    defaults=lambda machine: Params(),
    quick=lambda params: params,
    seconds=lambda params: 1.0,
    memory_bytes=lambda params: 0,
)
