"""Cases of stage three on GPUs: copies, memory, products, pairs."""

from __future__ import annotations

import itertools
from typing import Any

from msgspec.structs import replace

from experiments.checkup.result import Word
from experiments.core.judging.disturbed import Loss, mark
from experiments.devices.conditions import Condition
from experiments.many_devices.p2p.experiment import Copied
from experiments.many_devices.p2p.links import RIGHT, WRONG, YES, Access
from experiments.memory.roofline.arms import Peak, Rate
from experiments.to_the_gpu.pinned.experiment import Copy
from machine.live.gpu_samples import GpuSample
from machine.live.surroundings import GpuCompany, Surroundings
from machine.model import Machine
from tests.experiments.checkup.made import (
    BUSY,
    ROUNDS,
    Case,
    broken,
    evidence,
    in_a_guest,
    ran,
    refused,
    sample,
    server,
    workstation,
)

NOISY = (1.0, 0.6, 1.1, 0.55, 0.9)
LINK = 63e9  # generation 5, sixteen lanes
NO_GPU = replace(workstation(), gpus=())


def copies(
    *back: float,
    pinned: bool = True,
    here=workstation,
    noise=ROUNDS,
    notes=(),
    seen: tuple[int, int] | None = None,
    **known: Any,
):
    """Runs of GPU 0 that copy at these fractions of the link from it, and at 0.85 to it."""
    generation, width = seen or (None, None)
    look = GpuSample(index=0, pcie_generation=generation, pcie_width=width)
    there = 0.43 if seen else 0.85
    runs = [
        ran(
            "pinned",
            [
                Copy(
                    size_bytes=size,
                    way=f"{'pinned' if pinned else 'pageable'}_{way}",
                    repeat=turn,
                    bytes_per_s=LINK * share * each * (1 if size > 4096 else 0.01),
                    is_clean=True,
                )
                for turn, each in enumerate(noise)
                for size in (4096, 2**28)
                for way, share in (("to_gpu", there), ("from_gpu", fraction))
            ],
            here(),
            device="cuda:0",
            notes=notes,
            watched=[sample(0.0, look)],
        )
        for fraction in back
    ]
    return lambda: evidence(here(), *runs, **known)


SHARED = Surroundings(gpus=(GpuCompany(index=0, compute_processes=1),))


def without_link(*fractions: float):
    return copies(*fractions, here=lambda: replace(workstation(), pci=()))


def one_way_disturbed():
    (run,) = copies(0.8)().runs["pinned", "cuda:0"]
    rows = [
        mark(row, Loss(0.5, 9)) if row.way == "pinned_to_gpu" else row
        for row in run.tables["copies"]
    ]
    return evidence(workstation(), ran("pinned", rows, workstation(), device="cuda:0"))


COPY = [
    Case("gpu-copy", Word.FINE, "measured", copies(0.8), "gpu0"),
    Case("gpu-copy", Word.LOOK, "below", copies(0.7), "gpu0"),
    Case("gpu-copy", Word.LOOK, "between", copies(0.8, noise=NOISY), "gpu0"),
    Case("gpu-copy", Word.LOOK, "unconfirmed", copies(0.4), "gpu0"),
    Case("gpu-copy", Word.PROBLEM, "low", copies(0.4, 0.4), "gpu0"),
    Case("gpu-copy", Word.LOOK, "guest", copies(0.4, 0.4, here=in_a_guest("vgpu")), "gpu0"),
    Case("gpu-copy", Word.PROBLEM, "low", copies(0.4, 0.4, here=in_a_guest("passthrough")), "gpu0"),
    Case("gpu-copy", Word.FINE, "gpu_is_shared", copies(0.8, surroundings=SHARED), "gpu0"),
    # What the link lacks is told by its own row.
    Case("gpu-copy", Word.FINE, "measured", copies(0.42, seen=(5, 8)), "gpu0"),
    Case("gpu-copy", Word.UNCHECKED, "gpu_is_shared", copies(0.4, surroundings=SHARED), "gpu0"),
    Case("gpu-copy", Word.UNCHECKED, "machine_was_busy", copies(0.4, notes=[BUSY]), "gpu0"),
    Case("gpu-copy", Word.UNCHECKED, "no_pinned", copies(0.4, pinned=False), "gpu0"),
    Case("gpu-copy", Word.UNCHECKED, "no_samples", one_way_disturbed, "gpu0"),
    Case("gpu-copy", Word.UNCHECKED, "no_expectation", without_link(0.8), "gpu0"),
    Case("gpu-copy", Word.UNCHECKED, "not_run", copies(0.8), "gpu1"),
    Case(
        "gpu-copy",
        Word.UNCHECKED,
        "failed",
        lambda: broken(workstation(), "pinned", "cuda:0"),
        "gpu0",
    ),
    Case("gpu-copy", Word.ABSENT, "no_gpu", lambda: evidence(NO_GPU)),
    Case(
        "gpu-copy",
        Word.ABSENT,
        "needs",
        lambda: refused(workstation(), "pinned", "needs_torch", "cuda:0"),
        "gpu0",
    ),
]


