"""Titles on the boxes of devices and on their links, the longest first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from experiments.core.units import decimal_bytes, digits, show
from experiments.core.words import Words
from machine.bus import pcie
from machine.devices import Disk, Gpu, Link, NetworkInterface, PciDevice
from machine.model import Machine, is_hidden, is_virtual, missing_of

Titles = tuple[str, ...]

GPU_BACKENDS = ("cuda", "rocm", "xpu", "mps", None)  # torch's names for GPU backends
BITS = 8
SUFFIXES = r"\s+\d+\s?GB.*$|\s+Laptop GPU$|(\s+Max-Q)?\s+/ Mobile$"  # of one series


class DeviceLabels:
    """The words on devices of one machine."""

    def __init__(self, words: Words, machine: Machine) -> None:
        self.words, self.machine = words, machine

    # --- GPUs ----------------------------------------------------------------------------------

    def gpu_name(self, gpu: Gpu) -> str:
        """Return "GPU 0", or "Accelerator 0" for what is no GPU."""
        key = "map.gpu" if gpu.torch_backend in GPU_BACKENDS else "map.accelerator"
        return self.words.say(key, {"number": gpu.index})

    def gpu(self, gpu: Gpu) -> Titles:
        """Return the titles of a GPU: with its whole model, without its maker, with its series."""
        name = self.gpu_name(gpu)
        if not gpu.name:
            return (f"{name} · {gpu.vendor}", name) if gpu.vendor else (name,)
        model = gpu.name.removeprefix(f"{gpu.vendor} ")
        model = re.sub(r"^.*\[(.+)\]$", r"\1", model)  # "chip [name of the card]"
        series = re.sub(SUFFIXES, "", model.removeprefix("GeForce "))
        models = dict.fromkeys((gpu.name, model, series))
        return (*(f"{name} · {model}" for model in models), name)

    def gpu_lines(self, gpu: Gpu) -> Titles:
        """Return the parts of a GPU in one line, or no line."""
        say = self.words.say
        inside = []
        if gpu.sms:
            key = "map.sms" if gpu.vendor in ("NVIDIA", None) else "map.compute_units"
            inside.append(say(key, {"count": gpu.sms}))
        if gpu.l2_bytes:
            inside.append(say("map.gpu_l2", {"l2_bytes": gpu.l2_bytes}))
        if gpu.mig:
            inside.append(say("map.slices", {"count": len(gpu.mig_instances)}))
        if gpu.visible is False:
            inside.append(say("map.not_visible"))
        return (" · ".join(inside),) if inside else ()

    def gpu_memory(self, gpu: Gpu) -> Titles:
        """Return the memory size of a GPU, for when its use is unknown."""
        say = self.words.say
        if gpu.unified_memory:
            return say("map.unified"), say("map.unified_short")
        if gpu.memory_bytes is None:
            return (say("map.gpu_memory_unknown"),)
        size = show(gpu.memory_bytes, "bytes")
        return say("map.gpu_memory", {"memory_bytes": gpu.memory_bytes}), size

    def gpu_states(self, gpu: Gpu) -> Titles:
        """Return what a GPU was doing when it was inspected."""
        say = self.words.say
        return (say("map.asleep"), say("map.now_asleep")) if gpu.asleep else ()

    def slice(self, gpu: Gpu, place: int) -> Titles:
        """Return the titles of a slice of a GPU (MIG)."""
        instance = gpu.mig_instances[place]
        size = "" if instance.memory_bytes is None else show(instance.memory_bytes, "bytes")
        name = (instance.name or "").removeprefix("MIG ")
        return tuple(filter(None, (name, size, str(place))))

    def no_gpu(self) -> tuple[Titles, str]:
        """Return the titles and the sentence where no GPU is known."""
        say, why = self.words.say, missing_of(self.machine, "gpus")
        if why is not None:
            return (say("map.gpus_unread"),), say("map.without_gpu", {"why": why.why})
        return (say("map.no_gpu"),), say("map.without_gpu", {"why": self._why_no_gpu()})

    def _why_no_gpu(self) -> str:
        """Return the doctor's sentence about it."""
        say, machine = self.words.say, self.machine
        if machine.container not in (None, "none"):
            found = say("doctor.no_card_container", {"container": machine.container})
            return f"{found} {say('doctor.more.no_card_container')}"
        if is_virtual(machine):
            found = say("doctor.no_card_virtual", {"virtualization": machine.virtualization})
            return f"{found} {say('doctor.more.no_card_virtual')}"
        return say("map.no_gpu_bare")

    # --- links ---------------------------------------------------------------------------------

    def link(self, link: Link | None) -> Titles:
        """Return the titles of a PCIe link, with its lanes now and the generation it can reach.

        Not the current generation: an idle link lowers it to save power.
        """
        say = self.words.say
        if link is None or link.width is None:
            if is_hidden(self.machine, "pci[*].link"):
                return say("map.pcie_hidden"), say("map.pcie")
            return (say("map.pcie"),)
        lanes = say("map.lanes", {"width": link.width})
        if pcie.is_narrow(link):
            full = say("map.lanes", {"width": pcie.card_lanes(link)})
            lanes = say("map.lanes_narrow", {"lanes": lanes, "full": full})
        generation = pcie.able(link)[0] or link.generation
        if generation is None:
            return (lanes,)
        return say("map.lanes_of", {"generation": generation, "lanes": lanes}), lanes

    def held_up(self, titles: Titles, way: float) -> Titles:
        """Return the titles of a link whose upstream path is narrower."""
        rate = show(way, "bytes/s")
        return tuple(self.words.say("map.way_narrow", {"lanes": t, "rate": rate}) for t in titles)

    def shortfall(self, link: Link, address: str | None) -> Iterator[str]:
        """Yield why the link of the card at an address does less than it could, and what to do."""
        lacks, (generation, width) = pcie.shortfall(link), pcie.able(link)
        narrowed = pcie.narrowed(self.machine, address, link)
        lanes = {"width": link.width or 0, "card_width": pcie.card_lanes(link)}
        if lacks == "lanes":
            yield self.words.say("map.narrow_link", lanes | {"able_width": width or 0})
        if lacks == "speed":
            numbers = {"generation": link.generation or 0, "able_generation": generation or 0}
            yield self.words.say("map.slow_link", numbers)
        if narrowed and link.slot_width and link.slot_width < pcie.card_lanes(link):
            yield self.words.say("map.narrow_slot", lanes | {"width": link.slot_width})
        elif narrowed == "unsure":
            yield self.words.say("map.narrow_perhaps", lanes)

    def joint(self, gpu: Gpu) -> Titles:
        """Return the titles of a link between GPU and processor that is not PCIe."""
        if gpu.c2c_bytes_per_s:
            return self.words.say("map.c2c"), self.words.say("map.c2c_short")
        return (self.words.say("map.same_memory"),)

    def hop(self, device: PciDevice) -> str:
        """Return the name of the lower end of a hop: that of its box on the map, if it has one."""
        for gpu in self.machine.gpus:
            if gpu.pci_address == device.address:
                return self.gpu_name(gpu)
        cards: list[Disk | NetworkInterface] = [*self.machine.storage, *self.machine.network]
        for card in cards:
            if card.pci_address == device.address:
                return card.name
        return f"{device.name or self.words.say('map.bridge')} ({device.address})"

    def switch(self) -> Titles:
        """Return the titles of a PCIe switch."""
        say = self.words.say
        return say("map.switch_shared"), say("map.switch"), say("map.switch_short")

    # --- NVLink --------------------------------------------------------------------------------

    def nvlink(self) -> Titles:
        """Return the titles of the direct links between GPUs; equal links are summed up."""
        name = self.words.say("map.nvswitch" if self.machine.nvswitch else "map.nvlink")
        per_gpu = {self.nvlinks_of(gpu) for gpu in self.machine.gpus} - {""}
        if len(per_gpu) != 1:
            return (name,)
        long = self.words.say("map.nvlink_titled", {"name": name, "links": per_gpu.pop()})
        rate = self.nvlink_bytes_per_s(self.machine.gpus[0])
        return (long, f"{name} · {show(rate, 'bytes/s')}", name) if rate else (long, name)

    def nvlinks_of(self, gpu: Gpu) -> str:
        """Return "18 NVLinks, generation 4, 450 GB/s", "" for none."""
        say = self.words.say
        count, version = self._nvlinks(gpu)
        if not count:
            return ""
        rate = self.nvlink_bytes_per_s(gpu)
        parts = [
            say("map.nvlinks", {"count": count}),
            say("map.generation", {"number": version.partition(".")[0]}) if version else "",
            show(rate, "bytes/s") if rate else "",
        ]
        return ", ".join(part for part in parts if part)

    def nvlink_bytes_per_s(self, gpu: Gpu) -> float | None:
        """Return the bandwidth of all NVLinks of a GPU in one direction, None if unknown."""
        peaks = self.machine.peaks.get("nvlink", {})
        links = [link for link in self.machine.gpu_links if gpu.index in (link.a, link.b)]
        pairs = [peaks.get(f"{link.a}-{link.b}", {}) for link in links]
        rates = [peak["bytes_per_s"] for peak in pairs if "bytes_per_s" in peak]
        if rates:
            return float(max(rates) if self.machine.nvswitch else sum(rates))
        known = [link.bytes_per_s for link in gpu.nvlinks if link.bytes_per_s]
        return sum(known) or None

    def _nvlinks(self, gpu: Gpu) -> tuple[int, str | None]:
        """Return how many links of a GPU are up, and their version."""
        up = [link for link in gpu.nvlinks if link.state in ("active", "sleep")]
        if up:
            return len(up), next((link.version for link in up if link.version), None)
        pairs = [n for n in self.machine.gpu_links if n.nvlinks and gpu.index in (n.a, n.b)]
        counts = [pair.nvlinks or 0 for pair in pairs]
        count = (max if self.machine.nvswitch else sum)(counts) if counts else 0
        return count, next((n.nvlink_version for n in pairs if n.nvlink_version), None)

    # --- disks and networks --------------------------------------------------------------------

    def disk(self, disk: Disk) -> Titles:
        """Return the titles of a disk."""
        name = disk.model or self.words.say("map.disk_named", {"name": disk.name})
        if not disk.size_bytes:
            return name, disk.name
        size = decimal_bytes(disk.size_bytes)
        return f"{name} · {size}", f"{disk.name} · {size}", disk.name

    def disk_ceiling(self, disk: Disk) -> float | None:
        """Return the peak bandwidth of a disk's path."""
        return pcie.peak_bytes_per_s(self.machine, disk.pci_address) or disk.peak_bytes_per_s

    def network(self, interface: NetworkInterface) -> Titles:
        """Return the titles of a network interface, with its rate in the unit of networks."""
        name = self.words.say("map.network_named", {"name": interface.name})
        if interface.peak_bytes_per_s is None:
            return name, interface.name
        gigabits = digits(interface.peak_bytes_per_s * BITS / 1e9)
        rate = self.words.say("map.gigabits", {"count": gigabits})
        return f"{name} · {rate}", f"{interface.name} · {rate}", interface.name

    def network_states(self, interface: NetworkInterface) -> Titles:
        """Return "up" or "down", nothing if unknown."""
        if interface.is_up is None:
            return ()
        return (self.words.say("map.up" if interface.is_up else "map.down"),)

    def none_found(self, kind: str) -> Titles:
        """Return the titles for no disk or no network: either absent, or not looked for."""
        looked = self.machine.os.kind in ("linux", None) or not missing_of(self.machine, kind)
        keys = {
            ("storage", True): "map.storage_none",
            ("storage", False): "map.storage_unread",
            ("network", True): "map.network_none",
            ("network", False): "map.network_unread",
        }
        short = "map.storage" if kind == "storage" else "map.network"
        return self.words.say(keys[kind, looked]), self.words.say(short)


def joined(parts: Iterable[str]) -> str:
    """Return the non-empty parts as one line."""
    return " · ".join(part for part in parts if part)


def shared_hops(machine: Machine) -> dict[str, PciDevice]:
    """Return the first hop that a GPU shares with other cards, by the GPU's address."""
    below: dict[str, set[str]] = {}
    for device in machine.pci:
        if device.link and not pcie.is_bridge(device) and not device.is_virtual_function:
            card = device.address.rpartition(".")[0] or device.address
            for bridge in pcie.way(machine.pci, device.address)[1:]:
                below.setdefault(bridge.address, set()).add(card)
    found = {}
    for gpu in machine.gpus:
        for hop in pcie.hops(machine.pci, gpu.pci_address):
            if gpu.pci_address and len(below.get(hop.address, ())) > 1:
                found[gpu.pci_address] = hop
                break
    return found
