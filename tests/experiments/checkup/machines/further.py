"""Further typical machines, half of them faulty, written down before the rules were changed."""

from __future__ import annotations

from msgspec.structs import replace

from machine.devices import Gpu
from machine.live.surroundings import Surroundings
from machine.memory.errors import ControllerErrors, MemoryErrors
from machine.model import CoreKind, Missing
from machine.system.kernel_log import KernelLog, LogEntry
from tests.experiments.checkup.machines import checked as c
from tests.experiments.checkup.machines import parts as p
from tests.experiments.checkup.machines.reviewed import (
    AMD,
    AMD_BESIDE_GPU,
    INTEL_PAIR,
    PRECISIONS,
    am5,
    kit,
    of_4090,
    rtx_4090,
    soldered,
)
from tests.experiments.checkup.machines.typical import ALONE, BESIDE_GPU, NO_ROOT, Typical
from tests.experiments.checkup.made import baseline, server
from tests.tools.made_machines.parts import link

GOOD_SSD = "Samsung SSD 990 PRO 1TB"
READS = (4.2e9, 7.1e9)


def ryzen(name: str, dies: int, one_hz: float, all_hz: float, l3_mib: int = 32) -> p.Processor:
    return p.Processor(
        model=name,
        cores=tuple(
            p.Cores(count=8, one_hz=one_hz, all_hz=all_hz, die=die, l3_mib=l3_mib)
            for die in range(dies)
        ),
        max_hz=one_hz * 1.02,
    )


def intel(
    name: str, fast: int, small: int, hz: tuple[float, float], limits=(), max_hz: float = 0.0
) -> p.Processor:
    """A processor of Intel with fast cores and small ones; `hz` of one and of all fast ones."""
    one_hz, all_hz = hz
    kinds: tuple[CoreKind | None, ...] = ("performance", "efficiency") if small else (None, None)
    groups = [
        p.Cores(count=fast, one_hz=one_hz, all_hz=all_hz, kind=kinds[0]),
        p.Cores(count=small, one_hz=0.76 * one_hz, all_hz=0.8 * all_hz, kind=kinds[1]),
    ]
    return p.Processor(
        model=name,
        cores=groups[: 2 if small else 1],
        max_hz=max_hz or one_hz * 1.02,
        base_hz=round(0.6 * all_hz),
        limits=limits,
    )


I5 = intel("13th Gen Intel(R) Core(TM) i5-13600K", 6, 8, (5.1e9, 4.9e9), p.power(181, 56, 181))
I7 = intel("13th Gen Intel(R) Core(TM) i7-13700K", 8, 8, (5.3e9, 5.1e9), p.power(253, 56, 253))
RYZEN_7700X = ryzen("AMD Ryzen 7 7700X 8-Core Processor", 1, 5.4e9, 5.1e9)
RYZEN_7950X = ryzen("AMD Ryzen 9 7950X 16-Core Processor", 2, 5.6e9, 5.1e9)
RYZEN_5600X = p.Processor(
    model="AMD Ryzen 5 5600X 6-Core Processor",
    cores=(p.Cores(count=6, one_hz=4.6e9, all_hz=4.5e9),),
    max_hz=4.65e9,
)
PAIR_OF_DDR4 = (("DIMM_A2", "P0 CHANNEL A"), ("DIMM_B2", "P0 CHANNEL B"))


# --- faulty --------------------------------------------------------------------------------------


def both_in_one_channel():
    here = p.machine(
        I5,
        kit(
            *("CMK32GX5M2B6000C36", 6000, 4800),
            *(("Controller0-DIMMA1", "BANK 0"), ("Controller0-DIMMA2", "BANK 0")),
        ),
        disks=[p.nvme(GOOD_SSD)],
    )
    return c.checked(here, I5, moved=41e9, read=READS)


def expo_off():
    here = p.machine(
        RYZEN_7700X,
        tuple(am5(letter, 1, "KF560C36-16", 4800, 4800) for letter in "AB"),
        disks=[p.nvme(GOOD_SSD)],
    )
    return c.checked(here, RYZEN_7700X, moved=56e9, read=READS)


