"""Environment variables that choose or hide devices."""

from __future__ import annotations

import re
from collections.abc import Sequence

from machine.doctor.evidence import Evidence, Vendor

_CHOOSERS: dict[Vendor | None, tuple[str, ...]] = {
    Vendor.NVIDIA: ("CUDA_VISIBLE_DEVICES",),
    Vendor.AMD: ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"),
    Vendor.INTEL: ("ZE_AFFINITY_MASK", "ONEAPI_DEVICE_SELECTOR"),
}


def choosers(evidence: Evidence, vendor: Vendor | None) -> list[str]:
    """Return the variables that are set and choose devices of a vendor."""
    around = evidence.surroundings.environment
    return [name for name in _CHOOSERS.get(vendor, ()) if name in around]


def hidden_by(evidence: Evidence, vendor: Vendor | None) -> str | None:
    """Return the variable that hides all devices; None if PyTorch finds one."""
    if evidence.torch_devices:
        return None
    for name in choosers(evidence, vendor):
        if vendor is Vendor.INTEL:
            hides = evidence.has_failed  # a language of its own; blamed if nothing was found
        else:
            value = evidence.surroundings.environment[name]
            hides = _devices_left(evidence, vendor, value) == 0
        if hides:
            return name
    return None


def _devices_left(evidence: Evidence, vendor: Vendor | None, value: str) -> int | None:
    if vendor is Vendor.NVIDIA:
        held = [c for c in evidence.cards_of(vendor) if c.driver == "nvidia"]
        count = len(evidence.gpus) or len(held) or None  # NVML does not list sleeping ones
        return visible_count(value, count, [gpu.uuid for gpu in evidence.gpus if gpu.uuid])
    return visible_count(value, len(evidence.amd) or None)


def visible_count(value: str, count: int | None, uuids: Sequence[str] = ()) -> int | None:
    """Return how many devices CUDA_VISIBLE_DEVICES leaves, None if that is unknown.

    The first device that does not exist hides itself and all that follow. A UUID may be shortened
    if it stays unique. Source: CUDA C++ Programming Guide, CUDA environment variables.
    """
    seen = 0
    for each in value.split(",") if value.strip() else ():
        name = each.strip()
        if re.fullmatch(r"[+-]?\d+", name):
            if int(name) < 0 or (count is not None and int(name) >= count):
                break
        elif name.startswith("GPU-"):
            if uuids and sum(uuid.startswith(name) for uuid in uuids) != 1:
                break
        elif name.startswith("MIG"):
            return None
        else:
            break
        seen += 1
    return seen
