"""The ten machines that a review judged by the checkup's own rules; most of its answers missed."""

from __future__ import annotations

from msgspec.structs import replace

from machine.live.surroundings import Surroundings
from tests.experiments.checkup.machines import checked as c
from tests.experiments.checkup.machines import parts as p
from tests.experiments.checkup.machines.typical import ALONE, BESIDE_GPU, NO_ROOT, Typical
from tests.experiments.checkup.made import server
from tests.tools.made_machines.parts import link

PRECISIONS = ("fp32", "tf32", "fp16", "bf16")

RYZEN_9 = p.Processor(
    model="AMD Ryzen 9 7900X 12-Core Processor",
    cores=(
        p.Cores(count=6, one_hz=5.6e9, all_hz=5.0e9),
        p.Cores(count=6, one_hz=5.5e9, all_hz=5.0e9, die=1),
    ),
    max_hz=5.733e9,
)
I9 = p.Processor(
    model="Intel(R) Core(TM) i9-14900K",
    cores=(
        p.Cores(count=8, one_hz=5.8e9, all_hz=5.3e9, kind="performance", l3_mib=36),
        p.Cores(count=16, one_hz=4.4e9, all_hz=4.2e9, kind="efficiency", l3_mib=36),
    ),
    max_hz=6.0e9,
    base_hz=3.2e9,
    limits=p.power(253.0, 56.0, 253.0),
)
THREADRIPPER = p.Processor(
    model="AMD Ryzen Threadripper 7970X 32-Cores",
    cores=tuple(p.Cores(count=8, one_hz=5.2e9, all_hz=4.6e9, die=die) for die in range(4)),
    max_hz=5.4e9,
)
LAPTOP = p.Processor(
    model="13th Gen Intel(R) Core(TM) i7-13700H",
    cores=(
        p.Cores(count=6, one_hz=4.8e9, all_hz=4.0e9, kind="performance", l3_mib=24),
        p.Cores(count=8, one_hz=3.6e9, all_hz=3.2e9, kind="efficiency", l3_mib=24),
    ),
    max_hz=5.0e9,
    base_hz=2.4e9,
    limits=p.power(45.0, 28.0, 90.0),
)
ON_BATTERY = p.Processor(
    model="13th Gen Intel(R) Core(TM) i7-13700H",
    cores=(
        p.Cores(count=6, one_hz=2.9e9, all_hz=2.1e9, kind="performance", l3_mib=24),
        p.Cores(count=8, one_hz=2.2e9, all_hz=1.7e9, kind="efficiency", l3_mib=24),
    ),
    max_hz=5.0e9,
    base_hz=2.4e9,
    limits=p.power(45.0, 28.0, 90.0),
)
RYZEN_7 = p.Processor(
    model="AMD Ryzen 7 9700X 8-Core Processor",
    cores=(p.Cores(count=8, one_hz=5.5e9, all_hz=4.8e9),),
    max_hz=5.58e9,
)


def am5(letter: str, number: int, part: str, set_mega: int, rated_mega: int, **more):
    """A slot as boards of AM5 name it; boards have two for each channel."""
    return p.Module(
        slot=f"DIMM {number}",
        bank=f"P0 CHANNEL {letter}",
        part=part,
        maker="G Skill Intl",
        set_mega=set_mega,
        rated_mega=rated_mega,
        **more,
    )


def empty(letter: str, number: int):
    return p.Module(slot=f"DIMM {number}", bank=f"P0 CHANNEL {letter}", gib=0)


def soldered(channels: int, set_mega: int):
    return tuple(
        p.Module(
            slot=f"Controller{n // 4}-Channel{'ABCD'[n % 4]}",
            gib=4,
            part="H58G56BK7BX068",
            maker="SK Hynix",
            set_mega=set_mega,
            rated_mega=set_mega,
            kind="LPDDR5",
            bits=16,
        )
        for n in range(channels)
    )


def kit(part: str, set_mega: int, rated_mega: int, *slots: tuple[str, str], **more):
    """Modules of one kind in these slots and banks."""
    return tuple(
        p.Module(slot=slot, bank=bank, part=part, set_mega=set_mega, rated_mega=rated_mega, **more)
        for slot, bank in slots
    )


# How boards of LGA1700 name the slots that their manuals say to fill first.
INTEL_PAIR = (("Controller0-DIMMA2", "BANK 0"), ("Controller1-DIMMB2", "BANK 0"))


