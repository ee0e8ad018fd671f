"""A laptop with three kinds of cores, soldered memory, and a GPU that sleeps.

After Intel's data sheets of the Core Ultra 7 155H, and NVIDIA's of the GeForce RTX 4060.
"""

from __future__ import annotations

from collections.abc import Iterator

from machine.condition import Clock, PowerLimit, System, Temperature, Throttling
from machine.devices import Disk, Gpu, GpuLink, NetworkInterface, PciDevice
from machine.model import (
    Cache,
    Cpu,
    Machine,
    Memory,
    MemoryModule,
    Missing,
    NumaNode,
    OperatingSystem,
    Thread,
)
from tests.tools.made_machines.parts import (
    BRIDGE,
    DISPLAY,
    GIB,
    KIB,
    MIB,
    NVME,
    cache,
    card,
    counts,
    file_system,
    finished,
    huge_pages,
    link,
    own_caches,
    thread,
    vulnerabilities,
)

# Six performance cores of two threads, eight efficiency cores, two low-power ones.
_P_THREADS, _E_THREADS, _LP_THREADS = range(12), range(12, 20), range(20, 22)
_ALL = range(22)
_ROOT = "pci0000:00"
_MEMORY_BYTES = 33_285_996_544
_NVIDIA = "AD107M [GeForce RTX 4060 Max-Q / Mobile]"
_ASLEEP = "A GPU is asleep to save power, and asking NVIDIA's driver would wake it."
_NO_PAIR = {
    "nvlinks": "Only GPUs of NVIDIA have NVLinks.",
    "nvlink_version": "Only GPUs of NVIDIA have NVLinks.",
    "peer_access_reported": "The two are not of one maker.",
    "peer_access_cuda": "The two are not of one maker.",
}
_BY_DRIVER = (
    *("uuid", "driver_version", "cuda_version", "compute_capability", "memory_bytes"),
    *("unified_memory", "memory_bus_bits", "memory_clock_hz", "sms", "sm_clock_hz", "l2_bytes"),
    *("power_limit_watts", "power_default_watts", "power_min_watts", "power_max_watts"),
    *("architecture", "temperature_celsius", "temperature_slowdown_celsius", "clock_reasons"),
    *("temperature_shutdown_celsius", "ecc_pending", "remapped_rows", "remapping_pending"),
    *("remapping_failed", "bar_bytes", "resizable_bar"),
    *("visible", "ecc", "persistence", "virtualization", "mig", "link", "fabric"),
    *("c2c_bytes_per_s", "memory_numa_node"),
)


def make() -> Machine:
    """Return the laptop."""
    machine = Machine(
        os=OperatingSystem(
            kind="linux",
            release="6.14.0-generic",
            distribution="Ubuntu 25.04",
            architecture="x86_64",
        ),
        system=System(
            maker="Dell Inc.",
            model="XPS 16 9640",
            board="Dell Inc. 0VG6P3",
            firmware="Dell Inc. 1.12.1",
            firmware_date="2025-02-19",
        ),
        virtualization="none",
        container="none",
        cpu=Cpu(
            model="Intel(R) Core(TM) Ultra 7 155H",
            packages=1,
            cores=16,
            threads=22,
            usable_threads=22,
            counts=counts(22),
            threads_list=tuple(_threads()),
            caches=tuple(_caches()),
            features=("avx", "avx2", "avx_vnni", "f16c", "fma", "sse4_2"),
            clock=Clock(
                min_hz=400_000_000,
                max_hz=4_800_000_000,
                governor="powersave",
                driver="intel_pstate",
                energy_preference="balance_power",
                boost="on",
            ),
            temperatures=(
                Temperature(name="Package id 0", now_celsius=64.0, critical_celsius=110.0),
            ),
            throttling=Throttling(cores=214, packages=380),
            power_limits=(
                PowerLimit(package=0, name="long_term", watts=45.0, max_watts=65.0, window_s=28.0),
                PowerLimit(
                    package=0, name="short_term", watts=90.0, max_watts=115.0, window_s=0.002
                ),
                PowerLimit(package=0, name="peak_power", watts=215.0, max_watts=215.0),
            ),
            vulnerabilities=vulnerabilities(
                reg_file_data_sampling="Mitigation: Clear Register File"
            ),
            microcode="0x24",
        ),
        numa=(
            NumaNode(
                id=0,
                threads=tuple(_ALL),
                memory_bytes=_MEMORY_BYTES,
                distances=(10,),
                kind="host",
                allowed=True,
            ),
        ),
        memory=Memory(
            total_bytes=_MEMORY_BYTES,
            modules=tuple(
                MemoryModule(
                    slot=f"Controller{n // 4}-Channel{'ABCD'[n % 4]}",
                    kind="LPDDR5",
                    size_bytes=4 * GIB,
                    transfers_per_s=7467e6,
                    rated_transfers_per_s=7467e6,
                    data_bits=16,
                )
                for n in range(8)
            ),
            channels=8,
            peak_bytes_per_s=8 * 7467e6 * 16 / 8,
            transparent_huge_pages="madvise",
            huge_pages=huge_pages(),
            swap_total_bytes=8 * GIB,
            swap_used_bytes=1_288_490_188,
            swap_in_memory_bytes=0,
        ),
        pci=tuple(_pci()),
        gpus=(
            Gpu(
                index=0,
                vendor="NVIDIA",
                name=_NVIDIA,
                pci_address="0000:01:00.0",
                torch_backend="cuda",
                driver="nvidia",
                numa_node=0,
                asleep=True,
            ),
            Gpu(
                index=1,
                vendor="Intel",
                name="Meteor Lake-P [Intel Arc Graphics]",
                pci_address="0000:00:02.0",
                torch_backend="xpu",
                driver="i915",
                memory_bytes=_MEMORY_BYTES,
                unified_memory=True,
                sm_clock_hz=2_250_000_000,
                numa_node=0,
                asleep=False,
            ),
        ),
        gpu_links=(GpuLink(a=0, b=1, path="PHB"),),
        storage=(
            Disk(
                name="nvme0n1",
                kind="nvme",
                transport="pcie",
                model="Samsung SSD 990 PRO 1TB",
                size_bytes=1_000_204_886_016,
                pci_address="0000:04:00.0",
                peak_bytes_per_s=link(4, 4).peak_bytes_per_s,
                file_systems=(
                    file_system("btrfs", "system", 997.0, 402.0),
                    file_system("vfat", "boot", 1.1, 0.9),
                ),
            ),
        ),
        network=(
            NetworkInterface(name="wlp0s20f3", kind="wifi", is_up=True, pci_address="0000:00:14.3"),
        ),
    )
    wake = "Use the GPU, and look again meanwhile."
    untold = "The driver of this device does not tell it."
    sheet = "Look the model up in its maker's data sheet."
    # Said of all GPUs what is the same for all; of one by its number.
    return finished(
        machine,
        *(Missing(what=f"gpus[0].{name}", why=_ASLEEP, how=wake) for name in _BY_DRIVER),
        *(Missing(what=f"gpus[1].{name}", why=untold, how=sheet) for name in _BY_DRIVER),
        *(
            Missing(what=f"gpu_links[0].{name}", why=why, how="There is nothing to look at.")
            for name, why in _NO_PAIR.items()
        ),
        Missing(what="nvswitch", why=_ASLEEP, how=wake),
        Missing(
            what="pci[5].link",
            why="The device is asleep, and asking for its link would wake it.",
            how="cat /sys/bus/pci/devices/0000:01:00.0/current_link_speed, which wakes it.",
        ),
        Missing(
            what="network[*].peak_bytes_per_s",
            why="Its driver tells no speed: virtual and wireless interfaces have none that is "
            "fixed.",
            how="iw dev wlp0s20f3 link",
        ),
    )


