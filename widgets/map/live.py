"""What each part of the map does now: words, a share of its memory, and a step of load.

Values missing in a sample are left out: unknown is never shown as zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from experiments.core.units import show
from experiments.core.words import Words
from machine.model import Machine

LOAD_STEPS = 16
LEAST_TRAFFIC = 0.01  # of a link's bandwidth: less is not shown


class Sampled(Protocol):
    """One sample of the load, as the engine sends it."""

    @property
    def memory(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def disks(self) -> list[dict[str, Any]]: ...  # noqa: D102
    @property
    def network(self) -> list[dict[str, Any]]: ...  # noqa: D102
    @property
    def gpus(self) -> list[dict[str, Any]]: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The state of one part; `texts` are alternatives, the longest first."""

    texts: tuple[str, ...] = ()
    step: int | None = None  # of load, for parts coloured by load
    filled: float | None = None  # share of its memory
    bar_texts: tuple[str, ...] = ()
    is_lost: bool = False


def load_step(busy: float | None) -> int | None:
    """Return a load as one of few steps, so that small changes need no repaint."""
    return None if busy is None else round(min(1.0, max(0.0, busy)) * LOAD_STEPS)


class Loads:
    """Turns samples of one machine into what its boxes show."""

    def __init__(self, machine: Machine, words: Words) -> None:
        self._machine, self._words = machine, words
        self._disks = {disk.name: f"disk:{n}" for n, disk in enumerate(machine.storage)}
        self._networks = {one.name: f"network:{n}" for n, one in enumerate(machine.network)}
        self._gpus = {gpu.index: gpu for gpu in machine.gpus}
        self._links = {device.address: device.link for device in machine.pci}

    def of(self, sample: Sampled) -> dict[str, Live]:
        """Return the state of each part, by the id of its box or line."""
        found = dict(self._of_gpus(sample))
        found |= self._of_memory(sample.memory)
        found |= self._of_disks(sample.disks)
        found |= self._of_networks(sample.network)
        return found

    def _of_memory(self, memory: Mapping[str, Any]) -> Iterator[tuple[str, Live]]:
        used, total = memory.get("used_bytes"), memory.get("total_bytes")
        if used is None or not total:
            return
        yield "memory", self._fill("map.now_used", used, total)

    def _fill(self, key: str, used: int, total: int, **more: Any) -> Live:
        say, percent = self._words.say, round(100 * used / total)
        values = {"used": _in_unit_of(used, total), "total": show(total, "bytes")}
        filled = percent / 100  # whole percents, so that small changes need no repaint
        texts = dict.fromkeys((say(key, values), say("map.of", _as_of(values)), f"{percent} %"))
        return Live(filled=filled, bar_texts=tuple(texts), **more)

    # --- GPUs ----------------------------------------------------------------------------------

    def _of_gpus(self, sample: Sampled) -> Iterator[tuple[str, Live]]:
        for gpu in sample.gpus:
            if gpu.get("index") in self._gpus:
                yield from self._of_gpu(gpu)

    def _of_gpu(self, gpu: Mapping[str, Any]) -> Iterator[tuple[str, Live]]:
        say, box = self._words.say, f"gpu:{gpu['index']}"
        state = gpu.get("state", "awake")
        if state == "lost":
            yield box, Live(texts=(say("map.now_lost"), say("map.now_lost_short")), is_lost=True)
            return
        if state == "asleep":
            yield box, Live(texts=(say("map.now_asleep"),))
            return
        busy, watts, celsius = (gpu.get(k) for k in ("busy", "power_watts", "temperature_celsius"))
        shown = "" if busy is None else say("map.now_busy", {"percent": round(100 * busy)})
        parts = [
            "" if celsius is None else show(round(celsius), "celsius"),
            "" if watts is None else show(round(watts), "watts"),
            shown,
        ]
        texts = tuple(
            dict.fromkeys(
                text for n in range(3) if (text := " · ".join(part for part in parts[n:] if part))
            )
        )
        used, total = gpu.get("memory_used_bytes"), gpu.get("memory_total_bytes")
        step = load_step(busy)
        if used is not None and total:
            yield box, self._fill("map.now_memory", used, total, texts=texts, step=step)
        else:
            yield box, Live(texts=texts, step=step)
        yield from self._of_ways(gpu)

    def _of_ways(self, sample: Mapping[str, Any]) -> Iterator[tuple[str, Live]]:
        """Yield the traffic of a GPU over PCIe and NVLink."""
        index = sample["index"]
        gpu = self._gpus[index]
        link = self._links.get(gpu.pci_address or "") or gpu.link
        nvlink = sum(one.bytes_per_s or 0 for one in gpu.nvlinks) or None
        for name, kind, peak in (
            (f"link:gpu:{index}", "pcie", link.peak_bytes_per_s if link else None),
            (f"nvlink:{index}", "nvlink", nvlink),
        ):
            received = sample.get(f"{kind}_received_bytes_per_s")
            sent = sample.get(f"{kind}_sent_bytes_per_s")
            rates = [rate for rate in (received, sent) if rate is not None]
            if rates:
                share = max(rates) / peak if peak else None
                texts: tuple[str, ...] = ()
                if peak is None or max(rates) >= LEAST_TRAFFIC * peak:
                    texts = self._traffic(received, sent)
                yield name, Live(texts=texts, step=load_step(share))

    # --- disks and networks --------------------------------------------------------------------

    def _of_disks(self, disks: list[dict[str, Any]]) -> Iterator[tuple[str, Live]]:
        for disk in disks:
            box = self._disks.get(disk["name"])
            read, written = disk.get("read_bytes_per_s"), disk.get("write_bytes_per_s")
            if box and (read is not None or written is not None):
                yield box, Live(texts=self._traffic(read, written, "map.now_disk"))

    def _of_networks(self, networks: list[dict[str, Any]]) -> Iterator[tuple[str, Live]]:
        for network in networks:
            box = self._networks.get(network["name"])
            came, went = network.get("received_bytes_per_s"), network.get("sent_bytes_per_s")
            if box and (came is not None or went is not None):
                yield box, Live(texts=self._traffic(came, went))

    def _traffic(
        self, received: float | None, sent: float | None, key: str = "map.now_traffic"
    ) -> tuple[str, ...]:
        """Return texts: both rates, or their sum where room is short."""
        both = [rate for rate in (received, sent) if rate is not None]
        if not any(both):
            return (self._words.say("map.now_quiet"),)
        total = show(_coarse(sum(both)), "bytes/s")
        if len(both) < 2:
            return (total,)
        values = {
            name: show(_coarse(r), "bytes/s") for name, r in zip(("in", "out"), both, strict=True)
        }
        return self._words.say(key, values), total


def _in_unit_of(used: int, total: int) -> str:
    """Return a size, without its unit if the other has the same."""
    number, unit = show(used, "bytes").split(" ")
    return number if show(total, "bytes").endswith(f" {unit}") else f"{number} {unit}"


def _as_of(values: Mapping[str, str]) -> dict[str, str]:
    return {"measured": values["used"], "ceiling": values["total"]}


def _coarse(rate: float) -> float:
    """Return a rate with two significant digits: more would flicker."""
    return float(f"{rate:.1e}")
