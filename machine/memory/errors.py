"""Memory errors that the kernel has counted (EDAC), of each controller and module.

Source: Documentation/admin-guide/RAS/main.rst of the kernel.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from machine.facts import Reason, lacking
from machine.model import Missing
from machine.record import Record
from machine.system.linux import confined, entries, exists, numbered, read_int, read_text
from machine.text import plain

_EDAC = "sys/devices/system/edac"
_HOW = "sudo dmesg | grep -i edac; sudo dmidecode --type 16 tells whether the memory has ECC."
_NO_DRIVER = Reason(
    "The kernel watches no memory controller: none of its drivers (EDAC) is in use.", _HOW
)
_VIRTUAL = Reason(
    "A virtual machine is not told of memory errors: its host counts them.",
    "grep . /sys/devices/system/edac/mc/mc*/*_count, on the host.",
)
_NO_EDAC = Reason("This system shows no counters of memory errors (EDAC).", _HOW)
_ELSEWHERE = {
    "win32": Reason(
        "Windows counts no memory errors for programs; it logs those that hardware reports.",
        "Event Viewer, Windows Logs, System: WHEA-Logger.",
    ),
    "darwin": Reason(
        "macOS counts no memory errors for programs.",
        "Apple Diagnostics, which tests the memory as the Mac starts.",
    ),
}
_UNKNOWN_SYSTEM = Reason(
    "Coreopsis does not know how this system counts memory errors.",
    "Look into the manual of this system.",
)
_UNREADABLE = Reason("This controller does not tell its counts to this user.", _HOW)


class ModuleErrors(Record):
    """Errors of one memory module; `label` is the slot as the board or its driver names it."""

    label: str | None = None
    corrected: int | None = None
    uncorrected: int | None = None


class ControllerErrors(Record):
    """Errors of one memory controller within the last `since_s` seconds, all modules together."""

    number: int
    name: str | None = None
    corrected: int | None = None
    uncorrected: int | None = None
    since_s: int | None = None
    modules: tuple[ModuleErrors, ...] = ()


class MemoryErrors(Record):
    """Counts since the driver was loaded; `corrected` and `uncorrected` are of all controllers."""

    corrected: int | None = None
    uncorrected: int | None = None
    controllers: tuple[ControllerErrors, ...] = ()
    missing: tuple[Missing, ...] = ()


def read_memory_errors(root: Path | None = None, *, is_virtual: bool = False) -> MemoryErrors:
    """Return the counts of this machine, or of the machine recorded below `root`."""
    if root is None and sys.platform != "linux":
        return _unknown(_ELSEWHERE.get(sys.platform, _UNKNOWN_SYSTEM))
    with confined(root):
        top = (root or Path("/")) / _EDAC
        found = tuple(_controller(top / f"mc/mc{n}", n) for n in numbered(top / "mc", "mc"))
        if not found:
            if is_virtual:
                return _unknown(_VIRTUAL)
            return _unknown(_NO_DRIVER if exists(top) else _NO_EDAC)
    counts = dict.fromkeys(("corrected", "uncorrected"), _UNREADABLE)
    silent = tuple(
        missing
        for place, controller in enumerate(found)
        for missing in lacking(f"controllers[{place}]", [controller], counts)
    )
    return MemoryErrors(
        corrected=_sum(controller.corrected for controller in found),
        uncorrected=_sum(controller.uncorrected for controller in found),
        controllers=found,
        missing=silent,
    )


def _unknown(reason: Reason) -> MemoryErrors:
    return MemoryErrors(missing=(reason.of("controllers"),))


def _controller(folder: Path, number: int) -> ControllerErrors:
    modules = [
        _module(folder / name, "dimm")
        for name in entries(folder)
        if re.fullmatch(r"(?:dimm|rank)\d+", name)
    ]
    if not modules:  # before Linux 3.6
        modules = [
            _module(row, channel.removesuffix("_ce_count"))
            for row in (folder / name for name in entries(folder) if name.startswith("csrow"))
            for channel in entries(row)
            if re.fullmatch(r"ch\d+_ce_count", channel)
        ]
    return ControllerErrors(
        number=number,
        name=_name(folder / "mc_name"),
        corrected=read_int(folder / "ce_count"),
        uncorrected=read_int(folder / "ue_count"),
        since_s=read_int(folder / "seconds_since_reset"),
        modules=tuple(modules),
    )


def _module(folder: Path, prefix: str) -> ModuleErrors:
    label = "dimm_label" if prefix == "dimm" else f"{prefix}_dimm_label"
    return ModuleErrors(
        label=_name(folder / label),
        corrected=read_int(folder / f"{prefix}_ce_count"),
        uncorrected=read_int(folder / f"{prefix}_ue_count"),
    )


def _name(file: Path) -> str | None:
    return plain(read_text(file) or "") or None


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