def two_kits():
    here = p.machine(
        RYZEN_7950X,
        [
            *(am5(letter, 1, "F5-6000J3038F16G", 4800, 4800) for letter in "AB"),
            *(am5(letter, 0, "CT16G48C40U5.M8A1", 4800, 4800) for letter in "AB"),
        ],
        disks=[p.nvme(GOOD_SSD)],
    )
    return c.checked(here, RYZEN_7950X, moved=62e9, read=READS)


def disk_in_two_lanes():
    here = p.machine(
        I5,
        kit("CMK32GX5M2B6000C36", 6000, 4800, *INTEL_PAIR),
        disks=[p.nvme(GOOD_SSD, link(4, 4, slot=(4, 2)))],
    )
    return c.checked(here, I5, moved=80e9, read=(3.3e9, 3.6e9))


def rtx_4070(seat):
    return p.nvidia(
        "NVIDIA GeForce RTX 4070",
        seat,
        capability="8.9",
        sms=46,
        max_hz=3.105e9,
        bus_bits=192,
        memory_hz=10.501e9,
        gib=12,
        watts=200.0,
    )


FOR_4070 = {"fp32": 29e12, "tf32": 28e12, "fp16": 57e12, "bf16": 57e12}


def on_a_riser():
    """Card and slot do generation 4, the riser between them 3."""
    here = p.machine(
        RYZEN_5600X,
        kit("F4-3600C16-16GTZNC", 3600, 2133, *PAIR_OF_DDR4, kind="DDR4"),
        disks=[p.nvme("WDC WDS100T2B0C-00PXH0", link(3, 4))],
        gpus=[rtx_4070(link(4, 16))],
    )
    card = c.Card(link=(3, 16), copies=12.9e9, memory=455e9, products=FOR_4070)
    return c.checked(here, RYZEN_5600X, moved=48e9, read=(2.1e9, 2.4e9), cards=[card])


def little_power_for_the_gpu():
    gpu, seat = rtx_4090(0, link(4, 16))
    gpu = replace(gpu, power_limit_watts=150.0)
    here = p.machine(
        RYZEN_7950X,
        tuple(am5(letter, 1, "F5-6000J3038F16G", 6000, 4800) for letter in "AB"),
        disks=[p.nvme(GOOD_SSD)],
        gpus=[(gpu, seat)],
    )
    card = c.Card(
        link=(4, 16),
        copies=26e9,
        memory=850e9,
        products={"fp32": 42e12, "tf32": 41e12, "fp16": 80e12, "bf16": 80e12},
        held_back=("power_cap",),
    )
    return c.checked(here, RYZEN_7950X, moved=74e9, read=READS, cards=[card])


I3_OLD = intel("Intel(R) Core(TM) i3-8100 CPU @ 3.60GHz", 4, 0, (3.6e9, 3.6e9), max_hz=3.6e9)
OLD_PAIR = (("ChannelA-DIMM0", "BANK 0"), ("ChannelB-DIMM0", "BANK 2"))


def disk_on_a_slow_link():
    here = p.machine(
        I3_OLD,
        kit("CT8G4DFS824A.M8FE", 2400, 2400, *OLD_PAIR, kind="DDR4", gib=8),
        disks=[p.sata("Samsung SSD 870 EVO 500GB", gigabits=1.5)],
    )
    return c.checked(
        here, I3_OLD, moved=31e9, read=(0.138e9, 0.141e9), load=c.Load(throttled=c.flat(0))
    )


def little_power_for_the_processor():
    """Both limits are set to 65 W, of 253."""
    low = replace_limits(I7, p.power(65, 56, 65))
    slow = replace_cores(low, 0.6)
    here = p.machine(
        slow,
        kit("CMK32GX5M2B6000C36", 6000, 4800, *INTEL_PAIR),
        disks=[p.nvme(GOOD_SSD)],
    )
    load = c.Load(throttled=c.flat(0), celsius=c.flat(58.0))
    return c.checked(here, slow, moved=80e9, read=READS, load=load)


def replace_limits(processor: p.Processor, limits) -> p.Processor:
    return p.Processor(
        model=processor.model,
        cores=processor.cores,
        max_hz=processor.max_hz,
        base_hz=processor.base_hz,
        limits=limits,
    )


