"""A tree of /proc and /sys to be filled by hand."""

from __future__ import annotations

from pathlib import Path

RECORDINGS = Path(__file__).parents[3] / "shared/data/hwloc"


class Tree:
    """Writes files below `root` by their names on the machine; the parts a test needs, no more."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("/proc/version", "Linux version 6.1.0-test (somebody@somewhere) #1\n")

    def write(self, path: str, text: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

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