def one_module():
    here = p.machine(
        RYZEN_9,
        (
            am5("A", 0, "F5-6000J3038F16G", 4800, 4800),
            *(empty(letter, n) for letter, n in (("A", 1), ("B", 0), ("B", 1))),
        ),
        disks=[p.nvme("Samsung SSD 990 PRO 1TB")],
    )
    return c.checked(here, RYZEN_9, moved=32e9, read=(4.2e9, 7.1e9))


def i9(load: c.Load):
    here = p.machine(
        I9,
        kit("F5-6000J3040G32G", 6000, 4800, *INTEL_PAIR, gib=32),
        disks=[p.nvme("Samsung SSD 990 PRO 1TB")],
    )
    return c.checked(here, I9, moved=82e9, read=(4.2e9, 7.1e9), load=load)


def cooler_fails():
    fan = c.falls(25, 0.6)
    counts = lambda t_s: max(0, round(12 * (t_s - 25)))  # noqa: E731
    heat = c.falls(25, 97.0, 82.0)
    return i9(c.Load(rate=fan, throttled=counts, celsius=heat))


def slow_from_the_start():
    return i9(c.Load(rate=c.flat(0.6), celsius=c.flat(97.0)))


def rtx_4090(index: int, seat):
    return p.nvidia(
        "NVIDIA GeForce RTX 4090",
        seat,
        index=index,
        capability="8.9",
        sms=128,
        max_hz=3.105e9,
        bus_bits=384,
        memory_hz=10.501e9,
        gib=24,
        watts=450.0,
    )


def of_4090(**more):
    """A sound card: 92 % of its memory's ceiling, 80 to 85 % of that of its units."""
    products = {"fp32": 84e12, "tf32": 82e12, "fp16": 165e12, "bf16": 165e12}
    return c.Card(
        memory=927e9, products=products, held_back=("power_cap",), training=5000.0, **more
    )


def two_at_eight_lanes():
    """One in a slot of sixteen lanes of which eight work, one in a slot that has eight."""
    narrow = replace(link(4, 16, slot=(5, 16)), width=8)
    here = p.machine(
        THREADRIPPER,
        tuple(am5(letter, 0, "F5-6400R3239G16G", 6400, 4800) for letter in "ABCD"),
        disks=[p.nvme("Samsung SSD 990 PRO 1TB")],
        gpus=[rtx_4090(0, narrow), rtx_4090(1, link(4, 16, slot=(5, 8)))],
    )
    does = of_4090(link=(4, 8), copies=13.2e9)
    return c.checked(
        here, THREADRIPPER, moved=165e9, read=(4.2e9, 7.1e9), cards=[does, does], pairs=11e9
    )


def laptop(processor: p.Processor, *, moved: float, load: c.Load, **known):
    here = p.machine(processor, soldered(8, 6400), disks=[p.nvme("SAMSUNG MZVL21T0HCLR-00B00")])
    return c.checked(here, processor, moved=moved, read=(3.9e9, 6.5e9), load=load, **known)


def on_battery():
    around = Surroundings(on_battery=True, battery_fraction=0.6)
    slows = c.falls(30, 0.8)
    return laptop(ON_BATTERY, moved=48e9, load=c.Load(rate=slows), surroundings=around)


def on_mains():
    """The processor takes 90 W for 28 seconds, then 45 W; the turbo touches its limit of heat."""
    around = Surroundings(on_battery=False, battery_fraction=0.97)
    load = c.Load(
        rate=c.falls(28, 0.74),
        throttled=lambda t_s: round(min(t_s, 20)),
        watts=c.falls(28, 45.0, 88.0),
        celsius=c.falls(28, 84.0, 97.0),
    )
    return laptop(LAPTOP, moved=78e9, load=load, surroundings=around)