def replace_cores(
    processor: p.Processor, share_of_all: float, share_of_one: float = 1.0
) -> p.Processor:
    """The same with lower clocks: of one core alone, and of all at once."""
    cores = [
        p.Cores(
            count=group.count,
            one_hz=(group.one_hz or 0.0) * share_of_one,
            all_hz=(group.all_hz or 0.0) * share_of_all,
            die=group.die,
            kind=group.kind,
            l3_mib=group.l3_mib,
        )
        for group in processor.cores
    ]
    return p.Processor(
        model=processor.model,
        cores=cores,
        max_hz=processor.max_hz,
        base_hz=processor.base_hz,
        limits=processor.limits,
    )


LAPTOP_I7 = intel("13th Gen Intel(R) Core(TM) i7-1360P", 4, 8, (4.8e9, 3.6e9), p.power(28, 28, 64))


def dusty_laptop():
    """After its turbo it falls to 28 W, and then on, as heat allows it ever less."""

    def rate(t_s: float) -> float:
        return 1.0 if t_s <= 20 else max(0.35, 0.75 - 0.012 * (t_s - 20))

    load = c.Load(
        rate=rate,
        throttled=lambda t_s: round(9 * t_s),
        watts=lambda t_s: 60.0 * rate(t_s) ** 2,
        celsius=c.flat(97.0),
    )
    here = p.machine(LAPTOP_I7, soldered(8, 6000), disks=[p.nvme(GOOD_SSD)])
    around = Surroundings(on_battery=False, battery_fraction=1.0)
    return c.checked(here, LAPTOP_I7, moved=70e9, read=READS, load=load, surroundings=around)


EPYC = p.Processor(
    model="AMD EPYC 9554 64-Core Processor",
    cores=tuple(p.Cores(count=8, one_hz=3.7e9, all_hz=3.5e9, die=die) for die in range(8)),
    max_hz=3.76e9,
)


def epyc_modules(filled: int):
    return tuple(
        p.Module(
            slot=f"DIMM {n}",
            bank=f"P0 CHANNEL {'ABCDEFGHIJKL'[n]}",
            gib=64 * (n < filled),
            part="M321R8GA0BB0-CQKZJ",
            maker="Samsung",
            set_mega=4800,
            rated_mega=4800,
        )
        for n in range(12)
    )


def half_of_the_channels():
    here = p.machine(EPYC, epyc_modules(6), disks=[p.nvme("SAMSUNG MZQL23T8HCLS-00A07")])
    errors = MemoryErrors(
        corrected=14,
        uncorrected=0,
        controllers=(ControllerErrors(number=0, corrected=14, uncorrected=0),),
    )
    return c.checked(here, EPYC, moved=195e9, read=(4.0e9, 6.6e9), root=True, memory_errors=errors)


def stuck_clock():
    """The firmware holds all cores at 60 % of their clock, one alone as well as all at once."""
    slow = replace_cores(RYZEN_5600X, 0.6, 0.6)
    here = p.machine(
        slow,
        kit("F4-3600C16-16GTZNC", 3600, 2133, *PAIR_OF_DDR4, kind="DDR4"),
        disks=[p.sata("Samsung SSD 860 EVO 500GB")],
    )
    return c.checked(here, slow, moved=46e9, read=(0.53e9, 0.55e9))


def one_nvlink_down():
    whole = server()
    first, *others = whole.gpus
    links = p.nvlinks(18, 7)
    here = replace(whole, gpus=(replace(first, nvlinks=links), *others))
    return eight_gpus(here)


