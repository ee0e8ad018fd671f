"""Devices that a thread feeds without waiting: a GPU, or half of the processor.

A GPU takes calls into a queue. The whole processor does each at once, and its caller waits. Half of
it is a thread with half of the cores. Like a GPU it takes calls from a queue. PyTorch sets the
number of arithmetic threads for each calling thread, and releases the GIL meanwhile.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from experiments import api as x
from experiments.devices.device import CPU, Device, torch_threads
from experiments.devices.timing import warm


class Moment(Protocol):
    """A moment in a device's work, on its own clock; known when it has passed."""

    def since(self, earlier: Any) -> float:
        """Return the seconds from another moment of the same device to this one."""


class WholeDevice:
    """A GPU, or the whole processor, which does its work in the order in which it is handed."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def call(self, work: Callable[[], object]) -> None:
        """Call it: a GPU puts it into its queue, the processor does it."""
        work()

    def read(self, numbers: Any) -> None:
        """Read the first of the numbers."""
        numbers.flatten()[0].item()

    def mark(self) -> Moment:
        """Put a mark into the queue."""
        return self._device.mark()

    def wait(self) -> None:
        """Wait until the queue is empty."""
        self._device.wait()


class _At:
    """The moment when half of the processor reached a mark."""

    def __init__(self, at: Future[float]) -> None:
        self._at = at

    def since(self, earlier: _At) -> float:
        return self._at.result() - earlier._at.result()


class Half:
    """Half of the processor: a thread that uses `threads` cores, and a queue."""

    def __init__(self, device: Device, threads: int) -> None:
        self._now_s = device.bench.now_s
        self.thread = ThreadPoolExecutor(
            1, initializer=device.torch.set_num_threads, initargs=(threads,)
        )
        self._under_way: list[Future[Any]] = []

    def call(self, work: Callable[[], object]) -> None:
        """Put work into the queue."""
        self._under_way.append(self.thread.submit(work))

    def read(self, numbers: Any) -> None:
        """Ask for the first of the numbers behind the work before it."""
        self.thread.submit(lambda: numbers.flatten()[0].item()).result()

    def mark(self) -> Moment:
        """Put a look at the clock into the queue."""
        at = self.thread.submit(self._now_s)
        self._under_way.append(at)
        return _At(at)

    def wait(self) -> None:
        """Wait until the queue is empty. Raises what the work raised."""
        under_way, self._under_way = self._under_way, []
        for each in under_way:
            each.result()


Worker = WholeDevice | Half


@contextlib.contextmanager
def workers(
    bench: x.Bench, first: str, second: str, cores: int
) -> Iterator[list[tuple[Worker, Device]]]:
    """Yield two workers with their devices: those named, or two halves of the processor."""
    if first != CPU:
        devices = Device(first, bench), Device(second, bench)
        with torch_threads(devices[0].torch, cores if second == CPU else 0):  # a run has one
            yield [(WholeDevice(device), device) for device in devices]
        return
    device = Device(CPU, bench)
    halves = [Half(device, max(1, cores // 2)) for _ in range(2)]
    try:
        yield [(half, device) for half in halves]
    finally:
        for half in halves:
            half.thread.shutdown(cancel_futures=True)


class Job:
    """A or B: a number of products on one device."""

    def __init__(self, worker: Worker, device: Device, rows: int) -> None:
        self.worker, self.device, self.rows, self.count = worker, device, rows, 1
        torch = device.torch
        self._factor = torch.randn(rows, rows, device=device.name) / rows**0.5
        self.product = torch.empty_like(self._factor)
        device.wait()

    def once(self) -> None:
        """Multiply."""
        self.device.torch.mm(self._factor, self._factor, out=self.product)

    def call(self, count: int | None = None) -> None:
        """Hand over the products."""
        for _ in range(self.count if count is None else count):
            self.worker.call(self.once)

    def alone(self, count: int) -> None:
        """Do `count` products and wait."""
        self.call(count)
        self.worker.wait()

    def size_for(self, job_s: float) -> None:
        """Take as many products as last `job_s`; also the warm-up."""
        bench = self.device.bench
        if self.device.is_gpu:
            warm(self.device, self.once)
        count = bench.repeat_for(self.alone, at_least_s=job_s / 4, start=1)
        once_s = min(bench.time(lambda: self.alone(count)) for _ in range(3)) / count
        self.count = max(1, round(job_s / once_s))