def roofs(
    here: Machine, *slow: float, slow_gpu: int = 3, rows: bool = True, noise=ROUNDS, notes=()
):
    """Runs of every GPU; one of them does these fractions of what the others do."""
    count = len(here.gpus)
    runs = [
        ran(
            "roofline",
            [
                row
                for turn, each in enumerate(noise)
                for rate in [each * (fraction if gpu == slow_gpu else 1.0)]
                for row in (
                    Rate(kernel="triad", repeat=turn, bytes_per_s=2.5e12 * rate),
                    Rate(kernel="dot", repeat=turn, bytes_per_s=2.4e12 * rate),
                    Peak(precision="fp32", cores=1, repeat=turn, flop_per_s=5e13 * rate),
                    Peak(precision="fp16", cores=1, repeat=turn, flop_per_s=8e14 * rate),
                )
            ]
            if rows
            else (),
            here,
            device=f"cuda:{gpu}",
            notes=notes if gpu == slow_gpu else (),
        )
        for fraction in slow
        for gpu in range(count)
    ]
    return lambda: evidence(here, *runs)


def alone(memory: float = 0.9, products: float = 0.8, *, capped: bool = False, **gpu: Any):
    """A GPU without another of its model, at these fractions of its ceilings."""
    whole = workstation()
    here = replace(whole, gpus=(replace(whole.gpus[0], **gpu),))
    held_back = "clock_reasons.power_cap" if capped else ""
    rows = [
        row
        for turn, each in enumerate(ROUNDS)
        for row in (
            Rate(kernel="triad", repeat=turn, bytes_per_s=1.792e12 * memory * each),
            Rate(kernel="read", repeat=turn, bytes_per_s=1.7e12 * memory * each),
            Peak(precision="fp32", cores=1, repeat=turn, flop_per_s=134e12 * products * each),
            Peak(precision="fp16", cores=1, repeat=turn, flop_per_s=269e12 * products * each),
            Condition(
                repeat=turn,
                sm_hz=2e9,
                memory_hz=None,
                power_watts=None,
                temperature_celsius=None,
                pcie_generation=None,
                held_back=held_back,
            ),
        )
    ]
    runs = [ran("roofline", rows, here, device="cuda:0")] * 2
    return lambda: evidence(here, *runs)


def without_ceilings():
    found = alone()()
    found.machine = replace(found.machine, peaks={})
    return found


def roofline(rule: str, part: str) -> list[Case]:
    """The cases that memory and products have in common; `part` begins with the GPU."""
    precision = part.partition(".")[2]
    other = f"gpu0.{precision}" if precision else "gpu0"
    shared, unlimited = in_a_guest("vgpu")(), replace(server(), peaks={})
    return [
        Case(rule, Word.FINE, "measured", roofs(server(), 1.0), part),
        Case(rule, Word.LOOK, "below", roofs(server(), 0.95), part),
        Case(rule, Word.LOOK, "between", roofs(server(), 0.97), part),
        Case(rule, Word.UNCHECKED, "scatters", roofs(unlimited, 1.0, noise=NOISY), part),
        Case(rule, Word.LOOK, "unconfirmed", roofs(server(), 0.8), part),
        # One slow GPU of eight: the others are fine.
        Case(rule, Word.PROBLEM, "low", roofs(server(), 0.8, 0.8), part),
        Case(rule, Word.FINE, "measured", roofs(server(), 0.8, 0.8), other),
        Case(rule, Word.LOOK, "guest", roofs(shared, 0.8, 0.8, slow_gpu=1), "gpu1" + part[4:]),
        # Alone, it is held against its ceilings.
        Case(rule, Word.FINE, "measured", alone(), other),
        Case(rule, Word.LOOK, "below", alone(0.6, 0.5), other),
        Case(rule, Word.PROBLEM, "low", alone(0.45, 0.3), other),
        Case(rule, Word.UNCHECKED, "no_expectation", without_ceilings, other),
        Case(rule, Word.UNCHECKED, "machine_was_busy", roofs(server(), 0.8, notes=[BUSY]), part),
        Case(
            rule,
            Word.UNCHECKED,
            "failed",
            lambda: broken(workstation(), "roofline", "cuda:0"),
            "gpu0",
        ),
        Case(rule, Word.ABSENT, "no_gpu", lambda: evidence(NO_GPU)),
        Case(
            rule,
            Word.ABSENT,
            "needs",
            lambda: refused(workstation(), "roofline", "needs_numba", "cuda:0"),
            "gpu0",
        ),
    ]


