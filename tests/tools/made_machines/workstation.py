"""A workstation: sixteen cores on two dies with unequal L3 caches, two GPUs, an empty slot or two.

After AMD's data sheet of the Ryzen 9 9950X3D and NVIDIA's of the GeForce RTX 5090. The second GPU
is in a slot with half of its lanes. LIMIT: a real board divides the processor's 16 lanes between
two such slots; here the first keeps them all, so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from machine.condition import Clock, System, Temperature
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
)
from tests.tools.made_machines.parts import (
    BRIDGE,
    DISPLAY,
    ETHERNET,
    GIB,
    IDLE,
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

_CORES = range(16)
_ROOT = "pci0000:00"
_MEMORY_BYTES = 67_165_257_728
_AMD, _NVIDIA = 0x1022, 0x10DE
_PORT = (_AMD, 0x14DB), "Raphael/Granite Ridge GPP Bridge"
_DOWN = (_AMD, 0x43F5), "600 Series Chipset PCIe Switch Downstream Port"


def make() -> Machine:
    """Return the workstation."""
    return finished(
        Machine(
            os=OperatingSystem(
                kind="linux",
                release="6.17.0-generic",
                distribution="Ubuntu 26.04",
                architecture="x86_64",
            ),
            system=System(
                maker="ASUS",
                board="ASUSTeK COMPUTER INC. ProArt X870E-CREATOR WIFI",
                firmware="American Megatrends Inc. 1605",
                firmware_date="2025-07-18",
            ),
            virtualization="none",
            container="none",
            cpu=Cpu(
                model="AMD Ryzen 9 9950X3D 16-Core Processor",
                packages=1,
                cores=16,
                threads=32,
                usable_threads=32,
                counts=counts(32),
                threads_list=tuple(
                    thread(n, package=0, die=n % 16 // 8, core=n % 16, core_id=n % 16, numa_node=0)
                    for n in range(32)
                ),
                caches=tuple(_caches()),
                features=(
                    *("avx", "avx2", "avx512_bf16", "avx512_vnni", "avx512f", "avx_vnni"),
                    *("f16c", "fma", "sse4_2"),
                ),
                clock=Clock(
                    min_hz=600_000_000,
                    max_hz=5_700_000_000,
                    governor="powersave",
                    driver="amd-pstate-epp",
                    energy_preference="balance_performance",
                    boost="on",
                ),
                temperatures=(Temperature(name="Tctl", now_celsius=58.6),),
                vulnerabilities=vulnerabilities(),
                microcode="0xb404023",
            ),
            numa=(
                NumaNode(
                    id=0,
                    threads=tuple(range(32)),
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
                        slot=f"DIMM_{slot}",
                        bank=f"P0 CHANNEL {slot[0]}",
                        maker="G Skill Intl",
                        part_number="F5-6400J3239G32G",
                        kind="DDR5",
                        size_bytes=32 * GIB,
                        transfers_per_s=6000e6,
                        rated_transfers_per_s=6400e6,
                        data_bits=64,
                    )
                    if slot.endswith("2")
                    else MemoryModule(
                        slot=f"DIMM_{slot}", bank=f"P0 CHANNEL {slot[0]}", size_bytes=0
                    )
                    for slot in ("A1", "A2", "B1", "B2")
                ),
                channels=2,
                peak_bytes_per_s=2 * 6000e6 * 64 / 8,
                transparent_huge_pages="madvise",
                huge_pages=huge_pages(),
                swap_total_bytes=8 * GIB,
                swap_used_bytes=0,
                swap_in_memory_bytes=0,
            ),
            pci=tuple(_pci()),
            gpus=tuple(_gpu(n) for n in range(2)),
            gpu_links=(
                GpuLink(
                    a=0,
                    b=1,
                    path="PHB",
                    nvlinks=0,
                    peer_access_reported=False,
                    peer_access_cuda=False,
                ),
            ),
            nvswitch=False,
            storage=(
                Disk(
                    name="nvme0n1",
                    kind="nvme",
                    transport="pcie",
                    model="Samsung SSD 990 PRO 2TB",
                    size_bytes=2_000_398_934_016,
                    pci_address="0000:03:00.0",
                    peak_bytes_per_s=link(4, 4).peak_bytes_per_s,
                    file_systems=(
                        file_system("ext4", "system", 1967.0, 1211.0),
                        file_system("vfat", "boot", 1.1, 1.0),
                    ),
                ),
            ),
            network=(
                NetworkInterface(
                    name="enp6s0",
                    kind="ethernet",
                    is_up=True,
                    peak_bytes_per_s=10e9 / 8,
                    pci_address="0000:06:00.0",
                ),
            ),
        ),
        *(
            Missing(
                what=f"memory.modules[*].{name}",
                why="The slot is empty.",
                how="There is nothing to look at.",
            )
            for name in ("kind", "transfers_per_s", "rated_transfers_per_s", "data_bits")
        ),
        Missing(
            what="system.model",
            why="The firmware does not name it, or this system does not pass the name on.",
            how="The label on the machine, its maker's manual, or sudo dmidecode.",
        ),
    )


def _caches() -> Iterator[Cache]:
    for core in _CORES:
        threads = (core, core + 16)
        yield from own_caches(threads, data=(48 * KIB, 12), instruction=(32 * KIB, 8))
        yield cache(2, MIB, threads, 16)
    for die, size_bytes in enumerate((96 * MIB, 32 * MIB)):
        cores = range(8 * die, 8 * die + 8)
        yield cache(3, size_bytes, (*cores, *(core + 16 for core in cores)), 16)


def _pci() -> Iterator[PciDevice]:
    host = "Raphael/Granite Ridge Root Complex"
    yield card("0000:00:00.0", _ROOT, 0x060000, (_AMD, 0x14D8), host)
    yield card("0000:00:01.1", _ROOT, BRIDGE, *_PORT)
    yield card("0000:00:01.2", _ROOT, BRIDGE, *_PORT)
    yield card("0000:00:01.3", _ROOT, BRIDGE, *_PORT)
    yield card("0000:00:02.1", _ROOT, BRIDGE, *_PORT)
    gpu = (_NVIDIA, 0x2B85), "GB202 [GeForce RTX 5090]"
    wide, narrow = link(5, 16, now=1), link(5, 16, slot=(5, 8), now=1)
    yield card("0000:01:00.0", "0000:00:01.1", DISPLAY, *gpu, link=wide)
    yield card("0000:02:00.0", "0000:00:01.2", DISPLAY, *gpu, link=narrow)
    ssd = (0x144D, 0xA80C), "NVMe SSD Controller S4LV008[Pascal]"
    yield card("0000:03:00.0", "0000:00:01.3", NVME, *ssd, link=link(4, 4))
    # The chipset: a switch whose one link to the processor all behind it share.
    up = (_AMD, 0x43F4), "600 Series Chipset PCIe Switch Upstream Port"
    yield card("0000:04:00.0", "0000:00:02.1", BRIDGE, *up, link=link(4, 4))
    yield card("0000:05:00.0", "0000:04:00.0", BRIDGE, *_DOWN)
    yield card("0000:05:0c.0", "0000:04:00.0", BRIDGE, *_DOWN)
    ethernet = (0x1D6A, 0x04C0), "AQtion AQC113 NBase-T/IEEE 802.3an Ethernet Controller"
    yield card("0000:06:00.0", "0000:05:00.0", ETHERNET, *ethernet, link=link(4, 1))
    usb = (_AMD, 0x43F7), "600 Series Chipset USB 3.2 Controller"
    yield card("0000:07:00.0", "0000:05:0c.0", 0x0C0330, *usb, link=link(4, 4))


def _gpu(index: int) -> Gpu:
    return Gpu(
        index=index,
        vendor="NVIDIA",
        name="NVIDIA GeForce RTX 5090",
        pci_address=f"0000:0{index + 1}:00.0",
        torch_backend="cuda",
        driver="nvidia",
        driver_version="580.95.05",
        cuda_version="13.0",
        compute_capability="12.0",
        architecture="Blackwell",
        memory_bytes=34_190_917_632,
        unified_memory=False,
        memory_bus_bits=512,
        memory_clock_hz=14_001_000_000,
        sms=170,
        sm_clock_hz=3_090_000_000,
        l2_bytes=96 * MIB,
        power_limit_watts=575.0,
        power_default_watts=575.0,
        power_min_watts=400.0,
        power_max_watts=600.0,
        temperature_celsius=38.0 + 3 * index,
        temperature_slowdown_celsius=90.0,
        clock_reasons=IDLE,
        numa_node=0,
        visible=True,
        asleep=False,
        bar_bytes=32 * GIB,
        resizable_bar=True,
        ecc=False,
        ecc_pending=False,
        persistence=False,
        virtualization="none",
        mig=False,
    )
