"""Data paths between two parts of the map, and the narrowest step of each.

From a core through its caches to a shared one, or to memory; from a device over its link and the
switches above it; between GPUs over NVLink, or as `nvidia-smi topo -m` says. The bandwidth of a
step is its ceiling, which no measurement can exceed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.core.units import show
from experiments.core.words import Words
from machine.bus import pcie
from machine.devices import GpuLink, PciDevice
from machine.model import Cache, Machine, caches_of
from widgets.map.layout.boxes import Box, Kind
from widgets.map.layout.device_labels import shared_hops
from widgets.map.layout.labels import Labels

CORES = (Kind.PACKAGE, Kind.DIE, Kind.CORE_KIND, Kind.CORE, Kind.THREAD, Kind.CACHE)
MEMORY = (Kind.MEMORY, Kind.NODE, Kind.MODULE)
PATHS = {
    "PIX": "map.path_pix",
    "PXB": "map.path_pxb",
    "PHB": "map.path_phb",
    "NODE": "map.path_node",
    "SYS": "map.path_sys",
}


@dataclass(frozen=True, slots=True)
class DataPath:
    """The boxes and lines that data passes, and the path in words."""

    lit: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class PathStep:
    """A part that data passes, and its peak bandwidth if known."""

    name: str
    peak: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndDevice:
    """A device at one end: its box, its name, its PCI address."""

    box: str
    name: str
    address: str | None
    gpu: int | None = None  # its index


class DataPaths:
    """Finds data paths in one machine; `name` gives the title of a box."""

    def __init__(self, machine: Machine, words: Words, name: Callable[[Box], str]) -> None:
        self._machine, self._words, self._name = machine, words, name
        self._labels = Labels(words, machine)
        self._shared = {address: hop.address for address, hop in shared_hops(machine).items()}

    def between(self, a: Box, b: Box, boxes: Sequence[Box]) -> DataPath | None:
        """Return the path between two boxes, None if there is none."""
        one, other = self._device(a), self._device(b)
        if a.id == b.id or (one and other and one.box == other.box):
            return None
        if one and other:
            return self._between_devices(one, other, boxes)
        if device := one or other:
            end = b if one else a
            if end.kind not in (*CORES, *MEMORY):
                return None
            return self._from_device(device, end, boxes, is_back=one is None)
        if any(box.kind in CORES and not box.threads for box in (a, b)):
            return None  # the cores are unknown
        if a.kind in MEMORY and b.kind in CORES:
            return self._to_memory(b, a, boxes, is_back=True)
        if a.kind in CORES and b.kind in MEMORY:
            return self._to_memory(a, b, boxes)
        if a.kind in CORES and b.kind in CORES:
            return self._between_cores(a, b, boxes)
        return None

    # --- cores and memory ----------------------------------------------------------------------

    def _between_cores(self, a: Box, b: Box, boxes: Sequence[Box]) -> DataPath | None:
        if common := set(a.threads) & set(b.threads):
            if Kind.PACKAGE in (a.kind, b.kind) or Kind.CACHE not in (a.kind, b.kind):
                return None  # one contains the other
            near, far = (a, b) if len(a.threads) <= len(b.threads) else (b, a)
            caches = [
                cache
                for cache in caches_of(self._machine, min(common))
                if self._level(near) < (cache.level or 0) <= self._level(far)
            ]
            names = [self._name(near), *map(self._cache_name, caches[:-1]), self._name(far)]
            return self._described(names, [near.id, far.id, *self._boxes_of(caches, boxes)])
        first, second = a.threads[0], b.threads[0]
        up = caches_of(self._machine, first)
        shared = next((cache for cache in up if second in cache.threads), None)
        up = up[: up.index(shared)] if shared else up
        down = [c for c in caches_of(self._machine, second) if first not in c.threads]
        down = [c for c in down if shared is None or (c.level or 0) < (shared.level or 0)]
        # A path that begins or ends at a cache skips it and the levels before it.
        up, down = (
            [cache for cache in passed if (cache.level or 0) > self._level(end)]
            for passed, end in ((up, a), (down, b))
        )
        if shared is not None:
            middle, passed = self._cache_name(shared), [*up, shared, *down]
        else:
            threads = {thread.id: thread for thread in self._machine.cpu.threads_list}
            is_within = threads[first].package == threads[second].package
            way = "map.within_package" if is_within else "map.between_packages"
            middle, passed = self._words.say(way), [*up, *down]
        names = [
            self._name(a),
            *map(self._cache_name, up),
            middle,
            *map(self._cache_name, reversed(down)),
            self._name(b),
        ]
        lit = [a.id, b.id, *self._boxes_of(passed, boxes)]
        return self._described(once(names), lit, None if shared else PathStep(middle))

    def _to_memory(
        self, a: Box, b: Box, boxes: Sequence[Box], *, is_back: bool = False
    ) -> DataPath:
        thread, memory = a.threads[0], self._machine.memory
        caches = [c for c in caches_of(self._machine, thread) if (c.level or 0) > self._level(a)]
        names = [self._name(a), *map(self._cache_name, caches), self._words.say("map.memory")]
        lit = [a.id, b.id, "memory", *self._boxes_of(caches, boxes)]
        step = PathStep(self._words.say("map.memory"), memory.peak_bytes_per_s)
        names = names[::-1] if is_back else names
        return self._described(names, lit, step, self._node_crossing(thread, b))

    def _node_crossing(self, thread: int, b: Box) -> str:
        """Return how much farther the memory of another node is, in words."""
        numa = self._machine.numa
        here = next((n for n, node in enumerate(numa) if thread in node.threads), None)
        if b.kind is not Kind.NODE or here is None or here == b.members[0]:
            return ""
        there = b.members[0]
        if len(numa[here].distances) <= max(here, there):
            return ""
        values = {
            "a": numa[here].id,
            "b": numa[there].id,
            "far": numa[here].distances[there],
            "near": numa[here].distances[here],
        }
        return self._words.say("map.crosses_nodes", values)

    def _level(self, box: Box) -> int:
        if box.kind is not Kind.CACHE:
            return 0
        return self._machine.cpu.caches[box.members[0]].level or 0

    def _cache_name(self, cache: Cache) -> str:
        return self._words.say("map.cache_level", {"level": cache.level or "?"})

    def _boxes_of(self, caches: Sequence[Cache], boxes: Sequence[Box]) -> list[str]:
        known = {id(cache): place for place, cache in enumerate(self._machine.cpu.caches)}
        places = {known[id(cache)] for cache in caches}
        return [box.id for box in boxes if box.kind is Kind.CACHE and places & set(box.members)]

    # --- devices -------------------------------------------------------------------------------

    def _device(self, box: Box) -> EndDevice | None:
        machine = self._machine
        target = box.id.removeprefix("link:")
        kind, _, number = target.partition(":")
        if not number or box.kind is Kind.FOLD:
            return None
        match kind:
            case "gpu" | "slice":
                index = int(number.partition(":")[0])
                gpu = next(gpu for gpu in machine.gpus if gpu.index == index)
                name = self._labels.gpu_name(gpu)
                return EndDevice(box=f"gpu:{index}", name=name, address=gpu.pci_address, gpu=index)
            case "disk":
                disk = machine.storage[int(number)]
                return EndDevice(box=target, name=disk.name, address=disk.pci_address)
            case "network":
                card = machine.network[int(number)]
                return EndDevice(box=target, name=card.name, address=card.pci_address)
        return None

    def _from_device(
        self, device: EndDevice, b: Box, boxes: Sequence[Box], *, is_back: bool
    ) -> DataPath:
        hops = self._hops(device, None)
        steps = self._steps(device, hops)
        names = [device.name, *(self._labels.hop(h) for h in hops if h.address != device.address)]
        lit = [*self._lit(device, is_up=True), b.id]
        package = self._package(device, boxes)
        if package is not None and b.id != package.id:
            names.append(package.titles[-1])
            lit.append(package.id)
        if b.kind in MEMORY:
            memory = PathStep(self._words.say("map.memory"), self._machine.memory.peak_bytes_per_s)
            steps.append(memory)
            names.append(memory.name)
            lit.append("memory")
        else:
            names.append(self._name(b))
        return self._described(names[::-1] if is_back else names, lit, narrowest(steps))

    def _between_devices(self, a: EndDevice, b: EndDevice, boxes: Sequence[Box]) -> DataPath:
        pair = self._pair(a, b)
        if pair is not None and pair.nvlinks:
            return self._by_nvlink(a, b, pair)
        pci = self._machine.pci
        word = (pair.path if pair else None) or pcie.gpu_path(pci, a.address, b.address)
        common = {d.address for d in pcie.way(pci, a.address)[1:]}
        meeting = next((d for d in pcie.way(pci, b.address)[1:] if d.address in common), None)
        steps = [step for end in (a, b) for step in self._steps(end, self._hops(end, meeting))]
        is_up = meeting is None
        lit = [*self._lit(a, is_up=is_up), *self._lit(b, is_up=is_up)]
        if is_up:
            lit += [box.id for box in (self._package(a, boxes), self._package(b, boxes)) if box]
        over = self._words.say(PATHS.get(word or "", "map.path_unknown"))
        said = over if word is None else f"{word}: {over}"
        is_barred = pair is not None and pair.peer_access_cuda is False
        more = self._words.say("map.no_peer_access") if is_barred else ""
        return self._described([a.name, said, b.name], lit, narrowest(steps), more)

    def _by_nvlink(self, a: EndDevice, b: EndDevice, pair: GpuLink) -> DataPath:
        known = self._machine.peaks.get("nvlink", {}).get(f"{pair.a}-{pair.b}", {})
        name = self._words.say("map.nvswitch" if self._machine.nvswitch else "map.nvlink")
        middle = self._words.say("map.by_nvlink", {"name": name, "count": pair.nvlinks or 0})
        lit = [a.box, b.box, "nvlink", f"nvlink:{a.gpu}", f"nvlink:{b.gpu}"]
        step = PathStep(self._words.say("map.nvlink"), known.get("bytes_per_s"))
        return self._described([a.name, middle, b.name], lit, step)

    def _pair(self, a: EndDevice, b: EndDevice) -> GpuLink | None:
        ends = {a.gpu, b.gpu}
        return next((n for n in self._machine.gpu_links if {n.a, n.b} == ends), None)

    def _hops(self, device: EndDevice, until: PciDevice | None) -> list[PciDevice]:
        """Return the hops from a device upstream, to the port where another path joins."""
        above = {d.address for d in pcie.way(self._machine.pci, until.address)} if until else set()
        hops = pcie.hops(self._machine.pci, device.address)
        return [hop for hop in hops if hop.address not in above]

    def _steps(self, device: EndDevice, hops: Sequence[PciDevice]) -> list[PathStep]:
        """Return the steps of the links on a device's path."""
        say = self._words.say
        gpu = next((gpu for gpu in self._machine.gpus if gpu.index == device.gpu), None)
        if gpu is not None and (gpu.c2c_bytes_per_s or gpu.unified_memory):
            return [PathStep(self._labels.joint(gpu)[0], gpu.c2c_bytes_per_s)]
        links = ((self._labels.hop(hop), hop.link) for hop in hops if hop.link is not None)
        steps = [
            PathStep(say("map.link_of", {"device": name}), link.peak_bytes_per_s)
            for name, link in links
        ]
        own = say("map.link_of", {"device": device.name})
        if not steps and gpu is not None and gpu.link is not None:
            return [PathStep(own, gpu.link.peak_bytes_per_s)]
        return steps or [PathStep(own)]

    def _lit(self, device: EndDevice, *, is_up: bool) -> list[str]:
        found = [device.box, f"link:{device.box}"]
        switch = self._shared.get(device.address or "")
        if switch is not None:
            found += [f"switch:{switch}", *([f"up:switch:{switch}"] if is_up else [])]
        return found

    def _package(self, device: EndDevice, boxes: Sequence[Box]) -> Box | None:
        """Return the package of a device; the only one if the machine does not say."""
        way = pcie.way(self._machine.pci, device.address)
        number = next((hop.numa_node for hop in way if hop.numa_node is not None), None)
        near = {t for node in self._machine.numa if node.id == number for t in node.threads}
        packages = [box for box in boxes if box.kind is Kind.PACKAGE]
        if len(packages) == 1:
            return packages[0]
        return next((box for box in packages if near & set(box.threads)), None)

    # --- words ---------------------------------------------------------------------------------

    def _described(
        self,
        names: Sequence[str],
        lit: Sequence[str],
        least: PathStep | None = None,
        more: str = "",
    ) -> DataPath:
        """Return a path in words; steps between caches have no known rate."""
        told = (f"{' → '.join(names)}.", self._limit(least) if least else "", more)
        return DataPath(frozenset(lit), " ".join(filter(None, told)))

    def _limit(self, least: PathStep) -> str:
        say = self._words.say
        if least.peak is None:
            what = least.name[:1].upper() + least.name[1:]  # a sentence begins with it
            return say("map.way_untold", {"what": what})
        return say("map.way_at_most", {"what": least.name, "rate": show(least.peak, "bytes/s")})


def narrowest(steps: Sequence[PathStep]) -> PathStep:
    """Return the step with the least bandwidth; the first one if all are unknown."""
    known = [step for step in steps if step.peak is not None]
    return min(known, key=lambda step: step.peak or 0.0) if known else steps[0]


def once(names: Sequence[str]) -> list[str]:
    """Return names without immediate repetitions."""
    return [name for n, name in enumerate(names) if n == 0 or names[n - 1] != name]
