"""What is attached to a machine: PCI devices, GPUs and the ways between them, disks, networks?

Records only, as machine/model.py explains them; this version reads none of them yet.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A PCIe link: as it runs now, as the card could, as the slot could."""

    generation: int | None = None
    width: int | None = None
    card_generation: int | None = None
    card_width: int | None = None
    slot_generation: int | None = None
    slot_width: int | None = None
    peak_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PciDevice:
    """A device or bridge; `class_id` has 24 bits."""

    address: str
    parent: str | None = None
    class_id: int | None = None
    vendor_id: int | None = None
    device_id: int | None = None
    name: str | None = None
    numa_node: int | None = None
    link: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """An accelerator, found in `pci` by its address."""

    index: int
    vendor: str | None = None
    name: str | None = None
    uuid: str | None = None
    pci_address: str | None = None
    memory_bytes: int | None = None
    sms: int | None = None
    l2_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuLink:
    """The way between two GPUs, a < b."""

    a: int
    b: int
    path: str | None = None
    nvlinks: int | None = None
    nvlink_version: str | None = None
    peer_access_reported: bool | None = None
    peer_access_cuda: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """A block device."""

    name: str
    kind: str | None = None
    model: str | None = None
    size_bytes: int | None = None
    pci_address: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInterface:
    """A network interface; `peak_bytes_per_s` in one direction."""

    name: str
    kind: str | None = None
    peak_bytes_per_s: float | None = None
    pci_address: str | None = None
