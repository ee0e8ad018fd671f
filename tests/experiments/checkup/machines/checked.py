"""The measurements of a checkup on a typical machine: each experiment twice, the load once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.probes.core_sweep.experiment import CoreRate
from experiments.checkup.probes.frameworks.experiment import Feature
from experiments.checkup.probes.identical.experiment import Repeat
from experiments.checkup.probes.patterns.experiment import Pass
from experiments.checkup.probes.sustained.experiment import GpuState, Heat, Work
from experiments.checkup.probes.training_step.experiment import Loss, Rate
from experiments.devices.conditions import Condition
from experiments.engine import messages
from experiments.many_devices.p2p.experiment import Copied
from experiments.many_devices.p2p.links import RIGHT, YES, Access
from experiments.memory.roofline.arms import Peak
from experiments.memory.roofline.arms import Rate as MemoryRate
from experiments.memory.storage.experiment import Read, Where
from experiments.memory.stream.experiment import Move
from experiments.to_the_gpu.pinned.experiment import Copy
from machine.devices import ClockReason
from machine.doctor.diagnosis import Diagnosis, JudgedStep
from machine.doctor.evidence import Vendor
from machine.doctor.verdicts import State
from machine.live.gpu_samples import GpuSample
from machine.live.heat import HeatSample
from machine.live.memory import MemorySample
from machine.live.sampler import Sample
from machine.live.surroundings import Surroundings
from machine.live.threads import ThreadSample
from machine.memory.errors import MemoryErrors
from machine.model import Machine, Missing
from machine.system.kernel_log import KernelLog
from tests.experiments.checkup.machines.parts import Processor
from tests.experiments.checkup.made import ROUNDS, evidence, ran

MIB = 2**20
FLOP_PER_CYCLE = 16.0
MEMORY = MemorySample(
    total_bytes=1, available_bytes=1, used_bytes=0, swap_total_bytes=0, swap_used_bytes=0
)
# What who is not root reads of the kernel's log, and of memory without ECC.
LOCKED_LOG = KernelLog(
    found=(),
    missing=(Missing(what="kernel_log", why="Only root may read it.", how="sudo dmesg"),),
)
NO_ECC = MemoryErrors(
    missing=(Missing(what="memory_errors", why="It has no ECC.", how="sudo dmidecode"),)
)
Over = Callable[[float], Any]  # of the seconds since the load began


def flat(value: Any) -> Over:
    """The same all the time."""
    return lambda t_s: value


def falls(at_s: float, share: float, before: float = 1.0) -> Over:
    """One value until then, and another one after."""
    return lambda t_s: before if t_s <= at_s else share


FULL, UNTOLD, WARM = flat(1.0), flat(None), flat(75.0)


@dataclass(frozen=True, kw_only=True)
class Load:
    """The course of the load: the processor's share of its best rate and clock, heat, power."""

    rate: Over = FULL
    throttled: Over = UNTOLD  # how often heat slowed cores down since the first look
    watts: Over = UNTOLD
    celsius: Over = WARM
    seconds: int = 60
    outcome: messages.Outcome = messages.Outcome.COMPLETED


@dataclass(frozen=True, kw_only=True)
class Card:
    """The behaviour of a GPU: its link during copies, and shares of its ceilings."""

    link: tuple[int, int] | None = None
    copies: float = 0.0  # bytes/s, the slower way
    memory: float = 0.0  # bytes/s
    products: Mapping[str, float] = field(default_factory=dict)  # flop/s by precision
    held_back: tuple[str, ...] | None = ()  # None where its driver does not tell
    training: float = 5000.0
    load: Over = FULL


def checked(
    here: Machine,
    processor: Processor,
    *,
    moved: float,
    read: tuple[float, float] | None = None,
    slow: Mapping[int, float] | None = None,
    cards: Sequence[Card] = (),
    load: Load | None = None,
    notes: Sequence[messages.Note] = (),
    pairs: float = 0.0,
    root: bool = False,
    **known: Any,
) -> Evidence:
    """Return what a checkup knows of a machine.

    `moved` is what its memory moves, `read` what its disk reads in order and with many readers, all
    in bytes/s; `slow` are cores that do a share of the others' rate.
    """
    given: dict[str, Any] = {
        "surroundings": Surroundings(on_battery=False),
        "kernel_log": KernelLog(found=(), reaches_back_s=86400.0) if root else LOCKED_LOG,
        "memory_errors": NO_ECC,
        "diagnosis": _diagnosis(here),
        "gpu_samples": tuple(
            GpuSample(index=gpu.index, ecc_corrected=0, ecc_uncorrected=0)
            if gpu.ecc
            else GpuSample(index=gpu.index)
            for gpu in here.gpus
        ),
        **known,
    }
    devices = [("cpu", None), *((f"cuda:{n}", each) for n, each in enumerate(cards))]
    runs = [
        *_twice("stream", _moves(moved), here, notes=notes),
        *_twice("frameworks", _features(devices), here),
        *_twice(
            "core-sweep",
            _rates(processor, slow or {}),
            here,
            notes=notes,
            watched=_one_by_one(processor),
        ),
    ]
    if read is not None:
        runs += _twice("storage", _reads(here.storage[0].name, *read), here, notes=notes)
    for device, each in devices:
        runs += _of_device(here, device, each, notes)
    if len(cards) > 1 and pairs:
        runs += _twice("p2p", _copied(here, pairs), here)
    found = evidence(here, *runs, **given)
    found.add(_sustained(here, processor, load or Load(), cards, notes))
    return found


