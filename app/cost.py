"""The cost of watching: the share of one core that window and worker use together."""

from __future__ import annotations

import collections
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

SPAN_S = 10.0  # the share is that of the last seconds
EVERY_S = 2.0  # asking the system about the worker costs time itself


class Cost:
    """Looks every other second, however often it is asked."""

    def __init__(
        self,
        clock_s: Callable[[], float] = time.monotonic,
        own_s: Callable[[], float] = time.process_time,
    ) -> None:
        self._clock_s, self._own_s = clock_s, own_s
        self._worker: psutil.Process | None = None
        self._looks: collections.deque[tuple[float, float, int | None]] = collections.deque()

    def fraction(self, worker: int | None) -> float | None:
        """Return the share of one core, the process `worker` included; None at first."""
        now_s = self._clock_s()
        if not self._looks or now_s - self._looks[-1][0] >= EVERY_S:
            if self._looks and self._looks[-1][2] != worker:
                self._looks.clear()
            self._looks.append((now_s, self._own_s() + self._used_s(worker), worker))
            while now_s - self._looks[0][0] > SPAN_S:
                self._looks.popleft()
        (start_s, used_before_s, _), (end_s, used_s, _) = self._looks[0], self._looks[-1]
        if end_s - start_s < EVERY_S:
            return None
        return max(0.0, used_s - used_before_s) / (end_s - start_s)

    def _used_s(self, worker: int | None) -> float:
        if worker is None:
            return 0.0
        import psutil

        try:
            if self._worker is None or self._worker.pid != worker:
                self._worker = psutil.Process(worker)
            times = self._worker.cpu_times()
        except psutil.Error:  # it has just gone
            return 0.0
        return float(times.user + times.system)
