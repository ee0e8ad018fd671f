"""Facts about devices on the map and about their links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.core.units import show
from machine.bus import pcie
from machine.devices import Gpu, Link
from widgets.map.layout.boxes import Box, Kind
from widgets.map.layout.device_labels import decimal_bytes
from widgets.map.panel.fact import Fact, shown
from widgets.map.panel.gpu_facts import GpuFacts

UNITS = {"bytes_per_s": "bytes/s", "flop_per_s": "flop/s"}
PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4")  # by number of bits


class DeviceFacts(GpuFacts):
    """Yields the facts of devices."""

    def of_device(self, box: Box) -> Iterator[Fact]:
        """Yield known and unknown facts about the box of a device or link."""
        match box.kind:
            case Kind.GPU:
                yield from self._of_gpu(box.members[0])
            case Kind.SLICE:
                yield from self._of_slice(*box.members)
            case Kind.LINK | Kind.SWITCH:
                yield from self._of_link(box)
            case Kind.NVLINK:
                yield from self._of_nvlink()
            case Kind.DISK:
                yield from self._of_disk(box.members[0])
            case Kind.NETWORK:
                yield from self._of_network(box.members[0])

    # --- GPUs ----------------------------------------------------------------------------------

    def _of_gpu(self, place: int) -> Iterator[Fact]:
        gpu, path, say = self._machine.gpus[place], f"gpus[{place}]", self._words.say
        yield self._fact("map.fact_model", f"{path}.name", gpu.name)
        size = say("map.unified") if gpu.unified_memory else shown(gpu.memory_bytes, "bytes")
        yield self._fact("map.fact_gpu_memory", f"{path}.memory_bytes", size)
        if not gpu.unified_memory:
            yield self._peak("map.fact_gpu_bandwidth", gpu, "memory")
        yield self._fact("map.fact_sms", f"{path}.sms", gpu.sms)
        yield self._fact("map.fact_l2", f"{path}.l2_bytes", shown(gpu.l2_bytes, "bytes"))
        yield from self._optional(gpu, path)
        yield self._fact("map.fact_address", f"{path}.pci_address", gpu.pci_address)
        yield from self._peaks(gpu)

    def _optional(self, gpu: Gpu, path: str) -> Iterator[Fact]:
        """Yield facts that only some GPUs have."""
        say = self._words.say
        if links := self._labels.nvlinks_of(gpu):
            yield self._fact("map.nvlink", f"{path}.nvlinks", links)
        if gpu.c2c_bytes_per_s:
            rate = show(gpu.c2c_bytes_per_s, "bytes/s")
            yield self._fact("map.c2c", f"{path}.c2c_bytes_per_s", rate)
        if gpu.mig:
            yield self._fact("map.fact_slices", f"{path}.mig_instances", len(gpu.mig_instances))
        yield from self.of_health(gpu, path)
        backend = gpu.torch_backend
        yield self._fact("map.fact_backend", f"{path}.torch_backend", backend)
        for known, key, yes, no in (
            (gpu.asleep, "asleep", "map.asleep", None),
            (gpu.visible, "visible", None, "map.not_visible"),
        ):
            word = yes if known else no
            if known is not None and word is not None:
                yield self._fact("map.fact_state", f"{path}.{key}", say(word))

    def _peaks(self, gpu: Gpu) -> Iterator[Fact]:
        known = self._machine.peaks.get("gpus", {}).get(str(gpu.index), {})
        for precision in PRECISIONS:
            if precision in known:
                yield self._peak_fact(f"{precision.upper()}", known[precision])

    def _peak(self, label: str, gpu: Gpu, name: str) -> Fact:
        known = self._machine.peaks.get("gpus", {}).get(str(gpu.index), {}).get(name)
        if known is None:
            return self._fact(label, "peaks.gpus", None)
        return self._peak_fact(self._words.say(label), known)

    def _peak_fact(self, label: str, peak: Mapping[str, Any]) -> Fact:
        """Return a peak value; its source is the computation."""
        unit = next((unit for unit in UNITS if unit in peak), None)  # a later version may have more
        if unit is None:
            return self._fact(label, "peaks.gpus", None)
        value = show(peak[unit], UNITS[unit])
        return Fact(label=label, value=value, source=peak.get("formula", ""))

    def _of_slice(self, place: int, number: int) -> Iterator[Fact]:
        instance = self._machine.gpus[place].mig_instances[number]
        path = f"gpus[{place}].mig_instances[{number}]"
        size = shown(instance.memory_bytes, "bytes")
        yield self._fact("map.fact_model", f"{path}.name", instance.name)
        yield self._fact("map.fact_size", f"{path}.memory_bytes", size)
        yield self._fact("map.fact_sms", f"{path}.sms", instance.sms)

    # --- links ---------------------------------------------------------------------------------

    def _of_link(self, box: Box) -> Iterator[Fact]:
        if box.path.endswith("c2c_bytes_per_s"):
            rate = shown(box.ceiling, "bytes/s")
            yield self._fact("map.fact_peak", box.path, rate)
            return
        link, path = self._link(box), box.path
        yield self._fact("map.fact_now", path, self._lanes(link.generation, link.width))
        card = self._lanes(link.card_generation, link.card_width)
        slot = self._lanes(link.slot_generation, link.slot_width)
        yield self._fact("map.fact_card", path, card)
        yield self._fact("map.fact_slot_can", path, slot)
        peak = shown(link.peak_bytes_per_s, "bytes/s")
        yield self._fact("map.fact_peak", f"{path}.peak_bytes_per_s", peak)
        yield from self._shortfall(link)
        yield from self._limit(box)

    def _shortfall(self, link: Link) -> Iterator[Fact]:
        for remark in self._labels.shortfall(link):
            yield Fact(label=self._words.say("map.fact_look"), value=remark)

    def _limit(self, box: Box) -> Iterator[Fact]:
        """Yield the hop that limits the path, if it is another one."""
        address = self._address(box)
        hop = pcie.narrowest(self._machine.pci, address)
        if hop is not None and hop.link is not None and hop.address != address:
            rate = shown(hop.link.peak_bytes_per_s, "bytes/s")
            yield self._fact("map.fact_limit", "pci", f"{self._labels.hop(hop)}: {rate}")
        if box.kind is Kind.SWITCH:
            below = [
                self._labels.hop(device)
                for device in self._machine.pci
                if device.link
                and not pcie.is_bridge(device)
                and address in {d.address for d in pcie.way(self._machine.pci, device.address)}
            ]
            yield self._fact("map.fact_on_it", "pci", ", ".join(below) or None)

    def _address(self, box: Box) -> str | None:
        place = box.path.removeprefix("pci[").partition("]")[0]
        return self._machine.pci[int(place)].address if place.isdecimal() else None

    def _link(self, box: Box) -> Link:
        if box.path.startswith("gpus["):
            return self._machine.gpus[box.members[0]].link or Link()
        for place, device in enumerate(self._machine.pci):
            if box.path == f"pci[{place}].link" and device.link:
                return device.link
        return Link()

    def _lanes(self, generation: int | None, width: int | None) -> str | None:
        if width is None:
            return None
        return self._labels.link(Link(generation=generation, width=width))[0]

    def _of_nvlink(self) -> Iterator[Fact]:
        """Yield the NVLinks of each GPU, like ones once, and how each pair is connected."""
        groups: dict[str, list[str]] = {}
        for gpu in self._machine.gpus:
            if links := self._labels.nvlinks_of(gpu):
                groups.setdefault(links, []).append(str(gpu.index))
        for links, indices in groups.items():
            gpus = self._words.say("map.gpus_numbered", {"numbers": ", ".join(indices)})
            yield Fact(label=gpus, value=links)
        paths: dict[str, list[str]] = {}
        for link in self._machine.gpu_links:
            paths.setdefault(link.path or "?", []).append(f"{link.a}–{link.b}")
        for path, pairs in paths.items():
            every = len(paths) == 1 and len(pairs) > 1
            text = self._words.say("map.all_pairs") if every else ", ".join(pairs)
            yield self._fact("map.fact_pairs", "gpu_links", f"{path}: {text}")
        if not paths:
            yield self._fact("map.fact_pairs", "gpu_links", None)
        versions = {v for link in self._machine.gpu_links if (v := link.nvlink_version)}
        version = ", ".join(sorted(versions)) or None
        yield self._fact("map.fact_version", "gpu_links[*].nvlink_version", version)

    # --- disks and networks --------------------------------------------------------------------

    def _of_disk(self, place: int) -> Iterator[Fact]:
        disk, path = self._machine.storage[place], f"storage[{place}]"
        size = decimal_bytes(disk.size_bytes) if disk.size_bytes else None
        yield self._fact("map.fact_model", f"{path}.model", disk.model)
        yield self._fact("map.fact_kind", f"{path}.kind", disk.kind)
        yield self._fact("map.fact_size", f"{path}.size_bytes", size)
        yield from self.of_space(place)
        peak = shown(self._labels.disk_ceiling(disk), "bytes/s")
        yield self._fact("map.fact_peak", f"{path}.peak_bytes_per_s", peak)
        yield from self._way(disk.pci_address, path)

    def _of_network(self, place: int) -> Iterator[Fact]:
        interface, path = self._machine.network[place], f"network[{place}]"
        peak = shown(interface.peak_bytes_per_s, "bytes/s")
        state = next(iter(self._labels.network_states(interface)), None)
        yield self._fact("map.fact_kind", f"{path}.kind", interface.kind)
        yield self._fact("map.fact_state", f"{path}.is_up", state)
        yield self._fact("map.fact_peak", f"{path}.peak_bytes_per_s", peak)
        yield from self._way(interface.pci_address, path)

    def _way(self, address: str | None, path: str) -> Iterator[Fact]:
        """Yield the link of a card and the hop that limits its path."""
        yield self._fact("map.fact_address", f"{path}.pci_address", address)
        device = next((d for d in self._machine.pci if d.address == address), None)
        if device is None or device.link is None:
            return
        lanes = self._lanes(device.link.generation, device.link.width)
        yield self._fact("map.fact_now", "pci", lanes)
        yield from self._shortfall(device.link)
        hop = pcie.narrowest(self._machine.pci, address)
        if hop is not None and hop.link is not None and hop.address != address:
            rate = shown(hop.link.peak_bytes_per_s, "bytes/s")
            yield self._fact("map.fact_limit", "pci", f"{self._labels.hop(hop)}: {rate}")