def _twice(experiment: str, rows: Sequence[Any], here: Machine, **more: Any) -> list[Ran]:
    """A second run confirms slow results."""
    return [ran(experiment, rows, here, **more)] * 2


def _diagnosis(here: Machine) -> Diagnosis:
    usable = any(gpu.torch_backend for gpu in here.gpus)
    step = JudgedStep(step="works" if usable else "torch", state=State.OK, key="works")
    return Diagnosis(
        state=State.OK, finding=None, steps=(step,), vendor=Vendor.NVIDIA if usable else None
    )


def _moves(rate: float) -> list[Move]:
    return [
        Move(threads=threads, kernel=kernel, repeat=turn, bytes_per_s=rate * share * noise)
        for turn, noise in enumerate(ROUNDS)
        for threads, kernel, share in ((1, "copy", 0.4), (4, "copy", 0.85), (4, "read", 1.0))
    ]


def _features(devices: Sequence[tuple[str, Any]]) -> list[Feature]:
    return [
        Feature(device=device, name=name, state="works", took_s=0.1)
        for device, _ in devices
        for name in ("fp16", "bf16", "compile")
    ]


def _cores(processor: Processor) -> list[Any]:
    return [group for group in processor.cores for _ in range(group.count)]


def _rates(processor: Processor, slow: Mapping[int, float]) -> list[CoreRate]:
    return [
        CoreRate(
            thread=core,
            core=core,
            repeat=turn,
            flop_per_s=FLOP_PER_CYCLE * (group.one_hz or 3e9) * slow.get(core, 1.0) * noise,
        )
        for turn, noise in enumerate(ROUNDS)
        for core, group in enumerate(_cores(processor))
    ]


