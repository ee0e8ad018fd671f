"""The twin of race in plain Python: threads raise an attribute, in one line or by a call.

`python lost.py bare|call THREADS TIMES` prints the seconds of an increment and the share lost.
"""

from __future__ import annotations

import sys
import threading
import time


class Box:
    """The counter that is raised."""

    number = 0


def plus_one(number: int) -> int:
    return number + 1


def main(form: str, threads: int, times: int) -> str:
    box, start = Box(), threading.Event()

    def bare() -> None:
        start.wait()
        for _ in range(times):
            box.number += 1

    def call() -> None:
        start.wait()
        for _ in range(times):
            box.number = plus_one(box.number)

    work = bare if form == "bare" else call
    running = [threading.Thread(target=work) for _ in range(threads)]
    for thread in running:
        thread.start()
    began_s = time.perf_counter()
    start.set()
    for thread in running:
        thread.join()
    taken_s = time.perf_counter() - began_s
    return f"{taken_s / (threads * times)} {1 - box.number / (threads * times)}"


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1], *map(int, sys.argv[2:])) + "\n")
