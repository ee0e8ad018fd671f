"""Memory that is really there: mapped with the page size asked for, every page written.

`numpy.empty` would not do: its pages may all be one shared page of zeros. From 4 MiB on it silently
asks for huge pages.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
from collections.abc import Iterator
from typing import Any

from experiments.core.declare import Note
from experiments.core.sizes import MIB

HUGE_PAGE_BYTES = 2 * MIB
GIVEN = 0.9  # of the memory; the rest does not fill a huge page


class Buffer:
    """`size_bytes` of private memory, aligned to 2 MiB; pages of 4 KiB unless `huge`.

    `words` is its view as uint64, `address` its start. Only this object keeps the memory alive.
    """

    def __init__(self, size_bytes: int, *, huge: bool = False) -> None:
        """Map and write every page. Raises MemoryError where there is not enough."""
        import numpy as np

        try:
            self._map = mmap.mmap(-1, size_bytes + HUGE_PAGE_BYTES, **_private())
        except OSError as error:
            raise MemoryError(f"{size_bytes} bytes") from error
        if sys.platform == "linux":
            with contextlib.suppress(OSError):  # a kernel without huge pages has only small ones
                self._map.madvise(mmap.MADV_HUGEPAGE if huge else mmap.MADV_NOHUGEPAGE)
        whole = np.frombuffer(self._map, dtype=np.uint8)
        start = -whole.ctypes.data % HUGE_PAGE_BYTES
        self.words = whole[start : start + size_bytes].view(np.uint64)
        self.words.fill(1)
        self.address = np.uint64(self.words.ctypes.data)
        self.size_bytes = size_bytes

    def part(self, size_bytes: int, turn: int) -> tuple[Any, int]:
        """Return (`size_bytes` of the buffer as uint64, their address); another part each turn.

        The physical pages of a small set decide how well it fits a cache, and they are luck.
        Several turns even that out.
        """
        places = (self.size_bytes - size_bytes) // HUGE_PAGE_BYTES + 1
        start = turn % places * HUGE_PAGE_BYTES
        return self.words[start // 8 : (start + size_bytes) // 8], int(self.address) + start


class Untouched:
    """New private memory, aligned to 2 MiB, of which nothing was touched; a context."""

    _map: mmap.mmap
    _address: int

    def __init__(self, size_bytes: int, *, huge: bool) -> None:
        if sys.platform != "win32":
            import numpy as np

            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
            self._map = mmap.mmap(-1, size_bytes + HUGE_PAGE_BYTES, flags=flags)
            if sys.platform == "linux" and hasattr(mmap, "MADV_HUGEPAGE"):
                self._map.madvise(mmap.MADV_HUGEPAGE if huge else mmap.MADV_NOHUGEPAGE)
            start = int(np.frombuffer(self._map, np.uint8).ctypes.data)
            self._address = start + -start % HUGE_PAGE_BYTES

    def __enter__(self) -> int:
        return self._address

    def __exit__(self, *_: object) -> None:
        self._map.close()


def huge_pages_fraction(buffer: Buffer) -> float | None:
    """Return the share of a buffer on huge pages; None where the system does not say."""
    address = int(buffer.address)
    inside = False
    try:
        with open("/proc/self/smaps") as file:
            for line in file:
                words = line.split()
                if "-" in words[0] and not words[0].endswith(":"):
                    start, _, end = words[0].partition("-")
                    inside = int(start, 16) <= address < int(end, 16)
                elif inside and words[0] == "AnonHugePages:":
                    return min(1.0, int(words[1]) * 1024 / buffer.size_bytes)
    except (OSError, ValueError):
        pass
    return None


def huge_pages_told(on_huge_fraction: float | None) -> Iterator[Note]:
    """Yield whether the system gave the huge pages asked for; nothing where it does not say."""
    if on_huge_fraction is not None:
        key = "huge_pages_given" if on_huge_fraction >= GIVEN else "huge_pages_refused"
        yield Note(key, {"on_huge_fraction": on_huge_fraction})


def _private() -> dict[str, Any]:
    told: dict[str, Any] = {}
    if sys.platform != "win32":
        told["flags"] = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return told
