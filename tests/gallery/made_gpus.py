"""GPUs that are not there, as samples and as parts of a machine. Nothing of it was measured."""

from __future__ import annotations

import math
from typing import Any, Literal

from machine.devices import Gpu, Link, NvLink
from machine.live.gpu_samples import NAMES

GIB = 2**30
Kind = Literal["none", "one", "pair", "eight", "asleep", "lost"]

_COUNTS: dict[Kind, int] = {"none": 0, "one": 1, "pair": 2, "eight": 8, "asleep": 1, "lost": 2}
_GEN5 = Link(
    generation=5,
    width=16,
    card_generation=5,
    card_width=16,
    slot_generation=5,
    slot_width=16,
    peak_bytes_per_s=63.0e9,
)
_LOST = "The GPU has fallen off the bus while it was being watched."
_LOST_HOW = "Restart the machine. If it happens again: sudo dmesg | grep Xid"
_LOST_FROM_S = 20.0
_AWAKE_FROM_S = 40.0
_XID = "Errors that the driver numbers (Xid) stand in the kernel's log, which only root may read."


def parts(kind: Kind) -> tuple[Gpu, ...]:
    """Return the GPUs as inspection would."""
    links = tuple(NvLink(number=n, state="active", bytes_per_s=25e9) for n in range(18))
    return tuple(
        Gpu(
            index=index,
            vendor="NVIDIA",
            name="Made-up GPU",
            memory_bytes=_memory_gib(kind) * GIB,
            pci_address=f"0000:{0x10 + index:02x}:00.0",
            link=_GEN5,
            nvlinks=links if kind == "eight" else (),
        )
        for index in range(_COUNTS[kind])
    )


def gpus(kind: Kind, t_s: float) -> list[dict[str, Any]]:
    """Return what a sample at a time says of them."""
    return [_gpu(kind, index, t_s) for index in range(_COUNTS[kind])]


def missing(kind: Kind, t_s: float) -> list[dict[str, str]]:
    """Return why it does not say the rest."""
    count = _COUNTS[kind]
    if not count:
        return []
    found = [{"what": "gpus[*].xid", "why": _XID, "how": "sudo dmesg | grep Xid"}]
    if kind == "lost" and t_s >= _LOST_FROM_S:
        found += [
            {"what": f"gpus[{count - 1}].{name}", "why": _LOST, "how": _LOST_HOW} for name in NAMES
        ]
    return found


def _gpu(kind: Kind, index: int, t_s: float) -> dict[str, Any]:
    gpu: dict[str, Any] = {
        "index": index,
        "pci_address": f"0000:{0x10 + index:02x}:00.0",
        "state": "awake",
        **dict.fromkeys(NAMES),
    }
    if kind == "asleep" and t_s < _AWAKE_FROM_S:
        return gpu | {"state": "asleep"}
    if kind == "lost" and index == _COUNTS[kind] - 1 and t_s >= _LOST_FROM_S:
        return gpu | {"state": "lost"}
    is_idle = index > 0 and kind != "eight"
    wave = 0.0 if is_idle else 0.5 + 0.5 * math.sin(t_s / 4 + index)
    total = _memory_gib(kind) * GIB
    limit = 700.0 if kind == "eight" else 575.0
    return gpu | {
        "busy": 0.0 if is_idle else round(0.9 + 0.1 * wave, 2),
        "memory_busy": round(0.4 * wave, 2),
        "memory_used_bytes": 640 * 2**20 if is_idle else round(total * (0.6 + 0.1 * wave)),
        "memory_total_bytes": total,
        "sm_hz": 210_000_000 if is_idle else round((1.7 + 0.2 * wave) * 1e9),
        "power_watts": 24.0 if is_idle else round(limit * (0.5 + 0.45 * wave), 1),
        "power_limit_watts": limit,
        "temperature_celsius": 38.0 if is_idle else round(58 + 9 * wave),
        "clock_reasons": _reasons(wave, is_idle=is_idle, is_hot=kind == "eight" and index == 5),
        "pcie_received_bytes_per_s": 0.0 if is_idle else 3.1e9 * (0.7 + 0.3 * wave),
        "pcie_sent_bytes_per_s": 0.0 if is_idle else 0.2e9 * (0.6 + 0.4 * wave),
        "pcie_generation": 1 if is_idle else 5,
        "pcie_width": 16,
        "nvlink_received_bytes_per_s": 180e9 * wave if kind == "eight" else None,
        "nvlink_sent_bytes_per_s": 175e9 * wave if kind == "eight" else None,
        "ecc_corrected": 0,
        "ecc_uncorrected": 2 if kind == "eight" and index == 6 else 0,
        "remapped_rows": 0,
        "remapping_pending": False,
        "remapping_failed": False,
        "pcie_replays": 3 if kind == "pair" and index == 0 else 0,
        "processes": _processes(index, t_s, is_idle=is_idle),
    }


def _memory_gib(kind: Kind) -> int:
    return 80 if kind == "eight" else 32


def _reasons(wave: float, *, is_idle: bool, is_hot: bool) -> list[dict[str, str]]:
    if is_idle:
        return [{"key": "clock_reasons.idle", "severity": "information"}]
    if is_hot:
        return [{"key": "clock_reasons.software_thermal", "severity": "warning"}]
    return [{"key": "clock_reasons.power_cap", "severity": "limit"}] if wave > 0.9 else []


def _processes(index: int, t_s: float, *, is_idle: bool) -> list[dict[str, Any]]:
    return [
        {
            "pid": 48213 + 17 * index,
            "memory_bytes": 600 * 2**20 if is_idle else 22 * GIB,
            "kind": "compute",
            "user": "ada" if index < 3 else "grace",
            "age_s": (3 * 86400.0 if is_idle else 720.0) + t_s,
            "command": "python train.py" if is_idle else "python train.py --amp --epochs 90",
        }
    ]
