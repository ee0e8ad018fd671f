"""Facts about devices on the map: how each fares, and how it is linked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from experiments.core.units import decimal_bytes, show
from experiments.presentation.grouped import grouped
from machine.bus import pcie
from machine.devices import Gpu, Link
from widgets.map.layout.boxes import Box, Kind
from widgets.map.panel.condition_facts import ConditionFacts
from widgets.map.panel.fact import READ, Fact, shown, value_at

UNITS = {"bytes_per_s": "bytes/s", "flop_per_s": "flop/s"}
PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4")  # by number of bits


class DeviceFacts(ConditionFacts):
    """Yields the facts of devices."""

    # --- GPUs ----------------------------------------------------------------------------------

    def _of_gpu(self, box: Box) -> Iterator[Fact]:
        place = box.members[0]
        gpu, path, say = self._machine.gpus[place], f"gpus[{place}]", self._words.say
        yield self._fact("map.fact_model", f"{path}.name")
        size = say("map.unified") if gpu.unified_memory else READ
        yield self._fact("map.fact_gpu_memory", f"{path}.memory_bytes", size)
        if not gpu.unified_memory:
            yield self._peak("map.fact_gpu_bandwidth", gpu, "memory")
        yield self._fact("map.fact_sms", f"{path}.sms")
        yield self._fact("map.fact_l2", f"{path}.l2_bytes")
        yield from self._optional(gpu, path)
        yield self._fact("map.fact_address", f"{path}.pci_address")
        peaks = self._machine.peaks.get("gpus", {}).get(str(gpu.index), {})
        for precision in PRECISIONS:
            if precision in peaks:
                yield self._peak_fact(precision.upper(), peaks[precision])

    def _optional(self, gpu: Gpu, path: str) -> Iterator[Fact]:
        """Yield facts that only some GPUs have."""
        say = self._words.say
        if links := self._labels.nvlinks_of(gpu):
            yield self._fact("map.nvlink", f"{path}.nvlinks", links)
        if gpu.c2c_bytes_per_s:
            yield self._fact("map.c2c", f"{path}.c2c_bytes_per_s")
        if gpu.mig:
            yield self._fact("map.fact_slices", f"{path}.mig_instances", len(gpu.mig_instances))
        yield from self._of_health(gpu, path)
        yield self._fact("map.fact_backend", f"{path}.torch_backend")
        if gpu.asleep:
            yield self._fact("map.fact_state", f"{path}.asleep", say("map.asleep"))
        if gpu.visible is False:
            yield self._fact("map.fact_state", f"{path}.visible", say("map.not_visible"))

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

    def _of_slice(self, box: Box) -> Iterator[Fact]:
        place, number = box.members
        path = f"gpus[{place}].mig_instances[{number}]"
        yield self._fact("map.fact_model", f"{path}.name")
        yield self._fact("map.fact_size", f"{path}.memory_bytes")
        yield self._fact("map.fact_sms", f"{path}.sms")

    def _of_health(self, gpu: Gpu, path: str) -> Iterator[Fact]:
        """Yield the facts of the GPU at `path`."""
        say = self._words.say
        yield from self._told("map.fact_heat", f"{path}.temperature_celsius", self._heat(gpu))
        held = [say(r.key) for r in gpu.clock_reasons or () if r.severity != "information"]
        if gpu.clock_reasons is not None:
            told = ", ".join(held) or say("map.clock_free")
            yield self._fact("map.fact_held_back", f"{path}.clock_reasons", told)
        if gpu.power_limit_watts is not None:
            yield self._fact("map.fact_power", f"{path}.power_limit_watts", self._power(gpu))
        if gpu.ecc is not None:
            state = say("map.boost_on" if gpu.ecc else "map.boost_off")
            if gpu.ecc_pending not in (None, gpu.ecc):
                state = say("map.changes_at_start", {"state": state})
            yield self._fact("map.fact_ecc", f"{path}.ecc", state)
        if gpu.resizable_bar is not None:
            reach = shown(gpu.bar_bytes, "bytes") or "?"
            told = say("map.whole_bar" if gpu.resizable_bar else "map.small_bar", {"reach": reach})
            yield self._fact("map.fact_bar", f"{path}.resizable_bar", told)
        if repairs := self._repairs(gpu):
            yield self._fact("map.fact_repairs", f"{path}.remapped_rows", repairs)

    def _heat(self, gpu: Gpu) -> str | None:
        now, limit = gpu.temperature_celsius, gpu.temperature_slowdown_celsius
        if now is None:
            return None
        if limit is None:
            return show(now, "celsius")
        values = {"now": show(now, "celsius"), "limit": show(limit, "celsius")}
        return self._words.say("map.slows_down", values)

    def _power(self, gpu: Gpu) -> str:
        limit = show(gpu.power_limit_watts or 0, "watts")
        least, most = gpu.power_min_watts, gpu.power_max_watts
        if least is None or not most:
            return limit
        values = {"limit": limit, "least": show(least, "watts"), "most": show(most, "watts")}
        return self._words.say("map.power_between", values)

    def _repairs(self, gpu: Gpu) -> str:
        say = self._words.say
        told = (
            say("map.rows_replaced", {"count": gpu.remapped_rows}) if gpu.remapped_rows else "",
            say("map.repair_waits") if gpu.remapping_pending else "",
            say("map.repair_failed") if gpu.remapping_failed else "",
        )
        return ", ".join(text for text in told if text)

    # --- links ---------------------------------------------------------------------------------

    def _of_link(self, box: Box) -> Iterator[Fact]:
        if box.path.endswith("c2c_bytes_per_s"):
            yield self._fact("map.fact_peak", box.path)
            return
        path = box.path
        link = Link() if path == "pci" else value_at(self._machine, path) or Link()
        yield self._fact("map.fact_now", path, self._lanes(link.generation, link.width))
        card = self._lanes(link.card_generation, link.card_width)
        slot = self._lanes(link.slot_generation, link.slot_width)
        yield self._fact("map.fact_card", path, card)
        yield self._fact("map.fact_slot_can", path, slot)
        peak = shown(link.peak_bytes_per_s, "bytes/s")
        yield self._fact("map.fact_peak", f"{path}.peak_bytes_per_s", peak)
        address, pci = self._address(box), self._machine.pci
        yield from self._shortfall(link, address)
        yield from self._limit(address)
        if box.kind is Kind.SWITCH:
            below = [
                self._labels.hop(device)
                for device in pci
                if device.link
                and not pcie.is_bridge(device)
                and address in {d.address for d in pcie.way(pci, device.address)}
            ]
            yield self._fact("map.fact_on_it", "pci", ", ".join(below) or None)

    def _shortfall(self, link: Link, address: str | None) -> Iterator[Fact]:
        for remark in self._labels.shortfall(link, address):
            yield Fact(label=self._words.say("map.fact_look"), value=remark)

    def _limit(self, address: str | None) -> Iterator[Fact]:
        """Yield the hop that limits the path of a card, if it is another one."""
        hop = pcie.narrowest(self._machine.pci, address)
        if hop is not None and hop.link is not None and hop.address != address:
            rate = shown(hop.link.peak_bytes_per_s, "bytes/s")
            yield self._fact("map.fact_limit", "pci", f"{self._labels.hop(hop)}: {rate}")

    def _address(self, box: Box) -> str | None:
        place = box.path.removeprefix("pci[").partition("]")[0]
        return self._machine.pci[int(place)].address if place.isdecimal() else None

    def _lanes(self, generation: int | None, width: int | None) -> str | None:
        if width is None:
            return None
        return self._labels.link(Link(generation=generation, width=width))[0]

    def _of_nvlink(self) -> Iterator[Fact]:
        """Yield the NVLinks of each GPU, like ones once, and how each pair is connected."""
        of_each = ((self._labels.nvlinks_of(gpu), str(gpu.index)) for gpu in self._machine.gpus)
        for links, indices in grouped(each for each in of_each if each[0]).items():
            gpus = self._words.say("map.gpus_numbered", {"numbers": ", ".join(indices)})
            yield Fact(label=gpus, value=links)
        pairs_of = ((link.path or "?", f"{link.a}–{link.b}") for link in self._machine.gpu_links)
        paths = grouped(pairs_of)
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

    def _of_disk(self, box: Box) -> Iterator[Fact]:
        place = box.members[0]
        disk, path = self._machine.storage[place], f"storage[{place}]"
        size = decimal_bytes(disk.size_bytes) if disk.size_bytes else None
        yield self._fact("map.fact_model", f"{path}.model")
        yield self._fact("map.fact_kind", f"{path}.kind")
        yield self._fact("map.fact_size", f"{path}.size_bytes", size)
        yield from self.of_space(place)
        peak = shown(self._labels.disk_ceiling(disk), "bytes/s")
        yield self._fact("map.fact_peak", f"{path}.peak_bytes_per_s", peak)
        yield from self._way(disk.pci_address, path)

    def _of_network(self, box: Box) -> Iterator[Fact]:
        place = box.members[0]
        interface, path = self._machine.network[place], f"network[{place}]"
        state = next(iter(self._labels.network_states(interface)), None)
        yield self._fact("map.fact_kind", f"{path}.kind")
        yield self._fact("map.fact_state", f"{path}.is_up", state)
        yield self._fact("map.fact_peak", f"{path}.peak_bytes_per_s")
        yield from self._way(interface.pci_address, path)

    def _way(self, address: str | None, path: str) -> Iterator[Fact]:
        """Yield the link of a card and the hop that limits its path."""
        yield self._fact("map.fact_address", f"{path}.pci_address", address)
        device = next((d for d in self._machine.pci if d.address == address), None)
        if device is None or device.link is None:
            return
        lanes = self._lanes(device.link.generation, device.link.width)
        yield self._fact("map.fact_now", "pci", lanes)
        yield from self._shortfall(device.link, address)
        yield from self._limit(address)