def _one_by_one(processor: Processor) -> list[Sample]:
    """One core works at each look, the others are idle at 800 MHz."""
    cores = _cores(processor)
    return [
        Sample(
            t_s=0.5 * at,
            memory=MEMORY,
            threads=tuple(
                ThreadSample(
                    id=core,
                    busy=1.0 if core == busy else 0.0,
                    hz=None if group.one_hz is None else group.one_hz if core == busy else 8e8,
                    steal_fraction=0.0,
                )
                for core, group in enumerate(cores)
            ),
        )
        for at, busy in enumerate(range(0, len(cores), max(1, len(cores) // 8)))
    ]


def _reads(disk: str, in_order: float, many: float) -> list[Any]:
    rates = {
        (MIB, "sequential"): in_order,
        (MIB, "random"): 0.8 * in_order,
        (MIB, "random_32"): many,
        (4096, "sequential"): 0.08 * in_order,
        (4096, "random"): 0.02 * in_order,
        (4096, "random_32"): 0.3 * in_order,
    }
    return [
        Where(disk=disk, file_system="ext4"),
        *(
            Read(
                block_bytes=block,
                way=way,
                repeat=turn,
                bytes_per_s=rate * noise,
                reads_per_s=rate * noise / block,
                latency_s=(32 if way == "random_32" else 1) * block / (rate * noise),
            )
            for turn, noise in enumerate(ROUNDS)
            for (block, way), rate in rates.items()
        ),
    ]


def _of_device(
    here: Machine, device: str, does: Card | None, notes: Sequence[messages.Note]
) -> list[Ran]:
    """Return the runs of the processor, or of a GPU."""
    on: dict[str, Any] = {"device": device}
    right = [
        Repeat(
            device=device, thread=None, dtype="fp32", repeat=0, products=100, differing_elements=0
        )
    ]
    clean = [
        Pass(
            pattern="chess",
            inverted=False,
            region=0,
            repeat=0,
            checked_bytes=2**30,
            wrong_words=0,
        )
    ]
    speed = 500.0 if does is None else does.training
    steps = [
        *(Rate(repeat=turn, samples_per_s=speed * noise) for turn, noise in enumerate(ROUNDS)),
        *(Loss(step=step, loss=loss) for step, loss in enumerate((2.3, 1.5, 0.9))),
    ]
    runs = [
        *_twice("identical", right, here, **on),
        *_twice("patterns", clean, here, **on),
        *_twice("training-step", steps, here, notes=notes, **on),
    ]
    if does is not None:
        index = int(device.partition(":")[2])
        looks = [
            Sample(t_s=t_s, threads=(), memory=MEMORY, gpus=(_linked(index, does),))
            for t_s in (0.0, 0.5, 1.0)
        ]
        runs += _twice("pinned", _copies(does), here, watched=looks, notes=notes, **on)
        runs += _twice("roofline", _roofs(does), here, notes=notes, **on)
    return runs


def _linked(index: int, does: Card) -> GpuSample:
    generation, width = does.link or (None, None)
    return GpuSample(index=index, pcie_generation=generation, pcie_width=width)


def _copies(does: Card) -> list[Copy]:
    return [
        Copy(
            size_bytes=256 * MIB,
            way=way,
            repeat=turn,
            bytes_per_s=does.copies * share * noise,
            is_clean=True,
        )
        for turn, noise in enumerate(ROUNDS)
        for way, share in (("pinned_to_gpu", 1.02), ("pinned_from_gpu", 1.0))
        if does.copies
    ]


def _roofs(does: Card) -> list[Any]:
    held_back = ", ".join(f"clock_reasons.{key}" for key in does.held_back or ())
    return [
        row
        for turn, noise in enumerate(ROUNDS)
        for row in (
            *(
                MemoryRate(kernel=kernel, repeat=turn, bytes_per_s=does.memory * share * noise)
                for kernel, share in (("copy", 0.97), ("read", 1.0))
            ),
            *(
                Peak(precision=name, cores=1, repeat=turn, flop_per_s=rate * noise)
                for name, rate in does.products.items()
            ),
            Condition(
                repeat=turn,
                sm_hz=1.5e9,
                memory_hz=None,
                power_watts=None,
                temperature_celsius=60.0,
                pcie_generation=None,
                held_back=held_back,
            ),
        )
    ]


def _copied(here: Machine, rate: float) -> list[Any]:
    ways = list(itertools.permutations(range(len(here.gpus)), 2))
    path = here.gpu_links[0].path or "" if here.gpu_links else "PHB"
    ends = [(f"cuda:{a}", f"cuda:{b}") for a, b in ways]
    return [
        *(
            Access(source=a, target=b, path=path, nvml=YES, cuda=YES, measured=RIGHT)
            for a, b in ends
        ),
        *(
            Copied(source=a, target=b, path=path, repeat=turn, bytes_per_s=rate * noise)
            for turn, noise in enumerate(ROUNDS)
            for a, b in ends
        ),
    ]


def _sustained(
    here: Machine,
    processor: Processor,
    load: Load,
    cards: Sequence[Card],
    notes: Sequence[messages.Note],
) -> Ran:
    """Return the load on everything, a row and a look a second."""
    cores = _cores(processor)
    best = sum(FLOP_PER_CYCLE * (group.all_hz or 3e9) for group in cores)
    rows: list[Any] = []
    watched = []
    for second in range(1, load.seconds + 1):
        share, ripple = load.rate(second), 1.0 + 0.003 * (second % 3)
        rows.append(Work(t_s=float(second), device="cpu", flop_per_s=best * share * ripple))
        if load.celsius(second) is not None:
            rows.append(Heat(t_s=float(second), sensor="package", celsius=load.celsius(second)))
        for number, each in enumerate(cards):
            did = 1e14 * each.load(second) * ripple
            rows.append(Work(t_s=float(second), device=f"cuda:{number}", flop_per_s=did))
            rows.append(
                GpuState(
                    t_s=float(second),
                    device=f"cuda:{number}",
                    sm_hz=1.5e9,
                    power_watts=None,
                    held_back="",
                )
            )
        watched.append(
            Sample(
                t_s=100.0 + second,
                memory=MEMORY,
                threads=tuple(
                    ThreadSample(
                        id=core,
                        busy=1.0,
                        hz=None if group.all_hz is None else group.all_hz * share,
                        steal_fraction=0.0,
                    )
                    for core, group in enumerate(cores)
                ),
                heat=HeatSample(throttled_cores=load.throttled(second), watts=load.watts(second)),
                gpus=tuple(
                    GpuSample(index=number, clock_reasons=_reasons(each))
                    for number, each in enumerate(cards)
                ),
            )
        )
    return ran(
        "sustained",
        rows,
        here,
        notes=notes,
        watched=watched,
        outcome=load.outcome,
        duration_s=60.0,
    )


def _reasons(does: Card) -> tuple[ClockReason, ...] | None:
    if does.held_back is None:
        return None
    return tuple(
        ClockReason(key=f"clock_reasons.{key}", severity="limit") for key in does.held_back
    )
