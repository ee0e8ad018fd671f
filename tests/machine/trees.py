"""A made-up tree of /proc and /sys."""

from __future__ import annotations

import os
from pathlib import Path

from tests import ROOT

RECORDINGS = ROOT.parent / "shared/data/hwloc"


class Tree:
    """Writes files below `root` by their names on the machine; the parts a test needs, no more."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("/proc/version", "Linux version 6.1.0-test (somebody@somewhere) #1\n")

    def write(self, path: str, text: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def link(self, path: str, target: str) -> None:
        """A symbolic link from one place on the machine to another."""
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        (self.root / target.lstrip("/")).mkdir(parents=True, exist_ok=True)
        file.symlink_to(os.path.relpath(self.root / target.lstrip("/"), file.parent))

    def pci(self, path: str, kind: str = "0x030200", maker: str = "0x10de", **files: str) -> str:
        """A PCI device by its path below /sys/devices; returns the whole path.

        `now` and `able` are speed and width, such as "16.0 GT/s PCIe" x16, of its own link files.
        """
        folder, address = f"/sys/devices/{path}", path.rpartition("/")[2]
        told = {"class": kind, "vendor": maker, "device": "0x1234", "numa_node": "0"} | files
        for which, name in (("now", "current"), ("able", "max")):
            speed, _, lanes = told.pop(which, "").partition(" x")
            if speed:
                self.write(f"{folder}/{name}_link_speed", f"{speed}\n")
                self.write(f"{folder}/{name}_link_width", f"{lanes}\n")
        for name, text in told.items():
            self.write(f"{folder}/{name}", f"{text}\n")
        self.link(f"/sys/bus/pci/devices/{address}", folder)
        return folder

    def cpu(self, path: str, text: str) -> None:
        self.write(f"/sys/devices/system/cpu/{path}", f"{text}\n")

    def cpus(
        self, count: int, *, threads_per_core: int = 1, packages: int = 1, online: str | None = None
    ) -> None:
        """Threads in order: siblings side by side, packages one after the other; no caches."""
        self.cpu("present", f"0-{count - 1}")
        self.cpu("online", f"0-{count - 1}" if online is None else online)
        in_package = count // packages
        for n in range(count):
            core = n // threads_per_core * threads_per_core
            package = n // in_package
            topology = f"cpu{n}/topology"
            self.cpu(f"{topology}/core_cpus_list", f"{core}-{core + threads_per_core - 1}")
            self.cpu(f"{topology}/core_id", f"{core % in_package // threads_per_core}")
            first = package * in_package
            self.cpu(f"{topology}/package_cpus_list", f"{first}-{first + in_package - 1}")
            self.cpu(f"{topology}/physical_package_id", f"{package}")

    def cache(self, thread: int, index: int, level: int, kind: str, size: str, shared: str) -> None:
        folder = f"cpu{thread}/cache/index{index}"
        self.cpu(f"{folder}/level", f"{level}")
        self.cpu(f"{folder}/type", kind)
        self.cpu(f"{folder}/size", size)
        self.cpu(f"{folder}/shared_cpu_list", shared)
        self.cpu(f"{folder}/coherency_line_size", "64")
        self.cpu(f"{folder}/ways_of_associativity", "8")

    def pinned(self, threads: str) -> None:
        self.write("/proc/self/status", f"Name:\tpython\nCpus_allowed_list:\t{threads}\n")
