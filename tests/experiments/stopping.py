"""A check that a measurement stopped in the middle leaves nothing behind."""

from __future__ import annotations

import time

import psutil
import pytest

from experiments.core.bench import Bench, StopRequested
from experiments.core.declare import Note, Progress
from machine.inspect import inspect

STOP_S = 10.0  # patient: 0.25 s are promised, and held by the benchmark


def stop_after_rows(experiment, params, rows: int) -> None:
    """Measure `rows` rows, ask for a stop, and check that all that was started is gone."""
    before = set(psutil.Process().children(recursive=True))
    asked_s = [float("inf")]
    bench = Bench(inspect(), quick=True, stop=lambda: time.monotonic() >= asked_s[0])
    measured = experiment.measure(params, bench)
    found = 0
    while found < rows:
        found += not isinstance(next(measured), Progress | Note)
    children = set(psutil.Process().children(recursive=True)) - before

    asked_s[0] = time.monotonic()
    with pytest.raises(StopRequested):
        for _ in measured:
            pass

    assert time.monotonic() - asked_s[0] < STOP_S
    _, alive = psutil.wait_procs(children, timeout=STOP_S)
    assert alive == []
    assert set(psutil.Process().children(recursive=True)) <= before
