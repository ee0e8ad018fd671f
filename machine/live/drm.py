"""The load of AMD's and Intel's GPUs, from their drivers' files below /sys.

Files that would wake a sleeping GPU are not read. AMD's pcie_bw is not read either, because it
blocks for a second while it measures. Intel's drivers show a GPU's utilisation only to programs
that may read performance counters.

LIMIT: follows the kernel's documentation (gpu/amdgpu, ABI/testing/sysfs-driver-intel-*), and is
tested on made-up trees only.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Literal

from machine.facts import Facts, Reason
from machine.gpus import amd, intel
from machine.gpus.pci_facts import Host, hwmon, is_asleep
from machine.live.gpu_samples import ASLEEP, NEEDS_TWO, Processes, Rates, lack_all
from machine.system.linux import entries, numbered, read_int, read_text

_KFD_PROCESSES = "sys/class/kfd/kfd/proc"
_PROCESSES_EVERY_S = 1.0
_LOST = Reason(
    "The device has vanished from the PCI bus while it was being watched.",
    "Restart the machine. If it happens again: sudo dmesg",
)
_COUNTERS = Reason(
    "Intel's drivers tell this only to programs with the right to read performance counters.",
    "sudo intel_gpu_top, or xpu-smi stats",
)
_BLOCKS = Reason(
    "The driver would have to measure for a second, and would block meanwhile.",
    "cat /sys/class/drm/card0/device/pcie_bw, on cards of Vega and before.",
)
_UNTOLD = {
    amd.VENDOR_ID: Reason("amdgpu does not tell it for this GPU.", "amd-smi monitor"),
    intel.VENDOR_ID: Reason("The driver does not tell it for this GPU.", "xpu-smi stats"),
}
_NOT_COUNTED = Reason(
    "The kernel lists no processes of this GPU for all to see.", "sudo amd-smi process"
)


class DrmSampler:
    """Samples all GPUs of AMD and Intel."""

    def __init__(self, host: Host) -> None:
        self._host = host
        vendors = {device.address: device.vendor_id for device in host.pci}
        found = [gpu.values["pci_address"] for gpu in (*amd.read(host), *intel.read(host))]
        self._gpus = [(address, vendors[address]) for address in found]
        self._shared = {a for a in found if amd.shares_memory(host.root, a)}
        self._rates = {address: Rates() for address in found}
        self._ids = amd.kfd_ids(host.root)
        self._processes, self._held_s = Processes(), -math.inf
        self._held = {address: Facts() for address in found}

    def sample(self, now_s: float) -> list[Facts]:
        """Return the facts of each GPU, AMD's before Intel's, in the order of inspection."""
        is_turn = now_s - self._held_s >= _PROCESSES_EVERY_S
        if is_turn:
            self._held_s = now_s
        return [
            self._sample(address, vendor, now_s, with_processes=is_turn)
            for address, vendor in self._gpus
        ]

    def _sample(
        self, address: str, vendor: int | None, now_s: float, *, with_processes: bool
    ) -> Facts:
        gpu = Facts()
        gpu.values["pci_address"] = address
        folder = self._host.folder(address)
        if not folder.is_dir():
            gpu.values["state"] = "lost"
            lack_all(gpu, _LOST)
        elif is_asleep(self._host, address):
            gpu.values["state"] = "asleep"
            lack_all(gpu, ASLEEP)
        elif vendor == amd.VENDOR_ID:
            self._add_amd(gpu, folder)
            if with_processes:
                self._held[address] = Facts()
                self._add_processes(self._held[address], address)
            gpu.take(self._held[address])
        else:
            self._add_intel(gpu, folder, now_s)
        for name in ("pcie_received_bytes_per_s", "pcie_sent_bytes_per_s"):
            gpu.lack(name, _BLOCKS if vendor == amd.VENDOR_ID else _COUNTERS)
        lack_all(gpu, _UNTOLD[vendor or amd.VENDOR_ID])
        return gpu

    def _add_amd(self, gpu: Facts, folder: Path) -> None:
        for name, file, divisor in (
            ("busy", "gpu_busy_percent", 100),
            ("memory_busy", "mem_busy_percent", 100),
            ("pcie_replays", "pcie_replay_count", 1),
        ):
            _keep(gpu, name, read_int(folder / file), divisor)
        told = amd.memory_bytes(folder, is_shared=gpu.values["pci_address"] in self._shared)
        for name, count in zip(("memory_total_bytes", "memory_used_bytes"), told, strict=True):
            _keep(gpu, name, count)
        sensors = hwmon(folder)
        if sensors is not None:
            for name, files, divisor in (
                ("sm_hz", ("freq1_input",), 1),
                ("memory_hz", ("freq2_input",), 1),
                ("power_watts", ("power1_average", "power1_input"), 10**6),
                ("power_limit_watts", ("power1_cap",), 10**6),
                ("temperature_celsius", ("temp1_input",), 1000),
            ):
                for file in files:
                    _keep(gpu, name, read_int(sensors / file), divisor)
        counts = re.findall(
            r"^(ue|ce): (\d+)$", read_text(folder / "ras/umc_err_count") or "", re.M
        )
        for kind, count in counts:
            _keep(gpu, "ecc_uncorrected" if kind == "ue" else "ecc_corrected", int(count))

    def _add_processes(self, gpu: Facts, address: str) -> None:
        """Add the GPU's processes, from KFD's counts for each process."""
        folder, number = self._host.root / _KFD_PROCESSES, self._ids.get(address)
        if number is None or not folder.is_dir():
            gpu.lack("processes", _NOT_COUNTED)
            return
        held: list[tuple[int, int | None, Literal["compute", "graphics"]]] = [
            (pid, used, "compute")
            for pid in numbered(folder, "")
            if (used := read_int(folder / f"{pid}/vram_{number}"))
        ]
        gpu.keep("processes", self._processes.describe(gpu, held), "")

    def _add_intel(self, gpu: Facts, folder: Path, now_s: float) -> None:
        for name in ("busy", "memory_busy", "memory_used_bytes", "processes"):
            gpu.lack(name, _COUNTERS)
        cards = [folder / "drm" / card for card in entries(folder / "drm") if "card" in card]
        for file in (
            folder / "tile0/gt0/freq0/act_freq",  # xe
            *(card / "gt/gt0/rps_act_freq_mhz" for card in cards),  # i915
            *(card / "gt_act_freq_mhz" for card in cards),
        ):
            _keep(gpu, "sm_hz", read_int(file), 1e-6)
        sensors = hwmon(folder)
        if sensors is None:
            return
        _keep(gpu, "power_limit_watts", read_int(sensors / "power1_max"), 10**6)
        _keep(gpu, "temperature_celsius", read_int(sensors / "temp2_input"), 1000)
        energy = read_int(sensors / "energy1_input")  # in microjoules
        if energy is not None:
            address = gpu.values["pci_address"]
            watts = self._rates[address].per_s("energy", now_s, energy / 1e6)
            gpu.found("power_watts", watts, "", NEEDS_TWO)


def _keep(gpu: Facts, name: str, value: int | None, divisor: float = 1) -> None:
    """Keep a value in our unit, unless an earlier file had it."""
    if value is not None and not gpu.knows(name):
        scaled = value / divisor
        gpu.keep(
            name, int(scaled) if name.endswith(("_bytes", "_hz")) or divisor == 1 else scaled, ""
        )
