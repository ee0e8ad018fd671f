"""The facts of one GPU from NVIDIA's management library (NVML)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from machine.bus import pcie
from machine.devices import Link, MigInstance
from machine.facts import Facts, Reason, Unanswered
from machine.gpus import nvlink, nvml_health
from machine.gpus.nvml import (
    MOST_BYTES,
    MOST_INSTANCES,
    NOT_SUPPORTED,
    ODD,
    REASONS,
    Nvml,
    address_of,
    is_refusal,
)
from machine.gpus.pci_facts import Host
from machine.record import names
from machine.system.linux import read_text

NAMES = (
    *("uuid", "driver_version", "cuda_version", "compute_capability", "architecture"),
    *("memory_bytes", "bar_bytes"),
    *("memory_bus_bits", "memory_clock_hz", "sm_clock_hz", "power_limit_watts"),
    *("power_default_watts", "power_min_watts", "power_max_watts", "memory_numa_node"),
    *nvml_health.NAMES,
    *("persistence", "virtualization", "fabric", "mig", "mig_instances", "nvlinks"),
    "c2c_bytes_per_s",
)

_NODES = "sys/devices/system/node"
_VIRTUALIZATION = {0: "none", 1: "passthrough", 2: "vgpu", 3: "host", 4: "host"}
# nvmlDeviceArchitecture_t of nvml.h, of the driver 590 (November 2026)
_ARCHITECTURES = {
    **{2: "Kepler", 3: "Maxwell", 4: "Pascal", 5: "Volta", 6: "Turing", 7: "Ampere", 8: "Ada"},
    **{9: "Hopper", 10: "Blackwell", 13: "Rubin"},
}
_UNKNOWN_ARCHITECTURE = 0xFFFFFFFF
# No GPU comes near these; a library that says more lies, or does not know.
_MOST = {
    "memory_bytes": MOST_BYTES,
    "bar_bytes": MOST_BYTES,
    "memory_bus_bits": 2**20,
    "memory_clock_hz": 10**12,
    "sm_clock_hz": 10**12,
    "power_limit_watts": 1e5,
    "power_default_watts": 1e5,
    "power_min_watts": 1e5,
    "power_max_watts": 1e5,
    "numa_node": 2**16,
    "memory_numa_node": 2**16,
}

_CLOCK_SM, _CLOCK_MEMORY = 1, 2  # nvmlClockType_t
_SCOPE_NODE = 0  # nvmlAffinityScope_t
_NODE_BITS, _NODE_WORDS = 64, 16  # NVML tells nodes as a mask
_MIG_OFF = Reason(
    "MIG is off: the GPU is not split.", "nvidia-smi --query-gpu=mig.mode.current --format=csv"
)
_IN_PCI = Reason("It stands in pci, by the address, with both its ends.", "See pci.")
_SLOT = "the slot's best is what it can do with this card"
_TOGETHER = Reason(
    "NVML tells what card and slot can do together, not each.", "The manuals of card and board."
)


def ask_address(library: Nvml, gpu: Any, facts: Facts) -> None:
    """Add the PCI address."""

    def address() -> str:
        found = address_of(library.ask("nvmlDeviceGetPciInfo_v3", gpu))
        if found is None:
            raise Unanswered(REASONS[NOT_SUPPORTED])
        return found

    facts.ask("pci_address", _said("PciInfo_v3"), address)


def describe(library: Nvml, gpu: Any, facts: Facts, host: Host, *, link_is_known: bool) -> None:
    """Add all that NVML reports about one GPU."""
    if not facts.knows("asleep"):
        facts.keep("asleep", False, "NVML: the GPU answers")

    def ask(
        name: str, call: str, *arguments: Any, make: Callable[[Any], Any], positive: bool = False
    ) -> Any:
        how = library.ask_positive if positive else library.ask
        source = _said(call)

        def read() -> Any:
            value = make(how(f"nvmlDeviceGet{call}", gpu, *arguments))
            if name in _MOST and value is not None and value > _MOST[name]:
                raise Unanswered(ODD)
            return value

        return facts.ask(name, source, read)

    ask("name", "Name", make=str)
    ask("uuid", "UUID", make=str)
    ask("compute_capability", "CudaComputeCapability", make=lambda v: f"{v[0]}.{v[1]}")
    ask("architecture", "Architecture", make=_architecture)
    ask("memory_bytes", "MemoryInfo", make=lambda v: v.total)
    ask("memory_bus_bits", "MemoryBusWidth", make=int, positive=True)
    ask("memory_clock_hz", "MaxClockInfo", _CLOCK_MEMORY, make=_hertz, positive=True)
    ask("sm_clock_hz", "MaxClockInfo", _CLOCK_SM, make=_hertz, positive=True)
    ask("power_limit_watts", "EnforcedPowerLimit", make=_watts, positive=True)
    ask("power_default_watts", "PowerManagementDefaultLimit", make=_watts, positive=True)
    ask("power_min_watts", "PowerManagementLimitConstraints", make=lambda v: _watts(v[0]))
    ask("power_max_watts", "PowerManagementLimitConstraints", make=lambda v: _watts(v[1]))
    ask("persistence", "PersistenceMode", make=bool)
    if not facts.knows("bar_bytes"):
        ask("bar_bytes", "BAR1MemoryInfo", make=lambda v: v.bar1Total or None)
    nvml_health.describe(library, gpu, facts)
    ask("virtualization", "VirtualizationMode", make=_VIRTUALIZATION.get)
    ask("memory_numa_node", "NumaNodeId", make=lambda node: _memory_node(host, node))
    if not facts.knows("numa_node"):  # the firmware lacks the table that the kernel reads
        ask("numa_node", "MemoryAffinity", _NODE_WORDS, _SCOPE_NODE, make=_first_node)
    if ask("mig", "MigMode", make=lambda v: bool(v[0])):
        facts.ask(
            "mig_instances", _said("MigDeviceHandleByIndex"), lambda: _mig(library, gpu, facts)
        )
    else:
        facts.lack("mig_instances", facts.missing.get("mig", _MIG_OFF))
    for name, call in (
        ("driver_version", "nvmlSystemGetDriverVersion"),
        ("cuda_version", "nvmlSystemGetCudaDriverVersion_v2"),
    ):
        facts.ask(name, f"NVML: {call}", partial(_version, library, call))
    nvlink.describe(library, gpu, facts)
    if link_is_known:
        facts.lack("link", _IN_PCI)
    else:
        _add_link(library, gpu, facts)


def _memory_node(host: Host, node: int) -> int | None:
    """Return the node if it is the GPU's memory; some drivers name the processor's node."""
    return None if read_text(host.root / f"{_NODES}/node{node}/cpulist") else node


def _architecture(number: int) -> str:
    if number == _UNKNOWN_ARCHITECTURE:
        raise Unanswered(REASONS[NOT_SUPPORTED])
    if number not in _ARCHITECTURES:
        raise Unanswered(
            Reason(
                f"The driver's number of the architecture, {number}, is newer than the list here.",
                "Look the model up in its maker's data sheet.",
            )
        )
    return _ARCHITECTURES[number]


def _hertz(megahertz: int) -> int:
    return megahertz * 1_000_000


def _watts(milliwatts: int) -> float:
    return milliwatts / 1000


def _version(library: Nvml, call: str) -> str:
    """Return "12.4" for CUDA's 12040; the driver's version is text already."""
    value = library.ask(call)
    return value if isinstance(value, str) else f"{value // 1000}.{value % 1000 // 10}"


def _made(make: Callable[[Any], Any], library: Nvml, call: str, handle: Any) -> Any:
    return make(library.ask(call, handle))


def _first_node(words: Iterable[int]) -> int | None:
    bits = sum(word << _NODE_BITS * n for n, word in enumerate(words))
    return (bits & -bits).bit_length() - 1 if bits else None


def _add_link(library: Nvml, gpu: Any, facts: Facts) -> None:
    """Add the PCIe link; as the slot's best, what NVML says that card and slot can do together."""
    link = Facts()

    def ask(name: str, call: str) -> None:
        link.ask(name, "", lambda: library.ask_positive(f"nvmlDeviceGet{call}", gpu))

    ask("generation", "CurrPcieLinkGeneration")
    ask("width", "CurrPcieLinkWidth")
    ask("card_generation", "GpuMaxPcieLinkGeneration")
    ask("slot_generation", "MaxPcieLinkGeneration")
    ask("slot_width", "MaxPcieLinkWidth")
    most = link.values.get("slot_generation"), link.values.get("slot_width")
    if peak := pcie.bytes_per_s(*most):
        link.values["peak_bytes_per_s"] = peak
    if not link.values:
        facts.lack("link", link.missing["generation"])
        return
    facts.keep("link", Link(**link.values), f"NVML: nvmlDeviceGet...PcieLink...; {_SLOT}")
    for name in names(Link):
        if name not in link.values:
            facts.lack(f"link.{name}", link.missing.get(name, _TOGETHER))


def _mig(library: Nvml, gpu: Any, facts: Facts) -> tuple[MigInstance, ...]:
    """Return the MIG instances; `facts` gets the reasons for missing values."""
    instances = []
    for index in range(min(library.ask("nvmlDeviceGetMaxMigDeviceCount", gpu), MOST_INSTANCES)):
        try:
            handle = library.ask("nvmlDeviceGetMigDeviceHandleByIndex", gpu, index)
        except Unanswered as error:
            if is_refusal(error.reason):  # an unused place
                continue
            raise
        found = Facts()
        for name, call, make in (
            ("name", "nvmlDeviceGetName", str),
            ("uuid", "nvmlDeviceGetUUID", str),
            ("memory_bytes", "nvmlDeviceGetMemoryInfo", lambda v: v.total),
            ("sms", "nvmlDeviceGetAttributes_v2", lambda v: v.multiprocessorCount),
        ):
            found.ask(name, "", partial(_made, make, library, call, handle))
        instances.append(MigInstance(**found.values))
        for name, reason in found.missing.items():
            facts.lack(f"mig_instances[*].{name}", reason)
    return tuple(instances)


def _said(call: str) -> str:
    return f"NVML: nvmlDeviceGet{call}"
