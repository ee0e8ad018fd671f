from __future__ import annotations

import sys

import pytest

from machine.condition import Temperature
from machine.live.heat import HeatSample, HeatSampler
from tests.machine.conditioned import limited, sensor, throttled, zone


@pytest.fixture
def hot(tree):
    """A machine of two packages with all files on heat."""
    tree.cpus(8, threads_per_core=2, packages=2)
    for thread in range(8):
        throttled(tree, thread, core=10, package=20)
    for package in range(2):
        sensor(
            tree,
            package,
            "coretemp",
            temp1_label=f"Package id {package}",
            temp1_input=60_000 + 5000 * package,
            temp1_crit=100_000,
        )
        limited(tree, package, long_term=(125, 28))
        used(tree, package, 0)
        rapl(tree, package, "max_energy_range_uj", 1_000_000_000)
    return tree


def rapl(tree, package, file, value):
    tree.write(f"/sys/class/powercap/intel-rapl:{package}/{file}", f"{value}\n")


def used(tree, package, joules):
    rapl(tree, package, "energy_uj", int(joules * 1e6))


def reasons(sampler, sample):
    return {entry.what: entry.why for entry in sampler.missing(sample)}


def test_the_first_sample_has_temperatures_and_no_power_yet(hot):
    sampler = HeatSampler(hot.root)
    sample = sampler.sample(0.0)
    assert sample == HeatSample(
        sensors=(
            Temperature(name="Package id 0", now_celsius=60.0, critical_celsius=100.0),
            Temperature(name="Package id 1", now_celsius=65.0, critical_celsius=100.0),
        ),
        throttled_cores=0,
        throttled_packages=0,
    )
    assert [*reasons(sampler, sample)] == ["heat.watts"]
    assert "two samples" in reasons(sampler, sample)["heat.watts"]


def test_power_is_the_energy_of_all_packages_in_the_time_between(hot):
    sampler = HeatSampler(hot.root)
    sampler.sample(0.0)
    used(hot, 0, 50)
    used(hot, 1, 25)
    sample = sampler.sample(0.5)
    assert sample.watts == 150.0
    assert reasons(sampler, sample) == {}


def test_an_energy_counter_may_begin_again(hot):
    used(hot, 0, 990)
    sampler = HeatSampler(hot.root)
    sampler.sample(0.0)
    used(hot, 0, 40)
    assert sampler.sample(1.0).watts == 50.0


def test_energy_that_only_root_may_read_says_so(hot):
    for package in range(2):
        file = hot.root / f"sys/class/powercap/intel-rapl:{package}/energy_uj"
        file.unlink()
        file.mkdir()  # unreadable, also to root
    sampler = HeatSampler(hot.root)
    sampler.sample(0.0)
    sample = sampler.sample(1.0)
    assert sample.watts is None
    assert "Only root" in reasons(sampler, sample)["heat.watts"]


def test_slowing_down_counts_from_the_first_sample_and_once_a_core(hot):
    sampler = HeatSampler(hot.root)
    sampler.sample(0.0)
    for thread in (0, 1):  # one core
        throttled(hot, thread, core=13, package=20)
    for thread in (4, 5, 6, 7):  # one package
        throttled(hot, thread, core=10, package=21)
    sample = sampler.sample(1.0)
    assert (sample.throttled_cores, sample.throttled_packages) == (3, 1)


def test_temperatures_are_read_once_a_second_at_most(hot):
    sampler = HeatSampler(hot.root)
    sampler.sample(0.0)
    sensor(hot, 0, "coretemp", temp1_input=90_000)
    assert sampler.sample(0.5).sensors[0].now_celsius == 60.0
    assert sampler.sample(1.1).sensors[0].now_celsius == 90.0


def test_a_zone_alone_is_told_and_the_rest_has_reasons(tree):
    zone(tree, 0, "cpu-thermal", temp=48_000)
    sampler = HeatSampler(tree.root)
    sample = sampler.sample(0.0)
    assert sample.sensors == (Temperature(name="cpu-thermal", now_celsius=48.0),)
    assert {*reasons(sampler, sample)} == {
        *("heat.sensors[*].critical_celsius", "heat.watts"),
        *("heat.throttled_cores", "heat.throttled_packages"),
    }


def test_a_sensor_that_fails_is_unknown_and_said_so(hot):
    sensor(hot, 0, "coretemp", temp1_input="-274000")
    sampler = HeatSampler(hot.root)
    sample = sampler.sample(0.0)
    assert sample.sensors[0].now_celsius is None
    assert "heat.sensors[*].now_celsius" in reasons(sampler, sample)


def test_a_machine_without_a_sensor_has_one_reason(tree):
    tree.cpus(2)
    sampler = HeatSampler(tree.root)
    assert sampler.sample(0.0) is None
    assert [*reasons(sampler, None)] == ["heat"]


def test_other_systems_say_why(hot, monkeypatch):
    for system, named in (("darwin", "macOS"), ("win32", "Windows"), ("freebsd14", "this system")):
        monkeypatch.setattr(sys, "platform", system)
        sampler = HeatSampler(hot.root)
        assert sampler.sample(0.0) is None
        assert named in reasons(sampler, None)["heat"]
