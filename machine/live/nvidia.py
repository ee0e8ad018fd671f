"""The load of NVIDIA's GPUs, from its management library (NVML).

An open library keeps a laptop's GPU awake. If the kernel may switch the GPU off, the library is
closed after IDLE_S without use. It stays closed for REST_S, so that the GPU can fall asleep.

LIMIT: tested only with fakes and with NVIDIA's own mock of the library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from machine.facts import Facts, Reason, Unanswered
from machine.gpus import nvidia, nvml, nvml_gpu, nvml_machine
from machine.gpus.nvml import Nvml
from machine.gpus.pci_facts import Host
from machine.live.gpu_samples import ASLEEP, Processes, lack_all
from machine.live.nvidia_gpu import LOST, NvidiaGpu
from machine.system.linux import read_text

IDLE_S, REST_S = 10.0, 20.0  # the kernel switches a GPU off about 6 s after its last use
RETRY_S = 30.0  # after a failed start; somebody may load the driver
_THROUGHPUT_EVERY_S = 0.5  # the call blocks: it measures each direction for 20 ms
_RESTING = Reason(
    "Nobody used the GPU for a while; it is left alone, so that it can fall asleep.",
    "Use it, and it will be told.",
)


class NvidiaSampler:
    """Samples all GPUs of NVIDIA. Not to be shared between threads."""

    trouble: Reason | None = None  # asked in this process, the library takes all along

    def __init__(self, host: Host, load: Callable[[], nvml.Library] = nvml.load) -> None:
        self._host, self._load = host, load
        self._cards = nvidia.known_cards(host)
        self._library: Nvml | None = None
        self._gpus: list[NvidiaGpu] = []
        self._reason: Reason | None = None
        self._not_before_s = -math.inf
        self._used_s = math.inf
        self._asked_throughput_s = -math.inf
        self._processes = Processes()

    def sample(self, now_s: float) -> list[Facts]:
        """Return the facts of each GPU, in the order of inspection. May block for 40 ms."""
        if self._library is None and now_s >= self._not_before_s:
            self._open(now_s)
        if self._library is None:
            return [*unsampled(self._host, self._cards, self._reason or _RESTING)]
        is_turn = now_s - self._asked_throughput_s >= _THROUGHPUT_EVERY_S
        turns = sorted((g for g in self._gpus if g.needs_throughput), key=lambda g: g.throughput_s)
        found = []
        for gpu in self._gpus:
            if is_turn and turns and gpu is turns[0]:
                gpu.ask_throughput(now_s)
                self._asked_throughput_s = now_s
            found.append(gpu.sample(now_s, self._processes))
        self._rest_if_idle(found, now_s)
        return found

    def close(self) -> None:
        """Release the GPUs."""
        if self._library is not None:
            self._library.close()
            self._library, self._gpus = None, []

    def _open(self, now_s: float) -> None:
        self._not_before_s = now_s + RETRY_S
        fresh = nvidia.known_cards(self._host)
        self._cards |= fresh
        self._reason = nvidia.reason_not_to_ask(self._host, fresh.values())
        if self._reason is not None:
            self._not_before_s = now_s  # checking again costs nothing
            return
        try:
            library = Nvml(self._load(), is_wsl=self._host.is_wsl)
        except Unanswered as error:
            self._reason = error.reason
            return
        self._library, self._used_s = library, now_s
        try:
            self._gpus = [NvidiaGpu(library, gpu, handle) for gpu, handle in self._places(library)]
        except Unanswered as error:
            self._reason = error.reason
            self.close()

    def _places(self, library: Nvml) -> Iterator[tuple[str | None, Any]]:
        """Yield address and handle of each GPU, or a reason in place of the handle."""
        found: list[tuple[str | None, Any]] = []
        for handle in library.gpus():
            place = Facts()
            if not isinstance(handle, Reason):
                nvml_gpu.ask_address(library, handle, place)
            found.append((place.values.get("pci_address"), handle))
        known = {address for address, _ in found}
        left = [address for address in self._cards if address not in known]
        silent = sum(address is None for address, _ in found)
        spare = iter(left if silent == len(left) else ())
        for address, handle in found:
            yield address or next(spare, None), handle
        if silent != len(left):
            for address in left:
                yield address, nvml_machine.UNLISTED

    def _rest_if_idle(self, found: list[Facts], now_s: float) -> None:
        if any(gpu.values.get("busy") or gpu.values.get("processes") for gpu in found):
            self._used_s = now_s
        may_sleep = any(
            read_text(self._host.folder(address) / "power/control") == "auto"
            for address in self._cards
        )
        if may_sleep and now_s - self._used_s >= IDLE_S:
            self.close()
            self._reason, self._not_before_s = None, now_s + REST_S


def unsampled(host: Host, cards: Mapping[str, Facts], reason: Reason) -> Iterator[Facts]:
    """Yield each card with the reason why NVML was not asked about it."""
    for address, card in cards.items():
        gpu = Facts()
        gpu.values["pci_address"] = address
        sleeps = read_text(host.folder(address) / "power/runtime_status")
        if sleeps in ("suspended", "suspending"):
            gpu.values["state"] = "asleep"
            lack_all(gpu, ASLEEP)
        elif sleeps is None and card.sources.get("asleep"):
            gpu.values["state"] = "lost"
            lack_all(gpu, LOST)
        lack_all(gpu, reason)
        yield gpu
