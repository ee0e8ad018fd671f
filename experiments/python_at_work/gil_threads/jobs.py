"""The jobs of gil-threads, done by any CPython from 3.8 on in a process of its own.

Standard library only (NumPy where a job is a sort), and no syntax newer than 3.8. Run as a script
it reads requests as JSON lines and answers each with one line:

    `{"arm": "threads", "workers": 4, "job": "loop", "size": 1000000, "switch_s": 0.005}`
    `{"wall_s": .., "start_s": .., "slices": [[start, end, start, end, ..], ..], "gil": true}`

A job works in chunks and reads the clock after each. A chunk that took far longer than the others
was interrupted. So the slices show when a worker really ran.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import sys
import threading
import time
from typing import Any, Callable

Answer = (
    Any  # {"wall_s", "start_s", "marks" or "slices"}; 3.8 knows no `dict[str, Any]` at run time
)

CHUNKS = 400  # of a loop: the clock readings cost about 0.1 % of a job of 100 ms
SORT_ELEMENTS = 65536  # 512 KiB: small enough that workers do not compete for memory
SLEEP_S = 0.001


def loop(size: int) -> list[float]:
    """Count `size` down in plain Python; return the clock after each chunk."""
    clock = time.perf_counter
    chunk = max(1, size // CHUNKS)
    marks = [clock()]
    while size > 0:
        left = min(chunk, size)
        size -= left
        total = 0
        while left:
            left -= 1
            total += left
        marks.append(clock())
    return marks


def sort(size: int) -> list[float]:
    """Sort an array with NumPy `size` times; NumPy releases the GIL meanwhile."""
    import numpy

    shuffled = numpy.random.default_rng(1).random(SORT_ELEMENTS)
    work = numpy.empty_like(shuffled)
    marks = [time.perf_counter()]
    for _ in range(size):
        work[:] = shuffled
        work.sort()
        marks.append(time.perf_counter())
    return marks


def sleep(size: int) -> list[float]:
    """Sleep `size` microseconds: a job that needs no core."""
    time.sleep(size / 1e6)
    return []


JOBS = {"loop": loop, "sort": sort, "sleep": sleep}


def serial(request: dict[str, Any]) -> Answer:
    """Do the jobs one after another."""
    job, size = JOBS[request["job"]], request["size"]
    return _timed(lambda: [job(size) for _ in range(request["workers"])])


def threads(request: dict[str, Any]) -> Answer:
    """Do each job in its own thread, all released together."""
    job, size = JOBS[request["job"]], request["size"]
    return _in_threads([lambda: job(size)] * request["workers"])


def sleeper(request: dict[str, Any]) -> Answer:
    """Return how late a thread that sleeps 1 ms wakes beside `workers` threads that compute."""
    stop = threading.Event()

    def burn() -> None:
        while not stop.is_set():
            loop(20000)

    burners = [threading.Thread(target=burn) for _ in range(request["workers"])]
    for burner in burners:
        burner.start()
    late = []
    for _ in range(request["size"]):
        start = time.perf_counter()
        time.sleep(SLEEP_S)
        late.append(time.perf_counter() - start - SLEEP_S)
    stop.set()
    for burner in burners:
        burner.join()
    return {"wall_s": sum(late), "start_s": 0.0, "marks": [], "late_s": late}


class Subinterpreters:
    """Interpreters with their own GILs in this process, one thread each, kept warm."""

    def __init__(self) -> None:
        """For Python 3.12 and later."""
        # Unofficial so far: concurrent.interpreters (3.14) is built on both.
        version = tuple(sys.version_info)
        name = "_interpreters" if version >= (3, 13) else "_xxsubinterpreters"
        self._module: Any = importlib.import_module(name)
        self._ids: list[Any] = []

    def __call__(self, request: dict[str, Any]) -> Answer:
        """Do one job in each, all released together; the slices come back through pipes."""
        while len(self._ids) < request["workers"]:
            self._ids.append(self._module.create())
        ids = self._ids[: request["workers"]]
        pipes = [os.pipe() for _ in ids]

        def run(interpreter: Any, writes: int) -> list[float]:
            code = _IN_SUBINTERPRETER.format(path=__file__, writes=writes, **request)
            failed = self._module.run_string(interpreter, code)
            if failed is not None:
                raise RuntimeError(str(failed))
            return []

        try:
            answer = _in_threads(
                [functools.partial(run, each, writes) for each, (_, writes) in zip(ids, pipes)]
            )
        finally:
            slices = [each for pipe in pipes for each in _lines(*pipe)]
        answer.update(marks=[], slices=slices)
        return answer


def _lines(reads: int, writes: int) -> list[Any]:
    os.close(writes)
    with os.fdopen(reads) as lines:
        return [json.loads(line) for line in lines]


# At most some 16 kB: less than a pipe holds, so a worker never waits for its reader.
_IN_SUBINTERPRETER = """
import importlib.util, json, os
spec = importlib.util.spec_from_file_location("gil_jobs", {path!r})
jobs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(jobs)
line = json.dumps(jobs.slices_of(jobs.JOBS[{job!r}]({size}))) + "\\n"
os.write({writes}, line.encode())
"""


def _in_threads(works: list[Callable[[], list[float]]]) -> Answer:
    marks: list[list[float]] = [[] for _ in works]
    failed: list[BaseException] = []
    ready, go = threading.Barrier(len(works) + 1), threading.Event()

    def run(place: int, work: Callable[[], list[float]]) -> None:
        ready.wait()
        go.wait()
        try:
            marks[place] = work()
        except Exception as error:  # noqa: BLE001  (raised again where it is waited for)
            failed.append(error)

    workers = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for worker in workers:
        worker.start()
    ready.wait()

    def release_and_wait() -> list[list[float]]:
        go.set()
        for worker in workers:
            worker.join()
        return marks

    answer = _timed(release_and_wait)
    if failed:
        raise failed[0]
    return answer


def _timed(work: Callable[[], list[list[float]]]) -> Answer:
    start = time.perf_counter()
    marks = work()
    return {"wall_s": time.perf_counter() - start, "start_s": start, "marks": marks}


def slices_of(marks: list[float]) -> list[float]:
    """Return [start, end, start, end, ...] of the stretches in which a job really ran.

    A whole interrupted chunk is left out: where in it the worker waited is not known.
    """
    chunks = list(zip(marks, marks[1:]))
    if not chunks:
        return []
    usual = sorted(end - start for start, end in chunks)[len(chunks) // 4]
    slices: list[float] = []
    for start, end in chunks:
        if end - start > 2 * usual:
            continue
        if slices and start == slices[-1]:
            slices[-1] = end
        else:
            slices += [start, end]
    return slices


def gil_enabled() -> bool:
    """Does this interpreter run one thread at a time? Asked after all imports."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def serve() -> None:
    """Answer requests until the end of standard input."""
    arms: dict[str, Callable[[dict[str, Any]], Answer]] = {
        "serial": serial,
        "threads": threads,
        "sleeper": sleeper,
    }
    for line in sys.stdin:
        request = json.loads(line)
        if request["arm"] == "subinterpreters" and "subinterpreters" not in arms:
            arms["subinterpreters"] = Subinterpreters()
        sys.setswitchinterval(request["switch_s"])
        answer = arms[request["arm"]](request)
        marks = answer.pop("marks")
        answer.setdefault("slices", [slices_of(each) for each in marks])
        answer["gil"] = gil_enabled()
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    # WORKAROUND: 3.12.1 hangs while it ends its subinterpreters at exit.
    os._exit(0)


if __name__ == "__main__":
    serve()
