"""What is written on the boxes of the map? Titles, the longest first, so that one of them fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from experiments.units import show
from experiments.words import Words
from machine.devices import Disk, Gpu, GpuLink, Link, NetworkInterface
from machine.linux import format_list
from machine.model import Machine, MemoryModule, NumaNode, Thread, missing_of
from widgets.map.tree import Core, Node

Titles = tuple[str, ...]


def ranges(threads: Iterable[int]) -> str:
    """Return threads as people write them: 0–3, 8."""
    return format_list(threads).replace("-", "–").replace(",", ", ")


def decimal_bytes(count: int) -> str:
    """Return a capacity as makers of disks count it: 2 TB."""
    return show(count, "bytes/s").removesuffix("/s")


def is_narrow(link: Link | None) -> bool:
    """Does the card have more lanes than it uses? Generations say nothing: idle cards slow down."""
    return bool(link and link.width and link.card_width and link.width < link.card_width)


class Labels:
    """The words on the boxes of one machine."""

    def __init__(self, words: Words, machine: Machine) -> None:
        self.words, self.machine = words, machine
        self._caches: dict[tuple[int, int | None], Titles] = {}  # many are alike

    def count_cores(self, cores: Sequence[Core]) -> str:
        """Return "16 cores, 32 threads"; without the cores where nobody knows them."""
        threads = self.count_threads(sum(len(core.threads) for core in cores))
        if any(core.number is None for core in cores):
            return threads
        text = "map.one_core" if len(cores) == 1 else "map.cores"
        counted = self.words.say(text, {"count": len(cores)})
        return self.words.say("map.cores_and_threads", {"cores": counted, "threads": threads})

    def count_threads(self, count: int) -> str:
        """Return "2 threads"."""
        return self.words.say("map.one_thread" if count == 1 else "map.threads", {"count": count})

    def package(self, node: Node) -> Titles:
        """Return the titles of a package."""
        name = self.package_name(node.number)
        counts = {"name": name, "cores": self.count_cores(node.cores)}
        return (self.words.say("map.package_titled", counts), name)

    def package_name(self, number: int | None) -> str:
        """Return "Package 0", or what to say where packages are not told apart."""
        if number is None:
            return self.words.say("map.processor")
        return self.words.say("map.package", {"number": number})

    def unknown_processor(self) -> tuple[Titles, tuple[str, ...]]:
        """Return titles and lines of a processor of which no threads are listed."""
        cpu = self.machine.cpu
        lines = [self.words.say("map.cores_unknown")]
        if cpu.threads is not None:
            lines.insert(0, self.count_threads(cpu.threads))
        return (self.words.say("map.processor"),), tuple(lines)

    def die(self, node: Node) -> Titles:
        """Return the titles of a die."""
        if node.number is None:
            return (self.words.say("map.die_unknown"),)
        return (self.words.say("map.die", {"number": node.number}), str(node.number))

    def core_kind(self, node: Node) -> Titles:
        """Return the titles of the cores of one kind."""
        count = {"count": len(node.cores)}
        match node.core_kind:
            case "performance":
                return self.words.say("map.performance_cores", count), self.words.say(
                    "map.p_cores", count
                )
            case "efficiency":
                return self.words.say("map.efficiency_cores", count), self.words.say(
                    "map.e_cores", count
                )
            case "low-power":
                return self.words.say("map.low_power_cores", count), self.words.say(
                    "map.lp_cores", count
                )
        return (self.words.say("map.other_cores", count),)

    def cache(self, level: int, places: Sequence[int]) -> Titles:
        """Return the titles of one cache: the first of `places` tells its size."""
        key = level, self.machine.cpu.caches[places[0]].size_bytes
        known = self._caches.get(key)
        if known is None:
            known = self._caches[key] = self._cache(*key)
        return known

    def _cache(self, level: int, size_bytes: int | None) -> Titles:
        name = self.words.say("map.cache_level", {"level": level})
        if size_bytes is None:
            return self.words.say("map.cache_unsized", {"name": name}), name
        return self.words.say("map.cache_sized", {"name": name, "size_bytes": size_bytes}), name

    def private_caches(self, level: int, places: Sequence[int]) -> Titles:
        """Return the titles of the caches of one level that each core has for itself."""
        caches = self.machine.cpu.caches
        sizes = sorted({size for place in places if (size := caches[place].size_bytes)})
        name = self.words.say("map.cache_level", {"level": level})
        if not sizes:
            return self.words.say("map.cache_unsized", {"name": name}), name
        either = self.words.say("map.or").join(show(size, "bytes") for size in sizes)
        values = {"name": name, "sizes": either}
        return (
            self.words.say("map.cache_each", values),
            self.words.say("map.cache_sizes", values),
            name,
        )

    def off(self, threads: Sequence[Thread]) -> Titles:
        """Return the titles of threads that are switched off."""
        ids = ranges(thread.id for thread in threads)
        return self.words.say("map.off_titled", {"threads": ids}), self.words.say("map.off")

    def memory(self) -> tuple[Titles, tuple[str, ...]]:
        """Return titles and lines of the memory."""
        memory = self.machine.memory
        name = self.words.say("map.memory")
        if memory.total_bytes is None:
            titles: Titles = (self.words.say("map.memory_unsized"), name)
        else:
            titles = (self.words.say("map.memory_sized", {"total_bytes": memory.total_bytes}), name)
        lines = []
        if memory.modules:
            text = "map.one_module" if len(memory.modules) == 1 else "map.modules"
            lines.append(self.words.say(text, {"count": len(memory.modules)}))
        if memory.channels:
            lines.append(self.words.say("map.channels", {"count": memory.channels}))
        if memory.peak_bytes_per_s:
            lines.append(
                self.words.say("map.at_most", {"peak_bytes_per_s": memory.peak_bytes_per_s})
            )
        if not lines:
            lines.append(self.words.say("map.modules_unknown"))
        return titles, (" · ".join(lines),) if lines else ()

    def node(self, node: NumaNode) -> Titles:
        """Return the titles of a NUMA node."""
        name = self.words.say("map.node", {"number": node.id})
        size = "" if node.memory_bytes is None else show(node.memory_bytes, "bytes")
        if node.threads:
            served = self.words.say("map.of_threads", {"threads": ranges(node.threads)})
        else:
            served = self.words.say("map.no_threads")
        full, sized = (" · ".join(filter(None, t)) for t in ((name, size, served), (name, size)))
        return full, sized, name, str(node.id)

    def module(self, module: MemoryModule) -> Titles:
        """Return the titles of a stick of memory."""
        if module.size_bytes == 0:
            return (self.words.say("map.empty_slot"),)
        size = show(module.size_bytes, "bytes") if module.size_bytes else ""
        texts = [text for text in (module.kind, size) if text]
        return (" · ".join(texts), size) if size else (module.kind or module.slot or "?",)

    def gpu(self, gpu: Gpu) -> tuple[Titles, tuple[str, ...]]:
        """Return titles and lines of a GPU."""
        name = self.words.say("map.gpu", {"number": gpu.index})
        titles: Titles = (f"{name} · {gpu.name}", name) if gpu.name else (name,)
        inside = []
        if gpu.memory_bytes:
            inside.append(self.words.say("map.gpu_memory", {"memory_bytes": gpu.memory_bytes}))
        if gpu.sms:
            inside.append(self.words.say("map.sms", {"count": gpu.sms}))
        if gpu.l2_bytes:
            inside.append(self.words.say("map.gpu_l2", {"l2_bytes": gpu.l2_bytes}))
        return titles, (" · ".join(inside),) if inside else ()

    def link(self, link: Link | None) -> Titles:
        """Return the titles of a PCIe link, as it runs now."""
        if link is None or link.width is None:
            return (self.words.say("map.pcie"),)
        lanes = self.words.say("map.lanes", {"width": link.width})
        if is_narrow(link):
            full = self.words.say("map.lanes", {"width": link.card_width})
            lanes = self.words.say("map.lanes_narrow", {"lanes": lanes, "full": full})
        if link.generation is None:
            return (lanes,)
        return self.words.say(
            "map.lanes_of", {"generation": link.generation, "lanes": lanes}
        ), lanes

    def nvlink(self, links: Sequence[GpuLink]) -> Titles:
        """Return the titles of all NVLinks between GPUs."""
        each = sorted({link.nvlinks for link in links if link.nvlinks})
        name = self.words.say("map.nvswitch" if self.machine.nvswitch else "map.nvlink")
        if not each:
            return (name,)
        counts = self.words.say("map.or").join(map(str, each))
        return self.words.say("map.nvlink_titled", {"name": name, "counts": counts}), name

    def disk(self, disk: Disk) -> Titles:
        """Return the titles of a disk."""
        name = disk.model or disk.name
        if not disk.size_bytes:
            return name, disk.name
        size = decimal_bytes(disk.size_bytes)
        return f"{name} · {size}", f"{disk.name} · {size}", disk.name

    def network(self, interface: NetworkInterface) -> Titles:
        """Return the titles of a network interface."""
        name = interface.name
        if interface.peak_bytes_per_s is None:
            return (name,)
        return f"{name} · {show(interface.peak_bytes_per_s, 'bytes/s')}", name

    def no_gpu(self) -> tuple[Titles, str]:
        """Return the titles and the sentence where no GPU is known."""
        if missing_of(self.machine, "gpus"):
            return (self.words.say("map.gpus_unread"),), self.words.say("map.gpus_unread_why")
        return (self.words.say("map.no_gpu"),), self.words.say("map.no_gpu_why")

    def no_storage(self) -> Titles:
        """Return the titles where nobody looked for disks."""
        return self.words.say("map.storage_unread"), self.words.say("map.storage")

    def no_network(self) -> Titles:
        """Return the titles where nobody looked for networks."""
        return self.words.say("map.network_unread"), self.words.say("map.network")

    def fold_back(self) -> Titles:
        """Return the titles of what hides again what was unfolded."""
        return self.words.say("map.fewer"), "–"

    def fold(self, key: str, count: int) -> Titles:
        """Return the titles of what is folded; `key` says of what."""
        if count == 1:
            return (self.words.say("map.one_more"),)
        return self.words.say(key, {"count": count}), self.words.say("map.more", {"count": count})
