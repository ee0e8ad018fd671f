"""The time of n queued works: t1 + n t2 + t3, fitted to what was measured.

These are pure functions of times in seconds by the number of works.
"""

from __future__ import annotations

from collections.abc import Mapping

from machine.record import Record

ENOUGH = 3  # numbers of works: two make a line through anything


class Formula(Record, kw_only=False):
    """t1, the first call; t2, the device's time for a work; t3, until the caller knows."""

    call_s: float
    work_s: float
    answer_s: float

    def finished_s(self, count: int) -> float:
        """Return the time until `count` queued works are done and the caller knows it."""
        return self.call_s + count * self.work_s + self.answer_s


def fitted(queued: Mapping[int, float], finished: Mapping[int, float]) -> Formula | None:
    """Return the formula, None if it does not hold or too few numbers of works were timed.

    It holds where the work takes longer than its call: else the calls set the pace.
    """
    if len(queued) < ENOUGH or len(finished) < ENOUGH:
        return None
    _, call_s = line(queued)
    rest_s, work_s = line(finished)
    if not 0 < call_s < work_s or rest_s < call_s:
        return None
    return Formula(call_s, work_s, rest_s - call_s)


def line(points: Mapping[int, float]) -> tuple[float, float]:
    """Return (height at 0, slope) of the line that is nearest in relative distance.

    Times are off by a share of themselves, so each point counts by 1 / its square.
    """
    weights = {n: t**-2 for n, t in points.items()}
    total = sum(weights.values())
    mean_n = sum(w * n for n, w in weights.items()) / total
    mean_t = sum(w * points[n] for n, w in weights.items()) / total
    spread = sum(w * (n - mean_n) ** 2 for n, w in weights.items())
    slope = sum(w * (n - mean_n) * (points[n] - mean_t) for n, w in weights.items()) / spread
    return mean_t - slope * mean_n, slope