MEMORY = [
    *roofline("gpu-memory", "gpu3"),
    Case("gpu-memory", Word.UNCHECKED, "no_samples", roofs(server(), 1.0, rows=False), "gpu3"),
]
FEW_WATTS: dict[str, Any] = {"power_limit_watts": 115.0, "power_default_watts": 115.0}
LOWERED: dict[str, Any] = {"power_limit_watts": 70.0, "power_default_watts": 115.0}
PRODUCTS = [
    *roofline("gpu-products", "gpu3.fp16"),
    Case(
        "gpu-products",
        Word.FINE,
        "power_limit",
        alone(products=0.5, capped=True, **FEW_WATTS),
        "gpu0.fp16",
    ),
    Case("gpu-products", Word.LOOK, "below", alone(products=0.5, **FEW_WATTS), "gpu0.fp16"),
    Case(
        "gpu-products",
        Word.LOOK,
        "below",
        alone(products=0.5, capped=True, **LOWERED),
        "gpu0.fp16",
    ),
    # 575 W are enough for more.
    Case("gpu-products", Word.LOOK, "below", alone(products=0.5, capped=True), "gpu0.fp16"),
    Case("gpu-products", Word.UNCHECKED, "no_precision", roofs(server(), 1.0, rows=False), "gpu3"),
]


def pairs(*slow: float, wrong: int = 0, here=server, spoilt: bool = False, noise=ROUNDS, notes=()):
    """Runs of all pairs, at 0.85 of their link; that from GPU 2 to 5 does these fractions of it."""
    ways = list(itertools.permutations(range(len(here().gpus)), 2))[: 1 if here is one_way else 99]
    runs = []
    for fraction in slow:
        looked = [
            Access(
                source=f"cuda:{a}",
                target=f"cuda:{b}",
                path="NV18",
                nvml=YES,
                cuda=YES,
                measured=WRONG if number < wrong else RIGHT,
            )
            for number, (a, b) in enumerate(ways)
        ]
        copied = [
            Copied(
                source=f"cuda:{a}",
                target=f"cuda:{b}",
                path="PHB" if here is one_way else "NV18",
                repeat=turn,
                bytes_per_s=450e9 * each * (fraction if (a, b) == (2, 5) else 0.85),
            )
            for turn, each in enumerate(noise)
            for a, b in ways
        ]
        if spoilt:
            copied = [mark(each, Loss(0.5, 9)) for each in copied]
        runs.append(ran("p2p", [*looked, *copied], here(), notes=notes))
    return lambda: evidence(here(), *runs)


def one_way() -> Machine:
    """Two GPUs without NVLinks, of which one way alone was measured."""
    return workstation()


PAIRS = [
    Case("gpu-pairs", Word.FINE, "measured", pairs(0.85)),
    Case("gpu-pairs", Word.LOOK, "below", pairs(0.7)),
    Case("gpu-pairs", Word.LOOK, "between", pairs(0.85, noise=NOISY)),
    Case("gpu-pairs", Word.LOOK, "unconfirmed", pairs(0.2)),
    Case("gpu-pairs", Word.UNCHECKED, "no_expectation", pairs(0.85, here=one_way)),
    Case("gpu-pairs", Word.PROBLEM, "low", pairs(0.2, 0.2)),
    Case("gpu-pairs", Word.PROBLEM, "wrong_copies", pairs(0.85, wrong=2)),
    Case("gpu-pairs", Word.UNCHECKED, "machine_was_busy", pairs(0.4, notes=[BUSY])),
    Case("gpu-pairs", Word.UNCHECKED, "no_pair", pairs(0.85, spoilt=True)),
    Case("gpu-pairs", Word.UNCHECKED, "not_run", lambda: evidence(server())),
    Case("gpu-pairs", Word.ABSENT, "one_gpu", lambda: evidence(NO_GPU)),
    Case("gpu-pairs", Word.ABSENT, "needs", lambda: refused(server(), "p2p", "needs_torch")),
]

CASES = [*COPY, *MEMORY, *PRODUCTS, *PAIRS]
