"""The load of one NVIDIA GPU.

Two slow questions are asked less often than the rest: the processes that hold memory, and the PCIe
traffic if the driver does not count it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from machine.facts import Facts, Reason, Unanswered
from machine.gpus import nvlink, nvml, nvml_health
from machine.gpus.nvml import Nvml
from machine.live.gpu_samples import NEEDS_TWO, Processes, Rates, lack_all

_PROCESSES_EVERY_S = 1.0
_ALL_LINKS = 2**32 - 1  # as scope: the sum over all NVLinks
# NVML_FI_DEV_...: counters since the driver was loaded.
_NVLINK_SENT, _NVLINK_RECEIVED, _PCIE_SENT, _PCIE_RECEIVED = 138, 139, 197, 198
_CLOCK_SM, _CLOCK_MEMORY = 1, 2
_CORRECTED, _UNCORRECTED, _SINCE_START = 0, 1, 0  # nvmlMemoryErrorType_t, nvmlEccCounterType_t
_THROUGHPUT_SENT, _THROUGHPUT_RECEIVED = 0, 1
_MEMORY_V2 = 0x02000028  # like nvidia-smi, excludes what the driver reserves
_WHOLE = 100  # percent
_MIG = Reason(
    "NVML does not report utilisation in MIG mode.", "nvidia-smi dmon, or DCGM by instance."
)
_XID = Reason(
    "Errors that the driver numbers (Xid) stand in the kernel's log, which only root may read.",
    "sudo dmesg | grep Xid",
)
LOST = Reason(
    "The GPU has fallen off the bus while it was being watched.",
    "Restart the machine. If it happens again: sudo dmesg | grep Xid",
)
_WAITS = Reason(
    "This driver counts no PCIe traffic, and measuring it takes time: the GPUs take turns.",
    "Wait for its turn.",
)
_NO_NVLINK = Reason(  # a card that has them may be lent to a virtual machine without them
    "The driver counts no NVLinks on this GPU.", "nvidia-smi nvlink --status"
)
_UNCOUNTED = Reason(
    "Here, the driver does not count memory by process.", "nvidia-smi, on the machine itself."
)


class NvidiaGpu:
    """One GPU, and its counters of the previous sample."""

    def __init__(self, library: Nvml, address: str | None, handle: Any) -> None:
        self._library, self._handle = library, handle
        self._address = address
        self._said: dict[tuple[str, tuple[Any, ...]], Any] = {}
        self._rates = Rates()
        self._mig = Facts()
        self._held = Facts()
        self._held_s = -math.inf
        self._throughput = Facts()
        self.throughput_s = -math.inf
        self.needs_throughput = False
        self._has_nvlinks = True
        self._lost: Reason | None = handle if isinstance(handle, Reason) else None
        if self._lost is None:
            self._has_nvlinks = nvlink.has_links(library, handle)
            self._mig.ask("mig", "", lambda: self._ask("MigMode")[0])

    def sample(self, now_s: float, processes: Processes) -> Facts:
        """Return the GPU's present load."""
        gpu = Facts()
        gpu.values["pci_address"] = self._address
        self._said.clear()
        if self._lost is None:
            self._fill(gpu, now_s, processes)
            if any(nvml.is_lost(reason) for reason in gpu.missing.values()):
                self._lost = LOST
        if self._lost is not None:
            gpu = Facts()
            is_gone = self._lost == LOST or nvml.is_lost(self._lost)
            gpu.values |= {"pci_address": self._address, "state": "lost" if is_gone else "awake"}
            lack_all(gpu, self._lost)
        return gpu

    def ask_throughput(self, now_s: float) -> None:
        """Measure the PCIe traffic; blocks for 40 ms."""
        self._throughput, self.throughput_s = Facts(), now_s
        self._said.clear()
        for name, counter in (
            ("pcie_sent_bytes_per_s", _THROUGHPUT_SENT),
            ("pcie_received_bytes_per_s", _THROUGHPUT_RECEIVED),
        ):
            self._throughput.ask(name, "", partial(self._throughput_of, counter))

    def _ask(self, call: str, *arguments: Any) -> Any:
        """Ask NVML once per sample and reuse the answer. Raises Unanswered."""
        question = call, arguments
        if question not in self._said:
            try:
                answer = self._library.ask(f"nvmlDeviceGet{call}", self._handle, *arguments)
            except Unanswered as error:
                answer = error
            self._said[question] = answer
        answer = self._said[question]
        if isinstance(answer, Unanswered):
            raise answer
        return answer

    def _throughput_of(self, counter: int) -> float:
        return float(self._ask("PcieThroughput", counter)) * 1000  # NVML counts KB/s

    def _fill(self, gpu: Facts, now_s: float, processes: Processes) -> None:
        def ask(name: str, call: str, *arguments: Any, make: Callable[[Any], Any] = int) -> None:
            gpu.ask(name, "", lambda: make(self._ask(call, *arguments)))

        ask("busy", "UtilizationRates", make=lambda v: _share(v.gpu))
        ask("memory_busy", "UtilizationRates", make=lambda v: _share(v.memory))
        if self._mig.values.get("mig"):
            for name in ("busy", "memory_busy"):
                if not gpu.knows(name):
                    gpu.drop(name, _MIG)
        gpu.ask("memory_used_bytes", "", lambda: _bytes(self._memory().used))
        gpu.ask("memory_total_bytes", "", lambda: _bytes(self._memory().total))
        ask("sm_hz", "ClockInfo", _CLOCK_SM, make=lambda v: v * 1_000_000)
        ask("memory_hz", "ClockInfo", _CLOCK_MEMORY, make=lambda v: v * 1_000_000)
        ask("power_watts", "PowerUsage", make=lambda v: v / 1000)
        ask("power_limit_watts", "EnforcedPowerLimit", make=lambda v: v / 1000)
        gpu.ask("temperature_celsius", "", partial(nvml_health.temperature, self._ask))
        gpu.ask("clock_reasons", "", partial(nvml_health.clock_reasons, self._ask))
        ask("pcie_generation", "CurrPcieLinkGeneration")
        ask("pcie_width", "CurrPcieLinkWidth")
        ask("ecc_corrected", "TotalEccErrors", _CORRECTED, _SINCE_START)
        ask("ecc_uncorrected", "TotalEccErrors", _UNCORRECTED, _SINCE_START)
        ask("remapped_rows", "RemappedRows", make=lambda v: v[0] + v[1])
        ask("remapping_pending", "RemappedRows", make=lambda v: bool(v[2]))
        ask("remapping_failed", "RemappedRows", make=lambda v: bool(v[3]))
        ask("pcie_replays", "PcieReplayCounter")
        gpu.lack("xid", _XID)
        self._add_traffic(gpu, now_s)
        if now_s - self._held_s >= _PROCESSES_EVERY_S:
            self._held, self._held_s = Facts(), now_s
            self._held.ask("processes", "", partial(self._processes, self._held, processes))
        gpu.take(self._held)

    def _memory(self) -> Any:
        try:
            return self._ask("MemoryInfo", _MEMORY_V2)
        except Unanswered as error:
            if nvml.is_lost(error.reason):
                raise
            return self._ask("MemoryInfo")  # before driver 510

    def _add_traffic(self, gpu: Facts, now_s: float) -> None:
        for name, field, scope, unit_bytes in (
            ("nvlink_sent_bytes_per_s", _NVLINK_SENT, _ALL_LINKS, 1024),
            ("nvlink_received_bytes_per_s", _NVLINK_RECEIVED, _ALL_LINKS, 1024),
            ("pcie_sent_bytes_per_s", _PCIE_SENT, 0, 1),
            ("pcie_received_bytes_per_s", _PCIE_RECEIVED, 0, 1),
        ):
            if name.startswith("nvlink") and not self._has_nvlinks:
                gpu.lack(name, _NO_NVLINK)  # its counters may still say 0
                continue
            try:
                count = self._library.field(self._handle, field, scope) * unit_bytes
                gpu.ask(name, "", partial(self._rates.per_s, name, now_s, count))
                gpu.lack(name, NEEDS_TWO)
            except Unanswered as error:
                if not name.startswith("pcie"):
                    gpu.lack(name, error.reason)
                elif name in self._throughput.values:
                    gpu.keep(name, self._throughput.values[name], "")
                else:
                    gpu.lack(name, self._throughput.missing.get(name, _WAITS))
                self.needs_throughput |= name.startswith("pcie")

    def _processes(self, gpu: Facts, processes: Processes) -> Any:
        held: dict[int, tuple[int, int | None, Literal["compute", "graphics"]]] = {}
        for process in self._ask("GraphicsRunningProcesses_v3"):
            held[process.pid] = process.pid, process.usedGpuMemory, "graphics"
        for process in self._ask("ComputeRunningProcesses_v3"):
            held[process.pid] = process.pid, process.usedGpuMemory, "compute"
        if any(memory_bytes is None for _, memory_bytes, _ in held.values()):
            gpu.lack("processes[*].memory_bytes", _UNCOUNTED)
        return processes.describe(gpu, list(held.values()))


def _share(percent: int) -> float:
    if percent > _WHOLE:
        raise Unanswered(nvml.ODD)
    return percent / _WHOLE


def _bytes(count: int) -> int:
    if count > nvml.MOST_BYTES:
        raise Unanswered(nvml.ODD)
    return count
