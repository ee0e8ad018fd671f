"""The time for which a processor takes more power than for good, and a check's load by it."""

from __future__ import annotations

from msgspec.structs import replace

from experiments.checkup.plan import SUSTAINED_S, steps
from experiments.checkup.turbo import lasting_watts, turbo_s
from machine.condition import PowerLimit, Temperature
from machine.live.surroundings import Surroundings
from tests.cases import in_one
from tests.experiments.checkup.made import rule, workstation

PLUGGED, DESKTOP = Surroundings(battery_fraction=1.0), Surroundings()
I9, RYZEN = "Intel(R) Core(TM) i9-14900K", "AMD Ryzen 7 7700X 8-Core Processor"


def machine(*limits: tuple[str, float, float], model: str = RYZEN, packages: int = 1):
    here = workstation()
    told = tuple(
        PowerLimit(package=package, name=name, watts=watts, window_s=window_s)
        for package in range(packages)
        for name, watts, window_s in limits
    )
    return replace(here, cpu=replace(here.cpu, power_limits=told, model=model))


LAPTOP = ("long_term", 45.0, 28.0), ("short_term", 90.0, 0.002)


@in_one(
    ("here", "around", "seconds", "watts"),
    [
        (machine(*LAPTOP), PLUGGED, 28.0, 45.0),
        (machine(*LAPTOP, packages=2), DESKTOP, 28.0, 90.0),
        (machine(("long_term", 253.0, 56.0), ("short_term", 253.0, 0.002)), DESKTOP, 0.0, None),
        # Nobody tells of it, and a laptop has one; so has a processor that is made with one.
        (machine(), PLUGGED, 30.0, None),
        (machine(), DESKTOP, 0.0, None),
        (machine(model=I9), DESKTOP, 30.0, None),
    ],
)
def test_a_turbo_lasts_as_long_as_the_limits_say(here, around, seconds, watts):
    assert (turbo_s(here, around), lasting_watts(here)) == (seconds, watts)


@in_one(
    ("limits", "kind", "seconds"),
    [
        ((), "check", SUSTAINED_S["check"]),
        (LAPTOP, "check", SUSTAINED_S["check"]),
        ((("long_term", 125.0, 56.0), ("short_term", 253.0, 0.002)), "check", 86.0),
        ((("long_term", 125.0, 900.0), ("short_term", 253.0, 0.002)), "check", 120.0),
        ((("long_term", 125.0, 56.0), ("short_term", 253.0, 0.002)), "quick", SUSTAINED_S["quick"]),
    ],
)
def test_a_check_loads_a_processor_until_its_turbo_is_over(limits, kind, seconds):
    (step,) = steps([rule("sustained")], replace(machine(*limits), gpus=()), kind)
    assert step.params["duration_s"] == seconds


@in_one(
    ("critical", "kind", "given", "stops"),
    [
        (100.0, "check", None, 105.0),
        (100.0, "quick", None, 105.0),
        (100.0, "check", 90.0, 90.0),
        (None, "check", None, 98.0),  # as the load has it
        (100.0, "soak", None, 98.0),
        (127.0, "check", None, 115.0),
    ],
)
def test_a_check_lets_the_processor_come_to_its_own_limit(critical, kind, given, stops):
    here = workstation()
    heat = (Temperature(name="package 0", critical_celsius=critical),)
    here = replace(here, cpu=replace(here.cpu, temperatures=heat), gpus=())
    (step,) = steps([rule("sustained")], here, kind, stop_celsius=given)
    assert step.params["stop_celsius"] == stops
