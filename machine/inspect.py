"""What is this machine? Reads all its parts; which part is read how stands in the part's module."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from machine import elsewhere
from machine.cpu import read_cpu
from machine.memory import read_memory, read_numa
from machine.model import Machine
from machine.notes import Notes
from machine.system import read_container, read_system, read_virtualization
from machine.topology import present_and_online

_NOT_YET = {
    "pci": "lspci -tv",
    "gpus": "nvidia-smi --list-gpus",
    "gpu_links": "nvidia-smi topo --matrix",
    "nvswitch": "nvidia-smi nvlink --status",
    "storage": "lsblk",
    "network": "ip link",
    "peaks": "Look the models up in their makers' data sheets.",
}
_GIB = 2**30


class BadRoot(ValueError):
    """The folder is not the recording of a machine; the text is one sentence that says why."""


def inspect(root: Path | None = None) -> Machine:
    """Return this machine, or the one whose /proc and /sys were recorded below `root`.

    Raises:
        BadRoot: there is no such recording.
    """
    return assemble(dict(parts(root)))


def parts(root: Path | None = None) -> Iterator[tuple[str, Any]]:
    """Yield the fields of Machine, each as soon as it is known. Raises BadRoot."""
    notes = Notes()
    if root is None and sys.platform != "linux":
        yield from elsewhere.parts(notes)
    else:
        yield from _linux_parts(root or Path("/"), notes)
    for what, how in _NOT_YET.items():
        notes.lack(what, why="This version of Coreopsis does not read it yet.", how=how)
    yield "sources", notes.sources
    yield "missing", tuple(notes.missing)


def assemble(found: Mapping[str, Any]) -> Machine:
    """Return the machine made of all `parts`."""
    machine = Machine(**found)
    return replace(machine, fingerprint=_fingerprint(machine))


def portable(machine: Machine) -> Machine:
    """Return the machine without what names its owner, for files that are kept and passed on.

    No reader takes host names, users or serial numbers in the first place. Control groups carry the
    numbers of users and jobs, a GPU's UUID is a serial number, and a network interface may be named
    after its hardware address.
    """
    sources = dict(machine.sources)
    for what in ("cpu.counts.cpuset", "cpu.counts.quota"):
        if what in sources:
            sources[what] = f"{PurePosixPath(sources[what]).name} of the control group"
    return replace(
        machine,
        sources=sources,
        gpus=tuple(replace(gpu, uuid=None) for gpu in machine.gpus),
        network=tuple(
            replace(interface, name=re.sub(r"[0-9a-f]{12}", "", interface.name))
            for interface in machine.network
        ),
    )


def _linux_parts(root: Path, notes: Notes) -> Iterator[tuple[str, Any]]:
    if not (root / "proc").is_dir() and not (root / "sys").is_dir():
        raise BadRoot(f"{root} is not the recording of a machine: it holds neither proc nor sys.")
    is_live = sys.platform == "linux" and root.resolve() == Path("/")
    yield "os", read_system(root, notes, is_live=is_live)
    yield "virtualization", read_virtualization(root, notes)
    yield "container", read_container(root, notes, is_live=is_live)
    present, _ = present_and_online(root)
    numa = read_numa(root, present, notes)
    yield "cpu", read_cpu(root, numa, notes, is_live=is_live)
    yield "memory", read_memory(root, notes)
    yield "numa", numa


def _fingerprint(machine: Machine) -> str:
    """Return the same short text for the same hardware, whatever runs on it and may use it."""
    total_bytes = machine.memory.total_bytes
    facts = {
        "model": machine.cpu.model,
        "virtualization": machine.virtualization,
        "present": machine.cpu.counts.present,
        "caches": sorted(
            {f"{c.level} {c.kind} {c.size_bytes} {c.line_bytes}" for c in machine.cpu.caches}
        ),
        # The kernel keeps some for itself, and each version a little more or less.
        "memory_gib": None if total_bytes is None else round(total_bytes / _GIB),
        "nodes": len(machine.numa),
        "gpus": sorted(f"{g.vendor} {g.name} {g.memory_bytes}" for g in machine.gpus),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
