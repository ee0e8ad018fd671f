"""What the theoretical peaks of a machine are in its JSON, so that they are decoded strictly."""

from __future__ import annotations

from typing import TypedDict


class Peak(TypedDict, total=False):
    """A theoretical peak in one of these units; the last two are those of a way over PCIe."""

    bytes_per_s: float
    flop_per_s: float
    op_per_s: float
    formula: str
    source: str
    way_bytes_per_s: float | None
    limiting_hop: str


class Peaks(TypedDict, total=False):
    """Peaks by kind of part, as `read_peaks` in machine/peaks.py makes them."""

    memory: Peak
    pcie: dict[str, Peak]
    nvlink: dict[str, Peak]
    gpus: dict[str, dict[str, Peak]]
