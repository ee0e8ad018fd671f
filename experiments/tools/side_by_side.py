"""The time of several jobs at once, each on its own hardware thread."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence

from experiments.core.bench import Bench

CAN_PIN = hasattr(os, "sched_setaffinity")  # Linux


def pin(thread: int | None) -> None:
    """Keep the calling thread on one hardware thread, if the system allows it."""
    if thread is not None and CAN_PIN:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {thread})


def seconds_together(
    bench: Bench, jobs: Sequence[tuple[int | None, Callable[[], object]]]
) -> float:
    """Return the seconds from the start of the first job to the end of the last.

    Each job comes with its hardware thread and must release the GIL. They start together, within
    the time that a waiting thread takes to wake (50 to 100 µs).
    """
    from concurrent.futures import ThreadPoolExecutor  # not for those who only list experiments

    bench.check_stop()
    together = threading.Barrier(len(jobs))

    def one(thread: int | None, job: Callable[[], object]) -> tuple[float, float]:
        pin(thread)
        together.wait()
        start_s = bench.now_s()
        job()
        return start_s, bench.now_s()

    with ThreadPoolExecutor(len(jobs)) as pool:
        spans = [run.result() for run in [pool.submit(one, *job) for job in jobs]]
    return max(end_s for _, end_s in spans) - min(start_s for start_s, _ in spans)
