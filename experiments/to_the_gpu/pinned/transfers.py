"""Copies between host and device memory: buffers on both sides, and samples of the copies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from experiments import api as x
from experiments.devices.device import Device
from experiments.devices.host_memory import PAGEABLE, PINNED, can_pin, host_memory
from experiments.devices.timing import MOST_QUEUED, SAMPLE_S, enough, whole_s

WAYS = (
    "pinned_to_gpu",
    "pageable_to_gpu",
    "pinned_from_gpu",
    "pageable_from_gpu",
    "pinned_both_ways",
)


class Transfers:
    """The buffers on both sides, and every copy between them as a call."""

    def __init__(self, device: Device, size_bytes: int) -> None:
        self.device, self.size_bytes = device, size_bytes
        kinds = (PAGEABLE, PINNED) if can_pin(device) else (PAGEABLE,)
        self.there = device.torch.empty(size_bytes, dtype=device.torch.uint8, device=device.name)
        self.back = device.torch.empty_like(self.there)
        self.sent = {kind: host_memory(device, size_bytes, kind) for kind in kinds}
        self.got = {kind: host_memory(device, size_bytes, kind) for kind in kinds if kind == PINNED}
        self.got[PAGEABLE] = self.sent[PAGEABLE]  # never both at once
        self.back.copy_(self.sent[PAGEABLE])
        self._beside = device.stream()

    def call(self, way: str, size: int) -> Callable[[], object]:
        """Return the copy of `size` bytes."""
        there, back = self.there[:size], self.back[:size]
        kind, _, direction = way.partition("_")
        if kind == PAGEABLE:
            host = self.sent[PAGEABLE][:size]
            pair = (there, host) if direction == "to_gpu" else (host, back)
            return partial(pair[0].copy_, pair[1])
        to = partial(there.copy_, self.sent[PINNED][:size], non_blocking=True)
        fro = partial(self.got[PINNED][:size].copy_, back, non_blocking=True)
        if direction == "both_ways":
            return partial(self._both, to, fro)
        return to if direction == "to_gpu" else fro

    def _both(self, to: Callable[[], object], fro: Callable[[], object]) -> None:
        current = self.device.backend.current_stream()
        self._beside.wait_stream(current)
        to()
        with self.device.on(self._beside):
            fro()
        current.wait_stream(self._beside)

    def check(self) -> None:
        """Send everything there and back. Raises UserError if other data returns."""
        for kind, sent in self.sent.items():
            self.there.zero_()
            self.there.copy_(sent)
            expected = sent.clone() if self.got[kind] is sent else sent
            self.got[kind].zero_()
            self.got[kind].copy_(self.there)
            if not self.device.torch.equal(expected, self.got[kind]):
                raise x.UserError("copied_wrong")


def enough_of(copies: Transfers, way: str, size: int) -> int:
    """Return how many copies make a sample; they warm up."""
    device, call = copies.device, copies.call(way, size)
    if way.startswith(PINNED):
        count = enough(device, call)
        return min(count, MOST_QUEUED // 4) if way.endswith("both_ways") else count
    whole_s(device, call)
    return min(MOST_QUEUED, 1 + int(SAMPLE_S / whole_s(device, call)))


def each_s(device: Device, call: Callable[[], object], count: int) -> float:
    """Return the caller's seconds for one of `count` calls, each waited for."""

    def all_of_them() -> None:
        for _ in range(count):
            call()
            device.wait()

    return whole_s(device, all_of_them) / count
