"""Cases of stage four: loads that stay as fast or slow down, and what slowed them down."""

from __future__ import annotations

from collections.abc import Callable

from experiments.checkup.probes.sustained.experiment import Heat, Work
from experiments.checkup.result import Word
from experiments.engine import messages
from machine.devices import ClockReason
from machine.live.gpu_samples import GpuSample
from machine.live.sampler import Sample
from tests.experiments.checkup.made import (
    BUSY,
    Case,
    broken,
    evidence,
    guest,
    in_a_guest,
    ran,
    refused,
    sample,
    workstation,
)

SECONDS = 60


def load(
    rate: Callable[[float], float] = lambda t_s: 1.0,
    *,
    device: str = "cuda:0",
    seconds: int = SECONDS,
    here=workstation,
    celsius: float = 70.0,
    sensor: str = "package 0",
    notes=(),
    watched: tuple[Sample, ...] = (),
    outcome=messages.Outcome.COMPLETED,
):
    """A load whose device does `rate` of its best at each second; the processor stays as fast."""
    work = [
        Work(
            t_s=float(second),
            device=name,
            flop_per_s=1e13
            * (1.0 + 0.004 * (second % 3))
            * (rate(second) if name == device else 1),
        )
        for second in range(1, seconds + 1)
        for name in dict.fromkeys(("cpu", device))
    ]
    rows = [*work, Heat(t_s=1.0, sensor=sensor, celsius=celsius)]
    run = ran("sustained", rows, here(), notes=notes, watched=watched, outcome=outcome)
    return lambda: evidence(here(), run)


def falls_to(share: float) -> Callable[[float], float]:
    return lambda t_s: 1.0 if t_s <= SECONDS / 2 else share


def jumps(t_s: float) -> float:
    return falls_to(0.95)(t_s) * (0.9 + 0.01 * (7 * t_s % 10))


whole_gpu, part_of_gpu = in_a_guest("passthrough"), in_a_guest("vgpu")


def disturbed():
    return load(falls_to(0.7), notes=[BUSY])


SILENT = messages.Note(key="stopped_by_silence", values={"sensor": "package 0"})

SUSTAINED = [
    Case("sustained", Word.FINE, "measured", load(), "gpu0"),
    Case("sustained", Word.FINE, "measured", load(lambda t_s: min(1.0, 0.5 + t_s)), "gpu0"),
    Case("sustained", Word.LOOK, "below", load(falls_to(0.94)), "gpu0"),
    Case("sustained", Word.LOOK, "between", load(jumps), "gpu0"),
    Case("sustained", Word.PROBLEM, "low", load(falls_to(0.7)), "gpu0"),
    Case("sustained", Word.FINE, "measured", load(falls_to(0.7)), "cpu"),
    Case(
        "sustained", Word.UNCHECKED, "guest", load(falls_to(0.7), device="cpu", here=guest), "cpu"
    ),
    Case(
        "sustained", Word.UNCHECKED, "guest", load(falls_to(0.94), device="cpu", here=guest), "cpu"
    ),
    Case(
        "sustained",
        Word.PROBLEM,
        "low",
        load(falls_to(0.7), here=in_a_guest("passthrough")),
        "gpu0",
    ),
    Case(
        "sustained", Word.UNCHECKED, "guest", load(falls_to(0.7), here=in_a_guest("vgpu")), "gpu0"
    ),
    Case("sustained", Word.LOOK, "stopped_by_heat", load(celsius=99.0), ""),
    Case("sustained", Word.LOOK, "stopped_by_silence", load(notes=[SILENT]), ""),
    Case(
        "sustained", Word.UNCHECKED, "machine_was_busy", load(falls_to(0.7), notes=[BUSY]), "gpu0"
    ),
    Case("sustained", Word.UNCHECKED, "too_short", load(seconds=5), "gpu0"),
    Case("sustained", Word.UNCHECKED, "too_short", load(seconds=0), ""),
    Case("sustained", Word.UNCHECKED, "stopped", load(outcome=messages.Outcome.STOPPED)),
    Case("sustained", Word.UNCHECKED, "not_run", lambda: evidence(workstation())),
    Case("sustained", Word.UNCHECKED, "failed", lambda: broken(workstation(), "sustained")),
    Case("sustained", Word.ABSENT, "needs", lambda: refused(guest(), "sustained", "needs_numba")),
]


def held_back(*keys: str):
    """GPU 0 is held back for these reasons."""
    reasons = tuple(ClockReason(key=f"clock_reasons.{key}", severity="limit") for key in keys)
    return load(watched=(sample(0.0, GpuSample(index=0, clock_reasons=reasons)),))


def slowed(*counts: int | None):
    """So often heat had slowed the cores down at each look; the counting began before."""
    looks = (sample(float(at), throttled=count) for at, count in enumerate(counts))
    return load(watched=tuple(looks))


PACKAGES = (sample(0.0, packages=1), sample(1.0, packages=3))
THROTTLING = [
    Case("throttling", Word.FINE, "none", held_back(), "gpu0"),
    Case("throttling", Word.FINE, "power_cap", held_back("power_cap", "sync_boost"), "gpu0"),
    Case("throttling", Word.FINE, "none", slowed(4, 4, 4), "cpu"),
    Case("throttling", Word.LOOK, "heat", slowed(4, 4, 6), "cpu"),
    Case("throttling", Word.LOOK, "heat", load(watched=PACKAGES), "cpu"),
    Case("throttling", Word.LOOK, "thermal_software", held_back("software_thermal"), "gpu0"),
    Case("throttling", Word.PROBLEM, "hardware", held_back("hardware_thermal"), "gpu0"),
    Case("throttling", Word.PROBLEM, "hardware", held_back("power_brake"), "gpu0"),
    Case("throttling", Word.UNCHECKED, "was_idle", held_back("idle"), "gpu0"),
    Case("throttling", Word.UNCHECKED, "not_told", load(), "gpu0"),
    Case("throttling", Word.UNCHECKED, "not_told", slowed(None, None), "cpu"),
    Case("throttling", Word.UNCHECKED, "not_run", lambda: evidence(workstation())),
    Case("throttling", Word.ABSENT, "needs", lambda: refused(guest(), "sustained", "needs_numba")),
]

CASES = [*SUSTAINED, *THROTTLING]
