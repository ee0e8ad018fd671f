"""Evidence from NVIDIA's management library (NVML), asked in its own process.

The process may crash or hang if the driver is broken. A failed call leaves its value None; a GPU
that refuses every call keeps the code of its refusal.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from machine.convert import convert
from machine.devices import Link
from machine.doctor.evidence import GpuProcess, Nvml, NvmlDevice
from machine.facts import Unanswered
from machine.gpus import nvml_child
from machine.gpus.nvml import MOST_GPUS, MOST_INSTANCES, Library, address_of
from machine.system.asking import ask
from machine.system.linux import entries

UNKNOWN = 999  # NVML_ERROR_UNKNOWN
_LINK = ("Generation", "Width")
_TEMPERATURE_OF_GPU, _SLOWDOWN = 0, 1  # of nvmlTemperatureSensors_t, nvmlTemperatureThresholds_t
_GPUS = Path("/proc/driver/nvidia/gpus")
_GONE = (15, 16)  # NVML_ERROR_GPU_IS_LOST, NVML_ERROR_RESET_REQUIRED


def ask_nvml(*, within_s: float | None = None, stop: threading.Event | None = None) -> Nvml:
    """Return NVML's answers. May block; wakes a sleeping GPU. Raises only Stopped."""
    limit_s = nvml_child.within_s(len(entries(_GPUS))) if within_s is None else within_s
    try:
        answer = ask(nvml_child.command(__name__), within_s=limit_s, stop=stop)
    except OSError:
        return Nvml()
    if not answer.lines:
        return Nvml(trouble="silent" if answer.status is None else "crashed")
    try:
        return convert(nvml_child.decoded(answer.lines[-1].encode()), Nvml)
    except (Unanswered, msgspec.ValidationError):
        return Nvml(trouble="odd")


def tell() -> None:
    """Write NVML's answers to standard output, as one line of JSON."""
    import pynvml

    out = nvml_child.own_output()
    nvml_child.send(out, read(pynvml))