def _threads() -> Iterator[Thread]:
    """Yield the threads; a cluster is what shares an L2 cache."""
    for n in _ALL:
        if n in _P_THREADS:
            yield thread(
                n,
                package=0,
                die=0,
                numa_node=0,
                cluster=n // 2,
                core=n // 2,
                core_id=8 + 4 * (n // 2),
                kind="performance",
            )
        elif n in _E_THREADS:
            cluster = 6 + (n - 12) // 4
            yield thread(
                n,
                package=0,
                die=0,
                numa_node=0,
                cluster=cluster,
                core=n - 6,
                core_id=20 + n,
                kind="efficiency",
            )
        else:
            yield thread(
                n,
                package=0,
                die=0,
                numa_node=0,
                cluster=8,
                core=n - 6,
                core_id=44 + n,
                kind="low-power",
            )


def _caches() -> Iterator[Cache]:
    for first in range(0, 12, 2):
        core = (first, first + 1)
        yield from own_caches(core, data=(48 * KIB, 12), instruction=(64 * KIB, 16))
        yield cache(2, 2 * MIB, core, 16)
    for n in (*_E_THREADS, *_LP_THREADS):
        yield from own_caches((n,), data=(32 * KIB, 8), instruction=(64 * KIB, 8))
    for cluster in (range(12, 16), range(16, 20), _LP_THREADS):
        yield cache(2, 2 * MIB, cluster, 16)
    yield cache(3, 24 * MIB, (*_P_THREADS, *_E_THREADS), 12)


def _pci() -> Iterator[PciDevice]:
    yield card("0000:00:00.0", _ROOT, 0x060000, (0x8086, 0x7D01), "Meteor Lake-H Host Bridge")
    yield card("0000:00:01.0", _ROOT, BRIDGE, (0x8086, 0x7ECC), "PCIe Root Port #12")
    graphics = "Meteor Lake-P [Intel Arc Graphics]"
    yield card("0000:00:02.0", _ROOT, DISPLAY, (0x8086, 0x7D55), graphics)
    yield card("0000:00:06.0", _ROOT, BRIDGE, (0x8086, 0x7E4D), "PCIe Root Port #9")
    yield card("0000:00:14.3", _ROOT, 0x028000, (0x8086, 0x7E40), "Meteor Lake PCH CNVi WiFi")
    yield card("0000:01:00.0", "0000:00:01.0", DISPLAY, (0x10DE, 0x28A0), _NVIDIA)
    ssd = "NVMe SSD Controller S4LV008[Pascal]"
    yield card("0000:04:00.0", "0000:00:06.0", NVME, (0x144D, 0xA80C), ssd, link=link(4, 4))
