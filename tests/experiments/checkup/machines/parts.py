"""The parts of typical machines: processor, memory as the firmware lists it, disks, GPUs."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from machine.condition import Clock, PowerLimit, Throttling
from machine.devices import Disk, Gpu, NvLink, PciDevice
from machine.inspect import inspect
from machine.model import Cache, CoreKind, CpuCounts, Machine, Thread
from machine.peaks import gpu_ceilings, nvlink
from tests.tools.made_machines.parts import DISPLAY, GIB, MIB, NVME, card, link

GHZ, KIB_PER_GIB = 1e9, 2**20
GEN4 = link(4, 4)


@dataclass(frozen=True, kw_only=True)
class Cores:
    """Cores of one kind on one die; `one_hz` is the clock of one alone, `all_hz` that of all."""

    count: int
    one_hz: float | None = None
    all_hz: float | None = None
    die: int = 0
    kind: CoreKind | None = None
    l3_mib: int = 32
    package: int = 0


@dataclass(frozen=True, kw_only=True)
class Processor:
    """A processor: its cores, its highest and its base clock, its power limits."""

    model: str
    cores: Sequence[Cores]
    max_hz: float | None = None
    base_hz: float | None = None
    limits: Sequence[PowerLimit] = ()


def power(long_watts: float, window_s: float, short_watts: float) -> tuple[PowerLimit, ...]:
    """Return the limits that Intel's processors report."""
    return (
        PowerLimit(package=0, name="long_term", watts=long_watts, window_s=window_s),
        PowerLimit(package=0, name="short_term", watts=short_watts, window_s=0.002),
    )


@dataclass(frozen=True, kw_only=True)
class Module:
    """A memory module as udev's copy of the firmware's table has it; 0 GiB is an empty slot."""

    slot: str
    bank: str = "BANK 0"
    gib: int = 16
    part: str = ""
    maker: str = ""
    set_mega: int = 0
    rated_mega: int = 0
    kind: str = "DDR5"
    bits: int = 64


def machine(
    processor: Processor,
    modules: Sequence[Module] = (),
    *,
    gib: int | None = None,
    disks: Sequence[tuple[Disk, PciDevice | None]] = (),
    gpus: Sequence[tuple[Gpu, PciDevice | None]] = (),
    **more: Any,
) -> Machine:
    """Return a machine of these parts; the memory is read from a recording of the firmware."""
    packages = 1 + max(each.package for each in processor.cores)
    held = gib or sum(module.gib for module in modules)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in _recorded(processor.model, packages, modules, held).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        read = inspect(root)
    links = more.pop("gpu_links", ())
    found = [gpu for gpu, _ in gpus]
    slots = [seat for _, seat in (*gpus, *disks) if seat is not None]
    peaks: Any = dict(read.peaks)
    peaks["gpus"] = {
        str(gpu.index): {name: each.plain() for name, each in gpu_ceilings(gpu).items()}
        for gpu in found
    }
    peaks["nvlink"] = {
        f"{each.a}-{each.b}": peak.plain() for each in links if (peak := nvlink(each, found[0]))
    }
    return replace(
        read,
        virtualization=more.pop("virtualization", "none"),
        container=more.pop("container", "none"),
        cpu=_cpu(read.cpu, processor, more.pop("throttling", Throttling())),
        pci=tuple(slots),
        gpus=tuple(found),
        gpu_links=links,
        storage=tuple(disk for disk, _ in disks),
        peaks=peaks,
        **more,
    )


def _recorded(model: str, packages: int, modules: Sequence[Module], gib: int) -> dict[str, str]:
    """Return the files of one hardware thread a package, and of the memory."""
    threads = range(packages)
    lines = [
        f"E:MEMORY_DEVICE_{number}_{name}={value}\n"
        for number, module in enumerate(modules)
        for name, value in _told(module).items()
    ]
    files = {
        "proc/cpuinfo": "".join(f"processor\t: {n}\nmodel name\t: {model}\n\n" for n in threads),
        "proc/meminfo": f"MemTotal: {round(0.97 * gib * KIB_PER_GIB)} kB\n",
        "sys/hypervisor/none": "",
    }
    if modules:
        files["run/udev/data/+dmi:id"] = "".join(lines)
    for name in ("present", "possible", "online"):
        files[f"sys/devices/system/cpu/{name}"] = f"0-{packages - 1}\n"
    for n in threads:
        topology = f"sys/devices/system/cpu/cpu{n}/topology"
        files |= {
            f"{topology}/physical_package_id": f"{n}\n",
            f"{topology}/core_id": "0\n",
            f"{topology}/package_cpus_list": f"{n}\n",
            f"{topology}/core_cpus_list": f"{n}\n",
        }
    return files


