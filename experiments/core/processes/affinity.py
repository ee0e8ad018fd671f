"""The hardware threads on which the calling thread may run: asked, and narrowed.

Linux and Windows can; macOS has no such call. Windows numbers hardware threads within groups of up
to 64. This program numbers them on from group to group, as `machine/windows` does.
Source: "Processor Groups" and "GROUP_AFFINITY structure" of Microsoft.
"""

from __future__ import annotations

import bisect
import ctypes
import functools
import itertools
import os
import sys
from collections.abc import Collection
from typing import Any

_MOST_IN_GROUP = 64
_THIS_THREAD = ctypes.c_void_p(-2)  # GetCurrentThread()


class GroupAffinity(ctypes.Structure):
    """Some hardware threads of a group, a bit each."""

    _fields_ = (
        ("mask", ctypes.c_uint64),
        ("group", ctypes.c_uint16),
        ("reserved", ctypes.c_uint16 * 3),
    )


class Groups:
    """The groups of hardware threads of a Windows, and where the calling thread may run.

    LIMIT: from Windows 11 on a thread may have several groups; once kept, it stays in its first.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        groups = range(kernel.GetActiveProcessorGroupCount())
        sizes = [kernel.GetActiveProcessorCount(group) for group in groups]
        self._starts = list(itertools.accumulate(sizes, initial=0))  # the last is the end of all

    def allowed(self) -> set[int]:
        """Return the hardware threads. Raises OSError."""
        found = GroupAffinity()
        if not self._kernel.GetThreadGroupAffinity(_THIS_THREAD, ctypes.byref(found)):
            raise OSError("GetThreadGroupAffinity failed")
        start = self._starts[found.group]
        return {start + bit for bit in range(_MOST_IN_GROUP) if found.mask >> bit & 1}

    def keep_on(self, threads: Collection[int]) -> None:
        """Allow these hardware threads alone. Raises OSError, as where they lie in two groups."""
        group = bisect.bisect_right(self._starts, min(threads)) - 1
        if max(threads) >= self._starts[-1] or max(threads) >= self._starts[group + 1]:
            raise OSError(f"no group has the hardware threads {sorted(threads)}")
        start = self._starts[group]
        asked = GroupAffinity(mask=sum(1 << thread - start for thread in threads), group=group)
        if not self._kernel.SetThreadGroupAffinity(_THIS_THREAD, ctypes.byref(asked), None):
            raise OSError("SetThreadGroupAffinity failed")


def can_keep() -> bool:
    """Can a thread be kept on hardware threads of this system?"""
    return hasattr(os, "sched_setaffinity") or sys.platform == "win32"


def allowed() -> set[int]:
    """Return the hardware threads on which the calling thread may run. Raises OSError."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else _groups().allowed()


def keep_on(threads: Collection[int]) -> None:
    """Keep the calling thread on some hardware threads. Raises OSError if they cannot be had."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, threads)
    else:
        _groups().keep_on(threads)


@functools.cache
def _groups() -> Groups:
    # A library of its own: what is said of its functions holds for no one else.
    return Groups(ctypes.WinDLL("kernel32"))  # type: ignore[attr-defined,unused-ignore]
