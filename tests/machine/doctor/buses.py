"""Writes PCI devices and kernels into a tree, as far as the doctor reads them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.machine.trees import Tree

PCI = "/sys/bus/pci/devices"


def plug(
    tree: Tree,
    address: str,
    vendor: int,
    device: int,
    class_id: int,
    *,
    driver: str | None = None,
    status: str | None = "active",
    answers: bool = True,
    render: str | None = None,
) -> Path:
    """Write a PCI device and return its folder."""
    place = f"{PCI}/{address}"
    tree.write(f"{place}/vendor", f"{vendor:#06x}\n")
    tree.write(f"{place}/device", f"{device:#06x}\n")
    tree.write(f"{place}/class", f"{class_id:#08x}\n")
    folder = tree.root / place.lstrip("/")
    start = vendor.to_bytes(2, "little") + device.to_bytes(2, "little")
    (folder / "config").write_bytes(start + bytes(60) if answers else b"\xff" * 64)
    if status is not None:
        tree.write(f"{place}/power/runtime_status", f"{status}\n")
    if driver is not None:
        os.symlink(f"../../../bus/pci/drivers/{driver}", folder / "driver")
    if render is not None:
        (folder / "drm" / render).mkdir(parents=True)
    return folder


def geforce(tree: Tree, **changes: Any) -> Path:
    """Plug in a GeForce RTX 4070."""
    return plug(tree, "0000:01:00.0", 0x10DE, 0x2786, 0x030000, **{"driver": "nvidia", **changes})


def load(tree: Tree, *modules: str) -> None:
    """Let the kernel have loaded these modules."""
    tree.write("/proc/modules", "".join(f"{name} 4096 0 - Live 0x0\n" for name in modules))


def ready(tree: Tree, release: str, *paths: str) -> None:
    """Let these files of modules lie ready for a kernel."""
    tree.write(f"/lib/modules/{release}/modules.dep", "".join(f"{path}: a.ko\n" for path in paths))
