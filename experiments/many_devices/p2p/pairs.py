"""Copies from one GPU to another, by each way that PyTorch has.

PyTorch's own copy writes straight into the other GPU's memory if CUDA allows it, and otherwise goes
through the host. It has no setting for the way through the host. So that way is also taken by hand,
in two hops one after the other. Both GPUs wait for a copy between their current streams: copies in
both directions at once need streams of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from experiments import api as x
from experiments.devices.device import Device
from experiments.devices.timing import MOST_QUEUED, Taken, enough, taken

NUMBER_BYTES = 4
FEW = 4  # numbers; they take next to no time by themselves
DELAYS = 50  # copies of so few in a row
SAMPLE_S = 4e-3
_KEY = 7919  # a prime: each pair gets different numbers


class Side:
    """One GPU with what it sends and what it receives."""

    def __init__(self, device: Device, count: int) -> None:
        torch, self.device = device.torch, device
        self.sent = torch.arange(count, dtype=torch.int32, device=device.name)
        self.got = torch.zeros_like(self.sent)
        self.leaving, self.arriving = device.stream(), device.stream()
        device.wait()

    def numbers(self, key: int) -> Any:
        """Return as many numbers as are sent, unique to this key."""
        torch = self.device.torch
        found = torch.arange(len(self.sent), dtype=torch.int32, device=self.device.name)
        return found.bitwise_xor_(key)


class Pair(x.Record, kw_only=False, eq=False):
    """The connection from one GPU to another; `host` is pinned memory between them."""

    source: Side
    target: Side
    host: Any

    def copy(self) -> None:
        """Queue a copy as PyTorch does it."""
        self.target.got.copy_(self.source.sent, non_blocking=True)

    def copy_few(self) -> None:
        """Queue a copy of a few numbers."""
        self.target.got[:FEW].copy_(self.source.sent[:FEW], non_blocking=True)

    def stage(self, count: int | None = None) -> None:
        """Copy to the host, then from it; wait for each."""
        self.host[:count].copy_(self.source.sent[:count])
        self.target.got[:count].copy_(self.host[:count])

    def is_right(self) -> bool:
        """Do numbers that only this pair has arrive? Raises UserError if none do, even by hand."""
        key = _KEY * (64 * self.source.device.index + self.target.device.index + 1)
        self.source.sent.copy_(self.source.numbers(key))
        expected, equal = self.target.numbers(key), self.target.device.torch.equal
        self.target.got.fill_(-1)
        self.stage()
        if not equal(self.target.got, expected):
            raise x.UserError("copied_wrong")
        self.target.got.fill_(-1)
        self.copy()
        return bool(equal(self.target.got, expected))

    def bytes_per_s(self) -> float:
        """Return the rate of copies in a row, by the source's clock."""
        count = enough(self.source.device, self.copy, SAMPLE_S)
        return self._bytes() / taken(self.source.device, self.copy, count).device_s

    def delay(self) -> Taken:
        """Return the time of a copy of a few numbers, by the source's clock."""
        return taken(self.source.device, self.copy_few, min(DELAYS, MOST_QUEUED))

    def staged_bytes_per_s(self) -> float:
        """Return the rate through the host, by the caller's clock."""
        return self._bytes() / self._whole_s(self.stage)

    def staged_delay_s(self) -> float:
        """Return the time of a few numbers through the host, by the caller's clock."""

        def few() -> None:
            for _ in range(DELAYS):
                self.stage(FEW)

        return self._whole_s(few) / DELAYS

    def both_bytes_per_s(self) -> float:
        """Return the rate of both directions at once, together."""
        one, other = self.source, self.target
        count = enough(one.device, self.copy, SAMPLE_S)

        def both() -> None:
            for _ in range(count):
                for out, into in ((one, other), (other, one)):
                    with out.device.on(out.leaving), into.device.on(into.arriving):
                        into.got.copy_(out.sent, non_blocking=True)

        return 2 * count * self._bytes() / self._whole_s(both)

    def _whole_s(self, work: Any) -> float:
        bench, devices = self.source.device.bench, (self.source.device, self.target.device)
        bench.check_stop()
        for device in devices:
            device.wait()
        start_s = bench.now_s()
        work()
        for device in devices:
            device.wait()
        return bench.now_s() - start_s

    def _bytes(self) -> int:
        return NUMBER_BYTES * len(self.source.sent)


def all_pairs(devices: Sequence[Device], size_bytes: int) -> list[Pair]:
    """Return every ordered pair of GPUs."""
    sides = [Side(device, size_bytes // NUMBER_BYTES) for device in devices]
    torch = devices[0].torch
    host = torch.zeros(size_bytes // NUMBER_BYTES, dtype=torch.int32, pin_memory=True)
    return [Pair(one, other, host) for one, other in itertools.permutations(sides, 2)]
