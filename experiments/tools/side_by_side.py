"""How long do some jobs take at once, each on a hardware thread of its own?"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence

from experiments.core.bench import Bench

CAN_PIN = hasattr(os, "sched_setaffinity")  # Linux


def pin(thread: int | None) -> None:
    """Keep the calling thread on one hardware thread, where the system allows that."""
    if thread is not None and CAN_PIN:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {thread})


def seconds_together(
    bench: Bench, jobs: Sequence[tuple[int | None, Callable[[], object]]]
) -> float:
    """Return the seconds from the start of the first to the end of the last.

    Each job has the hardware thread that it is to stay on; it must let go of the interpreter lock.
    They start together, within the time in which a waiting thread wakes (50 to 100 µs).
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
