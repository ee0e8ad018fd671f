"""Samples of machines that are not there, for previews and tests. Nothing of it was measured."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from machine.model import Clock, Cpu, Machine, Thread

GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUp:
    """One sample as it comes over the wire."""

    t_s: float
    threads: list[dict[str, Any]]
    memory: dict[str, Any]
    missing: list[dict[str, str]]


def machine(count: int, *, hybrid: bool = False, packages: int = 1) -> Machine:
    """Return a machine of `count` hardware threads, two a core; every 32 cores are a die."""
    half = count // 2 or 1
    threads = tuple(
        Thread(
            id=number,
            package=(number % half) * packages // half,
            die=(number % half) // 32,
            core=number % half,
            kind=("performance" if number % half < half // 2 else "efficiency") if hybrid else None,
        )
        for number in range(count)
    )
    return Machine(cpu=Cpu(threads_list=threads, clock=Clock(max_hz=5_700_000_000)))


def samples(
    count: int,
    *,
    hz: float = 2.0,
    seconds: float = 60.0,
    virtual: bool = False,
    pause: tuple[float, float] | None = None,
) -> Iterator[MadeUp]:
    """Yield made-up samples of `count` threads; none during `pause`."""
    chance = random.Random(7)
    levels = [chance.random() ** 2 for _ in range(count)]
    for n in range(round(seconds * hz) + 1):
        t_s = n / hz
        if pause is not None and pause[0] < t_s < pause[1]:
            continue
        threads = []
        for number in range(count):
            pulled = 0.95 if number % 4 == int(t_s / 9) % 4 else 0.08
            levels[number] += (pulled - levels[number]) * 0.3 + chance.uniform(-0.08, 0.08)
            levels[number] = min(1.0, max(0.0, levels[number]))
            threads.append(
                {
                    "id": number,
                    "busy": round(levels[number], 4) if n else None,
                    "hz": None if virtual else 3.2e9 + 1.7e9 * levels[number],
                    "steal_fraction": round(chance.uniform(0, 0.03), 4) if n else None,
                }
            )
        yield MadeUp(t_s=t_s, threads=threads, memory=_memory(t_s), missing=_missing(virtual))


def _memory(t_s: float) -> dict[str, int]:
    used = round((31 + 3 * math.sin(t_s / 11)) * GIB)
    swap = round((0.4 + 0.1 * math.sin(t_s / 17)) * GIB)
    return {
        "total_bytes": 62 * GIB,
        "available_bytes": 62 * GIB - used,
        "used_bytes": used,
        "swap_total_bytes": 8 * GIB,
        "swap_used_bytes": swap,
    }


def _missing(virtual: bool) -> list[dict[str, str]]:
    clock = {
        "what": "threads[*].hz",
        "why": "The kernel has no cpufreq driver here; virtual machines are not told the clock.",
        "how": "Watch on the physical machine.",
    }
    not_yet = [
        {"what": what, "why": "This version of Coreopsis does not sample it yet.", "how": how}
        for what, how in (("disks", "iostat -x 1"), ("gpus", "nvidia-smi dmon"))
    ]
    return [clock, *not_yet] if virtual else not_yet
