"""Loads that compute all the time: a thread on every hardware thread, products on every GPU."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments import api as x
from experiments.devices.device import Device, Mark
from experiments.devices.timing import taken, warm
from experiments.tools.side_by_side import pin
from machine.live.gpu_samples import GpuSample

CALL_S = 0.005  # of a call of the compiled loop: after each, a thread looks whether time is over
LOOK_S = 0.02  # between two looks of the thread that feeds and watches
BATCH_S, BATCHES = 0.05, 3  # in a GPU's queue
PATIENCE_S = 0.2  # with NVIDIA's library


class Cores:
    """A thread on each hardware thread, which computes from `begin` to the moment named there."""

    def __init__(self, bench: x.Bench, *, spare: bool) -> None:
        """Take all hardware threads, with `spare` without the first: it feeds GPUs."""
        from experiments.kernels.polynomials import numbers, polynomials

        usable = [thread.id for thread in x.usable_threads(bench.machine)]
        places: Sequence[int | None] = usable[1:] if spare and len(usable) > 1 else usable or [None]
        self._bench, self._until_s, self._is_over = bench, -math.inf, False
        self._rates = [0.0] * len(places)
        self._begin, self._end = (threading.Barrier(len(places) + 1) for _ in range(2))
        points = numbers()
        self._laps = bench.repeat_for(
            lambda count: polynomials(points, count), at_least_s=CALL_S, start=10
        )
        self._threads = [
            threading.Thread(target=self._work, args=(number, place), name=f"heater {place}")
            for number, place in enumerate(places)
        ]

    def __enter__(self) -> Cores:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over = True
        self._begin.abort()
        self._end.abort()
        for thread in self._threads:
            thread.join()

    def begin(self, until_s: float) -> None:
        """Let all compute until then, on the bench's clock."""
        self._until_s = until_s
        self._begin.wait()

    def rest(self, until_s: float) -> None:
        """Give the core to the others for a moment, at most until then."""
        time.sleep(max(0.0, min(LOOK_S, until_s - self._bench.now_s())))

    def end(self) -> float:
        """Wait until all have ended; return their operations a second of processor time."""
        self._end.wait()
        return sum(self._rates)

    def _work(self, number: int, place: int | None) -> None:
        from experiments.kernels.polynomials import FLOP, numbers, polynomials

        pin(place)
        points, now_s = numbers(), self._bench.now_s
        try:
            while True:
                self._begin.wait()
                calls, own_s = 0, time.thread_time()
                while not self._is_over and (not calls or now_s() < self._until_s):
                    polynomials(points, self._laps)
                    calls += 1
                own_s = time.thread_time() - own_s
                self._rates[number] = calls * self._laps * FLOP / own_s if own_s > 0 else 0.0
                self._end.wait()
        except threading.BrokenBarrierError:
            return


class Gpus:
    """Every GPU by its name, each with some batches of products in its queue."""

    def __init__(self, bench: x.Bench, names: Sequence[str], rows: int) -> None:
        self._bench, self._names, self._rows = bench, names, rows
        self._heaters: dict[str, _Products] = {}
        self._sampler: Any = None

    def __enter__(self) -> Gpus:
        self._heaters = {
            name: _Products(Device(name, self._bench), self._rows) for name in self._names
        }
        if self._heaters:
            from machine.live.gpus import GpuSampler  # the catalogue is read without it

            self._sampler = GpuSampler(Path("/"), patience_s=PATIENCE_S)
        return self

    def __exit__(self, *_error: object) -> None:
        for heater in self._heaters.values():
            heater.device.wait()
        if self._sampler is not None:
            self._sampler.close()

    def feed(self) -> None:
        """Fill the queues up; never waits."""
        for heater in self._heaters.values():
            heater.feed()

    def rates(self) -> dict[str, float]:
        """Return the operations a second of each GPU since the last time, none that did nothing."""
        found = {name: heater.rate() for name, heater in self._heaters.items()}
        return {name: rate for name, rate in found.items() if rate is not None}

    def look(self, now_s: float) -> dict[str, GpuSample]:
        """Return the present condition of each heated GPU with a sample. May block for 40 ms."""
        if self._sampler is None:
            return {}
        samples, _ = self._sampler.sample(now_s)
        found = {}
        for name, heater in self._heaters.items():
            gpu = heater.device.gpu()
            place = self._bench.machine.gpus.index(gpu) if gpu is not None else len(samples)
            if place < len(samples):
                found[name] = samples[place]
        return found


class _Products:
    """Products of two matrices of random numbers, in half precision, on one GPU."""

    def __init__(self, device: Device, rows: int) -> None:
        torch = device.torch
        torch.manual_seed(x.SEED)
        self.device = device
        self._a, self._b = (
            torch.randn(rows, rows, device=device.name).to(torch.float16) for _ in range(2)
        )
        self._out = torch.empty_like(self._a)
        warm(device, self._multiply)
        self._count = max(1, round(BATCH_S / taken(device, self._multiply).device_s))
        self._flop = 2.0 * rows**3 * self._count
        self._pending = deque[Mark]()
        self._last: Mark | None = None  # where the first batch in the queue began
        self._done, self._span_s = 0, 0.0

    def _multiply(self) -> None:
        self.device.torch.mm(self._a, self._b, out=self._out)

    def feed(self) -> None:
        """Take the batches that are done from the queue, and put others behind.

        Time in which the queue was empty is not the GPU's, and does not count.
        """
        while self._pending and self._pending[0].is_done():
            done = self._pending.popleft()
            if self._last is not None:
                self._span_s += done.since(self._last)
                self._done += 1
            self._last = done
        if not self._pending:
            self._last = self.device.mark()
        while len(self._pending) < BATCHES:
            for _ in range(self._count):
                self._multiply()
            self._pending.append(self.device.mark())

    def rate(self) -> float | None:
        """Return the operations a second of the batches done since the last time, None of none."""
        done, span_s = self._done, self._span_s
        self._done, self._span_s = 0, 0.0
        return done * self._flop / span_s if span_s > 0 else None
