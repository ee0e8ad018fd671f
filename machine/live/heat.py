"""The processor's temperatures and power, and how often heat has slowed it down.

Temperatures and counts are read once a second at most: a large machine has a count for each core.
Counts begin at the first sample.

Sources: Documentation/power/powercap/powercap.rst and drivers/thermal/intel/therm_throt.c of the
kernel.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

from machine.condition import Temperature
from machine.facts import Reason, lacking
from machine.model import Missing
from machine.processor.heat import (
    NO_COUNTS,
    NO_LIMIT,
    NO_SENSOR,
    NO_VALUE,
    power_zones,
    sensors,
    throttle_file,
)
from machine.record import Record
from machine.system.linux import CPU, exists, numbered, read_int, read_set
from machine.text import plain

_EVERY_S = 1.0
_SIBLINGS = {
    "core": ("core_cpus_list", "thread_siblings_list"),
    "package": ("package_cpus_list", "core_siblings_list"),
}
_ELSEWHERE = {
    "win32": Reason(
        "Windows tells a processor's temperature and power to drivers only.",
        "HWiNFO, or the maker's tool.",
    ),
    "darwin": Reason(
        "macOS tells temperatures and power to administrators only.",
        "sudo powermetrics",
    ),
}
_UNKNOWN_SYSTEM = Reason(
    "Coreopsis does not know where this system tells the processor's temperature and power.",
    "Look into the system's own monitor, or the maker's.",
)
_NEEDS_TWO = Reason("Power needs two samples; this is the first.", "Wait for the next sample.")
_NO_POWER = Reason(
    "The kernel does not show how much energy the processor uses (RAPL).",
    "turbostat --show PkgWatt, as root on the machine itself.",
)
_ONLY_ROOT = Reason(
    "Only root may read how much energy the processor uses: its changes may betray secrets.",
    "sudo turbostat --show PkgWatt",
)


class HeatSample(Record):
    """`sensors` are the temperatures of the packages, `watts` their power together.

    `throttled_cores` and `throttled_packages` count how often heat has slowed them down since the
    first sample.
    """

    sensors: tuple[Temperature, ...] = ()
    watts: float | None = None
    throttled_cores: int | None = None
    throttled_packages: int | None = None


class HeatSampler:
    """Samples the processor's heat; remembers the files, and the previous counters."""

    def __init__(self, root: Path) -> None:
        is_linux = sys.platform == "linux"
        elsewhere = _ELSEWHERE.get(sys.platform, _UNKNOWN_SYSTEM)
        self._sensors = sensors(root) if is_linux else []
        zones = [folder for _, folder in power_zones(root)] if is_linux else []
        self._energy_files = {  # with the count after which it begins again
            folder / "energy_uj": read_int(folder / "max_energy_range_uj") for folder in zones
        }
        self._throttle_files = {
            part: tuple(_throttle_files(root, part)) if is_linux else () for part in _SIBLINGS
        }
        self._why = {
            "sensors": NO_SENSOR if is_linux else elsewhere,
            "watts": (_ONLY_ROOT if zones else _NO_POWER) if is_linux else elsewhere,
            "throttled": NO_COUNTS if is_linux else elsewhere,
        }
        self._energies: dict[Path, int] = {}
        self._before_s = self._slow_s = -math.inf
        self._temperatures: tuple[Temperature, ...] = ()
        self._first: dict[str, int] = {}
        self._counts: dict[str, int | None] = {}

    def sample(self, now_s: float) -> HeatSample | None:
        """Return the heat now, and the mean power since the previous sample.

        None where the machine has no such sensor.
        """
        if not (self._sensors or self._energy_files or any(self._throttle_files.values())):
            return None
        if now_s - self._slow_s >= _EVERY_S:
            self._slow_s = now_s
            self._read_slowly()
        return HeatSample(
            sensors=self._temperatures,
            watts=self._watts(now_s),
            throttled_cores=self._counts["core"],
            throttled_packages=self._counts["package"],
        )

    def missing(self, sample: HeatSample | None) -> Iterator[Missing]:
        """Yield the reasons for missing values of the latest sample."""
        if sample is None:
            yield self._why["sensors"].of("heat")
            return
        if not sample.sensors:
            yield self._why["sensors"].of("heat.sensors")
        of_each = {"now_celsius": NO_VALUE, "critical_celsius": NO_LIMIT}
        yield from lacking("heat.sensors[*]", sample.sensors, of_each)
        reasons = {"watts": _NEEDS_TWO if self._energies else self._why["watts"]}
        reasons |= dict.fromkeys(("throttled_cores", "throttled_packages"), self._why["throttled"])
        yield from lacking("heat", [sample], reasons)

    def _read_slowly(self) -> None:
        self._temperatures = tuple(
            Temperature(
                name=plain(sensor.name),
                now_celsius=sensor.celsius(),
                critical_celsius=sensor.critical_celsius,
            )
            for sensor in self._sensors
        )
        for part, files in self._throttle_files.items():
            known = [count for file in files if (count := read_int(file)) is not None]
            self._counts[part] = None
            if known:
                self._counts[part] = max(0, sum(known) - self._first.setdefault(part, sum(known)))

    def _watts(self, now_s: float) -> float | None:
        """Return the mean power of all packages since the previous sample."""
        energies = {
            file: energy_uj
            for file in self._energy_files
            if (energy_uj := read_int(file)) is not None
        }
        passed_s, before = now_s - self._before_s, self._energies
        self._energies, self._before_s = energies, now_s
        if not energies or energies.keys() != before.keys() or not 0 < passed_s < math.inf:
            return None
        used_uj = 0
        for file, energy_uj in energies.items():
            more_uj = energy_uj - before[file]
            used_uj += more_uj if more_uj >= 0 else more_uj + (self._energy_files[file] or 0)
        return round(max(0, used_uj) / 1e6 / passed_s, 2)


def _throttle_files(root: Path, part: str) -> Iterator[Path]:
    """Yield the file of one thread of each core, or of each package."""
    seen: set[int] = set()
    for number in numbered(root / CPU, "cpu"):
        file = throttle_file(root, number, part)
        if number not in seen and exists(file):
            topology = root / CPU / f"cpu{number}/topology"
            seen |= {number, *(read_set(topology, *_SIBLINGS[part]) or ())}
            yield file
