"""The time of work on a device: between two marks, with the queue filled beforehand.

A GPU that finishes work faster than calls arrive waits for the next call. Marks around small work
would then time the calls. So the queue is held while the calls are made, and the device then does
them without gaps. A sample whose hold ended too early is not clean.
Method: as nvbandwidth and the CUDA samples do it with a delay kernel.

Seen on an H100: a hold of 1 ms outlasts a hundred queued calls of 2 to 9 µs. `_sleep` counts
cycles, so a hold lasts longer at a lower clock.
"""

from __future__ import annotations

from collections.abc import Callable

from experiments.devices.device import Device
from machine.record import Record

MOST_QUEUED = 100  # calls behind a hold; with many more the driver blocks until the first is done
HOLD_S = 1e-3
LONGER = 4  # tries to lengthen a hold that the calls outlast
SAMPLE_S = 1e-3
WARM_S = 0.5  # until the clocks of a GPU have risen


class Taken(Record, kw_only=False):
    """One call's time: on the device, and until the call returned.

    If not `is_clean`, the device may have waited for its caller.
    """

    device_s: float
    queued_s: float
    is_clean: bool


def taken(device: Device, work: Callable[[], object], count: int = 1) -> Taken:
    """Return the time of one of `count` calls, at most MOST_QUEUED of them."""
    count, hold_s = min(count, MOST_QUEUED), HOLD_S
    found = _taken(device, work, count, hold_s)
    for _ in range(LONGER):
        if found.is_clean or device.kind != "cuda":  # others know no hold
            break
        hold_s = 2 * max(hold_s, found.queued_s * count)
        found = _taken(device, work, count, hold_s)
    return found


def _taken(device: Device, work: Callable[[], object], count: int, hold_s: float) -> Taken:
    device.bench.check_stop()
    device.wait()
    is_held = device.hold(hold_s)
    start, start_s = device.mark(), device.bench.now_s()
    for _ in range(count):
        work()
    queued_s = device.bench.now_s() - start_s
    is_clean = not device.is_gpu or (is_held and not start.is_done())
    end = device.mark()
    end.wait()
    return Taken(end.since(start) / count, queued_s / count, is_clean)


def whole_s(device: Device, work: Callable[[], object]) -> float:
    """Return the caller's seconds from the call until all of its work is done."""
    device.bench.check_stop()
    device.wait()
    start_s = device.bench.now_s()
    work()
    device.wait()
    return device.bench.now_s() - start_s


def each_s(device: Device, work: Callable[[], object], count: int) -> float:
    """Return the caller's seconds for one of `count` calls in a row, until all are done."""

    def repeat() -> None:
        for _ in range(count):
            work()

    return whole_s(device, repeat) / count


def enough_in_a_row(device: Device, work: Callable[[], object]) -> int:
    """Return how many calls in a row the caller's clock can time; the first ones warm up."""
    each_s(device, work, 1)
    return device.bench.repeat_for(
        lambda count: each_s(device, work, count), at_least_s=SAMPLE_S, start=1
    )


def enough(device: Device, work: Callable[[], object], at_least_s: float = SAMPLE_S) -> int:
    """Return how many calls the device's clock can time well; the first ones warm up."""
    count = 1
    while count < MOST_QUEUED:
        took_s = taken(device, work, count).device_s * count
        if took_s >= at_least_s:
            break
        count = min(MOST_QUEUED, max(2 * count, int(1.2 * count * at_least_s / max(took_s, 1e-9))))
    return count


def warm(device: Device, work: Callable[[], object]) -> None:
    """Work until libraries are loaded and clocks have risen; only once on the processor."""
    start_s = device.bench.now_s()
    while True:
        whole_s(device, work)
        if not device.is_gpu or device.bench.now_s() - start_s >= WARM_S:
            return
