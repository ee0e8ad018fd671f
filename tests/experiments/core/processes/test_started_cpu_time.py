"""The time of a run's processes, on a Windows that is made up."""

import ctypes

import pytest

from experiments.core.processes.started_cpu_time import OwnJob

JOB, PROCESS, ACCOUNTING = 11, 33, 1
BYTES = 48  # of JOBOBJECT_BASIC_ACCOUNTING_INFORMATION


class Kernel:
    """The calls of kernel32, with a job that holds what was assigned to it."""

    def __init__(self):
        self.held, self.answer = [], b""

    def CreateJobObjectW(self, *_):
        return JOB

    def GetCurrentProcess(self):
        return PROCESS

    def AssignProcessToJobObject(self, job, process):
        self.held.append((job, process))

    def QueryInformationJobObject(self, job, kind, place, size, _length):
        assert (job, kind, size) == (JOB, ACCOUNTING, BYTES)
        ctypes.memmove(place, self.answer, size)


def test_the_time_of_a_job_is_that_of_user_and_kernel_of_all_its_processes():
    kernel = Kernel()
    job = OwnJob(kernel)
    assert kernel.held == [(JOB, PROCESS)]
    times = b"".join(ticks.to_bytes(8, "little") for ticks in (15_000_000, 2_500_000, 7, 7))
    kernel.answer = times + b"".join(count.to_bytes(4, "little") for count in (5, 3, 2, 0))

    assert job.used_s() == pytest.approx(1.75)
    assert (job.counted().processes, job.counted().living) == (3, 2)
