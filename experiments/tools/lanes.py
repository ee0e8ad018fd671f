"""The steps of caller and device as slices on the caller's clock.

Method: a mark behind each step in the device's queue gives the time when the device finished it.
The caller's clock gives the time of the call. Both clocks are 0 at a moment when the device was
idle. The device passes that moment a little later. So its marks are shifted until no step ends
before it could have. No mark gives the beginning of a step. If the step's length is known (measured
with the queue held), it began that long before its end. Otherwise it began when it was called and
the step before had ended, so gaps may be longer than shown. Marking takes the caller a moment
between two steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from experiments.core.declare import Row
from experiments.devices.device import Device
from experiments.devices.timing import whole_s

CALLS, READS, WORK = "calls", "reads", "device"


class LaneSpan(Row):
    """One step of one way: a call, reading a result, or the device's work."""

    way: str
    lane: str
    step: int
    start_s: float
    end_s: float


def slices(
    device: Device,
    way: str,
    work: Callable[[], object],
    count: int,
    *,
    work_s: float | None = None,
    read: Callable[[], object] | None = None,
) -> Iterator[LaneSpan]:
    """Yield the slices of `count` steps; after each, `read` fetches its result."""
    whole_s(device, work)
    now_s = device.bench.now_s
    start_s, start = now_s(), device.mark()
    calls, marks = [], []
    for _ in range(count):
        called_s = now_s() - start_s
        work()
        back_s = now_s() - start_s
        marks.append(device.mark())
        wanted_s = now_s() - start_s
        if read is not None:
            read()
        calls.append((called_s, back_s, wanted_s, now_s() - start_s))
    device.wait()
    ends_s = [mark.since(start) for mark in marks]
    least_s = work_s or 0.0
    late_s = max(
        0.0, *(call[0] + least_s - end_s for call, end_s in zip(calls, ends_s, strict=True))
    )
    free_s = 0.0
    for step, ((called_s, back_s, wanted_s, read_s), done_s) in enumerate(
        zip(calls, ends_s, strict=True)
    ):
        end_s = done_s + late_s
        begun_s = called_s if work_s is None else end_s - work_s
        begun_s = min(max(free_s, begun_s), end_s)
        free_s = end_s
        lanes = [(CALLS, called_s, back_s), (WORK, begun_s, end_s)]
        if read is not None:
            lanes.append((READS, wanted_s, read_s))
        for lane, from_s, to_s in lanes:
            yield LaneSpan(way=way, lane=lane, step=step, start_s=from_s, end_s=to_s)