def eight_gpus(here):
    processor = p.Processor(
        model=here.cpu.model or "",
        cores=tuple(
            p.Cores(count=8, one_hz=4.0e9, all_hz=3.6e9, die=die, package=die // 16)
            for die in range(32)
        ),
    )
    card = c.Card(
        link=(5, 16),
        copies=54e9,
        memory=2.9e12,
        products={"fp32": 47.7e12, "tf32": 381e12, "fp16": 766e12, "bf16": 798e12},
        held_back=("power_cap",),
    )
    cards = [card] * len(here.gpus)
    return c.checked(here, processor, moved=880e9, read=(7.0e9, 13.4e9), cards=cards, pairs=385e9)


def dying_disk():
    """It answers after many tries, and the second disk of the baseline is gone."""
    both = (p.nvme("KINGSTON SNV2S1000G"), p.nvme(GOOD_SSD, name="nvme1n1"))
    modules = kit("CMK32GX5M2B6000C36", 6000, 4800, *INTEL_PAIR)
    before = p.machine(I5, modules, disks=both)
    here = p.machine(I5, modules, disks=both[:1])
    failing = LogEntry(
        kind="disk",
        lines=40,
        recent_lines=40,
        newest_s=20.0,
        serious=True,
        examples=("critical medium error, dev nvme0n1, sector 2048",),
    )
    log = KernelLog(found=(failing,), reaches_back_s=86400.0)
    return c.checked(
        here,
        I5,
        moved=80e9,
        read=(0.3e9, 0.5e9),
        kernel_log=log,
        baseline=baseline(here=before),
    )


I5_SIX = intel("12th Gen Intel(R) Core(TM) i5-12400", 6, 0, (4.3e9, 4.0e9), p.power(117, 28, 117))


def one_slow_core():
    here = p.machine(
        I5_SIX,
        kit("CMK16GX4M2B3200C16", 3200, 2133, *INTEL_PAIR, kind="DDR4", gib=8),
        disks=[p.nvme(GOOD_SSD)],
    )
    return c.checked(here, I5_SIX, moved=44e9, read=READS, slow={3: 0.7})


FAULTY = (
    Typical(
        name="i5, both modules in one channel",
        of=both_in_one_channel,
        is_sound=False,
        look={"memory-channels"},
        problem={"memory-bandwidth"},
        unknown=ALONE | {"throttling"},
    ),
    Typical(
        name="Ryzen 7, EXPO off",
        of=expo_off,
        is_sound=False,
        look={"memory-speed"},
        unknown=ALONE | AMD,
    ),
    Typical(
        name="Ryzen 9, two kits of different speed",
        of=two_kits,
        is_sound=False,
        look={"memory-speed"},
        unknown=ALONE | AMD,
    ),
    Typical(
        name="a fast disk in a slot of two lanes",
        of=disk_in_two_lanes,
        is_sound=False,
        look={"disk"},
        unknown=ALONE | {"throttling"},
    ),
    Typical(
        name="RTX 4070 on an old riser",
        of=on_a_riser,
        is_sound=False,
        look={"gpu-link"},
        unknown=AMD_BESIDE_GPU,
    ),
    Typical(
        name="RTX 4090 at 150 of 450 W",
        of=little_power_for_the_gpu,
        is_sound=False,
        look={"throttling gpu0", *(f"gpu-products gpu0.{name}" for name in PRECISIONS)},
        unknown=AMD_BESIDE_GPU,
    ),
    Typical(
        name="an SSD on a SATA link of 1.5 Gb/s",
        of=disk_on_a_slow_link,
        is_sound=False,
        problem={"disk"},
    ),
    Typical(
        name="i7 at 65 of 253 W",
        of=little_power_for_the_processor,
        is_sound=False,
        look={"sustained"},
    ),
    Typical(
        name="a dusty laptop, too hot also for 28 W",
        of=dusty_laptop,
        is_sound=False,
        look={"throttling"},
        problem={"sustained"},
    ),
    Typical(
        name="EPYC, six of twelve channels filled, errors corrected",
        of=half_of_the_channels,
        is_sound=False,
        look={"memory-channels", "memory-errors"},
        problem={"memory-bandwidth"},
        unknown={"devices", "training"} | AMD,
    ),
    Typical(
        name="Ryzen 5 held at 60 % of its clock",
        of=stuck_clock,
        is_sound=False,
        look={"cores", "sustained"},
        unknown=ALONE | AMD,
    ),
    Typical(
        name="8 H100, one NVLink of 144 down",
        of=one_nvlink_down,
        is_sound=False,
        problem={"nvlinks"},
        unknown=NO_ROOT | {"training cpu", "throttling cpu"},
    ),
    Typical(
        name="a dying disk, and another one gone",
        of=dying_disk,
        is_sound=False,
        problem={"devices", "kernel-log", "disk"},
        unknown={"memory-errors", "training", "throttling"},
    ),
    Typical(
        name="i5, one core at 70 %",
        of=one_slow_core,
        is_sound=False,
        problem={"cores"},
        unknown=ALONE | {"throttling"},
    ),
)


# --- sound ---------------------------------------------------------------------------------------


def gaming_laptop():
    """Its GPU may take 115 W, which holds its units well below their highest clock."""
    processor = intel(
        "13th Gen Intel(R) Core(TM) i9-13900HX", 8, 16, (5.3e9, 4.6e9), p.power(55, 28, 157)
    )
    gpu = p.nvidia(
        "NVIDIA GeForce RTX 4070 Laptop GPU",
        link(4, 16, slot=(4, 8)),
        capability="8.9",
        sms=36,
        max_hz=3.105e9,
        bus_bits=128,
        memory_hz=8.001e9,
        gib=8,
        watts=115.0,
    )
    here = p.machine(
        processor,
        kit(
            *("M425R2GA3BB0-CQKOL", 4800, 4800),
            *(("Controller0-ChannelA-DIMM0", "BANK 0"), ("Controller1-ChannelA-DIMM0", "BANK 0")),
        ),
        disks=[p.nvme("SAMSUNG MZVL21T0HCLR-00B00")],
        gpus=[gpu],
    )
    card = c.Card(
        link=(4, 8),
        copies=12.8e9,
        memory=232e9,
        products={"fp32": 15.5e12, "tf32": 14.5e12, "fp16": 28e12, "bf16": 28e12},
        held_back=("power_cap",),
    )
    load = c.Load(
        rate=c.falls(24, 0.62),
        throttled=lambda t_s: round(3 * min(t_s, 24)),
        watts=c.falls(24, 55.0, 150.0),
    )
    around = Surroundings(on_battery=False, battery_fraction=1.0)
    return c.checked(
        here,
        processor,
        moved=63e9,
        read=(3.9e9, 6.5e9),
        cards=[card],
        load=load,
        surroundings=around,
    )


def laptop_of_amd():
    """Its limits of power cannot be read; it settles after twelve seconds. Its disk is slow."""
    processor = p.Processor(
        model="AMD Ryzen 7 7840U w/ Radeon 780M Graphics",
        cores=(p.Cores(count=8, one_hz=5.0e9, all_hz=4.0e9, l3_mib=16),),
        max_hz=5.13e9,
    )
    modules = tuple(
        p.Module(
            slot="DIMM 0",
            bank=f"P0 CHANNEL {letter}",
            gib=8,
            part="MT62F2G32D4DS-026 WT",
            set_mega=6400,
            rated_mega=6400,
            kind="LPDDR5",
            bits=32,
        )
        for letter in "ABCD"
    )
    here = p.machine(processor, modules, disks=[p.nvme("KINGSTON SNV2S1000G")])
    load = c.Load(rate=c.falls(12, 0.84), celsius=c.falls(12, 78.0, 92.0))
    around = Surroundings(on_battery=False, battery_fraction=0.8)
    return c.checked(
        here, processor, moved=74e9, read=(2.3e9, 3.4e9), load=load, surroundings=around
    )


def two_unlike_dies():
    """One die has the larger cache, and the lower clock."""
    processor = p.Processor(
        model="AMD Ryzen 9 7950X3D 16-Core Processor",
        cores=(
            p.Cores(count=8, one_hz=5.22e9, all_hz=4.8e9, l3_mib=96),
            p.Cores(count=8, one_hz=5.65e9, all_hz=5.1e9, die=1),
        ),
        max_hz=5.76e9,
    )
    here = p.machine(
        processor,
        tuple(am5(letter, 1, "F5-6000J3038F16G", 6000, 6000) for letter in "AB"),
        disks=[p.nvme(GOOD_SSD)],
        gpus=[rtx_4090(0, link(4, 16, slot=(5, 16)))],
    )
    card = of_4090(link=(4, 16), copies=26e9)
    return c.checked(here, processor, moved=76e9, read=READS, cards=[card])


def epyc():
    here = p.machine(EPYC, epyc_modules(12), disks=[p.nvme("SAMSUNG MZQL23T8HCLS-00A07")])
    counted = MemoryErrors(
        corrected=0,
        uncorrected=0,
        controllers=(ControllerErrors(number=0, corrected=0, uncorrected=0),),
    )
    return c.checked(here, EPYC, moved=372e9, read=(4.0e9, 6.6e9), root=True, memory_errors=counted)


def altra():
    processor = p.Processor(
        model="Neoverse-N1",
        cores=(p.Cores(count=80, one_hz=3.0e9, all_hz=3.0e9, l3_mib=32),),
        max_hz=3.0e9,
    )
    modules = tuple(
        p.Module(
            slot=f"DIMM {n + 1}",
            bank=f"P0_Node0_Channel{n}_Dimm0",
            gib=32,
            part="M393A4K40DB3-CWE",
            maker="Samsung",
            set_mega=3200,
            rated_mega=3200,
            kind="DDR4",
        )
        for n in range(8)
    )
    here = p.machine(processor, modules, disks=[p.nvme("SAMSUNG MZQL23T8HCLS-00A07")])
    return c.checked(here, processor, moved=172e9, read=(4.0e9, 6.6e9))


def one_channel_by_design():
    """An Intel N100 has one channel, and takes 6 W for good."""
    processor = p.Processor(
        model="Intel(R) N100",
        cores=(p.Cores(count=4, one_hz=3.3e9, all_hz=2.9e9, l3_mib=6),),
        max_hz=3.4e9,
        base_hz=0.8e9,
        limits=p.power(6.0, 28.0, 25.0),
    )
    here = p.machine(
        processor,
        kit(
            *("CT16G48C40S5.M8A1", 4800, 4800),
            ("Controller0-ChannelA-DIMM0", "BANK 0"),
        ),
        disks=[p.sata("Samsung SSD 870 EVO 500GB")],
    )
    load = c.Load(rate=c.falls(22, 0.6), throttled=c.flat(0), celsius=c.flat(66.0))
    return c.checked(here, processor, moved=29e9, read=(0.53e9, 0.55e9), load=load)


def strix_halo():
    """A processor with graphics that share its memory, and whose ceilings are unknown."""
    processor = p.Processor(
        model="AMD RYZEN AI MAX+ 395 w/ Radeon 8060S",
        cores=(
            p.Cores(count=8, one_hz=5.0e9, all_hz=4.4e9),
            p.Cores(count=8, one_hz=5.0e9, all_hz=4.4e9, die=1),
        ),
        max_hz=5.19e9,
    )
    modules = tuple(
        p.Module(
            slot=f"DIMM {n}",
            bank=f"P0 CHANNEL {'ABCDEFGH'[n]}",
            gib=16,
            part="MT62F4G32D8DV-023 WT",
            set_mega=8000,
            rated_mega=8000,
            kind="LPDDR5",
            bits=32,
        )
        for n in range(8)
    )
    gpu = Gpu(
        index=0,
        vendor="AMD",
        name="Strix Halo [Radeon 8060S]",
        torch_backend="rocm",
        unified_memory=True,
        sms=40,
    )
    here = p.machine(processor, modules, disks=[p.nvme(GOOD_SSD)], gpus=[(gpu, None)])
    card = c.Card(
        copies=84e9,
        memory=212e9,
        products={"fp32": 14e12, "fp16": 36e12, "bf16": 36e12},
        held_back=None,
    )
    return c.checked(here, processor, moved=122e9, read=READS, cards=[card])


def virtual_machine():
    """Two cores of a host, whose neighbours come and go; clock and memory are unknown."""
    processor = p.Processor(model="AMD EPYC-Genoa Processor", cores=(p.Cores(count=2),))
    disk, _ = p.sata("")
    disk = replace(
        disk, name="vda", kind="virtual", transport="host", model=None, peak_bytes_per_s=None
    )
    why = "A virtual machine does not show the modules of its host."
    here = p.machine(
        processor,
        gib=8,
        disks=[(disk, None)],
        virtualization="kvm",
        missing=(Missing(what="memory.modules", why=why, how="Look on the host."),),
    )
    load = c.Load(celsius=c.flat(None))
    return c.checked(here, processor, moved=24e9, read=(1.1e9, 1.6e9), load=load)


def threadripper():
    processor = p.Processor(
        model="AMD Ryzen Threadripper 7980X 64-Cores",
        cores=tuple(p.Cores(count=8, one_hz=5.0e9, all_hz=4.0e9, die=die) for die in range(8)),
        max_hz=5.14e9,
    )
    here = p.machine(
        processor,
        tuple(am5(letter, 0, "F5-6400R3239G16G", 6400, 4800) for letter in "ABCD"),
        disks=[p.nvme(GOOD_SSD)],
        gpus=[rtx_4090(0, link(4, 16, slot=(5, 16)))],
    )
    card = of_4090(link=(4, 16), copies=26e9)
    return c.checked(here, processor, moved=168e9, read=READS, cards=[card])


def two_xeons():
    processor = p.Processor(
        model="Intel(R) Xeon(R) Platinum 8480+",
        cores=tuple(
            p.Cores(count=56, one_hz=3.7e9, all_hz=3.0e9, die=n, package=n, l3_mib=105)
            for n in range(2)
        ),
        max_hz=3.8e9,
        base_hz=2.0e9,
        limits=(*p.power(350, 1.0, 420), *p.power(350, 1.0, 420)),
    )
    modules = tuple(
        p.Module(
            slot=f"CPU{socket}_DIMM_{'ABCDEFGH'[n]}1",
            bank="_Node0_Channel0_Dimm0".replace("Channel0", f"Channel{n}").replace(
                "Node0", f"Node{socket}"
            ),
            gib=32,
            part="HMCG88AEBRA168N",
            maker="Hynix",
            set_mega=4800,
            rated_mega=4800,
        )
        for socket in range(2)
        for n in range(8)
    )
    here = p.machine(processor, modules, disks=[p.nvme("SAMSUNG MZQL23T8HCLS-00A07")])
    load = c.Load(throttled=c.flat(0))
    return c.checked(here, processor, moved=470e9, read=(4.0e9, 6.6e9), root=True, load=load)


def old_pc():
    """DDR4 as old as the processor, a GPU before matrix units, an SSD on SATA."""
    processor = intel(
        "Intel(R) Core(TM) i7-6700K CPU @ 4.00GHz", 4, 0, (4.2e9, 4.0e9), p.power(95, 8, 118)
    )
    gpu = p.nvidia(
        "NVIDIA GeForce GTX 1060 6GB",
        link(3, 16),
        capability="6.1",
        sms=10,
        max_hz=1.911e9,
        bus_bits=192,
        memory_hz=4.004e9,
        gib=6,
        watts=120.0,
    )
    here = p.machine(
        processor,
        kit("9905678-012.A00G", 2133, 2133, *OLD_PAIR, kind="DDR4", gib=8, maker="Kingston"),
        disks=[p.sata("Samsung SSD 850 EVO 250GB")],
        gpus=[gpu],
    )
    card = c.Card(link=(3, 16), copies=12.4e9, memory=158e9, products={"fp32": 4.0e12})
    load = c.Load(throttled=c.flat(0))
    return c.checked(here, processor, moved=29e9, read=(0.52e9, 0.54e9), cards=[card], load=load)


def back_to_its_base_power():
    """An i9 on a board that keeps Intel's 125 W: after 38 seconds its turbo is over."""
    processor = intel("Intel(R) Core(TM) i9-14900K", 8, 16, (5.8e9, 5.3e9), p.power(125, 56, 253))
    here = p.machine(
        processor,
        kit("F5-6000J3040G32G", 6000, 6000, *INTEL_PAIR, gib=32),
        disks=[p.nvme(GOOD_SSD)],
    )
    load = c.Load(
        rate=c.falls(38, 0.78), throttled=c.flat(0), celsius=c.falls(38, 68.0, 88.0), seconds=90
    )
    return c.checked(here, processor, moved=82e9, read=READS, load=load)


def t4_server():
    """A T4 has 70 W: its units reach 40 % of what their highest clock would give."""
    processor = p.Processor(
        model="Intel(R) Xeon(R) Gold 6226R CPU @ 2.90GHz",
        cores=(p.Cores(count=16, one_hz=3.8e9, all_hz=3.5e9, l3_mib=22),),
        max_hz=3.9e9,
        base_hz=2.9e9,
        limits=p.power(150, 1.0, 180),
    )
    gpu = p.nvidia(
        "Tesla T4",
        link(3, 16),
        capability="7.5",
        sms=40,
        max_hz=1.59e9,
        bus_bits=256,
        memory_hz=5.001e9,
        gib=16,
        watts=70.0,
        ecc=True,
    )
    modules = tuple(
        p.Module(
            slot=f"CPU0_Channel{n}_DIMM0",
            part="M393A2K43CB2-CVF",
            set_mega=2933,
            rated_mega=2933,
            kind="DDR4",
        )
        for n in range(6)
    )
    here = p.machine(processor, modules, disks=[p.sata("SAMSUNG MZ7LH960HAJR-00005")], gpus=[gpu])
    card = c.Card(
        link=(3, 16),
        copies=12.1e9,
        memory=245e9,
        products={"fp32": 4.4e12, "fp16": 26e12},
        held_back=("power_cap",),
    )
    load = c.Load(throttled=c.flat(0))
    return c.checked(here, processor, moved=108e9, read=(0.5e9, 0.53e9), cards=[card], load=load)


NO_CEILING = {
    *("gpu-link", "gpu-copy", "gpu-memory"),
    *(f"gpu-products gpu0.{name}" for name in ("fp32", "fp16", "bf16")),
}
SOUND = (
    Typical(
        name="gaming laptop, its GPU at its own limit of power",
        of=gaming_laptop,
        is_sound=True,
        unknown=BESIDE_GPU,
    ),
    Typical(
        name="laptop of AMD that settles at 84 %, a slow disk",
        of=laptop_of_amd,
        is_sound=True,
        unknown=ALONE | AMD,
    ),
    Typical(
        name="Ryzen 9 with two unlike dies, RTX 4090",
        of=two_unlike_dies,
        is_sound=True,
        unknown=AMD_BESIDE_GPU,
    ),
    Typical(
        name="EPYC, twelve channels",
        of=epyc,
        is_sound=True,
        unknown={"devices", "training"} | AMD,
    ),
    Typical(name="Ampere Altra, eight channels", of=altra, is_sound=True, unknown=ALONE | AMD),
    Typical(name="Intel N100, one channel", of=one_channel_by_design, is_sound=True),
    Typical(
        name="processor with graphics that share its memory",
        of=strix_halo,
        is_sound=True,
        unknown=NO_ROOT
        | {"training cpu", "training gpu0", "gpu-errors", "throttling cpu", "throttling gpu0"}
        | NO_CEILING,
    ),
    Typical(
        name="virtual machine",
        of=virtual_machine,
        is_sound=True,
        unknown=ALONE
        | {"memory-speed", "memory-channels", "memory-bandwidth", "disk", "throttling"},
    ),
    Typical(
        name="Threadripper, four channels, RTX 4090",
        of=threadripper,
        is_sound=True,
        unknown=AMD_BESIDE_GPU,
    ),
    Typical(
        name="two Xeons, sixteen channels",
        of=two_xeons,
        is_sound=True,
        unknown={"devices", "memory-errors", "training"},
    ),
    Typical(
        name="old PC with DDR4 and GTX 1060",
        of=old_pc,
        is_sound=True,
        # Nobody knows that module, nor what the units of that GPU do.
        unknown=BESIDE_GPU | {"memory-speed", "gpu-products"},
    ),
    Typical(name="i9 that falls back to 125 W", of=back_to_its_base_power, is_sound=True),
    Typical(
        name="T4 at its 70 W",
        of=t4_server,
        is_sound=True,
        unknown=NO_ROOT | {"training cpu", "training gpu0"},
    ),
)
MACHINES = (*FAULTY, *SOUND)
