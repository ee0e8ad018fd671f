"""The counter of race, raised by several threads of any CPython from 3.8 on.

Standard library only, and no syntax newer than 3.8. Run as a script it reads requests as JSON lines
and answers each with one line:

    `{"form": "bare", "workers": 4, "counters": 1, "times": 100000, "switch_s": 0.005}`
    `{"count": .., "wall_s": .., "gil": true}`

With "trace", the answer also has the moments of an update that undid others.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any, Callable


class Counter:
    """One number that all threads raise."""

    def __init__(self) -> None:
        self.value = 0
        self.lock = threading.Lock()


def one_more(value: int) -> int:
    """Return the next number; the interpreter may switch threads as the call begins."""
    return value + 1


def bare(counter: Counter, times: int) -> None:
    """Raise in one line: read, add and write, with no call between."""
    for _ in range(times):
        counter.value += 1


def read_call_write(counter: Counter, times: int) -> None:
    """Raise with a function call between reading and writing."""
    for _ in range(times):
        counter.value = one_more(counter.value)


def locked(counter: Counter, times: int) -> None:
    """Raise under a lock."""
    lock = counter.lock
    for _ in range(times):
        with lock:
            counter.value += 1


FORMS = {"bare": bare, "read_call_write": read_call_write, "locked": locked}


def race(form: str, workers: int, times: int, counters: int = 1) -> dict[str, Any]:
    """Have all threads raise counters, dealt to them in turn; return the sum of these."""
    raised, raise_it = [Counter() for _ in range(counters)], FORMS[form]
    wall_s = _side_by_side(workers, lambda place: raise_it(raised[place % counters], times))
    return {"count": sum(counter.value for counter in raised), "wall_s": wall_s}


def trace(times: int) -> dict[str, Any]:
    """Have two threads log their reads and writes; return an update that undid others."""
    counter = Counter()
    updates: list[list[tuple[float, float, int]]] = [[], []]
    clock = time.perf_counter

    def noted(place: int) -> None:
        own = updates[place]
        for _ in range(times):
            value = counter.value
            start = clock()
            counter.value = one_more(value)
            own.append((start, clock(), value))

    _side_by_side(2, noted)
    return caught(updates)


def caught(updates: list[list[tuple[float, float, int]]]) -> dict[str, Any]:
    """Return an update of one thread that undid others, from both logs.

    "late" read, waited and wrote: [read, written, value read]; "others" is the same for all that
    the other thread did meanwhile, together, and "undone" counts them. An update after which the
    other thread went on is preferred: a thread that ends releases the lock before its turn is over.
    """
    found: dict[str, Any] = {"worker": 0, "late": None, "others": None, "undone": 0}
    for place in (0, 1):
        others, first = updates[1 - place], 0
        for late in updates[place]:
            while first < len(others) and others[first][0] < late[0]:
                first += 1
            last = first
            while last < len(others) and others[last][1] < late[1]:
                last += 1
            if last - first > 1:  # a single one may have been written before or after
                meanwhile = others[first][0], others[last - 1][1], others[first][2]
                undone = last - first
                found = {"worker": place, "late": late, "others": meanwhile, "undone": undone}
                if last < len(others):
                    return found
    return found


def _side_by_side(workers: int, work: Callable[[int], None]) -> float:
    ready, go = threading.Barrier(workers + 1), threading.Event()

    def run(place: int) -> None:
        ready.wait()
        go.wait()
        work(place)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(workers)]
    for thread in threads:
        thread.start()
    ready.wait()
    start = time.perf_counter()
    go.set()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def serve() -> None:
    """Answer requests until the end of standard input."""
    for line in sys.stdin:
        request = json.loads(line)
        sys.setswitchinterval(request["switch_s"])
        if request["form"] == "trace":
            answer = trace(request["times"])
        else:
            shared = request["times"], request["counters"]
            answer = race(request["form"], request["workers"], *shared)
        answer["gil"] = bool(getattr(sys, "_is_gil_enabled", lambda: True)())
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
