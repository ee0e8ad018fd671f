"""The threads' places on a Windows that is played: 64 hardware threads in a group, then 32."""

import ctypes

import pytest

from experiments.core.processes.affinity import GroupAffinity, Groups

SIZES = (64, 32)


class Kernel:
    """Acts as kernel32 for a thread's affinity: one group, never an empty mask."""

    def __init__(self):
        self.group, self.mask = 1, 0b101

    def GetActiveProcessorGroupCount(self):
        return len(SIZES)

    def GetActiveProcessorCount(self, group):
        return SIZES[group]

    def GetThreadGroupAffinity(self, _thread, place):
        found = ctypes.cast(place, ctypes.POINTER(GroupAffinity)).contents
        found.mask, found.group = self.mask, self.group
        return 1

    def SetThreadGroupAffinity(self, _thread, place, _before):
        asked = ctypes.cast(place, ctypes.POINTER(GroupAffinity)).contents
        if not asked.mask or asked.mask >> SIZES[asked.group]:
            return 0
        self.group, self.mask = asked.group, asked.mask
        return 1


def test_hardware_threads_are_numbered_on_from_group_to_group():
    assert Groups(Kernel()).allowed() == {64, 66}


@pytest.mark.parametrize("threads", [{0}, {63}, {64}, {95}, {3, 62}, {64, 90}])
def test_a_thread_is_kept_where_it_should_be(threads):
    groups = Groups(Kernel())
    groups.keep_on(threads)

    assert groups.allowed() == threads


@pytest.mark.parametrize("threads", [{96}, {63, 64}, {100_000}])
def test_threads_that_no_group_has_are_refused_and_nothing_changes(threads):
    groups = Groups(Kernel())
    with pytest.raises(OSError, match="hardware threads"):
        groups.keep_on(threads)

    assert groups.allowed() == {64, 66}
