"""What the processor is vulnerable to, what the kernel does about it, and the microcode.

Source: Documentation/ABI/testing/sysfs-devices-system-cpu of the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from machine.facts import Notes
from machine.record import Record
from machine.system.linux import CPU, entries, read_text

_VULNERABILITIES = f"{CPU}/vulnerabilities"


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
    notes.keep(
        "cpu.vulnerabilities",
        found or None,
        f"/{_VULNERABILITIES}",
        why="The kernel lists no vulnerabilities; Linux does since 4.15.",
        how="spectre-meltdown-checker",
    )
    return found


def read_microcode(root: Path, info: Mapping[str, str], notes: Notes) -> str | None:
    """Return the revision, from `info` of /proc/cpuinfo or from the first processor's folder."""
    own = read_text(root / CPU / "cpu0/microcode/version")
    return notes.keep(
        "cpu.microcode",
        own or info.get("microcode") or None,
        f"/{CPU}/cpu0/microcode/version" if own else "/proc/cpuinfo",
        why="The kernel does not tell it; of Intel's and AMD's processors it mostly does.",
        how="Look at the version of the firmware.",
    )


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
