"""The rows of a Mandelbrot set, computed by processes that receive them in several ways.

One process hands the rows out. The workers are its children, started and warm before the clock.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from multiprocessing.connection import Connection, wait
from typing import Any, cast

from experiments.core.processes.die_with_parent import call_tied
from experiments.tools.serving import end_with_any, serve

LEFT, RIGHT, TOP, BOTTOM = -2.0, 0.6, 1.25, 0.05  # not symmetric: the costly rows come last


def row(number: int, rows: int, columns: int, iterations: int) -> list[int]:
    """Return after how many iterations each point of a row escapes, or the maximum."""
    imaginary = TOP + (BOTTOM - TOP) * number / rows
    found = []
    for column in range(columns):
        point = complex(LEFT + (RIGHT - LEFT) * column / columns, imaginary)
        z, left = 0j, iterations
        while left and z.real * z.real + z.imag * z.imag <= 4.0:
            z = z * z + point
            left -= 1
        found.append(iterations - left)
    return found


def work(connection: Connection, rows: int, columns: int, iterations: int) -> None:
    """Compute the rows that come and report their times, until the input ends."""
    while True:
        try:
            numbers = connection.recv()
        except EOFError:
            return
        start_s = time.perf_counter()
        for number in numbers:
            row(number, rows, columns, iterations)
        connection.send((start_s, time.perf_counter()))


class Workers:
    """Warm workers, and the ways to hand rows to them."""

    def __init__(self, count: int, size: tuple[int, int, int]) -> None:
        forks = "fork" in multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self._connections: list[Connection] = []
        self.processes: list[Any] = []
        for _ in range(count):
            here, there = context.Pipe()
            tied = (os.getpid(), work, there, *size)
            self.processes.append(context.Process(target=call_tied, args=tied, daemon=True))
            self.processes[-1].start()
            there.close()
            self._connections.append(here)
        for connection in self._connections:  # all are up
            connection.send([])
            connection.recv()

    def run(self, chunks: list[list[int]], *, own: bool) -> dict[str, Any]:
        """Have all chunks computed: one for each worker, or each by the next free worker."""
        start_s = time.perf_counter()
        slices: list[tuple[int, float, float]] = []
        left = iter(chunks)
        busy: dict[Connection, int] = {}
        for worker, connection in enumerate(self._connections):
            chunk = next(left, None)
            if chunk is not None:
                connection.send(chunk)
                busy[connection] = worker
        while busy:
            for connection in cast("list[Connection]", wait(list(busy))):
                began_s, ended_s = connection.recv()
                slices.append((busy[connection], began_s - start_s, ended_s - start_s))
                chunk = None if own else next(left, None)
                if chunk is None:
                    del busy[connection]
                else:
                    connection.send(chunk)
        return {"wall_s": time.perf_counter() - start_s, "slices": slices}


_workers: list[Workers] = []


def start(request: dict[str, Any]) -> dict[str, Any]:
    """Start the workers, then compute each row once here; return the picture and its cost."""
    size = request["rows"], request["columns"], request["iterations"]
    _workers.append(Workers(request["workers"], size))
    end_with_any(_workers[-1].processes)
    rows = [row(number, *size) for number in range(request["rows"])]
    shades = [[255 * turns // request["iterations"] for turns in each] for each in rows]
    return {"picture": shades, "turns": [sum(each) for each in rows]}


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Compute the chunks of rows of a request."""
    return _workers[0].run(request["chunks"], own=request["own"])


if __name__ == "__main__":
    serve({"start": start, "run": run})
