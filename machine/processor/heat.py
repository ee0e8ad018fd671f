"""Reads the processor's temperature, how often heat has slowed it down, and its power limits.

One sensor a package: reading a core's own would wake that core. Values are those of now.

Source: Documentation/hwmon/{coretemp,k10temp}.rst and admin-guide/thermal/ of the kernel,
power/powercap/powercap.rst, and drivers/thermal/intel/therm_throt.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from machine.condition import PowerLimit, Temperature, Throttling
from machine.facts import Facts, Notes, Reason, note
from machine.model import Thread
from machine.record import names
from machine.system.linux import CPU, entries, numbered, read_int, read_text

_HWMON = "sys/class/hwmon"
_ZONES = "sys/class/thermal"
_RAPL = "sys/class/powercap"
_DRIVERS = {"coretemp", "k10temp", "zenpower"}
_CPU_ZONE = re.compile(r"x86_pkg_temp|.*(cpu|soc|package).*", re.IGNORECASE)
_PACKAGE = re.compile(r"Package id \d+|Physical id \d+")
_HIDES = "which mostly hides it"
NO_SENSOR = Reason(
    "No sensor of the processor is in sight below /sys/class/hwmon and /sys/class/thermal.",
    "lsmod | grep -E 'coretemp|k10temp' on the machine itself: their drivers read the sensors.",
)
NO_LIMIT = Reason(
    "The driver of this sensor does not tell the limit.",
    "Look the model up in its maker's data sheet.",
)
NO_VALUE = Reason("The sensor does not answer now.", "sensors")
NO_COUNTS = Reason(
    "The kernel does not count it here; it does for Intel's processors only.",
    "turbostat shows the clock while the machine works.",
)
_NO_POWER = Reason(
    "The kernel shows no power limits (RAPL) below /sys/class/powercap.",
    "The firmware's settings, or the maker's data sheet.",
)
_ONLY_ROOT = Reason(
    "Only root may read the power limits here.", "sudo grep . /sys/class/powercap/*/constraint_*"
)
_NOT_THIS = Reason("The processor does not tell it of this limit.", "Nothing to do.")


class Sensor(NamedTuple):
    """A sensor of the processor: its name, the file with its temperature, its limit, sources."""

    name: str
    file: Path
    critical_celsius: float | None
    folder: str
    limit: str

    def celsius(self) -> float | None:
        """Return the temperature now."""
        return _celsius(self.file)


def sensors(root: Path) -> list[Sensor]:
    """Return the sensor of each package."""
    return list(_chips(root)) or list(_zones(root))


def read_temperatures(root: Path, notes: Notes) -> tuple[Temperature, ...]:
    """Return the temperature of each package."""
    found = [_temperature(sensor) for sensor in sensors(root)]
    note(found, "cpu.temperatures", names(Temperature), notes)
    temperatures = tuple(Temperature(**facts.values) for facts in found)
    reason = notes.because(NO_SENSOR, _HIDES)
    return notes.found("cpu.temperatures", temperatures, f"/{_HWMON}, now", reason)


def _temperature(sensor: Sensor) -> Facts:
    facts = Facts()
    facts.keep("name", sensor.name, sensor.folder)
    facts.found("now_celsius", sensor.celsius(), f"{sensor.folder}, at the inspection", NO_VALUE)
    facts.found("critical_celsius", sensor.critical_celsius, sensor.limit, NO_LIMIT)
    return facts


def _chips(root: Path) -> Iterator[Sensor]:
    for number in numbered(root / _HWMON, "hwmon"):
        folder = root / _HWMON / f"hwmon{number}"
        if read_text(folder / "name") not in _DRIVERS:
            continue
        inputs = [name[:-6] for name in entries(folder) if re.fullmatch(r"temp\d+_label", name)]
        labels = {read_text(folder / f"{name}_label") or "": name for name in inputs}
        # Tctl of some Ryzens is Tdie and an offset, for the fans.
        chosen = [label for label in labels if _PACKAGE.fullmatch(label)] or [
            label for label in ("Tdie", "Tctl") if label in labels
        ][:1]
        if not labels:  # an old driver
            labels = {read_text(folder / "name") or "": "temp1"}
            chosen = [*labels]
        for label in chosen:
            place, source = f"{folder}/{labels[label]}", f"/{_HWMON}/hwmon*/temp*"
            limit = _celsius(f"{place}_crit") or _celsius(f"{place}_max")
            yield Sensor(label, Path(f"{place}_input"), limit, f"{source}_input", f"{source}_crit")


def _zones(root: Path) -> Iterator[Sensor]:
    for number in numbered(root / _ZONES, "thermal_zone"):
        folder, source = root / _ZONES / f"thermal_zone{number}", f"/{_ZONES}/thermal_zone*"
        kind = read_text(folder / "type") or ""
        if not _CPU_ZONE.fullmatch(kind):
            continue
        trips = (
            _celsius(folder / name.replace("_type", "_temp"))
            for name in entries(folder)
            if re.fullmatch(r"trip_point_\d+_type", name) and read_text(folder / name) == "critical"
        )
        limit = next((celsius for celsius in trips if celsius), None)
        trip = f"{source}/trip_point_*_temp"
        yield Sensor(kind, folder / "temp", limit, f"{source}/temp", trip)


def _celsius(path: Path | str) -> float | None:
    """Return the degrees from thousandths; some drivers say 0 or less for none."""
    value = read_int(path)
    return value / 1000 if value is not None and 0 < value < 200_000 else None


def throttle_file(root: Path, thread: int, part: str) -> Path:
    """Return the file that counts how often the thread's "core" or "package" was slowed down."""
    return root / CPU / f"cpu{thread}/thermal_throttle/{part}_throttle_count"


