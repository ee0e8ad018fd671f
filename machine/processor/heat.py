"""How hot the processor is, how often heat has slowed it down, and how much power it may take.

One sensor a package: reading a core's own would wake that core. Values are those of now.

Source: Documentation/hwmon/{coretemp,k10temp}.rst and admin-guide/thermal/ of the kernel,
power/powercap/powercap.rst, and drivers/thermal/intel/therm_throt.c.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

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
_HIDDEN = "virtual machines and many containers hide it"
_NO_SENSOR = Reason(
    f"No sensor of the processor is in sight: {_HIDDEN}, or its driver is not loaded.",
    "lsmod | grep -E 'coretemp|k10temp' on the machine itself: their drivers read the sensors.",
)
_NO_LIMIT = Reason(
    "The driver of this sensor does not tell the limit.",
    "Look the model up in its maker's data sheet.",
)
_NO_VALUE = Reason("The sensor does not answer now.", "sensors")
_NO_COUNTS = Reason(
    f"The kernel does not count it here: only Intel's processors tell, and {_HIDDEN}.",
    "turbostat shows the clock while the machine works.",
)
_NO_POWER = Reason(
    f"The kernel shows no power limits (RAPL): AMD's drivers do not tell them, and {_HIDDEN}.",
    "The firmware's settings, or the maker's data sheet.",
)
_ONLY_ROOT = Reason(
    "Only root may read the power limits here.", "sudo grep . /sys/class/powercap/*/constraint_*"
)
_NOT_THIS = Reason("The processor does not tell it of this limit.", "Nothing to do.")


def read_temperatures(root: Path, notes: Notes) -> tuple[Temperature, ...]:
    """Return the temperature of each package."""
    found = list(_sensors(root)) or list(_zones(root))
    note(found, "cpu.temperatures", names(Temperature), notes)
    return notes.keep(
        "cpu.temperatures",
        tuple(Temperature(**facts.values) for facts in found),
        f"/{_HWMON}, now",
        why=_NO_SENSOR.why,
        how=_NO_SENSOR.how,
    )


def _sensors(root: Path) -> Iterator[Facts]:
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
        for label in chosen:
            yield _temperature(folder, label, labels[label])
        if not labels:  # an old driver
            yield _temperature(folder, read_text(folder / "name") or "", "temp1")


def _temperature(folder: Path, label: str, name: str) -> Facts:
    facts, source = Facts(), f"/{_HWMON}/hwmon*/temp*"
    facts.keep("name", label, f"{source}_label")
    now = _celsius(folder / f"{name}_input")
    facts.found("now_celsius", now, f"{source}_input, at the inspection", _NO_VALUE)
    limit = _celsius(folder / f"{name}_crit") or _celsius(folder / f"{name}_max")
    facts.found("critical_celsius", limit, f"{source}_crit", _NO_LIMIT)
    return facts


def _zones(root: Path) -> Iterator[Facts]:
    for number in numbered(root / _ZONES, "thermal_zone"):
        folder, source = root / _ZONES / f"thermal_zone{number}", f"/{_ZONES}/thermal_zone*"
        kind = read_text(folder / "type") or ""
        if not _CPU_ZONE.fullmatch(kind):
            continue
        facts = Facts()
        facts.keep("name", kind, f"{source}/type")
        now = _celsius(folder / "temp")
        facts.found("now_celsius", now, f"{source}/temp, at the inspection", _NO_VALUE)
        trips = (
            _celsius(folder / name.replace("_type", "_temp"))
            for name in entries(folder)
            if re.fullmatch(r"trip_point_\d+_type", name) and read_text(folder / name) == "critical"
        )
        limit = next((celsius for celsius in trips if celsius), None)
        facts.found("critical_celsius", limit, f"{source}/trip_point_*_temp", _NO_LIMIT)
        yield facts


def _celsius(path: Path) -> float | None:
    """Return the degrees from thousandths; some drivers say 0 or less for none."""
    value = read_int(path)
    return value / 1000 if value is not None and 0 < value < 200_000 else None


def read_throttling(root: Path, threads: Iterable[Thread], notes: Notes) -> Throttling:
    """Return the counts of all cores and all packages; threads of a core count the same."""
    counts: dict[str, int | None] = {}
    online = [thread for thread in threads if thread.online]
    for part in ("core", "package"):
        firsts = {getattr(thread, part): thread.id for thread in reversed(online)}
        told = [
            count
            for id_ in firsts.values()
            if (count := read_int(root / CPU / f"cpu{id_}/thermal_throttle/{part}_throttle_count"))
            is not None
        ]
        counts[f"{part}s"] = notes.keep(
            f"cpu.throttling.{part}s",
            sum(told) if told else None,
            f"/{CPU}/cpu*/thermal_throttle/{part}_throttle_count, since the start",
            why=_NO_COUNTS.why,
            how=_NO_COUNTS.how,
        )
    return Throttling(**counts)


def read_power_limits(root: Path, notes: Notes) -> tuple[PowerLimit, ...]:
    """Return the limits of each package."""
    found, is_locked = [], False
    for name in entries(root / _RAPL):
        folder = root / _RAPL / name
        package = re.fullmatch(r"package-(\d{1,9})(-die-\d+)?", read_text(folder / "name") or "")
        if not re.fullmatch(r"intel-rapl:\d+", name) or package is None:
            continue
        files = [file for file in entries(folder) if re.fullmatch(r"constraint_\d+_name", file)]
        for file in files:
            facts = _limit(folder / file.removesuffix("_name"), int(package[1]))
            is_locked |= not facts.knows("watts")
            if facts.knows("watts"):
                found.append(facts)
    note(found, "cpu.power_limits", names(PowerLimit), notes)
    reason = _ONLY_ROOT if is_locked else _NO_POWER
    return notes.keep(
        "cpu.power_limits",
        tuple(PowerLimit(**facts.values) for facts in found),
        f"/{_RAPL}/intel-rapl:*",
        why=reason.why,
        how=reason.how,
    )


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
