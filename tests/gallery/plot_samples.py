"""Invented rows of real experiments, for the gallery's plots and for tests."""

from __future__ import annotations

import base64
import math
import random
import zlib
from collections.abc import Sequence
from typing import Any

from experiments.core.shelves import homes
from experiments.core.words import Words, load
from experiments.engine import messages
from experiments.memory.cache_ladder.experiment import Step
from experiments.python_at_work.gil_threads.experiment import Slice, Timing, Wake
from tests.gallery.pictures.experiment import Latency

WALLS_S = {
    "serial": 0.62,
    "threads": 0.66,
    "released_serial": 0.60,
    "released_threads": 0.31,
    "processes": 0.34,
    "processes_started": 0.47,
}
LADDER_VALUES = {
    "l1_bytes": 32 * 2.0**10,
    "l2_bytes": 2.0**20,
    "l3_bytes": 32 * 2.0**20,
    "l3_seen_bytes": 12 << 20,
    "in_a_row_latency_s": 1.3e-9,
}
TURN_S = 0.005  # one thread's turn with the lock


def gil_tables(workers: int = 2, rounds: int = 9) -> dict[str, Sequence[Any]]:
    """Return the tables of a run of gil-threads."""
    chance = random.Random(5)
    timings = [
        Timing(
            method=method,
            python="3.11",
            repeat=repeat,
            wall_s=wall_s * chance.uniform(0.99, 1.05),
            gil=True,
        )
        for repeat in range(rounds)
        for method, wall_s in WALLS_S.items()
    ]
    wakes = [
        Wake(burners=burners, repeat=repeat, late_s=late_s * chance.uniform(0.8, 1.3))
        for repeat in range(rounds)
        for burners, late_s in enumerate((8e-5, 5.1e-3, 1.0e-2))
    ]
    return {"timings": timings, "slices": slices(workers), "wakes": wakes}


def ladder_steps(rounds: int = 3) -> list[Step]:
    """Return the steps of a run of cache-ladder, with the caches of LADDER_VALUES."""
    chance = random.Random(8)
    found = []
    for half_octave in range(24, 57):
        size_bytes = round(2 ** (half_octave / 2)) // 64 * 64
        for order in ("random", "sequential"):
            ends_s = (1.2e-9, 4.0e-9, 18e-9, 160e-9) if order == "random" else (1.2e-9,) * 4
            limits = (*(LADDER_VALUES[f"l{level}_bytes"] for level in (1, 2, 3)), float("inf"))
            latency_s = next(s for s, end in zip(ends_s, limits, strict=True) if size_bytes <= end)
            found += [
                Step(
                    size_bytes=size_bytes,
                    order=order,
                    repeat=repeat,
                    latency_s=latency_s * chance.uniform(1.0, 1.15),
                )
                for repeat in range(rounds)
            ]
    return found


def slices(workers: int = 2, turns: int = 8) -> list[Slice]:
    """Return slices of gil-threads: threads that take turns, everything else side by side."""
    chance = random.Random(6)
    found = []

    def add(method: str, worker: int, start_s: float, end_s: float) -> None:
        found.append(
            Slice(method=method, python="3.11", worker=worker, start_s=start_s, end_s=end_s)
        )

    now_s = 0.0
    for turn in range(workers * turns):
        length_s = 0.6 / turns / workers * chance.uniform(0.6, 1.4)
        add("threads", turn % workers, now_s, now_s + length_s)
        now_s += length_s * 1.02
    for worker in range(workers):
        add("serial", 0, worker * 0.31, (worker + 1) * 0.31)
        add("released_threads", worker, 0.002 * worker, 0.3 + 0.01 * worker)
        add("processes", worker, 0.012 * (worker + 1), 0.33 + 0.005 * worker)
    return found


def many_slices(count: int = 100_000, lanes: int = 64) -> list[Slice]:
    """Return as many slices as any run may have."""
    chance = random.Random(7)
    found = []
    methods = ("threads", "released_threads", "processes", "processes_started")
    for lane in range(lanes):
        now_s = 0.0
        for _ in range(count // lanes):
            now_s += chance.expovariate(1 / TURN_S)
            length_s = chance.expovariate(1 / TURN_S)
            found.append(
                Slice(
                    method=methods[lane * len(methods) // lanes],
                    python="3.11",
                    worker=lane % (lanes // len(methods)),
                    start_s=now_s,
                    end_s=now_s + length_s,
                )
            )
            now_s += length_s
    return found


def latencies(cores: int = 8, seed: int = 8, slower: float = 1.0) -> list[Latency]:
    """Return a message between any two cores of two packages; a few are missing."""
    chance = random.Random(seed)
    return [
        Latency(
            to_core=a,
            from_core=b,
            repeat=repeat,
            latency_s=slower * (42e-9 if a // 4 == b // 4 else 118e-9) * chance.uniform(0.95, 1.3),
        )
        for a in range(cores)
        for b in range(cores)
        for repeat in range(3)
        if a != b and chance.random() > 0.01
    ]


def ripples(side: int = 320, turn: float = 0.0) -> messages.Frame:
    """Return a picture of two waves that meet."""
    middle = (0.3 * side, 0.7 * side)
    values = bytes(
        int(127.5 + 63.7 * sum(math.cos(math.dist((x, y), (m, m)) / 6 - turn) for m in middle))
        for y in range(side)
        for x in range(side)
    )
    data = base64.b64encode(zlib.compress(values)).decode()
    return messages.Frame(n=0, t_s=turn, table="field", shape=(side, side), data=data)


def words() -> Words:
    """Return English, with the words of the experiment that only exists here."""
    pictures = homes(("tests.gallery",))
    return load(experiments={**homes(), **pictures})
