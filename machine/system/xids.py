"""NVIDIA's Xids: which of them report failing hardware, and which are newer than this list.

Sources, as of November 2026: NVIDIA's "Analyzing Xid Errors with the Xid Catalog" up to Xid 172;
Azure's health checks of nodes, for GPUs up to Volta. The catalog's serious Xids ask to reset the
GPU, to restart the machine or to check its connections. The others mostly report faults of
programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

PAGE = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"
NEWEST = 172
SERIOUS = frozenset(
    (
        *(46, 48, 54, 56, 57, 58, 62, 63, 64, 65, 68, 69, 73, 74, 79, 80, 81, 92, 95),
        *(109, 110, 119, 120, 136, 140, 142, 143, 151, 155, 156, 158),
        *(167, 168, 171, 172),  # without an action yet: by what they are called
    )
)
# NVLink 5 tells of each whether it is fatal; 154 tells what the driver wants to be done.
_FATAL = frozenset(range(144, 151))
_IS_FATAL = re.compile(r"\bfatal\b", re.IGNORECASE)  # not "Nonfatal"
_RECOVERY = 154
_IS_WANTED = re.compile(r"\bto 0x[0-9a-f]+ \((?!none\b)", re.IGNORECASE)


def is_newer(number: int | None) -> bool:
    """Is it newer than this list, so that its seriousness is unknown here?"""
    return number is not None and number > NEWEST


def is_serious(number: int | None, texts: Iterable[str]) -> bool:
    """Does an Xid, with the text of its lines, report failing hardware?"""
    if number in _FATAL:
        return any(map(_IS_FATAL.search, texts))
    if number == _RECOVERY:
        return any(map(_IS_WANTED.search, texts))
    return number in SERIOUS
