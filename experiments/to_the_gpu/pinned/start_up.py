"""The start-up cost of a copy before its first byte moves, from a line through many sizes."""

from __future__ import annotations

from collections.abc import Mapping

from machine.record import Record


class StartUp(Record, kw_only=False):
    """A copy takes `start_s`, then one second for each `bytes_per_s`."""

    start_s: float
    bytes_per_s: float

    @property
    def half_bytes(self) -> float:
        """Return the size whose time is half start-up, so its rate is half."""
        return self.start_s * self.bytes_per_s


def start_up(times_s: Mapping[int, float]) -> StartUp | None:
    """Fit t = start + bytes / rate to the time of each size, by relative errors.

    None if there are too few sizes, or their times are no such line.
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
