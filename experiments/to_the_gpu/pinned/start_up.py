"""What does a copy cost before its first byte moves? A line through times of many sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StartUp:
    """A copy takes `start_s` and then one second for each `bytes_per_s`."""

    start_s: float
    bytes_per_s: float

    @property
    def half_bytes(self) -> float:
        """Return the size at which half of the time is start-up, and so the rate half as high."""
        return self.start_s * self.bytes_per_s


def start_up(times_s: Mapping[int, float]) -> StartUp | None:
    """Fit t = start + bytes / rate to the time of each size, so that all count by their share.

    None where the sizes are too few, or their times no such line.
    Source: R. W. Hockney's r-infinity and n-half (The Science of Computer Benchmarking, 1996).
    """
    points = [(float(size), took_s) for size, took_s in times_s.items() if took_s > 0]
    weight = sum(t**-2 for _, t in points)
    size = sum(n * t**-2 for n, t in points)
    square = sum(n * n * t**-2 for n, t in points)
    time = sum(1 / t for _, t in points)
    product = sum(n / t for n, t in points)
    spread = weight * square - size * size
    if len(points) < 3 or spread <= 0:
        return None
    start_s = (square * time - size * product) / spread
    s_per_byte = (weight * product - size * time) / spread
    return StartUp(start_s, 1 / s_per_byte) if start_s > 0 and s_per_byte > 0 else None
