"""Samples of machines that are not there, for previews and tests. Nothing of it was measured."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from experiments.presentation.load.history import History, Moment
from machine.condition import Clock, Temperature
from machine.model import Cpu, Machine, Thread
from machine.processor.heat import NO_SENSOR
from tests.gallery import made_gpus

GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUp:
    """One sample as it comes over the wire."""

    t_s: float
    threads: list[dict[str, Any]]
    memory: dict[str, Any]
    disks: list[dict[str, Any]]
    network: list[dict[str, Any]]
    gpus: list[dict[str, Any]]
    missing: list[dict[str, str]]
    heat: dict[str, Any] | None = None

    def add_to(self, history: History) -> Moment:
        """Keep it in a history."""
        return history.add(
            self.t_s,
            self.threads,
            self.memory,
            disks=self.disks,
            network=self.network,
            gpus=self.gpus,
            heat=self.heat,
        )


def machine(
    count: int, *, hybrid: bool = False, packages: int = 1, gpus: made_gpus.Kind = "none"
) -> Machine:
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
    return Machine(
        cpu=Cpu(threads_list=threads, clock=Clock(max_hz=5_700_000_000)),
        gpus=made_gpus.parts(gpus),
    )


def samples(
    count: int,
    *,
    hz: float = 2.0,
    seconds: float = 60.0,
    virtual: bool = False,
    pause: tuple[float, float] | None = None,
    disks: int = 1,
    gpus: made_gpus.Kind = "none",
) -> Iterator[MadeUp]:
    """Yield made-up samples of `count` threads and `disks` disks; none during `pause`."""
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
        yield MadeUp(
            t_s=t_s,
            threads=threads,
            memory=_memory(t_s),
            disks=[_disk(number, t_s) for number in range(disks)],
            network=[_network(t_s)],
            gpus=made_gpus.gpus(gpus, t_s),
            missing=[*_missing(virtual), *made_gpus.missing(gpus, t_s)],
            heat=None if virtual else heat(t_s),
        )


def _memory(t_s: float) -> dict[str, Any]:
    used = round((31 + 3 * math.sin(t_s / 11)) * GIB)
    swap = round((0.4 + 0.1 * math.sin(t_s / 17)) * GIB)
    return {
        "total_bytes": 62 * GIB,
        "available_bytes": 62 * GIB - used,
        "used_bytes": used,
        "swap_total_bytes": 8 * GIB,
        "swap_used_bytes": swap,
        "memory_pressure_fraction": 0.0,
        "io_pressure_fraction": 0.02,
        "cpu_pressure_fraction": 0.12,
    }


def _disk(number: int, t_s: float) -> dict[str, Any]:
    level = (1.9e9 if t_s % 40 > 22 else 0.3e9) / (number + 1)
    return {
        "name": f"nvme{number}n1",
        "read_bytes_per_s": level * (1 + 0.1 * math.sin(t_s * 3 + number)),
        "write_bytes_per_s": level / 9,
        "busy": min(1.0, level / 2.1e9),
        "queue": level / 6e8,
        "errors": 0,
    }


def _network(t_s: float) -> dict[str, Any]:
    received = 40e6 * (1 + math.sin(t_s / 5))
    return {
        "name": "enp5s0",
        "received_bytes_per_s": received,
        "sent_bytes_per_s": received / 7,
        "errors": 0,
        "dropped": 0,
    }


def heat(t_s: float, *temperatures: Temperature, watts: float = 88.0) -> dict[str, Any]:
    """Return the heat of a processor of these packages, with a mean power of `watts`."""
    level = math.sin(t_s / 9)
    sensors = temperatures or (Temperature(name="Package id 0", critical_celsius=95.0),)
    return {
        "sensors": [
            {
                "name": sensor.name,
                "now_celsius": round((sensor.now_celsius or 68) + 12 * level - 3 * place, 1),
                "critical_celsius": sensor.critical_celsius,
            }
            for place, sensor in enumerate(sensors)
        ],
        "watts": round(watts * (1 + 0.5 * level), 1),
        "throttled_cores": 0,
        "throttled_packages": 0,
    }


def _missing(virtual: bool) -> list[dict[str, str]]:
    clock = {
        "what": "threads[*].hz",
        "why": "The kernel has no cpufreq driver here; virtual machines are not told the clock.",
        "how": "Watch on the physical machine.",
    }
    return [clock, no_heat()] if virtual else []


def no_heat() -> dict[str, str]:
    """Return why a machine without a sensor reports no heat."""
    return {"what": "heat", "why": NO_SENSOR.why, "how": NO_SENSOR.how}
