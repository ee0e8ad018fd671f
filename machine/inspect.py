"""Reads a whole machine: calls the reader of each part and collects sources and reasons."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec.structs import replace

from machine import other_systems
from machine.bus.pci import read_pci
from machine.devices import Gpu
from machine.facts import Notes, Reason
from machine.gpus import accelerators
from machine.gpus.pci_facts import Host
from machine.memory import nodes
from machine.memory.host import read_memory
from machine.model import Machine
from machine.network import read_network
from machine.peaks import read_peaks
from machine.processor.cpu import read_cpu
from machine.processor.topology import present_and_online
from machine.storage.disks import read_storage
from machine.system.linux import confined, is_folder
from machine.system.maker import read_maker
from machine.system.virtualization import read_container, read_system, read_virtualization
from machine.text import plain
from machine.tidy import tidy

_GIB = 2**30
_SERIAL = Reason(
    "A UUID names one single GPU: files that are handed on leave it out.",
    "nvidia-smi -L, on the machine itself.",
)


class BadRoot(ValueError):
    """The folder is no recording of a machine; the text says why in one sentence."""


def inspect(root: Path | None = None) -> Machine:
    """Return this machine, or the machine with its /proc and /sys recorded below `root`.

    Raises BadRoot if there is no such recording.
    """
    return assemble(dict(parts(root)))


def parts(root: Path | None = None) -> Iterator[tuple[str, Any]]:
    """Yield the fields of Machine, each as soon as it is known. Raises BadRoot.

    A recording may be a stranger's: its readers keep to it. Names are fit for a terminal.
    """
    unread = _parts(root)
    while True:
        with confined(root):  # only while they read: whoever takes the part may read elsewhere
            part = next(unread, None)
        if part is None:
            return
        name, value = part
        yield name, tidy(value)


def _parts(root: Path | None) -> Iterator[tuple[str, Any]]:
    notes = Notes()
    is_elsewhere = root is None and sys.platform != "linux"
    found: dict[str, Any] = {}

    def kept(unread: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        for name, value in unread:
            found[name] = value
            yield name, value

    top = root or Path("/")
    yield from kept(other_systems.parts(notes) if is_elsewhere else _linux_parts(top, notes))
    host = Host(
        root=top,
        pci=found.get("pci", ()),
        memory_bytes=found["memory"].total_bytes,
        is_live=root is None or _is_running(root),
        is_wsl=found.get("virtualization") == "wsl",
    )
    yield from kept(accelerators.parts(host, notes))
    yield from kept(_without_gpu_memory(Machine(**found)))
    seen = Machine(**found)
    yield "peaks", read_peaks(seen.memory, seen.pci, seen.gpus, seen.gpu_links, notes, seen.cpu)
    yield "sources", notes.sources
    yield "missing", tuple(notes.missing)


def assemble(found: Mapping[str, Any]) -> Machine:
    """Return the machine made of all `parts`."""
    machine = Machine(**found)
    return replace(machine, fingerprint=_fingerprint(machine))


def portable(machine: Machine) -> Machine:
    """Return the machine without anything that identifies its owner, for saved files.

    No reader takes host names, users or serial numbers. But paths of control groups contain
    numbers of users and jobs. A GPU's UUID is a serial number. The name of a network interface may
    contain its hardware address.
    """
    sources = dict(machine.sources)
    for what in ("cpu.counts.cpuset", "cpu.counts.quota", "memory.limit_bytes", "numa[*].allowed"):
        if (file := PurePosixPath(sources.get(what, ""))).is_absolute():
            sources[what] = f"{file.name} of the control group"
    serials = [what for what in sources if what.startswith("gpus[") and what.endswith(".uuid")]
    for what in serials:
        del sources[what]
    return replace(
        machine,
        sources=sources,
        missing=(*machine.missing, *map(_SERIAL.of, serials)),
        gpus=tuple(_without_serials(gpu) for gpu in machine.gpus),
        network=tuple(
            replace(interface, name=re.sub(r"[0-9a-f]{12}", "", interface.name))
            for interface in machine.network
        ),
    )


def _without_serials(gpu: Gpu) -> Gpu:
    instances = tuple(replace(instance, uuid=None) for instance in gpu.mig_instances)
    return replace(gpu, uuid=None, mig_instances=instances)


def _linux_parts(root: Path, notes: Notes) -> Iterator[tuple[str, Any]]:
    if not is_folder(root / "proc") and not is_folder(root / "sys"):
        name = plain(str(root))
        raise BadRoot(f"{name} is not the recording of a machine: it holds neither proc nor sys.")
    is_live = _is_running(root)
    yield "os", read_system(root, notes, is_live=is_live)
    notes.virtualization = read_virtualization(root, notes)
    yield "virtualization", notes.virtualization
    notes.container = read_container(root, notes, is_live=is_live)
    yield "container", notes.container
    yield "system", read_maker(root, notes)
    present, _ = present_and_online(root)
    numa = nodes.read_numa(root, present, notes)
    cpu = read_cpu(root, numa, notes, is_live=is_live)
    yield "cpu", cpu
    yield "memory", read_memory(root, notes, numa, cpu)
    yield "numa", numa
    pci = read_pci(root, numa, notes)
    yield "pci", pci
    yield "storage", read_storage(root, pci, notes, is_live=is_live)
    yield "network", read_network(root, notes)


def _without_gpu_memory(seen: Machine) -> Iterator[tuple[str, Any]]:
    """Yield memory and nodes anew where only a GPU's driver reports that a node is its memory."""
    numbers = {gpu.memory_numa_node for gpu in seen.gpus if gpu.memory_numa_node is not None}
    numa, memory = nodes.with_gpu_nodes(seen.numa, numbers), seen.memory
    if numa != seen.numa:
        more_bytes = nodes.gpu_bytes(numa) - nodes.gpu_bytes(seen.numa)
        yield "numa", numa
        if memory.total_bytes is not None:
            yield "memory", replace(memory, total_bytes=max(0, memory.total_bytes - more_bytes))


def _kind(gpu: Gpu, machine: Machine) -> str:
    """Return the PCI numbers, which a sleeping GPU has too; without them what its driver says."""
    for device in machine.pci:
        if device.address == gpu.pci_address and device.device_id is not None:
            return f"{device.vendor_id} {device.device_id}"
    return f"{gpu.vendor} {gpu.name} {gpu.memory_bytes}"


def _is_running(root: Path) -> bool:
    """Is it this machine, not a recording?"""
    return sys.platform == "linux" and os.path.realpath(root) == "/"


def _fingerprint(machine: Machine) -> str:
    """Return a short hash of the hardware; software and limits do not change it."""
    total_bytes = machine.memory.total_bytes
    facts = {
        "model": machine.cpu.model,
        "virtualization": machine.virtualization,
        "present": machine.cpu.counts.present,
        "caches": sorted(
            {f"{c.level} {c.kind} {c.size_bytes} {c.line_bytes}" for c in machine.cpu.caches}
        ),
        # Each kernel version keeps a slightly different amount for itself.
        "memory_gib": None if total_bytes is None else round(total_bytes / _GIB),
        "nodes": len(machine.numa),
        "gpus": sorted(_kind(gpu, machine) for gpu in machine.gpus),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
