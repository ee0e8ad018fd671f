"""GPUs of a Mac, as `system_profiler` lists them.

LIMIT: follows published answers of M1 to M4 and of Intel Macs; not yet tested on a Mac.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from machine.facts import Facts, Reason, Unanswered
from machine.system.asking import output

COMMAND = ("/usr/sbin/system_profiler", "SPDisplaysDataType", "-json")
_ANSWER_WITHIN_S = 10.0
_SAID = "system_profiler SPDisplaysDataType"
_VENDORS = ("Apple", "AMD", "Intel", "NVIDIA")
_UNITS = {"MB": 2**20, "GB": 2**30}
_NO_ANSWER = Reason("system_profiler did not answer.", " ".join(COMMAND))
_NO_METAL = Reason("The system does not say that Metal supports this GPU.", " ".join(COMMAND))


def read(memory_bytes: int | None, run: Callable[..., str] = output) -> list[Facts]:
    """Return the GPUs of this Mac, which share its memory. Raises Unanswered."""
    try:
        told = json.loads(run(*COMMAND, within_s=_ANSWER_WITHIN_S))["SPDisplaysDataType"]
        return [_read(entry, memory_bytes) for entry in told]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unanswered(_NO_ANSWER) from None


def _read(entry: Mapping[str, Any], memory_bytes: int | None) -> Facts:
    gpu = Facts()
    name = str(entry.get("sppci_model") or entry.get("_name") or "")
    is_apple = "apple" in f"{entry.get('spdisplays_vendor', '')} {name}".lower()
    if name:
        gpu.keep("name", name, _SAID)
    said = str(entry.get("spdisplays_vendor", "")).lower()  # "sppci_vendor_Apple", "AMD (0x1002)"
    vendor = next((vendor for vendor in _VENDORS if vendor.lower() in said), None)
    if vendor or is_apple:
        gpu.keep("vendor", vendor or "Apple", _SAID)
    if "metal" in json.dumps(entry).lower():
        gpu.keep("torch_backend", "mps", f"{_SAID}: it supports Metal")
    else:
        gpu.lack("torch_backend", _NO_METAL)
    if (cores := str(entry.get("sppci_cores", ""))).isdecimal():
        gpu.keep("sms", int(cores), _SAID)
    gpu.keep("visible", True, "macOS hides no GPU from programs")
    memory = re.fullmatch(r"(\d+) (MB|GB)", str(entry.get("spdisplays_vram", "")))
    if memory:
        gpu.keep("memory_bytes", int(memory[1]) * _UNITS[memory[2]], _SAID)
        gpu.keep("unified_memory", False, _SAID)
    elif is_apple or "spdisplays_vram_shared" in entry:
        gpu.keep("unified_memory", True, _SAID)
        if memory_bytes:
            gpu.keep("memory_bytes", memory_bytes, "the machine's memory, which the GPU shares")
    return gpu
