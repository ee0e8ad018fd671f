"""The cost of watching the machine."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psutil

from experiments.core.units import show
from experiments.engine import messages
from experiments.engine.jobs import Worker
from tests.tools.bench.lines import Line

SECONDS = 10.0
BUDGET_FRACTION = 0.01


def lines() -> Iterator[Line]:
    worker = Worker(guarded=False)
    try:
        worker.send(messages.Watch(hz=2.0))
        process = None
        used_s = start_s = 0.0
        while line := worker.readline():
            event = messages.decode_event(line)
            if isinstance(event, messages.Hello):
                process = psutil.Process(event.pid)
            elif process is not None and not start_s:
                used_s, start_s = sum(process.cpu_times()[:2]), time.perf_counter()
            elif time.perf_counter() - start_s > SECONDS:
                break
        assert process is not None
        used_s = sum(process.cpu_times()[:2]) - used_s
        share = used_s / (time.perf_counter() - start_s)
    finally:
        worker.close()
    yield Line(
        "watching at 2 Hz, share of one core",
        show(share, "fraction"),
        show(BUDGET_FRACTION, "fraction"),
        share <= BUDGET_FRACTION,
    )
