from __future__ import annotations

import pytest

from machine.condition import PowerLimit, Temperature, Throttling
from machine.inspect import inspect
from machine.model import missing_of, source_of
from tests.machine.conditioned import limited, sensor, throttled, zone


def heat(tree):
    return inspect(tree.root).cpu.temperatures


def test_intels_sensor_tells_each_package_with_its_limit_and_no_core(tree):
    for package in range(2):
        sensor(
            tree,
            package + 1,
            "coretemp",
            temp1_label=f"Package id {package}",
            temp1_input=61000 + package,
            temp1_max=80000,
            temp1_crit=100000,
            temp2_label="Core 0",
            temp2_input=58000,
        )
    sensor(tree, 0, "nvme", temp1_label="Composite", temp1_input=35850)
    machine = inspect(tree.root)
    assert machine.cpu.temperatures == (
        Temperature(name="Package id 0", now_celsius=61.0, critical_celsius=100.0),
        Temperature(name="Package id 1", now_celsius=61.001, critical_celsius=100.0),
    )
    assert "at the inspection" in source_of(machine, "cpu.temperatures[0].now_celsius")


def test_amds_sensor_tells_the_temperature_without_the_offset_and_no_limit(tree):
    sensor(
        tree,
        0,
        "k10temp",
        temp1_label="Tctl",
        temp1_input=72500,
        temp2_label="Tdie",
        temp2_input=52500,
        temp3_label="Tccd1",
        temp3_input=51000,
    )
    machine = inspect(tree.root)
    assert machine.cpu.temperatures == (Temperature(name="Tdie", now_celsius=52.5),)
    assert missing_of(machine, "cpu.temperatures[0].critical_celsius") is not None


def test_without_a_sensor_a_zone_of_the_processor_counts_and_no_other(tree):
    zone(tree, 0, "acpitz", temp=27800)
    zone(
        tree,
        1,
        "cpu-thermal",
        temp=48312,
        trip_point_0_type="passive",
        trip_point_0_temp=80000,
        trip_point_1_type="critical",
        trip_point_1_temp=110000,
    )
    assert heat(tree) == (
        Temperature(name="cpu-thermal", now_celsius=48.312, critical_celsius=110.0),
    )


@pytest.mark.parametrize("told", ["", "-274000", "0", "999999999", "hot"])
def test_a_sensor_that_does_not_answer_says_so(tree, told):
    sensor(tree, 0, "zenpower", temp1_label="Tdie", temp1_input=told)
    machine = inspect(tree.root)
    assert machine.cpu.temperatures == (Temperature(name="Tdie"),)
    assert missing_of(machine, "cpu.temperatures[0].now_celsius") is not None


def test_throttling_is_counted_once_for_each_core_and_package(tree):
    tree.cpus(4, threads_per_core=2)
    for thread in range(4):
        throttled(tree, thread, core=3 if thread < 2 else 1, package=7)
    machine = inspect(tree.root)
    assert machine.cpu.throttling == Throttling(cores=4, packages=7)
    assert "since the start" in source_of(machine, "cpu.throttling.cores")


def test_a_processor_that_counts_nothing_says_so(tree):
    tree.cpus(2)
    machine = inspect(tree.root)
    assert machine.cpu.throttling == Throttling()
    assert missing_of(machine, "cpu.throttling.cores") is not None


def test_the_power_limits_of_a_package_have_watts_seconds_and_what_may_be_set(tree):
    limited(tree, 0, long_term=(125, 28), short_term=(241, 0))
    tree.write("/sys/class/powercap/intel-rapl:0:0/name", "core\n")
    machine = inspect(tree.root)
    assert machine.cpu.power_limits == (
        PowerLimit(package=0, name="long_term", watts=125.0, max_watts=253.0, window_s=28.0),
        PowerLimit(package=0, name="short_term", watts=241.0, max_watts=253.0),
    )
    assert missing_of(machine, "cpu.power_limits[1].window_s") is not None


def test_limits_that_only_root_may_read_say_how(tree):
    limited(tree, 0, long_term=(125, 28))
    file = tree.root / "sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw"
    file.unlink()
    file.mkdir()  # unreadable, also to root
    missing = missing_of(inspect(tree.root), "cpu.power_limits")
    assert "Only root" in missing.why
    assert missing.how.startswith("sudo ")


def test_without_limits_the_reason_is_told(tree):
    assert "RAPL" in missing_of(inspect(tree.root), "cpu.power_limits").why
