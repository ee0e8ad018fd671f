"""Looks at what surrounds a measurement: power, other programs, limits, a host.

A program looks here before it measures. The surroundings change within minutes, so they are no part
of `Machine`.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from machine.facts import Notes, Reason
from machine.gpus import nvml
from machine.live.gpu_samples import GpuSample
from machine.live.gpus import GpuSampler
from machine.live.power import read_battery, read_power_saver
from machine.live.threads import ThreadSampler
from machine.model import Machine, Missing, missing_of, usable_threads
from machine.record import Record
from machine.system.linux import confined
from machine.system.processes import family, used_s

_NO_LOAD = Reason(
    "The system does not tell how busy the hardware threads are, or this is a recording.",
    "top, on the machine itself.",
)
_NOT_HERE = Reason("This GPU did not answer when its programs were asked for.", "coreopsis doctor")


class GpuCompany(Record):
    """The processes of others on one GPU, by what they do there, and how busy it is."""

    index: int
    pci_address: str | None = None
    compute_processes: int | None = None
    graphics_processes: int | None = None
    busy: float | None = None
    memory_used_bytes: int | None = None


class Surroundings(Record):
    """The influences that may disturb or limit a measurement now.

    `busy_fraction` is what others used of all usable hardware threads. `power_saver_by` names the
    settings that save power. A limit that leaves everything is None: `memory_limit_bytes` is below
    the machine's memory, `quota_cpus` below the usable threads. `virtualization` and `container`
    are those of `Machine`.
    """

    on_battery: bool | None = None
    battery_fraction: float | None = None
    power_saver: bool | None = None
    power_saver_by: tuple[str, ...] = ()
    busy_fraction: float | None = None
    usable_threads: int | None = None
    gpus: tuple[GpuCompany, ...] = ()
    virtualization: str | None = None
    container: str | None = None
    memory_limit_bytes: int | None = None
    quota_cpus: float | None = None
    missing: tuple[Missing, ...] = ()


def look_around(
    machine: Machine,
    seconds: float = 1.0,
    *,
    root: Path | None = None,
    own_pid: int | None = None,
    load_nvml: Callable[[], nvml.Library] | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> Surroundings:
    """Return what goes on around now; blocks for `seconds`, longer where a GPU must wake first.

    The process `own_pid`, by default this one, and all that it started count as ours.
    """
    top, is_live, notes = root or Path("/"), root is None, Notes()
    own_pid = os.getpid() if own_pid is None else own_pid
    with confined(root):
        on_battery, battery_fraction = read_battery(top, notes, is_live=is_live)
        power_saver, power_saver_by = read_power_saver(top, notes)
        gpus = _gpus(top, machine, load_nvml, own_pid, notes)
        busy_fraction = _busy(top, machine, seconds, own_pid if is_live else None, wait)
    if busy_fraction is None:
        notes.lack("busy_fraction", _NO_LOAD)
    for name in ("virtualization", "container"):
        if (entry := missing_of(machine, name)) is not None:
            notes.missing.append(entry)
    usable, quota = machine.cpu.usable_threads, machine.cpu.counts.quota
    return Surroundings(
        on_battery=on_battery,
        battery_fraction=battery_fraction,
        power_saver=power_saver,
        power_saver_by=power_saver_by,
        busy_fraction=busy_fraction,
        usable_threads=usable,
        gpus=gpus,
        virtualization=machine.virtualization,
        container=machine.container,
        memory_limit_bytes=machine.memory.limit_bytes,
        quota_cpus=None if quota is None or (usable and quota >= usable) else quota,
        missing=tuple(notes.missing),
    )


def _busy(
    root: Path,
    machine: Machine,
    seconds: float,
    own_pid: int | None,
    wait: Callable[[float], None],
) -> float | None:
    usable = {thread.id for thread in usable_threads(machine)}
    sampler, own_s, start_s = ThreadSampler(root), used_s(family(own_pid)), time.monotonic()
    sampler.sample(start_s)
    wait(seconds)
    samples = sampler.sample(time.monotonic())
    passed_s, own_s = time.monotonic() - start_s, used_s(family(own_pid)) - own_s
    known = [
        sample.busy
        for sample in samples
        if sample.busy is not None and (not usable or sample.id in usable)
    ]
    if not known:
        return None
    own = own_s / passed_s if passed_s > 0 else 0.0
    return round(min(1.0, max(0.0, sum(known) - own) / len(known)), 4)


def _gpus(
    root: Path,
    machine: Machine,
    load_nvml: Callable[[], nvml.Library] | None,
    own_pid: int,
    notes: Notes,
) -> tuple[GpuCompany, ...]:
    if not machine.gpus:
        return ()
    with contextlib.closing(GpuSampler(root, load_nvml)) as sampler:
        samples, missing = sampler.sample(time.monotonic())
    notes.missing += (entry for entry in missing if entry.what.endswith((".processes", "gpus")))
    own = family(own_pid)
    found = {sample.pci_address: _company(sample, own) for sample in samples}
    for gpu in machine.gpus:
        if gpu.pci_address not in found:
            notes.lack(f"gpus[{gpu.index}]", _NOT_HERE)
    return tuple(found.values())


def _company(gpu: GpuSample, own: set[int]) -> GpuCompany:
    others = [process for process in gpu.processes or () if process.pid not in own]
    of_graphics = sum(process.kind == "graphics" for process in others)
    is_known = gpu.processes is not None
    return GpuCompany(
        index=gpu.index,
        pci_address=gpu.pci_address,
        compute_processes=len(others) - of_graphics if is_known else None,
        graphics_processes=of_graphics if is_known else None,
        busy=gpu.busy,
        memory_used_bytes=gpu.memory_used_bytes,
    )