def eight_h100(shares: list[float]):
    """An H100 reaches 76 % of its memory's ceiling, and about 72 % of those of its units."""
    here = server()
    processor = p.Processor(
        model=here.cpu.model or "",
        cores=tuple(
            p.Cores(count=8, one_hz=4.0e9, all_hz=3.6e9, die=die, package=die // 16)
            for die in range(32)
        ),
    )
    usual = {"fp32": 47.7e12, "tf32": 381e12, "fp16": 766e12, "bf16": 798e12}
    cards = [
        c.Card(
            link=(5, 16),
            copies=54e9,
            memory=2.54e12 * share,
            products={name: rate * share for name, rate in usual.items()},
            held_back=("power_cap",),
            training=20000.0 * share,
        )
        for share in shares
    ]
    return c.checked(here, processor, moved=880e9, read=(7.0e9, 13.4e9), cards=cards, pairs=385e9)


def rtx_5070(memory_share: float, product_share: float):
    """A good one does 605 of 672 GB/s, and 80 to 90 % of the ceilings of its units."""
    gpu = p.nvidia(
        "NVIDIA GeForce RTX 5070",
        link(5, 16, slot=(5, 16)),
        capability="12.0",
        sms=48,
        max_hz=2.9e9,
        bus_bits=192,
        memory_hz=14.001e9,
        gib=12,
        watts=250.0,
    )
    here = p.machine(
        RYZEN_7,
        tuple(
            p.Module(
                slot="DIMM 1",
                bank=f"P0 CHANNEL {letter}",
                part="F5-5600J3636C16G",
                set_mega=5600,
                rated_mega=5600,
            )
            for letter in "AB"
        ),
        disks=[p.nvme("Samsung SSD 990 PRO 1TB")],
        gpus=[gpu],
    )
    usual = {"fp32": 30e12, "tf32": 29e12, "fp16": 60e12, "bf16": 60e12}
    card = c.Card(
        link=(5, 16),
        copies=53e9,
        memory=605e9 * memory_share,
        products={name: rate * product_share for name, rate in usual.items()},
        training=3000.0,
    )
    return c.checked(here, RYZEN_7, moved=62.9e9, read=(4.2e9, 7.1e9), cards=[card])


AMD = {"throttling"}  # AMD's processors do not count how often heat slows them
AMD_BESIDE_GPU = BESIDE_GPU | {"throttling cpu"}
TWO = {"gpu-errors gpu0", "gpu-errors gpu1"}

MACHINES = (
    Typical(
        name="Ryzen 9, one module, EXPO off",
        of=one_module,
        is_sound=False,
        look={"memory-speed", "memory-channels"},
        problem={"memory-bandwidth"},
        unknown=ALONE | AMD,
    ),
    Typical(
        name="i9, the cooler fails after 25 s",
        of=cooler_fails,
        is_sound=False,
        look={"throttling"},
        problem={"sustained"},
    ),
    Typical(
        name="i9, slow from the first second, heat uncounted",
        of=slow_from_the_start,
        is_sound=False,
        look={"sustained"},
        unknown=ALONE | {"throttling"},
    ),
    Typical(
        name="Threadripper, two RTX 4090 with eight lanes each",
        of=two_at_eight_lanes,
        is_sound=False,
        look={"gpu-link gpu0", "gpu-link gpu1"},
        # Nothing is known of a way between two GPUs without NVLinks.
        unknown=NO_ROOT | TWO | {"training cpu", "throttling cpu"},
    ),
    Typical(
        name="laptop on its battery",
        of=on_battery,
        is_sound=True,
        unknown=ALONE | {"memory-bandwidth", "cores", "sustained", "throttling"},
    ),
    Typical(name="laptop on mains, 45 W after 28 s", of=on_mains, is_sound=True),
    Typical(
        name="8 H100, one at 80 %",
        of=lambda: eight_h100([1.0, 1.0, 1.0, 0.8, 1.0, 1.0, 1.0, 1.0]),
        is_sound=False,
        problem={
            "gpu-memory gpu3",
            "training gpu3",
            *(f"gpu-products gpu3.{name}" for name in PRECISIONS),
        },
        unknown=NO_ROOT | {"training cpu", "throttling cpu"},
    ),
    Typical(
        name="8 H100, all at 58 % of what they should do",
        of=lambda: eight_h100([0.58] * 8),
        is_sound=False,
        look={f"gpu-products gpu{n}.{name}" for n in range(8) for name in PRECISIONS},
        problem={f"gpu-memory gpu{n}" for n in range(8)},
        unknown=NO_ROOT | {"training cpu", "throttling cpu"},
    ),
    Typical(
        name="Ryzen 7 with one RTX 5070",
        of=lambda: rtx_5070(1.0, 1.0),
        is_sound=True,
        unknown=AMD_BESIDE_GPU,
    ),
    Typical(
        name="the same, its memory at half and its units at a third",
        of=lambda: rtx_5070(0.5, 1 / 3),
        is_sound=False,
        problem={"gpu-memory", *(f"gpu-products gpu0.{name}" for name in PRECISIONS)},
        unknown=AMD_BESIDE_GPU,
    ),
)
