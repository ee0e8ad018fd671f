"""The time of processes that have ended, on a Windows that is made up."""

import os
import queue
import time

import pytest

from experiments.core.processes.started_cpu_time import Started

NEW, ENDED = 6, 7


class Kernel:
    """The calls of kernel32, for processes of `times_s` seconds by their number."""

    def __init__(self, times_s):
        self.times_s, self.messages, self.job = times_s, queue.SimpleQueue(), []

    def CreateJobObjectW(self, *_):
        return 11

    def CreateIoCompletionPort(self, *_):
        return 22

    def GetCurrentProcess(self):
        return 33

    def SetInformationJobObject(self, job, kind, tells, size):
        self.job.append((job, kind, list(tells), size))

    def AssignProcessToJobObject(self, job, process):
        self.job.append((job, process))

    def GetQueuedCompletionStatus(self, _port, what, _key, pid, _limit):
        got = self.messages.get()
        if got is None:
            return 0
        what._obj.value, pid._obj.value = got  # noqa: SLF001  (what byref refers to)
        return 1

    def OpenProcess(self, _access, _inherits, pid):
        return 1000 + pid if pid in self.times_s else None  # it has ended before

    def GetProcessTimes(self, handle, _created, _ended, system, user):
        of_system, of_user = self.times_s[handle - 1000]
        for place, used_s in ((system, of_system), (user, of_user)):
            place._obj.value = round(used_s * 1e7)  # noqa: SLF001  (what byref refers to)


def test_each_process_that_was_started_counts_once_dead_or_alive():
    kernel = Kernel({1: (0.5, 1.0), 2: (0.0, 0.25), os.getpid(): (9.0, 9.0)})
    started = Started(kernel)
    assert kernel.job == [(11, 7, [None, 22], 16), (11, 33)]
    for message in ((NEW, os.getpid()), (NEW, 1), (ENDED, 1), (NEW, 3), (NEW, 2), None):
        kernel.messages.put(message)

    end_s = time.monotonic() + 5
    while started.used_s() < 1.75 and time.monotonic() < end_s:
        time.sleep(0.01)
    assert started.used_s() == pytest.approx(1.75)
