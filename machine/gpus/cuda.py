"""GPUs as CUDA's driver library sees them, asked in a child process.

CUDA needs a child: a process that has started it cannot fork any more, keeps the GPU awake, and
crashes with the driver. The child starts the library (cuInit) and reads attributes. This takes no
GPU memory; only a context would. Run as a program, this file is that child. It needs only the
standard library.

Source: CUDA Driver API, "Device Management" and "Peer Context Memory Access".
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

ANSWER_WITHIN_S = 20.0  # eight GPUs without persistence take several seconds to wake
_GRACE_S = 1.0  # for a killed child to end; after that it is abandoned
_VISIBLE = "CUDA_VISIBLE_DEVICES"
# CUdevice_attribute
_ATTRIBUTES = {
    "sms": 16,
    "pci_bus": 33,
    "pci_device": 34,
    "memory_bus_bits": 37,
    "l2_bytes": 38,
    "is_integrated": 18,
    "pci_domain": 50,
    "major": 75,
    "minor": 76,
}
_ERRORS = {
    35: "CUDA is newer than the driver.",
    100: "CUDA finds no GPU that it may use.",
    101: "CUDA finds no GPU that it may use.",
    802: "The GPUs are not ready: CUDA waits until somebody has set up their switches.",
    803: "The driver in the kernel and its library have different versions, as after an update.",
    804: "The driver's compatibility package does not fit this GPU.",
    999: "CUDA failed to start without saying why; after sleep, reloading nvidia-uvm often helps.",
}


class CudaGpu(NamedTuple):  # the child has the standard library alone
    """A GPU as CUDA sees it. `peers` are the addresses of GPUs whose memory it can access."""

    address: str
    uuid: str
    name: str
    memory_bytes: int
    sms: int
    l2_bytes: int
    memory_bus_bits: int
    compute_capability: str
    is_integrated: bool
    peers: tuple[str, ...]


class Cuda(NamedTuple):
    """CUDA's answers, or `why` there are none.

    `visible` are the addresses of the GPUs that a program started from here sees, None if unknown.
    """

    gpus: tuple[CudaGpu, ...] = ()
    visible: frozenset[str] | None = None
    why: str | None = None


class PendingAnswer(NamedTuple):
    """The running children."""

    children: list[subprocess.Popen[str]]

    def answer(self, within_s: float | None = None) -> Cuda:
        """Wait for the children's answers; may block for ANSWER_WITHIN_S, or `within_s`."""
        limit_s = ANSWER_WITHIN_S if within_s is None else within_s
        said = [_answer(child, limit_s) for child in self.children]
        everything, as_here = said[0], said[-1]
        if isinstance(everything, str):
            return Cuda(why=everything)
        # "No GPU to use" means that none is visible; other failures mean nothing.
        seen = [] if as_here in (_ERRORS[100], _ERRORS[101]) else as_here
        return Cuda(
            gpus=tuple(CudaGpu(**{**gpu, "peers": tuple(gpu["peers"])}) for gpu in everything),
            visible=None if isinstance(seen, str) else frozenset(gpu["address"] for gpu in seen),
        )


def start() -> PendingAnswer:
    """Start the children: one for all GPUs, one for those that CUDA_VISIBLE_DEVICES leaves."""
    everything = {name: value for name, value in os.environ.items() if name != _VISIBLE}
    as_here = [dict(os.environ)] if _VISIBLE in os.environ else []
    return PendingAnswer([_child(environment) for environment in (everything, *as_here)])


def _child(environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _answer(child: subprocess.Popen[str], limit_s: float) -> list[dict[str, Any]] | str:
    """Return a child's GPUs, or a sentence why there are none."""
    try:
        said, _ = child.communicate(timeout=limit_s)
        answer: list[dict[str, Any]] | str = json.loads(said)
    except subprocess.TimeoutExpired:
        child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a broken driver may hold it
            child.communicate(timeout=_GRACE_S)
        return f"CUDA did not answer within {limit_s:.0f} seconds."
    except ValueError:
        return "CUDA's driver library crashed when it was asked."
    return answer


# --- in the child ---------------------------------------------------------------------------------


class _Failed(Exception):
    """A call of the driver failed with this number."""


def ask() -> list[dict[str, Any]] | str:
    """Return the GPUs, or a sentence why there are none; to be called in a child only."""
    try:
        return _devices(ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"))
    except OSError:
        return "CUDA's driver library (libcuda) cannot be loaded here."
    except AttributeError:
        return "CUDA's driver library is too old to be asked."
    except _Failed as error:
        (number,) = error.args
        return _ERRORS.get(number, f"CUDA failed with error {number}.")


def _devices(cuda: ctypes.CDLL) -> list[dict[str, Any]]:
    _check(cuda.cuInit(0))
    devices = [_number(cuda.cuDeviceGet, n) for n in range(_number(cuda.cuDeviceGetCount))]
    addresses = {device: _address(cuda, device) for device in devices}
    return [_describe(cuda, device, addresses) for device in devices]


def _describe(cuda: ctypes.CDLL, device: int, addresses: dict[int, str]) -> dict[str, Any]:
    name, uuid = ctypes.create_string_buffer(256), (ctypes.c_ubyte * 16)()
    memory = ctypes.c_size_t()
    _check(cuda.cuDeviceGetName(name, len(name), device))
    _check(cuda.cuDeviceGetUuid(uuid, device))
    _check(cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device))
    digits = bytes(uuid).hex()
    groups = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return {
        "address": addresses[device],
        "uuid": f"GPU-{'-'.join(groups)}",
        "name": name.value.decode(errors="replace"),
        "memory_bytes": memory.value,
        "sms": _attribute(cuda, "sms", device),
        "l2_bytes": _attribute(cuda, "l2_bytes", device),
        "memory_bus_bits": _attribute(cuda, "memory_bus_bits", device),
        "compute_capability": ".".join(
            str(_attribute(cuda, part, device)) for part in ("major", "minor")
        ),
        "is_integrated": bool(_attribute(cuda, "is_integrated", device)),
        "peers": [
            addresses[other]
            for other in addresses
            if other != device and _number(cuda.cuDeviceCanAccessPeer, device, other)
        ],
    }


def _address(cuda: ctypes.CDLL, device: int) -> str:
    domain, bus, slot = (
        _attribute(cuda, part, device) for part in ("pci_domain", "pci_bus", "pci_device")
    )
    return f"{domain:04x}:{bus:02x}:{slot:02x}.0"


def _attribute(cuda: ctypes.CDLL, name: str, device: int) -> int:
    return _number(cuda.cuDeviceGetAttribute, _ATTRIBUTES[name], device)


def _number(function: Any, *arguments: int) -> int:
    """Return what the function writes through its first argument. Raises _Failed."""
    value = ctypes.c_int()
    _check(function(ctypes.byref(value), *arguments))
    return value.value


def _check(result: int) -> None:
    if result:
        raise _Failed(result)


if __name__ == "__main__":
    print(json.dumps(ask()))  # noqa: T201  (it is how the child answers)