def _told(module: Module) -> dict[str, object]:
    if not module.gib:
        return {"PRESENT": 0, "LOCATOR": module.slot, "BANK_LOCATOR": module.bank}
    told = {
        "LOCATOR": module.slot,
        "BANK_LOCATOR": module.bank,
        "MANUFACTURER": module.maker,
        "PART_NUMBER": module.part,
        "TYPE": module.kind,
        "SIZE": module.gib * GIB,
        "DATA_WIDTH": module.bits,
        "CONFIGURED_SPEED_MTS": module.set_mega,
        "SPEED_MTS": module.rated_mega,
    }
    return {name: value for name, value in told.items() if value}


def _cpu(read: Any, processor: Processor, throttling: Throttling) -> Any:
    threads: list[Thread] = []
    caches: list[tuple[int, int, tuple[int, ...]]] = []
    for group in processor.cores:
        first = len(threads)
        threads += [
            Thread(
                id=number,
                package=group.package,
                die=group.die,
                core=number,
                core_id=number,
                numa_node=group.package,
                kind=group.kind,
                online=True,
                usable=True,
            )
            for number in range(first, first + group.count)
        ]
        caches.append((group.die, group.l3_mib, tuple(range(first, len(threads)))))
    count = len(threads)
    held: dict[int, Cache] = {}
    for die, size_mib, own in caches:  # kinds of one die share it
        before = held[die].threads if die in held else ()
        held[die] = Cache(
            level=3, kind="unified", size_bytes=size_mib * MIB, line_bytes=64, threads=before + own
        )
    return replace(
        read,
        model=processor.model,
        packages=1 + max(each.package for each in processor.cores),
        cores=count,
        threads=count,
        usable_threads=count,
        counts=CpuCounts(present=count, online=count, affinity=count, cpuset=count),
        threads_list=tuple(threads),
        caches=tuple(held.values()),
        clock=Clock(
            max_hz=None if processor.max_hz is None else round(processor.max_hz),
            base_hz=None if processor.base_hz is None else round(processor.base_hz),
        ),
        power_limits=tuple(processor.limits),
        throttling=throttling,
    )


def nvme(model: str, seat: Any = GEN4, *, name: str = "nvme0n1") -> tuple[Disk, PciDevice]:
    """Return an NVMe disk and its seat."""
    address = f"0000:0{3 + int(name[4])}:00.0"
    disk = Disk(
        name=name,
        kind="nvme",
        transport="pcie",
        model=model,
        size_bytes=1_000_204_886_016,
        pci_address=address,
        peak_bytes_per_s=seat.peak_bytes_per_s,
    )
    return disk, card(address, "pci0000:00", NVME, (0x144D, 0xA80C), "NVMe", link=seat)


def sata(model: str, gigabits: float = 6.0, kind: Any = "ssd") -> tuple[Disk, None]:
    """Return a disk on a SATA link of this speed."""
    disk = Disk(
        name="sda",
        kind=kind,
        transport="sata",
        model=model,
        size_bytes=1_000_204_886_016,
        peak_bytes_per_s=gigabits * 1e9 / 10,
    )
    return disk, None


def nvidia(
    name: str,
    seat: Any,
    *,
    index: int = 0,
    capability: str,
    sms: int,
    max_hz: float,
    bus_bits: int,
    memory_hz: float,
    gib: int,
    watts: float,
    limit_watts: float | None = None,
    **more: Any,
) -> tuple[Gpu, PciDevice]:
    """Return a GPU of NVIDIA and its seat; `watts` is its power limit as it is sold."""
    address = f"0000:{0x41 + index:02x}:00.0"
    gpu = Gpu(
        index=index,
        vendor="NVIDIA",
        name=name,
        pci_address=address,
        torch_backend="cuda",
        driver="nvidia",
        compute_capability=capability,
        memory_bytes=gib * GIB,
        memory_bus_bits=bus_bits,
        memory_clock_hz=round(memory_hz),
        sms=sms,
        sm_clock_hz=round(max_hz),
        power_limit_watts=limit_watts or watts,
        power_default_watts=watts,
        unified_memory=False,
        visible=True,
        asleep=False,
        virtualization="none",
        **{"ecc": False, "mig": False, **more},
    )
    return gpu, card(address, "pci0000:40", DISPLAY, (0x10DE, 0x2000 + index), name, link=seat)


def nvlinks(count: int, *down: int) -> tuple[NvLink, ...]:
    """Return the links of one GPU to a switch; those of these numbers are down."""
    return tuple(
        NvLink(
            number=number,
            state="inactive" if number in down else "active",
            version="4.0",
            bytes_per_s=26.562e9,
            peer_kind="switch",
        )
        for number in range(count)
    )
