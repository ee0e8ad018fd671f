"""Cases of stage four: loads that stay as fast or slow down, and what slowed them down."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from experiments.checkup.probes.sustained.experiment import Heat, Work
from experiments.checkup.result import Word
from experiments.engine import messages
from machine.condition import PowerLimit
from machine.devices import ClockReason
from machine.live.gpu_samples import GpuSample
from machine.live.heat import HeatSample
from machine.live.sampler import Sample
from machine.live.surroundings import Surroundings
from machine.live.threads import ThreadSample
from machine.model import Machine
from tests.experiments.checkup.made import (
    BUSY,
    Case,
    broken,
    evidence,
    guest,
    in_a_guest,
    machine_file,
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


STOPPED = messages.Outcome.STOPPED
PLUGGED = Surroundings(on_battery=False, battery_fraction=1.0)
UNPLUGGED = Surroundings(on_battery=True, battery_fraction=0.5)


def laptop() -> Machine:
    return replace(machine_file("hybrid-laptop"), gpus=())


def untold_laptop() -> Machine:
    """Its processor reports no limits, and no table knows it."""
    here = laptop()
    return replace(here, cpu=replace(here.cpu, power_limits=(), model="AMD"))


def desktop() -> Machine:
    """Its two limits are the same."""
    here = laptop()
    limits = tuple(replace(limit, watts=45.0) for limit in here.cpu.power_limits)
    return replace(here, cpu=replace(here.cpu, power_limits=limits))


def turbo(
    after: Callable[[float], float] = lambda t_s: 1.0,
    *,
    here: Callable[[], Machine] = laptop,
    seconds: int = 90,
    watts: float | None = None,
    throttled: int = 0,
    around: Surroundings | None = None,
):
    """A processor that falls to 74 % after 20 s.

    Heat slows it for the first `throttled` seconds. After 20 s it takes `watts`.
    """
    rows = [
        Work(
            t_s=float(second),
            device="cpu",
            flop_per_s=1e11
            * (1.0 + 0.004 * (second % 3))
            * (1.0 if second <= 20 else 0.74 * after(second)),
        )
        for second in range(1, seconds + 1)
    ]
    watched = [
        replace(
            sample(float(second), throttled=min(second, throttled)),
            heat=HeatSample(
                throttled_cores=min(second, throttled), watts=90.0 if second <= 20 else watts
            ),
        )
        for second in range(seconds + 1)
    ]
    run = ran("sustained", rows, here(), watched=watched)
    return lambda: evidence(here(), run, surroundings=around)


def limited() -> Machine:
    """An i9 of 125 W that may take 65."""
    here = workstation()
    limits = (PowerLimit(package=0, name="long_term", watts=65.0, window_s=28.0),)
    cpu = replace(here.cpu, power_limits=limits, model="Intel(R) Core(TM) i9-14900K")
    return replace(here, cpu=cpu)


def clocked(hz: float, machine: Callable[[], Machine] = workstation):
    """The workstation, whose highest clock is 5.7 GHz, with all cores at this one."""
    here = machine()
    at_work = tuple(
        ThreadSample(id=thread.id, busy=1.0, hz=hz, steal_fraction=None)
        for thread in here.cpu.threads_list
    )
    watched = tuple(replace(sample(float(t_s)), threads=at_work) for t_s in range(SECONDS))
    found = load(watched=watched, here=machine)
    around = Surroundings(on_battery=False)

    def known():
        made = found()
        made.surroundings = around
        return made

    return known


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
    # A load that was stopped says what it measured.
    Case("sustained", Word.FINE, "until_stopped", load(outcome=STOPPED), "gpu0"),
    Case("sustained", Word.PROBLEM, "low", load(falls_to(0.7), outcome=STOPPED), "gpu0"),
    Case("sustained", Word.UNCHECKED, "stopped", load(seconds=0, outcome=STOPPED)),
    # The laptop takes 90 W for 28 s, then 45 W.
    Case("sustained", Word.FINE, "power_limit", turbo(), "cpu"),
    Case("sustained", Word.FINE, "after_turbo", turbo(here=untold_laptop, around=PLUGGED), "cpu"),
    Case("sustained", Word.FINE, "power_limit", turbo(watts=44.0, throttled=20), "cpu"),
    Case("sustained", Word.PROBLEM, "low", turbo(here=desktop), "cpu"),
    # Heat, or whatever keeps it at half of what it may take.
    Case("sustained", Word.LOOK, "held_back", turbo(throttled=60), "cpu"),
    Case("sustained", Word.LOOK, "held_back", turbo(watts=20.0), "cpu"),
    Case("sustained", Word.PROBLEM, "low", turbo(lambda t_s: 1.2 - t_s / 100), "cpu"),
    Case("sustained", Word.LOOK, "below", turbo(lambda t_s: 0.94 if t_s > 50 else 1.0), "cpu"),
    Case("sustained", Word.UNCHECKED, "within_turbo", turbo(seconds=30), "cpu"),
    Case("sustained", Word.UNCHECKED, "on_battery", turbo(around=UNPLUGGED), "cpu"),
    Case("sustained", Word.FINE, "measured", clocked(4.6e9), "cpu"),
    Case("sustained", Word.LOOK, "slow_clock", clocked(3.0e9), "cpu"),
    Case("sustained", Word.PROBLEM, "slow_clock", clocked(8e8), "cpu"),
    Case("sustained", Word.LOOK, "low_limit", clocked(3.0e9, limited), "cpu"),
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


def lowered():
    """The limit of GPU 0 is set to half."""
    found = held_back("power_cap")()
    first, *others = found.machine.gpus
    gpus = (replace(first, power_limit_watts=288.0), *others)
    found.machine = replace(found.machine, gpus=gpus)
    return found


PACKAGES = (sample(0.0, packages=1), sample(1.0, packages=3))
THROTTLING = [
    Case("throttling", Word.FINE, "none", held_back(), "gpu0"),
    Case("throttling", Word.FINE, "power_cap", held_back("power_cap", "sync_boost"), "gpu0"),
    Case("throttling", Word.FINE, "none", slowed(4, 4, 4), "cpu"),
    Case("throttling", Word.FINE, "heat_in_turbo", turbo(throttled=20), "cpu"),
    Case("throttling", Word.LOOK, "heat", turbo(throttled=60), "cpu"),
    Case("throttling", Word.LOOK, "limit_lowered", lowered, "gpu0"),
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
