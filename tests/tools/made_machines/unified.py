"""A small computer whose GPU uses the processor's memory, joined to it by NVLink-C2C.

After NVIDIA's hardware overview of the DGX Spark (GB10): two clusters of Arm cores, each with five
large and five small ones and an L3 cache of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from machine.condition import Clock, HugePages, System
from machine.devices import Disk, Gpu, NetworkInterface, PciDevice
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
    link,
    own_caches,
    thread,
    vulnerabilities,
)

_CORES = range(20)
_MEMORY_BYTES = 128_524_734_464
_L3_BYTES = (8 * MIB, 16 * MIB)
_C2C_BYTES_PER_S = 300e9  # each way
_NO_DRIVER = "The driver does not support this for this GPU."
_LACKING = (
    *("memory_bus_bits", "memory_clock_hz", "power_limit_watts", "power_default_watts"),
    *("power_min_watts", "power_max_watts", "ecc", "ecc_pending"),
    *("temperature_slowdown_celsius", "temperature_shutdown_celsius", "remapped_rows"),
    *("remapping_pending", "remapping_failed"),
)


def make() -> Machine:
    """Return the computer."""
    machine = Machine(
        os=OperatingSystem(
            kind="linux",
            release="6.14.0-nvidia",
            distribution="Ubuntu 24.04.3 LTS",
            architecture="aarch64",
        ),
        system=System(
            maker="NVIDIA",
            model="NVIDIA_DGX_Spark",
            board="NVIDIA P4242",
            firmware="AMI 5.36",
            firmware_date="2025-09-18",
        ),
        virtualization="none",
        container="none",
        cpu=Cpu(
            model="Cortex-X925, Cortex-A725",
            packages=1,
            cores=20,
            threads=20,
            usable_threads=20,
            counts=counts(20),
            threads_list=tuple(_threads()),
            caches=tuple(_caches()),
            features=("asimd", "asimddp", "asimdhp", "bf16", "i8mm", "sve", "sve2"),
            clock=Clock(
                min_hz=338_000_000,
                max_hz=3_900_000_000,
                governor="performance",
                driver="cppc_cpufreq",
            ),
            vulnerabilities=vulnerabilities(),
        ),
        numa=(
            NumaNode(
                id=0,
                threads=tuple(_CORES),
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
                    slot=f"Channel {n}",
                    kind="LPDDR5",
                    size_bytes=16 * GIB,
                    transfers_per_s=8533e6,
                    rated_transfers_per_s=8533e6,
                    data_bits=32,
                )
                for n in range(8)
            ),
            channels=8,
            peak_bytes_per_s=8 * 8533e6 * 32 / 8,
            transparent_huge_pages="madvise",
            huge_pages=(HugePages(size_bytes=2 * MIB, total=0, free=0),),
            swap_total_bytes=16 * GIB,
            swap_used_bytes=0,
            swap_in_memory_bytes=0,
        ),
        pci=tuple(_pci()),
        gpus=(
            Gpu(
                index=0,
                vendor="NVIDIA",
                name="NVIDIA GB10",
                pci_address="000f:01:00.0",
                torch_backend="cuda",
                driver="nvidia",
                driver_version="580.95.05",
                cuda_version="13.0",
                compute_capability="12.1",
                architecture="Blackwell",
                memory_bytes=_MEMORY_BYTES,
                unified_memory=True,
                sms=48,
                sm_clock_hz=3_003_000_000,
                l2_bytes=24 * MIB,
                numa_node=0,
                temperature_celsius=37.0,
                clock_reasons=IDLE,
                c2c_bytes_per_s=_C2C_BYTES_PER_S,
                visible=True,
                asleep=False,
                persistence=True,
                virtualization="none",
                mig=False,
            ),
        ),
        nvswitch=False,
        storage=(
            Disk(
                name="nvme0n1",
                kind="nvme",
                transport="pcie",
                model="SAMSUNG MZALC4T0HBL1-00B07",
                size_bytes=4_000_787_030_016,
                pci_address="0004:01:00.0",
                peak_bytes_per_s=link(5, 4).peak_bytes_per_s,
                file_systems=(file_system("ext4", "system", 3936.0, 3102.0),),
            ),
        ),
        network=(
            NetworkInterface(
                name="enp1s0f0np0",
                kind="ethernet",
                is_up=True,
                peak_bytes_per_s=200e9 / 8,
                pci_address="0000:01:00.0",
            ),
        ),
    )
    return finished(
        machine,
        *(
            Missing(
                what=f"gpus[*].{name}",
                why=_NO_DRIVER,
                how="nvidia-smi -q shows what it supports.",
            )
            for name in _LACKING
        ),
        Missing(
            what="gpus[*].link",
            why="The GPU shares a chip with the processor.",
            how="There is no link to look at.",
        ),
    )


def _threads() -> Iterator[Thread]:
    for n in _CORES:
        kind = "performance" if n % 10 >= 5 else "efficiency"
        yield thread(
            n, package=0, die=0, cluster=n // 10, core=n, core_id=n, numa_node=0, kind=kind
        )


def _caches() -> Iterator[Cache]:
    for n in _CORES:
        yield from own_caches((n,), data=(64 * KIB, 4), instruction=(64 * KIB, 4))
        yield cache(2, 2 * MIB if n % 10 >= 5 else 512 * KIB, (n,), 8)
    for cluster, size_bytes in enumerate(_L3_BYTES):
        yield cache(3, size_bytes, range(10 * cluster, 10 * cluster + 10), 16)


def _pci() -> Iterator[PciDevice]:
    port = (0x10DE, 0x22CE), "GB10 GEN5 X4 PCIe host"
    yield card("0000:00:00.0", "pci0000:00", BRIDGE, *port)
    cx7 = (0x15B3, 0x1021), "MT2910 Family [ConnectX-7]"
    yield card("0000:01:00.0", "0000:00:00.0", ETHERNET, *cx7, link=link(5, 16, slot=(5, 4)))
    yield card("0004:00:00.0", "pci0004:00", BRIDGE, *port)
    ssd = (0x144D, 0xA810), "NVMe SSD 9100 PRO [PM9E1]"
    yield card("0004:01:00.0", "0004:00:00.0", NVME, *ssd, link=link(5, 4))
    yield card("000f:00:00.0", "pci000f:00", BRIDGE, (0x10DE, 0x22D1), "GB20B PCI bridge")
    yield card("000f:01:00.0", "000f:00:00.0", DISPLAY, (0x10DE, 0x2E12), "GB20B [GB10]")
