"""Reads the processor's vulnerabilities, the kernel's measures against them, and the microcode.

Source: Documentation/ABI/testing/sysfs-devices-system-cpu of the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from machine.facts import Notes, Reason
from machine.record import Record
from machine.system.linux import CPU, entries, read_text

_VULNERABILITIES = f"{CPU}/vulnerabilities"
_NONE_LISTED = Reason(
    "The kernel lists no vulnerabilities; Linux does since 4.15.", "spectre-meltdown-checker"
)
_NO_MICROCODE = Reason(
    "The kernel does not tell it; of Intel's and AMD's processors it mostly does.",
    "Look at the version of the firmware.",
)


class Protection(Record):
    """Names of vulnerabilities by what the kernel says of them."""

    not_affected: tuple[str, ...]
    mitigated: tuple[str, ...]
    vulnerable: tuple[str, ...]
    unknown: tuple[str, ...]


def read_vulnerabilities(root: Path, notes: Notes) -> dict[str, str]:
    """Return the kernel's words on each known vulnerability."""
    folder = root / _VULNERABILITIES
    found = {name: text for name in entries(folder) if (text := read_text(f"{folder}/{name}"))}
    notes.found("cpu.vulnerabilities", found or None, f"/{_VULNERABILITIES}", _NONE_LISTED)
    return found


def read_microcode(root: Path, info: Mapping[str, str], notes: Notes) -> str | None:
    """Return the revision, from `info` of /proc/cpuinfo or from the first processor's folder."""
    own = read_text(root / CPU / "cpu0/microcode/version")
    source = f"/{CPU}/cpu0/microcode/version" if own else "/proc/cpuinfo"
    return notes.found("cpu.microcode", own or info.get("microcode") or None, source, _NO_MICROCODE)


def protection(vulnerabilities: Mapping[str, str]) -> Protection:
    """Return the vulnerabilities by what the kernel says of them.

    A mitigation that leaves a part open ("Mitigation: ...; SMT vulnerable") counts as one.
    """
    by_start: dict[str, list[str]] = {
        start: [] for start in ("not affected", "mitigation", "vulnerable", "unknown")
    }
    for name, text in vulnerabilities.items():
        said = text.lower().removeprefix("kvm: ")
        start = next((start for start in by_start if said.startswith(start)), "unknown")
        by_start[start].append(name)
    return Protection(
        not_affected=tuple(by_start["not affected"]),
        mitigated=tuple(by_start["mitigation"]),
        vulnerable=tuple(by_start["vulnerable"]),
        unknown=tuple(by_start["unknown"]),
    )
