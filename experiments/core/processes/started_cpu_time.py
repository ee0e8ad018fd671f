"""CPU time of this process and all that it has started, on Windows, which counts no children.

Source: "JOBOBJECT_BASIC_ACCOUNTING_INFORMATION structure" of Microsoft. LIMIT: Wine counts the
processes of a job right, but no time of theirs.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

_ACCOUNTING = 1  # JobObjectBasicAccountingInformation
_TICK_S = 1e-7


class Accounting(ctypes.Structure):
    """The counts of a job object, of processes that have ended as well."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("user", "kernel", "user_now", "kernel_now")),
        *((name, ctypes.c_uint32) for name in ("faults", "processes", "living", "ended")),
    )


class OwnJob:
    """A job object with this process, and all that it starts from now on."""

    def __init__(self, kernel: Any) -> None:
        self._kernel, self._job = kernel, kernel.CreateJobObjectW(None, None)
        kernel.AssignProcessToJobObject(self._job, kernel.GetCurrentProcess())

    def counted(self) -> Accounting:
        """Return what has been counted so far."""
        counted = Accounting()
        place, size = ctypes.byref(counted), ctypes.sizeof(counted)
        self._kernel.QueryInformationJobObject(self._job, _ACCOUNTING, place, size, None)
        return counted

    def used_s(self) -> float:
        """Return the seconds of processor time that its processes have used in it."""
        counted = self.counted()
        return float(counted.user + counted.kernel) * _TICK_S


@functools.cache
def own_job() -> OwnJob:
    """Return the job object of this process, made at the first call. For Windows only."""
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    handle = ctypes.c_void_p  # ctypes takes results and numbers for 32 bits wide unless told
    kernel.CreateJobObjectW.restype = kernel.GetCurrentProcess.restype = handle
    kernel.AssignProcessToJobObject.argtypes = (handle, handle)
    of_query = (handle, ctypes.c_int, handle, ctypes.c_ulong, handle)
    kernel.QueryInformationJobObject.argtypes = of_query
    return OwnJob(kernel)
