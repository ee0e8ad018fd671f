"""CPU time of all that this process has started, on Windows, which forgets processes that ended.

A job object tells of each new process, also of those that children start. An open handle still
tells the time of a process that has ended.

Source: "JOBOBJECT_ASSOCIATE_COMPLETION_PORT structure" and "GetProcessTimes function" of Microsoft.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from typing import Any

_NEW_PROCESS = 6  # JOB_OBJECT_MSG_NEW_PROCESS
_TELL_A_PORT = 7  # JobObjectAssociateCompletionPortInformation
_MAY_ASK = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
_FOR_EVER = 0xFFFFFFFF
_TICK_S = 1e-7


class Started:
    """All processes that this one starts from now on. For Windows only."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._handles: list[int] = []
        job, self._port = kernel.CreateJobObjectW(None, None), _port(kernel)
        tells = (ctypes.c_void_p * 2)(None, self._port)
        kernel.SetInformationJobObject(job, _TELL_A_PORT, tells, ctypes.sizeof(tells))
        kernel.AssignProcessToJobObject(job, kernel.GetCurrentProcess())
        threading.Thread(target=self._listen, name="processes", daemon=True).start()

    def used_s(self) -> float:
        """Return the seconds of processor time that they have used, dead or alive."""
        return sum(self._used_s(handle) for handle in list(self._handles))

    def _listen(self) -> None:
        what, key, pid = ctypes.c_ulong(), ctypes.c_void_p(), ctypes.c_void_p()
        places = [ctypes.byref(each) for each in (what, key, pid)]
        while self._kernel.GetQueuedCompletionStatus(self._port, *places, _FOR_EVER):
            if what.value == _NEW_PROCESS and pid.value != os.getpid():
                handle = self._kernel.OpenProcess(_MAY_ASK, False, pid.value)
                if handle:
                    self._handles.append(handle)

    def _used_s(self, handle: int) -> float:
        _created, _ended, system, user = times = [ctypes.c_uint64() for _ in range(4)]
        self._kernel.GetProcessTimes(handle, *map(ctypes.byref, times))
        return (system.value + user.value) * _TICK_S


def _port(kernel: Any) -> Any:
    no_file = ctypes.c_void_p(-1)  # INVALID_HANDLE_VALUE
    return kernel.CreateIoCompletionPort(no_file, None, None, 1)


@functools.cache
def started() -> Started:
    """Return what counts for this process, from the first call on."""
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    handle = ctypes.c_void_p  # ctypes takes results and numbers for 32 bits wide unless told
    gives = kernel.CreateJobObjectW, kernel.CreateIoCompletionPort, kernel.OpenProcess
    for function in (*gives, kernel.GetCurrentProcess):
        function.restype = handle
    kernel.CreateIoCompletionPort.argtypes = (handle, handle, handle, ctypes.c_ulong)
    kernel.SetInformationJobObject.argtypes = (handle, ctypes.c_int, handle, ctypes.c_ulong)
    kernel.AssignProcessToJobObject.argtypes = (handle, handle)
    kernel.GetQueuedCompletionStatus.argtypes = (handle, *(handle,) * 3, ctypes.c_ulong)
    kernel.OpenProcess.argtypes = (ctypes.c_ulong, ctypes.c_int, ctypes.c_ulong)
    kernel.GetProcessTimes.argtypes = (handle, *(handle,) * 4)
    return Started(kernel)
