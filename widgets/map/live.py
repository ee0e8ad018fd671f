"""Live words, share of memory and step of load for each part of the map.

Values missing in a sample are left out: unknown is never shown as zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.core.units import show
from experiments.core.words import Words
from experiments.engine.messages import Sample
from machine.model import Machine
from widgets.map.layout.device_labels import joined

LOAD_STEPS = 16
LEAST_TRAFFIC = 0.01  # of a link's bandwidth: less is not shown


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

    def of(self, sample: Sample) -> dict[str, Live]:
        """Return the state of each part, by the id of its box or line."""
        found = dict(self._of_gpus(sample))
        found |= self._of_memory(sample.memory)
        found |= self._of_flows(sample.disks, self._disks, "map.now_disk", "read", "write")
        found |= self._of_flows(
            sample.network, self._networks, "map.now_traffic", "received", "sent"
        )
        return found

    def _of_memory(self, memory: Mapping[str, Any]) -> Iterator[tuple[str, Live]]:
        used, total = memory.get("used_bytes"), memory.get("total_bytes")
        if used is None or not total:
            return
        yield "memory", self._fill("map.now_used", used, total)

    def _fill(self, key: str, used: int, total: int, **more: Any) -> Live:
        say, percent = self._words.say, round(100 * used / total)
        of, whole = _in_unit_of(used, total), show(total, "bytes")
        filled = percent / 100  # whole percents, so that small changes need no repaint
        short = say("map.of", {"measured": of, "ceiling": whole})
        texts = dict.fromkeys((say(key, {"used": of, "total": whole}), short, f"{percent} %"))
        return Live(filled=filled, bar_texts=tuple(texts), **more)

    # --- GPUs ----------------------------------------------------------------------------------

    def _of_gpus(self, sample: Sample) -> Iterator[tuple[str, Live]]:
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
        texts = tuple(dict.fromkeys(text for n in range(3) if (text := joined(parts[n:]))))
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
            both = (sample.get(f"{kind}_{way}_bytes_per_s") for way in ("received", "sent"))
            if rates := [rate for rate in both if rate is not None]:
                share = max(rates) / peak if peak else None
                is_told = peak is None or max(rates) >= LEAST_TRAFFIC * peak
                texts = self._traffic(rates) if is_told else ()
                yield name, Live(texts=texts, step=load_step(share))

    # --- disks and networks --------------------------------------------------------------------

    def _of_flows(
        self, parts: Sequence[Mapping[str, Any]], boxes: Mapping[str, str], key: str, *ways: str
    ) -> Iterator[tuple[str, Live]]:
        for part in parts:
            box, rates = boxes.get(part["name"]), [part.get(f"{way}_bytes_per_s") for way in ways]
            if box and any(rate is not None for rate in rates):
                yield box, Live(texts=self._traffic(rates, key))

    def _traffic(
        self, rates: Sequence[float | None], key: str = "map.now_traffic"
    ) -> tuple[str, ...]:
        """Return texts: both rates, in and out, or their sum where room is short."""
        both = [rate for rate in rates if rate is not None]
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


def _coarse(rate: float) -> float:
    """Return a rate with two significant digits: more would flicker."""
    return float(f"{rate:.1e}")
