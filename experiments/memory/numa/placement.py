"""On which memory node does a buffer lie? Asked of the kernel, after it was written."""

from __future__ import annotations

import re
from pathlib import Path

from experiments.tools.buffers import Buffer

_PAGES = re.compile(r" N(\d+)=(\d+)")


def share_on_node(
    buffer: Buffer, node: int, numa_maps: Path = Path("/proc/self/numa_maps")
) -> float | None:
    """Return the share of a buffer's pages that lie on a node; None where nobody tells."""
    try:
        lines = numa_maps.read_text().splitlines()
    except OSError:
        return None
    starts = [(int(line.split(maxsplit=1)[0], 16), line) for line in lines]
    below = [entry for entry in starts if entry[0] <= int(buffer.address)]
    pages = {int(n): int(count) for n, count in _PAGES.findall(max(below)[1])} if below else {}
    return pages.get(node, 0) / sum(pages.values()) if pages else None
