"""Calls NVIDIA's management library (NVML) and explains its errors.

Every call may fail at any time: not supported by this GPU, not allowed, GPU fallen off the bus.
Unanswered is raised with the meaning of the failure and what to do.

LIMIT: an open library keeps a laptop's GPU awake; see reason_not_to_ask in machine/gpus/nvidia.py.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterator
from typing import Any, Protocol

from machine.facts import Reason, Unanswered

NOT_SUPPORTED, INVALID_ARGUMENT, NOT_FOUND, FUNCTION_NOT_FOUND, LOST = 3, 2, 6, 13, 15
DENIED = 17

_DOCTOR = "coreopsis doctor"
# By the numbers of nvmlReturn_t in nvml.h.
REASONS = {
    INVALID_ARGUMENT: Reason(
        "The driver does not understand the question; it is older or newer than expected.",
        "Update NVIDIA's driver.",
    ),
    NOT_SUPPORTED: Reason(
        "The driver does not support this for this GPU.", "nvidia-smi -q shows what it supports."
    ),
    4: Reason("The driver does not allow this to this user.", "sudo nvidia-smi -q"),
    NOT_FOUND: Reason("The driver does not find what was asked for.", "nvidia-smi -q"),
    8: Reason(
        "The GPU gets no power from its own cables.",
        "Shut the machine down, and look at the power cables of the card.",
    ),
    9: Reason("The driver is installed, but the kernel has not loaded it.", _DOCTOR),
    10: Reason("The driver did not answer in time.", "Try again; sudo dmesg | grep NVRM"),
    11: Reason("The kernel gets no interrupts from the GPU.", "sudo dmesg | grep NVRM"),
    12: Reason("NVIDIA's library (libnvidia-ml) cannot be loaded here.", _DOCTOR),
    FUNCTION_NOT_FOUND: Reason("This driver is too old to tell.", "Update NVIDIA's driver."),
    14: Reason("The memory with the card's own description is damaged.", "Ask the card's maker."),
    LOST: Reason(
        "The GPU has fallen off the bus: the driver cannot reach it any more.",
        "Restart the machine. If it happens again: sudo dmesg | grep Xid",
    ),
    16: Reason(
        "The GPU must be reset before it answers again.",
        "coreopsis doctor says how.",
    ),
    DENIED: Reason(
        "The system denies access to the GPU.",
        "ls -l /dev/nvidia*",
    ),
    18: Reason(
        "The driver in the kernel and its library have different versions, as after an update.",
        "Restart the machine.",
    ),
    21: Reason("The driver has no data on this yet.", "Try again."),
}
_WSL = Reason(
    "Windows passes this on to no program inside of WSL.", "Run nvidia-smi in Windows itself."
)
_WSL_BLOCKS = Reason(
    "Windows does not let this WSL use the GPU.",
    "wsl --update in Windows, where its driver is updated too.",
)
_NO_BINDING = Reason(
    "The Python package nvidia-ml-py is not installed.", "pip install nvidia-ml-py"
)
ODD = Reason("The driver's answer makes no sense.", "nvidia-smi -q")
MOST_GPUS, MOST_INSTANCES, MOST_BYTES = 1024, 64, 2**50  # a library that tells more lies
_HIGHEST_BUS, _HIGHEST_DOMAIN = 0xFF, 2**31  # Hyper-V makes up domains
# The union of nvmlFieldValue_t by nvmlValueType_t.
_FIELD_TYPES = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")


class Library(Protocol):
    """Pynvml, or a stand-in for tests; its functions are looked up by name."""

    NVMLError: type[Exception]  # with the number of the failure as `value`


def load() -> Library:
    """Return pynvml. Raises Unanswered if the package or NVIDIA's library is missing."""
    if sys.platform != "win32":  # on Windows, only pynvml knows where the library is
        try:
            ctypes.CDLL("libnvidia-ml.so.1")  # a miss is faster than importing pynvml
        except OSError:
            raise Unanswered(REASONS[12]) from None
    try:
        import pynvml
    except ImportError:
        raise Unanswered(_NO_BINDING) from None
    library: Library = pynvml
    return library


class Nvml:
    """The library between its start and its close."""

    def __init__(self, library: Library, *, is_wsl: bool = False) -> None:
        """Start the library; this wakes a sleeping GPU. Raises Unanswered."""
        self._library, self._is_wsl = library, is_wsl
        self.ask("nvmlInit")

    def close(self) -> None:
        """Release the GPUs."""
        with contextlib.suppress(Unanswered):  # the GPU is lost: there is nothing left to close
            self.ask("nvmlShutdown")

    def ask(self, call: str, *arguments: Any) -> Any:
        """Call NVML and return its answer. Raises Unanswered."""
        try:
            return getattr(self._library, call)(*arguments)
        except self._library.NVMLError as error:
            raise Unanswered(self._reason(error)) from error
        except AttributeError as error:  # pynvml is older than the call
            raise Unanswered(REASONS[FUNCTION_NOT_FOUND]) from error
        except (OSError, ValueError) as error:  # a crash on Windows; invalid text
            raise Unanswered(ODD) from error

    def ask_positive(self, call: str, *arguments: Any) -> int:
        """Return a number; some drivers answer 0 for "unknown". Raises Unanswered."""
        value: int = self.ask(call, *arguments)
        if value <= 0:
            raise Unanswered(REASONS[NOT_SUPPORTED])
        return value

    def field(self, gpu: Any, number: int, scope: int = 0) -> int:
        """Return a field value (NVML_FI_DEV_...); `scope` is a link's number. Raises Unanswered."""
        (found,) = self.ask("nvmlDeviceGetFieldValues", gpu, [(number, scope)])
        if found.nvmlReturn:
            raise Unanswered(REASONS.get(found.nvmlReturn, ODD))
        try:
            return int(getattr(found.value, _FIELD_TYPES[found.valueType]))
        except (IndexError, ValueError):
            raise Unanswered(ODD) from None

    def gpus(self) -> Iterator[Any | Reason]:
        """Yield the handle of each GPU, or the reason why it has none."""
        count = self.ask("nvmlDeviceGetCount")
        if count > MOST_GPUS:
            raise Unanswered(ODD)
        for index in range(count):
            try:
                yield self.ask("nvmlDeviceGetHandleByIndex", index)
            except Unanswered as error:
                yield error.reason

    def _reason(self, error: Exception) -> Reason:
        number = getattr(error, "value", None)
        if self._is_wsl and number == NOT_SUPPORTED:
            return _WSL
        if self._is_wsl and number == DENIED:
            return _WSL_BLOCKS
        return REASONS.get(number or 0) or Reason(
            f"The driver failed: {error}.", "sudo dmesg | grep NVRM"
        )


def address_of(info: Any) -> str | None:
    """Return the PCI address as the kernel writes it; a GPU is always function 0.

    NVML pads the domain to eight digits. WSL and some virtual machines hide the address.
    """
    if info.bus > _HIGHEST_BUS or info.domain > _HIGHEST_DOMAIN:
        return None
    return f"{info.domain:04x}:{info.bus:02x}:{info.device:02x}.0"


def is_lost(reason: Reason) -> bool:
    """Is the whole GPU gone, not only one answer?"""
    return reason == REASONS[LOST]


def is_refusal(reason: Reason) -> bool:
    """Does the driver say that this does not exist, not that it cannot tell now?"""
    return reason in (REASONS[NOT_SUPPORTED], REASONS[INVALID_ARGUMENT], REASONS[NOT_FOUND])
