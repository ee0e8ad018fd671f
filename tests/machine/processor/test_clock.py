from __future__ import annotations

import pytest

from machine.inspect import inspect
from machine.model import missing_of, source_of
from tests.machine.conditioned import policy


def test_who_sets_the_clock_is_told(tree):
    policy(
        tree,
        0,
        scaling_governor="powersave",
        scaling_driver="amd-pstate-epp",
        energy_performance_preference="balance_performance",
    )
    machine = inspect(tree.root)
    clock = machine.cpu.clock
    assert clock.governor == "powersave"
    assert clock.driver == "amd-pstate-epp"
    assert clock.energy_preference == "balance_performance"
    assert source_of(machine, "cpu.clock.governor").endswith("policy*/scaling_governor")


def test_cores_that_are_governed_differently_are_told_apart(tree):
    for number in range(3):
        governor = "performance" if number else "powersave"
        policy(tree, number, scaling_governor=governor, scaling_driver="intel_pstate")
    clock = inspect(tree.root).cpu.clock
    assert clock.governor == "performance (2), powersave (1)"
    assert clock.driver == "intel_pstate"


@pytest.mark.parametrize(
    ("switches", "said"),
    [
        ({"intel_pstate/no_turbo": 0}, "on"),
        ({"intel_pstate/no_turbo": 1}, "off"),
        ({"cpufreq/boost": 1}, "on"),
        ({"cpufreq/boost": 0}, "off"),
        ({"cpufreq/policy0/boost": 1, "cpufreq/policy1/boost": 1}, "on"),
        ({"cpufreq/policy0/boost": 1, "cpufreq/policy1/boost": 0}, "mixed"),
        ({"cpufreq/policy0/boost": 1, "cpufreq/boost": 0}, "off"),
        ({"cpufreq/policy0/boost": "?"}, None),
    ],
)
def test_whether_it_may_boost(tree, switches, said):
    for file, text in switches.items():
        tree.cpu(file, f"{text}")
    machine = inspect(tree.root)
    assert machine.cpu.clock.boost == said
    assert (missing_of(machine, "cpu.clock.boost") is None) is (said is not None)


def test_a_driver_without_a_setting_is_no_virtual_machine(tree):
    policy(tree, 0, scaling_driver="acpi-cpufreq", scaling_governor="ondemand")
    machine = inspect(tree.root)
    assert "takes no energy preference" in missing_of(machine, "cpu.clock.energy_preference").why


def test_without_a_driver_nobody_sets_the_clock_here(tree):
    machine = inspect(tree.root)
    reasons = {
        missing_of(machine, f"cpu.clock.{name}").why
        for name in ("governor", "driver", "energy_preference", "boost")
    }
    assert len(reasons) == 1, "one reason, said once"