def read_throttling(root: Path, threads: Iterable[Thread], notes: Notes) -> Throttling:
    """Return the counts of all cores and all packages; threads of a core count the same."""
    counts: dict[str, int | None] = {}
    online = [thread for thread in threads if thread.online]
    for part in ("core", "package"):
        firsts = {getattr(thread, part): thread.id for thread in reversed(online)}
        told = [
            count
            for id_ in firsts.values()
            if (count := read_int(throttle_file(root, id_, part))) is not None
        ]
        counts[f"{part}s"] = notes.found(
            f"cpu.throttling.{part}s",
            sum(told) if told else None,
            f"/{CPU}/cpu*/thermal_throttle/{part}_throttle_count, since the start",
            notes.because(NO_COUNTS, _HIDES),
        )
    return Throttling(**counts)


def power_zones(root: Path) -> Iterator[tuple[int, Path]]:
    """Yield the number of a package and the folder of its power, for each package or die."""
    for name in entries(root / _RAPL):
        folder = root / _RAPL / name
        package = re.fullmatch(r"package-(\d{1,9})(-die-\d+)?", read_text(folder / "name") or "")
        if re.fullmatch(r"intel-rapl:\d+", name) and package is not None:
            yield int(package[1]), folder


def read_power_limits(root: Path, notes: Notes) -> tuple[PowerLimit, ...]:
    """Return the limits of each package."""
    found, is_locked = [], False
    for package, folder in power_zones(root):
        files = [file for file in entries(folder) if re.fullmatch(r"constraint_\d+_name", file)]
        for file in files:
            facts = _limit(folder / file.removesuffix("_name"), package)
            is_locked |= not facts.knows("watts")
            if facts.knows("watts"):
                found.append(facts)
    note(found, "cpu.power_limits", names(PowerLimit), notes)
    limits = tuple(PowerLimit(**facts.values) for facts in found)
    reason = _ONLY_ROOT if is_locked else notes.because(_NO_POWER, _HIDES)
    return notes.found("cpu.power_limits", limits, f"/{_RAPL}/intel-rapl:*", reason)


def _limit(constraint: Path, package: int) -> Facts:
    facts, source = Facts(), f"/{_RAPL}/intel-rapl:*/constraint_*"
    facts.keep("package", package, f"/{_RAPL}/intel-rapl:*/name")
    facts.found("name", read_text(f"{constraint}_name") or None, f"{source}_name", _NOT_THIS)
    for name, file in (
        ("watts", "power_limit_uw"),
        ("max_watts", "max_power_uw"),
        ("window_s", "time_window_us"),
    ):
        value = read_int(f"{constraint}_{file}")
        facts.found(name, value / 1e6 if value else None, f"{source}_{file}", _NOT_THIS)
    return facts
