"""The time left of a run: first the experiment's estimate, then the run's own pace."""

from __future__ import annotations

TRUSTED_FROM = 0.5  # of the run: from there on, only its own pace counts


class Estimate:
    """Estimates from the reported progress of a run how long the rest takes.

    The time before the first sample is left out of the pace: preparation happens only once.
    """

    def __init__(self) -> None:
        self._prepared: tuple[float, float] | None = None  # seconds, and fraction, by then

    def left_s(self, elapsed_s: float, fraction: float, expected_s: float) -> float:
        """Return the seconds left of a run of which `expected_s` in all were expected."""
        if self._prepared is None and fraction > 0:
            self._prepared = elapsed_s, fraction
        if self._prepared is None:
            return max(0.0, expected_s - elapsed_s)
        prepared_s, begin = self._prepared
        left = (1 - fraction) / (1 - begin) if begin < 1 else 0.0
        expected_left_s = left * max(0.0, expected_s - prepared_s)
        if fraction <= begin:
            return expected_left_s
        paced_left_s = (elapsed_s - prepared_s) / (fraction - begin) * (1 - fraction)
        trust = min(1.0, (fraction - begin) / TRUSTED_FROM)
        return trust * paced_left_s + (1 - trust) * expected_left_s
