"""Reads battery and mains, and the settings that save power at the cost of speed.

Sources: Documentation/ABI/testing/{sysfs-class-power,sysfs-platform_profile} and
admin-guide/pm/{cpufreq,intel_pstate,amd-pstate}.rst of the kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from machine.condition import Clock
from machine.facts import Notes, Reason
from machine.processor.clock import read_clock
from machine.system.linux import entries, exists, read_int, read_text

SUPPLIES = "sys/class/power_supply"
PROFILE = "sys/firmware/acpi/platform_profile"

_MAINS = frozenset(("Mains", "USB", "USB_C", "USB_PD", "USB_PD_DRP", "Wireless"))
_STORES = frozenset(("Battery", "UPS"))
_SAVING_PROFILES = frozenset(("low-power", "quiet"))
# With these drivers the governor of that name chooses any clock; with others, only the lowest.
_SCALING_DRIVERS = frozenset(("intel_pstate", "amd-pstate-epp"))

_HOW = "cat /sys/class/power_supply/*/{type,online,status}"
_NO_PROFILE = Reason(
    "The system shows neither a power profile nor a governor.",
    "powerprofilesctl get, or cpupower frequency-info, on the machine itself.",
)


def read_battery(root: Path, notes: Notes, *, is_live: bool) -> tuple[bool | None, float | None]:
    """Return whether the machine runs on a battery, and how full that is; None if unknown."""
    if exists(root / SUPPLIES):
        on_battery, full_fraction = _supplies(root)
        why = "Neither a power supply nor the battery says which of them is in use."
    elif is_live:
        on_battery, full_fraction = told_by_psutil()
        why = "The system shows no power supply to this program."
    else:
        on_battery, full_fraction = None, None
        why = "The recording holds no power supply."
    if on_battery is None:
        notes.lack("on_battery", Reason(why, _HOW if sys.platform == "linux" else "Look at it."))
    if full_fraction is None:
        notes.lack("battery_fraction", Reason("No battery is in sight.", _HOW))
    return on_battery, full_fraction


def _supplies(root: Path) -> tuple[bool | None, float | None]:
    is_plugged = False
    states, full = list[str](), list[int]()
    for name in entries(root / SUPPLIES):
        folder = root / SUPPLIES / name
        kind = read_text(folder / "type")
        if read_text(folder / "scope") == "Device":  # of a mouse or a headset
            continue
        if kind in _MAINS:
            is_plugged |= read_int(folder / "online") == 1
        elif kind in _STORES and read_int(folder / "present") != 0:
            states.append(read_text(folder / "status") or "")
            if kind == "Battery" and (percent := read_int(folder / "capacity")) is not None:
                full.append(percent)
    fraction = min(1.0, max(0.0, sum(full) / len(full) / 100)) if full else None
    if is_plugged or not states:  # a desktop lists none
        return False, fraction
    if "Discharging" in states:
        return True, fraction
    is_known = all(state in ("Charging", "Full", "Not charging") for state in states)
    return (False if is_known else None), fraction


def told_by_psutil() -> tuple[bool | None, float | None]:
    """Return whether this machine runs on a battery, and how full that is; None if unknown."""
    import psutil

    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, RuntimeError, ValueError):  # it does not know this system
        return None, None
    if battery is None:
        return None, None
    plugged = battery.power_plugged
    return (None if plugged is None else not plugged), round(battery.percent / 100, 4)


def read_power_saver(root: Path, notes: Notes) -> tuple[bool | None, tuple[str, ...]]:
    """Return whether speed is given up for power, and the settings that say so."""
    clock = read_clock(root, Notes())
    profile = read_text(root / PROFILE)
    saving = tuple(_saving(profile, clock))
    if profile is None and clock.governor is None and clock.energy_preference is None:
        notes.lack("power_saver", _NO_PROFILE)
        return None, ()
    return bool(saving), saving


def _saving(profile: str | None, clock: Clock) -> Iterator[str]:
    if profile in _SAVING_PROFILES:
        yield f"platform_profile {profile}"
    is_fixed = not _ways(clock.driver) & _SCALING_DRIVERS
    if is_fixed and "powersave" in _ways(clock.governor):
        yield "governor powersave"
    if "power" in _ways(clock.energy_preference):
        yield "energy_performance_preference power"


def _ways(told: str | None) -> set[str]:
    """Return the settings in "a" or in "a (4), b (8)"."""
    return {part.partition(" (")[0] for part in (told or "").split(", ")}
