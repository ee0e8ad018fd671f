"""Limits how often the window draws while something is measured."""

from __future__ import annotations

import time

DRAW_MS = 33  # from one drawing to the next, where nothing is measured
SHARE = 0.1  # of a core for the window's thread during a measurement
LONGEST_S = 0.5  # the longest that a plot waits for it


class Throttle:
    """Keeps the window's thread to SHARE of a core; call it in that thread."""

    def __init__(self) -> None:
        self._last_s = self._used_s = 0.0  # time of the last drawing, and of this thread then

    def would_disturb(self) -> bool:
        """Would drawing now take more than SHARE of a core?"""
        used_s = time.thread_time() - self._used_s
        return time.perf_counter() - self._last_s < min(used_s / SHARE, LONGEST_S)

    def note(self) -> None:
        """Take note that something is drawn now."""
        self._last_s, self._used_s = time.perf_counter(), time.thread_time()