def read(library: Library) -> Nvml:
    """Return the library's answers."""
    asked = _Asked(library)
    asked.get("nvmlInit")
    if asked.code:
        return Nvml(code=asked.code)
    cuda = asked.get("nvmlSystemGetCudaDriverVersion_v2")
    driver = asked.get("nvmlSystemGetDriverVersion")
    count = asked.get("nvmlDeviceGetCount") or 0
    if count > MOST_GPUS:
        return Nvml(trouble="odd")
    devices = tuple(_device(library, index) for index in range(count))
    asked.get("nvmlShutdown")
    return Nvml(
        code=0,
        driver=driver,
        cuda=(cuda // 1000, cuda % 1000 // 10) if cuda else None,
        devices=devices,
    )


class _Asked:
    """The library, and the nvmlReturn_t of the last call: 0 for success."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.code = 0

    def get(self, call: str, *arguments: Any) -> Any:
        """Return the answer, None if the call fails."""
        self.code = 0
        try:
            return getattr(self._library, call)(*arguments)
        except self._library.NVMLError as error:
            self.code = int(getattr(error, "value", UNKNOWN))
        except (AttributeError, OSError, ValueError, TypeError):  # older than the call, or nonsense
            self.code = UNKNOWN
        return None


def _device(library: Library, index: int) -> NvmlDevice:
    asked = _Asked(library)
    handle = asked.get("nvmlDeviceGetHandleByIndex", index)
    if asked.code:
        return NvmlDevice(index=index, code=asked.code)
    memory = asked.get("nvmlDeviceGetMemoryInfo", handle)
    code = asked.code if asked.code in _GONE else 0  # despite the handle
    pci = asked.get("nvmlDeviceGetPciInfo_v3", handle)
    mig = asked.get("nvmlDeviceGetMigMode", handle)
    rows = asked.get("nvmlDeviceGetRemappedRows", handle)
    retired = asked.get("nvmlDeviceGetRetiredPagesPendingStatus", handle)
    persistence = asked.get("nvmlDeviceGetPersistenceMode", handle)
    display = asked.get("nvmlDeviceGetDisplayActive", handle)
    fabric_state, fabric_status = _fabric(library, handle)
    is_mig = bool(mig and mig[0])
    return NvmlDevice(
        index=index,
        code=code,
        name=asked.get("nvmlDeviceGetName", handle),
        address=address_of(pci) if pci is not None else None,
        uuid=asked.get("nvmlDeviceGetUUID", handle),
        capability=asked.get("nvmlDeviceGetCudaComputeCapability", handle),
        total_bytes=getattr(memory, "total", None),
        free_bytes=getattr(memory, "free", None),
        gpu_processes=tuple(_gpu_processes(library, handle)),
        is_mig=is_mig,
        is_mig_pending=bool(mig and mig[0] != mig[1]),
        mig_instances=_mig_instances(library, handle) if is_mig else None,
        compute_mode=asked.get("nvmlDeviceGetComputeMode", handle),
        is_persistent=None if persistence is None else bool(persistence),
        drives_display=None if display is None else bool(display),
        fabric_state=fabric_state,
        fabric_status=fabric_status,
        is_remap_pending=bool((rows and rows[2]) or retired),
        has_remap_failed=bool(rows and rows[3]),
        # NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC: since the driver was loaded
        uncorrected_errors=asked.get("nvmlDeviceGetTotalEccErrors", handle, 1, 0),
        link=_link(asked, handle),
        temperature_celsius=asked.get("nvmlDeviceGetTemperature", handle, _TEMPERATURE_OF_GPU),
        slowdown_celsius=asked.get("nvmlDeviceGetTemperatureThreshold", handle, _SLOWDOWN),
    )


def _link(asked: _Asked, handle: Any) -> Link | None:
    """Return the PCIe link. NVML reports the best that card and slot can do together."""
    now, best = (
        [asked.get(f"nvmlDeviceGet{which}PcieLink{what}", handle) for what in _LINK]
        for which in ("Curr", "Max")
    )
    if not now[1] or not best[1]:
        return None
    return Link(
        generation=now[0],
        width=now[1],
        card_generation=best[0],
        card_width=best[1],
        slot_generation=best[0],
        slot_width=best[1],
    )


def _fabric(library: Library, handle: Any) -> tuple[int | None, int | None]:
    """Return state and status of the NVLink fabric (nvmlGpuFabricInfo_v2_t)."""
    asked, record = _Asked(library), getattr(library, "c_nvmlGpuFabricInfo_v2_t", None)
    if record is None:
        return None, None
    info = record()
    asked.get("nvmlDeviceGetGpuFabricInfoV", handle, ctypes.byref(info))
    return (None, None) if asked.code else (int(info.state), int(info.status))


def _mig_instances(library: Library, handle: Any) -> int:
    """Count the MIG instances."""
    asked = _Asked(library)
    found = 0
    for index in range(
        min(asked.get("nvmlDeviceGetMaxMigDeviceCount", handle) or 0, MOST_INSTANCES)
    ):
        asked.get("nvmlDeviceGetMigDeviceHandleByIndex", handle, index)
        found += not asked.code
    return found


def _gpu_processes(library: Library, handle: Any) -> Iterator[GpuProcess]:
    """Yield the processes that hold memory, each once."""
    asked = _Asked(library)
    seen: dict[int, int | None] = {}
    for kind in ("Compute", "Graphics"):
        for process in asked.get(f"nvmlDeviceGet{kind}RunningProcesses_v3", handle) or ():
            seen[process.pid] = process.usedGpuMemory
    for pid, used_bytes in sorted(seen.items(), key=lambda held: -(held[1] or 0)):
        name, user = _who(pid)
        yield GpuProcess(pid=pid, name=name, user=user, used_bytes=used_bytes)


def _who(pid: int) -> tuple[str | None, str | None]:
    import psutil

    try:
        process = psutil.Process(pid)
        return process.name(), process.username()
    except (psutil.Error, KeyError):  # gone, of another container, or of a user without a name
        return None, None
