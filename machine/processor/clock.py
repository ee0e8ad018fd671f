"""The processor's clocks, and who sets them: driver, governor, energy preference, boost.

Source: Documentation/admin-guide/pm/{cpufreq,intel_pstate,amd-pstate}.rst of the kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from machine.condition import Clock
from machine.facts import Notes, Reason
from machine.system.linux import CPU, numbered, read_int, read_text

_NO_TURBO = f"{CPU}/intel_pstate/no_turbo"
_BOOST = f"{CPU}/cpufreq/boost"
_POLICIES = f"/{CPU}/cpufreq/policy*"
_ASK = "On the physical machine: cpupower frequency-info"
_UNGOVERNED = Reason("The kernel does not set the clock here: it has no cpufreq driver.", _ASK)
_OF_HOST = "which leaves the clock to its host"
_NO_BOOST = Reason("The driver does not say whether the processor may boost.", _ASK)
_SETTINGS = {  # file, and why it is missing where the clock is governed
    "governor": ("scaling_governor", "This driver has no governor."),
    "driver": ("scaling_driver", "The kernel does not name the driver."),
    "energy_preference": (
        "energy_performance_preference",
        "This driver takes no energy preference; intel_pstate and amd-pstate do in active mode.",
    ),
}


def read_clock(root: Path, notes: Notes) -> Clock:
    """Return the clock range over all cores; the kernel's files are in kHz."""
    folder = root / CPU
    policies = [folder / f"cpufreq/policy{n}" for n in numbered(folder / "cpufreq", "policy")]
    if not policies:  # before Linux 4.3
        policies = [folder / f"cpu{n}/cpufreq" for n in numbered(folder, "cpu")]
    found: dict[str, Any] = {}
    for name, file, choose in (
        ("min_hz", "cpuinfo_min_freq", min),
        ("max_hz", "cpuinfo_max_freq", max),
        ("base_hz", "base_frequency", max),
    ):
        all_khz = [khz for policy in policies if (khz := read_int(policy / file))]
        reason = Reason(
            f"The kernel has no {file} here; only some drivers know it.",
            f"On the physical machine: cat /{CPU}/cpufreq/policy0/{file}",
        )
        found[name] = notes.found(
            f"cpu.clock.{name}",
            choose(all_khz) * 1000 if all_khz else None,
            f"{_POLICIES}/{file}",
            notes.because(reason, "which is mostly not told the clock"),
        )
    told = {n: _told(read_text(p / file) for p in policies) for n, (file, _) in _SETTINGS.items()}
    ungoverned = None if told["driver"] else notes.because(_UNGOVERNED, _OF_HOST)
    for name, (file, why) in _SETTINGS.items():
        reason = ungoverned or Reason(why, _ASK)
        found[name] = notes.found(f"cpu.clock.{name}", told[name], f"{_POLICIES}/{file}", reason)
    boost = notes.found("cpu.clock.boost", *_boost(root, policies), ungoverned or _NO_BOOST)
    return Clock(**found, boost=boost)


def _told(texts: Iterable[str | None]) -> str | None:
    """Return what all policies say, or each different text and how many policies say it."""
    counts = Counter(filter(None, texts))
    if len(counts) > 1:
        return ", ".join(f"{text} ({count})" for text, count in counts.most_common())
    return next(iter(counts), None)


def _boost(root: Path, policies: list[Path]) -> tuple[Literal["on", "off", "mixed"] | None, str]:
    """Return whether cores may exceed their base clock, and the source."""
    no_turbo = read_int(root / _NO_TURBO)
    if no_turbo is not None:
        return ("off" if no_turbo else "on"), f"/{_NO_TURBO}"
    own = {read_int(policy / "boost") for policy in policies} - {None}
    if len(own) == 2:
        return "mixed", f"{_POLICIES}/boost"
    switch = read_int(root / _BOOST)
    if own and switch != 0:
        return ("on" if own == {1} else "off"), f"{_POLICIES}/boost"
    return (None if switch is None else "on" if switch else "off"), f"/{_BOOST}"
