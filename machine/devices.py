"""Records of attached devices: PCI devices, GPUs and their links, disks, network interfaces.

And what theoretical peaks are in the JSON of a machine, so that they are decoded strictly.

machine/model.py explains what None and empty mean.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from machine.condition import FileSystem
from machine.record import Record


class Link(Record):
    """A PCIe link: the present state, the best of the card, the best of the slot.

    Idle links slow down, so the present state may be lower. `peak_bytes_per_s` is the best that
    card and slot can do together, in one direction.
    """

    generation: int | None = None
    width: int | None = None
    card_generation: int | None = None
    card_width: int | None = None
    slot_generation: int | None = None
    slot_width: int | None = None
    peak_bytes_per_s: float | None = None


class PciDevice(Record):
    """A device or bridge; `class_id` has 24 bits.

    `parent` is the bridge above it; on the top bus it is the root complex ("pci0000:00"). `link` is
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


class NvLink(Record):
    """One NVLink of a GPU. `bytes_per_s` is for one direction, as the driver reports it.

    A sleeping link is up and saves power. `peer` is the PCI address at the other end, which a
    virtual machine may hide.
    """

    number: int
    state: Literal["active", "sleep", "inactive"] | None = None
    version: str | None = None
    bytes_per_s: float | None = None
    peer_kind: Literal["gpu", "switch", "processor"] | None = None
    peer: str | None = None


class MigInstance(Record):
    """A slice of a GPU (NVIDIA MIG) with its own memory and SMs."""

    name: str | None = None
    uuid: str | None = None
    memory_bytes: int | None = None
    sms: int | None = None


Severity = Literal["information", "limit", "warning"]


class ClockReason(Record):
    """Why a GPU's clock is not higher; `key` is that of the sentence."""

    key: str
    severity: Severity


class Gpu(Record):
    """A GPU or other accelerator; `pci_address` finds it in `pci`.

    `sms` counts NVIDIA's streaming multiprocessors, AMD's compute units or Apple's GPU cores.
    Clocks are the highest. `numa_node` is the nearest node; `memory_numa_node` is the GPU's own
    memory, if that is a node. `link` comes from the driver if `pci` has none, as in a virtual
    machine.

    `bar_bytes` is the largest window of addresses (BAR) through which the processor reaches the
    GPU's memory; `resizable_bar` is whether it spans all of it. `ecc_pending` is the state of ECC
    from the next start on. Rows of memory are remapped after errors.
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
    architecture: str | None = None  # of AMD: gfx942, of NVIDIA: Hopper
    memory_bytes: int | None = None
    unified_memory: bool | None = None  # it has no own memory and uses the machine's
    memory_bus_bits: int | None = None
    memory_clock_hz: int | None = None
    sms: int | None = None
    sm_clock_hz: int | None = None
    l2_bytes: int | None = None
    power_limit_watts: float | None = None
    power_default_watts: float | None = None
    power_min_watts: float | None = None
    power_max_watts: float | None = None
    temperature_celsius: float | None = None  # when it was looked at
    temperature_slowdown_celsius: float | None = None  # from here on it clocks down
    temperature_shutdown_celsius: float | None = None
    clock_reasons: tuple[ClockReason, ...] | None = None  # when it was looked at
    numa_node: int | None = None
    memory_numa_node: int | None = None
    link: Link | None = None
    bar_bytes: int | None = None
    resizable_bar: bool | None = None
    c2c_bytes_per_s: float | None = None  # of NVLink-C2C to the processor (Grace), one direction
    visible: bool | None = None  # to programs started from here
    asleep: bool | None = None
    ecc: bool | None = None
    ecc_pending: bool | None = None
    remapped_rows: int | None = None
    remapping_pending: bool | None = None
    remapping_failed: bool | None = None
    persistence: bool | None = None
    virtualization: Literal["none", "passthrough", "vgpu", "host"] | None = None
    fabric: Literal["not started", "in progress", "completed", "failed"] | None = None
    mig: bool | None = None
    mig_instances: tuple[MigInstance, ...] = ()
    nvlinks: tuple[NvLink, ...] = ()


class GpuLink(Record):
    """The connection between two GPUs, a < b.

    `path` uses the terms of `nvidia-smi topo -m`. NV# means # NVLinks. PIX goes through one PCIe
    switch, PXB through several, PHB through the processor's PCIe. NODE stays within a memory node,
    SYS goes between two.
    """

    a: int
    b: int
    path: str | None = None
    nvlinks: int | None = None
    nvlink_version: str | None = None
    peer_access_reported: bool | None = None
    peer_access_cuda: bool | None = None


class Disk(Record):
    """A disk. `peak_bytes_per_s` is the peak of its link, in one direction.

    `wear_fraction` is how much of the life that its maker expects is used up, at most. A file
    system over several disks stands at each of them.
    """

    name: str
    kind: Literal["nvme", "ssd", "hdd", "card", "persistent memory", "virtual"] | None = None
    transport: Literal["pcie", "network", "sata", "sas", "usb", "mmc", "memory", "host"] | None = (
        None
    )
    model: str | None = None
    size_bytes: int | None = None
    pci_address: str | None = None
    peak_bytes_per_s: float | None = None
    wear_fraction: float | None = None
    file_systems: tuple[FileSystem, ...] = ()


class NetworkInterface(Record):
    """A network interface; `peak_bytes_per_s` is for its present speed, in one direction."""

    name: str
    kind: Literal["ethernet", "infiniband", "wifi"] | None = None
    is_up: bool | None = None
    peak_bytes_per_s: float | None = None
    pci_address: str | None = None


class Peak(TypedDict, total=False):
    """A theoretical peak in one of these units; the last two are those of a way over PCIe."""

    bytes_per_s: float
    flop_per_s: float
    op_per_s: float
    formula: str
    source: str
    way_bytes_per_s: float | None
    limiting_hop: str


class Peaks(TypedDict, total=False):
    """Peaks by kind of part, as `read_peaks` in machine/peaks.py makes them."""

    memory: Peak
    pcie: dict[str, Peak]
    nvlink: dict[str, Peak]
    gpus: dict[str, dict[str, Peak]]
