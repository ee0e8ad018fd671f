"""The made-up watches beside the fake machines: `python -m tests.widgets.live.streams` writes them.

Nothing of them was measured, and each says so. A test compares them with what this makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from machine.live.gpu_samples import NAMES
from machine.live.recorded_watch import write
from machine.model import Machine, from_json, is_virtual
from tests import ROOT
from tests.gallery.live_samples import heat, no_heat, samples
from tests.gallery.made_gpus import Kind

FOLDER = ROOT / "resources" / "machines"
KINDS: dict[str, Kind] = {
    "virtual-machine": "none",
    "hybrid-laptop": "pair",
    "workstation": "pair",
    "dual-socket-8-gpu": "eight",
    "unified": "one",
}
SECONDS = {"dual-socket-8-gpu": 15.0}  # it has many threads
BYTES = ("used_bytes", "available_bytes", "total_bytes")


def machine_of(name: str) -> Machine:
    """Return the fake machine."""
    return from_json(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def stream(name: str) -> Iterator[dict[str, Any]]:
    """Yield the samples of a fake machine, as they come over the wire."""
    machine, kind = machine_of(name), KINDS[name]
    ids = [thread.id for thread in machine.cpu.threads_list if thread.online is not False]
    disks = [disk.name for disk in machine.storage]
    cards = [card.name for card in machine.network if card.is_up is not False]
    seconds = SECONDS.get(name, 45.0)
    made = samples(
        len(ids), seconds=seconds, gpus=kind, disks=len(disks), virtual=is_virtual(machine)
    )
    for sample in made:
        told = {each: getattr(sample, each) for each in sample.__slots__}
        for thread, number in zip(told["threads"], ids, strict=True):
            thread["id"] = number
            for value in ("busy", "steal_fraction"):
                if thread[value] is not None:
                    thread[value] = round(thread[value], 2)
            if thread["hz"] is not None:
                thread["hz"] = min(round(thread["hz"], -8), machine.cpu.clock.max_hz or 5e9)
                thread["steal_fraction"] = 0.0  # no host is there to take time away
        for disk, disk_name in zip(told["disks"], disks, strict=True):
            disk["name"] = disk_name
        temperatures, limits = machine.cpu.temperatures, machine.cpu.power_limits
        told["heat"] = None
        if temperatures:
            watts = limits[0].watts if limits and limits[0].watts else 80.0 * len(temperatures)
            told["heat"] = heat(sample.t_s, *temperatures, watts=0.6 * watts)
        elif not is_virtual(machine):
            told["missing"] = [*told["missing"], no_heat()]
        told["network"] = [{**told["network"][0], "name": card} for card in cards[:1]]
        told["memory"] = _scaled(told["memory"], machine.memory.total_bytes)
        for gpu, known in zip(told["gpus"], machine.gpus, strict=True):
            gpu["pci_address"] = known.pci_address
            if known.asleep:
                gpu |= {**dict.fromkeys(NAMES), "state": "asleep"}
            _fit(gpu, known.memory_bytes or machine.memory.total_bytes, known.power_limit_watts)
        yield told


def make(folder: Path) -> list[Path]:
    """Write all of them, and return where."""
    made = []
    for name in KINDS:
        path = folder / f"{name}.watch.jsonl.gz"
        write(path, stream(name), at="", machine=None, made_up=True)
        made.append(path)
    return made


def _scaled(memory: dict[str, Any], total: int | None) -> dict[str, Any]:
    factor = (total or memory["total_bytes"]) / memory["total_bytes"]
    return {**memory, **{name: round(memory[name] * factor) for name in BYTES}}


def _fit(gpu: dict[str, Any], memory_bytes: int | None, limit_watts: float | None) -> None:
    if gpu["memory_used_bytes"] is not None and memory_bytes:
        share = gpu["memory_used_bytes"] / gpu["memory_total_bytes"]
        gpu["memory_used_bytes"] = round(share * memory_bytes)
        gpu["memory_total_bytes"] = memory_bytes
    if limit_watts is None:  # one in a processor, which has no limit of its own
        gpu["power_watts"] = gpu["power_limit_watts"] = None
    if gpu["power_watts"] is not None and limit_watts:
        gpu["power_watts"] = round(gpu["power_watts"] / gpu["power_limit_watts"] * limit_watts, 1)
        gpu["power_limit_watts"] = limit_watts


if __name__ == "__main__":
    make(FOLDER)
