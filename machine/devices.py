"""What is attached to a machine: PCI devices, GPUs and the ways between them, disks, networks?

Records only, as machine/model.py explains them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A PCIe link: as it runs now, as the card could, as the slot could.

    Now may be less than could be: links slow down when idle. `peak_bytes_per_s` is what card and
    slot could do at best, in one direction.
    """

    generation: int | None = None
    width: int | None = None
    card_generation: int | None = None
    card_width: int | None = None
    slot_generation: int | None = None
    slot_width: int | None = None
    peak_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PciDevice:
    """A device or bridge; `class_id` has 24 bits.

    `parent` is the bridge it is on, on the uppermost bus the root complex ("pci0000:00"). `link` is
    the link above the device. A virtual function is a share of a card, for a virtual machine.
    """

    address: str
    parent: str | None = None
    class_id: int | None = None
    vendor_id: int | None = None
    device_id: int | None = None
    name: str | None = None
    numa_node: int | None = None
    is_virtual_function: bool = False
    link: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NvLink:
    """One NVLink of a GPU. `bytes_per_s` in one direction, as the driver reports it.

    A link that sleeps is up, and saves power. `peer` is the PCI address at its other end, which a
    virtual machine may hide.
    """

    number: int
    state: Literal["active", "sleep", "inactive"] | None = None
    version: str | None = None
    bytes_per_s: float | None = None
    peer_kind: Literal["gpu", "switch", "processor"] | None = None
    peer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MigInstance:
    """A slice of a GPU (NVIDIA MIG) with memory and SMs of its own."""

    name: str | None = None
    uuid: str | None = None
    memory_bytes: int | None = None
    sms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU or other accelerator, found in `pci` by its address.

    `sms` counts NVIDIA's streaming multiprocessors, AMD's compute units, Apple's GPU cores. Clocks
    are the highest. `numa_node` is the node next to it, `memory_numa_node` the one that its own
    memory is. `link` is what its driver says where `pci` knows none, as in a virtual machine.
    """

    index: int
    vendor: str | None = None
    name: str | None = None
    uuid: str | None = None
    pci_address: str | None = None
    torch_backend: str | None = None  # cuda, rocm, xpu, mps, xla, hpu, ...
    driver: str | None = None  # the kernel's
    driver_version: str | None = None
    cuda_version: str | None = None  # the newest that the driver knows
    compute_capability: str | None = None  # of NVIDIA: 9.0
    architecture: str | None = None  # of AMD: gfx942
    memory_bytes: int | None = None
    unified_memory: bool | None = None  # it has none of its own, and uses the machine's
    memory_bus_bits: int | None = None
    memory_clock_hz: int | None = None
    sms: int | None = None
    sm_clock_hz: int | None = None
    l2_bytes: int | None = None
    power_limit_watts: float | None = None
    power_default_watts: float | None = None
    power_min_watts: float | None = None
    power_max_watts: float | None = None
    numa_node: int | None = None
    memory_numa_node: int | None = None
    link: Link | None = None
    c2c_bytes_per_s: float | None = None  # of NVLink-C2C to the processor (Grace), one direction
    visible: bool | None = None  # to programs that are started from here
    asleep: bool | None = None
    ecc: bool | None = None
    persistence: bool | None = None
    virtualization: Literal["none", "passthrough", "vgpu", "host"] | None = None
    fabric: Literal["not started", "in progress", "completed", "failed"] | None = None
    mig: bool | None = None
    mig_instances: tuple[MigInstance, ...] = ()
    nvlinks: tuple[NvLink, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuLink:
    """The way between two GPUs, a < b.

    `path` is in the words of `nvidia-smi topo -m`: NV# for so many NVLinks, PIX through one PCIe
    switch, PXB through several, PHB through the processor's PCIe, NODE within and SYS between
    memory nodes.
    """

    a: int
    b: int
    path: str | None = None
    nvlinks: int | None = None
    nvlink_version: str | None = None
    peer_access_reported: bool | None = None
    peer_access_cuda: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A disk. `peak_bytes_per_s` is what its link carries at best, in one direction."""

    name: str
    kind: Literal["nvme", "ssd", "hdd", "card", "persistent memory", "virtual"] | None = None
    transport: Literal["pcie", "network", "sata", "sas", "usb", "mmc", "memory", "host"] | None = (
        None
    )
    model: str | None = None
    size_bytes: int | None = None
    pci_address: str | None = None
    peak_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInterface:
    """A network interface; `peak_bytes_per_s` as it runs now, in one direction."""

    name: str
    kind: Literal["ethernet", "infiniband", "wifi"] | None = None
    is_up: bool | None = None
    peak_bytes_per_s: float | None = None
    pci_address: str | None = None
