"""Cases of stage two: PyTorch, memory speed, the links of GPUs."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from experiments.checkup.probes.frameworks.experiment import Feature
from experiments.checkup.result import Word
from experiments.to_the_gpu.pinned.experiment import Copy
from machine.doctor.diagnosis import Diagnosis, JudgedStep
from machine.doctor.evidence import Vendor
from machine.doctor.verdicts import State
from machine.live.gpu_samples import GpuSample
from machine.model import Machine, Memory, MemoryModule, Missing
from tests.experiments.checkup.made import (
    ROUNDS,
    Case,
    baseline,
    broken,
    evidence,
    guest,
    ran,
    refused,
    sample,
    server,
    workstation,
)

GIB, MIB = 2**30, 2**20


def diagnosed(state: State, step: str = "driver", key: str = "driver_missing", **more):
    steps = (JudgedStep(step=step, state=state, key=key),)
    finding = None if state is State.OK else step
    found = Diagnosis(state=state, finding=finding, steps=steps, **more)
    return lambda: evidence(workstation(), diagnosis=found)


NO_TORCH = ("torch", "torch_missing_here")
NVIDIA = {"vendor": Vendor.NVIDIA}
TORCH_WORKS = [
    Case("torch-works", Word.FINE, "works", diagnosed(State.OK, "works", "works", **NVIDIA)),
    Case("torch-works", Word.LOOK, "found", diagnosed(State.LOOK, **NVIDIA)),
    Case("torch-works", Word.PROBLEM, "found", diagnosed(State.WRONG, **NVIDIA)),
    Case("torch-works", Word.UNCHECKED, "found", diagnosed(State.UNKNOWN, **NVIDIA)),
    Case("torch-works", Word.UNCHECKED, "not_examined", lambda: evidence(workstation())),
    Case("torch-works", Word.ABSENT, "no_gpu", diagnosed(State.OK, "torch", "torch_here")),
    Case(
        "torch-works", Word.ABSENT, "no_torch", diagnosed(State.OK, "torch", "torch_missing_here")
    ),
]


def features(**states: str):
    rows = [
        Feature(device=device, name=name, state=state, took_s=0.1)
        for device in ("cuda:0", "cuda:1", "cpu")
        for name, state in states.items()
    ]
    return lambda: evidence(workstation(), ran("frameworks", rows, workstation()))


FRAMEWORKS = [
    Case("frameworks", Word.FINE, "all_there", features(fp16="works", compile="works")),
    Case("frameworks", Word.LOOK, "missing", features(fp16="works", compile="missing")),
    Case("frameworks", Word.PROBLEM, "broken", features(fp16="broken", compile="missing")),
    Case("frameworks", Word.UNCHECKED, "none_tried", features()),
    Case("frameworks", Word.UNCHECKED, "failed", lambda: broken(workstation(), "frameworks")),
    Case("frameworks", Word.UNCHECKED, "not_run", lambda: evidence(workstation())),
    Case(
        "frameworks",
        Word.ABSENT,
        "needs",
        lambda: refused(workstation(), "frameworks", "needs_torch"),
    ),
]


def modules(
    set_per_s: float | None,
    rated_per_s: float | None,
    *slots: tuple[str, int],
    parts: tuple[str, ...] = ("", ""),
    channels: int | None = None,
    kind: str | None = None,
    model: str | None = None,
):
    """Modules in the workstation, which has two channels and promises 5600 MT/s."""
    named = slots or (("DIMM_A2", 32 * GIB), ("DIMM_B2", 32 * GIB))
    found = tuple(
        MemoryModule(
            slot=slot,
            size_bytes=size,
            transfers_per_s=set_per_s,
            rated_transfers_per_s=rated_per_s,
            part_number=parts[place % len(parts)] or None,
            kind=kind,
        )
        for place, (slot, size) in enumerate(named)
    )
    here = workstation()
    cpu = replace(here.cpu, model=model) if model else here.cpu
    memory = Memory(modules=found, channels=channels)
    return lambda: evidence(replace(here, cpu=cpu, memory=memory))


def locked():
    why = "Only root may read the firmware's table of memory modules."
    missing = Missing(what="memory.modules", why=why, how="sudo dmidecode --type 17")
    return evidence(replace(workstation(), memory=Memory(), missing=(missing,)))


def hidden():
    why = "A virtual machine does not show the modules of its host."
    missing = Missing(what="memory.modules", why=why, how="Look on the host.")
    return evidence(replace(guest(), missing=(missing,)))


UNKNOWN = "A processor that no table knows"
XMP, SLOWER = "F5-6000J3038F16G", "CT16G48C40U5.M8A1"  # of 6000 MT/s, and of 4800
MEMORY_SPEED = [
    Case("memory-speed", Word.FINE, "as_rated", modules(6e9, 4.8e9, parts=(XMP,))),
    # Nobody knows these, but more than the processor's maker promises takes a profile.
    Case("memory-speed", Word.FINE, "as_rated", modules(6e9, 6e9)),
    Case("memory-speed", Word.FINE, "as_rated", modules(6e9, 4.8e9)),
    Case("memory-speed", Word.FINE, "as_rated", modules(5.6e9, 5.6e9, kind="LPDDR5")),
    Case("memory-speed", Word.FINE, "as_processor", modules(5.6e9, 6.4e9)),
    # Servers take modules without profiles.
    Case(
        "memory-speed",
        Word.FINE,
        "as_rated",
        modules(4.8e9, 4.8e9, model="AMD EPYC 9354 32-Core Processor"),
    ),
    Case("memory-speed", Word.LOOK, "slowed", modules(4.8e9, 6e9)),
    Case("memory-speed", Word.LOOK, "profile_off", modules(4.8e9, 4.8e9, parts=(XMP,))),
    # Faster than the processor's maker promises, and slower than bought.
    Case("memory-speed", Word.LOOK, "profile_off", modules(5.6e9, 4.8e9, parts=(XMP,))),
    Case("memory-speed", Word.LOOK, "mixed", modules(4.8e9, 4.8e9, parts=(XMP, SLOWER))),
    Case("memory-speed", Word.UNCHECKED, "unpromised", modules(4.8e9, 6e9, model=UNKNOWN)),
    Case("memory-speed", Word.UNCHECKED, "untold", modules(4.8e9, 4.8e9)),
    Case("memory-speed", Word.UNCHECKED, "untold", modules(4.8e9, 4.8e9, parts=(SLOWER, ""))),
    Case("memory-speed", Word.UNCHECKED, "not_told", modules(None, None)),
    Case("memory-speed", Word.UNCHECKED, "not_readable", locked),
    Case("memory-speed", Word.UNCHECKED, "hidden", hidden),
]

FOUR = tuple((f"DIMM_{slot}", 16 * GIB) for slot in ("A1", "A2", "B1", "B2"))
ONE = (("DIMM_A2", 32 * GIB), ("DIMM_B2", 0))
HALF = tuple((f"P0 CHANNEL {letter}", 64 * GIB * (letter < "G")) for letter in "ABCDEFGHIJKL")
MEMORY_CHANNELS = [
    Case("memory-channels", Word.FINE, "all_filled", modules(6e9, 6e9, channels=2)),
    Case("memory-channels", Word.LOOK, "channels_empty", modules(6e9, 6e9, *ONE)),
    Case(
        "memory-channels",
        Word.LOOK,
        "channels_empty",
        modules(6e9, 6e9, *HALF, channels=6, model="AMD EPYC 9354 32-Core Processor"),
    ),
    Case(
        "memory-channels",
        Word.LOOK,
        "channels_empty",
        modules(6e9, 6e9, *HALF, channels=6, model=UNKNOWN),
    ),
    Case("memory-channels", Word.LOOK, "channel_shared", modules(6e9, 6e9, channels=1)),
    Case("memory-channels", Word.UNCHECKED, "slots_untold", modules(6e9, 6e9, *FOUR)),
    Case("memory-channels", Word.UNCHECKED, "not_told", modules(6e9, 6e9, model=UNKNOWN)),
    Case("memory-channels", Word.UNCHECKED, "not_readable", locked),
    Case("memory-channels", Word.UNCHECKED, "hidden", hidden),
    Case("memory-channels", Word.ABSENT, "soldered", modules(6e9, 6e9, kind="LPDDR5")),
]


def copying(
    *seen: tuple[int, int], gpu: int = 0, rate: float = 50e9, machine: Machine | None = None
):
    """GPU `gpu` copies; `seen` are generation and lanes at each look."""
    here, device = machine or workstation(), f"cuda:{gpu}"
    rows = [
        Copy(size_bytes=256 * MIB, way=way, repeat=turn, bytes_per_s=rate * noise, is_clean=True)
        for way in ("pinned_to_gpu", "pinned_from_gpu")
        for turn, noise in enumerate(ROUNDS)
    ]
    watched = [
        sample(turn / 2, GpuSample(index=gpu, pcie_generation=generation, pcie_width=width))
        for turn, (generation, width) in enumerate(seen)
    ]
    return lambda: evidence(here, ran("pinned", rows, here, device=device, watched=watched))


def of_a_laptop():
    """The first GPU is one of a laptop, with half of its lanes laid to it."""
    here = workstation()
    first, *others = here.gpus
    gpus = (replace(first, name="NVIDIA GeForce RTX 4070 Laptop GPU"), *others)
    pci = tuple(
        replace(d, link=replace(d.link, width=8, slot_width=8))
        if d.link is not None and d.address == first.pci_address
        else d
        for d in here.pci
    )
    return replace(here, gpus=gpus, pci=pci)


def behind_the_chipset():
    """The first GPU is behind a switch whose own link has four lanes."""
    here = workstation()
    address = here.gpus[0].pci_address
    chipset = next(d.address for d in here.pci if d.link and d.parent == "0000:00:02.1")
    pci = tuple(replace(d, parent=chipset) if d.address == address else d for d in here.pci)
    return replace(here, pci=pci)


def without_link():
    here = workstation()
    found = copying((5, 16))()
    found.machine = replace(here, pci=())
    return found


def unusable():
    here = workstation()
    return evidence(replace(here, gpus=tuple(replace(g, torch_backend=None) for g in here.gpus)))


def without_gpu():
    return evidence(replace(workstation(), gpus=()))


GPU_LINK = [
    Case("gpu-link", Word.FINE, "as_able", copying((1, 16), (5, 16)), "gpu0"),
    # The second slot has eight lanes, as the map says, too.
    Case("gpu-link", Word.LOOK, "narrow_slot", copying((5, 8), gpu=1, rate=25e9), "gpu1"),
    # Nobody can choose the slot of a laptop's.
    Case(
        "gpu-link",
        Word.FINE,
        "as_able",
        copying((5, 8), rate=25e9, machine=of_a_laptop()),
        "gpu0",
    ),
    Case(
        "gpu-link",
        Word.LOOK,
        "narrow_way",
        copying((5, 16), rate=7e9, machine=behind_the_chipset()),
        "gpu0",
    ),
    Case("gpu-link", Word.LOOK, "fewer_lanes", copying((5, 8), rate=25e9), "gpu0"),
    Case("gpu-link", Word.LOOK, "lower_generation", copying((4, 16), rate=25e9), "gpu0"),
    Case("gpu-link", Word.PROBLEM, "few_lanes", copying((5, 4), rate=13e9), "gpu0"),
    # An idle link is at generation 1, and that is no fault.
    Case("gpu-link", Word.UNCHECKED, "not_seen", copying((1, 16), (1, 16)), "gpu0"),
    Case("gpu-link", Word.UNCHECKED, "not_seen", copying(), "gpu0"),
    Case("gpu-link", Word.UNCHECKED, "no_expectation", without_link, "gpu0"),
    Case("gpu-link", Word.UNCHECKED, "not_run", copying((5, 16)), "gpu1"),
    Case("gpu-link", Word.UNCHECKED, "gpu_unusable", unusable, "gpus"),
    Case("gpu-link", Word.ABSENT, "no_gpu", without_gpu),
]


def nvlinks(*states: Literal["active", "sleep", "inactive"]):
    """The first links of GPU 0 are in these states."""
    here = server()
    first = here.gpus[0]
    changed = [
        replace(link, state=state) for link, state in zip(first.nvlinks, states, strict=False)
    ]
    links = (*changed, *first.nvlinks[len(changed) :])
    return lambda: evidence(replace(here, gpus=(replace(first, nvlinks=links), *here.gpus[1:])))


def unequal():
    here = server()
    first, *others = here.gpu_links
    return evidence(replace(here, gpu_links=(replace(first, nvlinks=4), *others)))


def untold():
    here = server()
    gpus = [
        replace(gpu, nvlinks=tuple(replace(link, state=None) for link in gpu.nvlinks))
        for gpu in here.gpus
    ]
    return evidence(replace(here, gpus=tuple(gpus)))


def links_down(*gpus: int) -> Machine:
    """All links of these GPUs of the server are down."""
    here = server()
    changed = [
        replace(gpu, nvlinks=tuple(replace(link, state="inactive") for link in gpu.nvlinks))
        if gpu.index in gpus else gpu for gpu in here.gpus
    ]  # fmt: skip
    return replace(here, gpus=tuple(changed))


def lone(**more) -> Machine:
    """A data-centre card alone, as in a virtual machine."""
    here = links_down(0)
    return replace(here, gpus=here.gpus[:1], gpu_links=(), nvswitch=False, **more)


def bridged(**more) -> Machine:
    """Two of three cards are joined by a bridge that takes half of their links."""
    down = lone().gpus[0]
    half = [replace(n, state="active") if n.number % 2 else n for n in down.nvlinks]
    pair = replace(down, nvlinks=tuple(half)), replace(down, index=1, nvlinks=tuple(half))
    gpus = (*pair, replace(down, index=2))
    return replace(server(), gpus=gpus, gpu_links=(), nvswitch=False, **more)


def once_up(here: Machine, up: int):
    """That many links were up in the baseline."""
    row = Case("nvlinks", Word.FINE, "all_up", lambda: evidence(server())).row()
    earlier = replace(row, values={**row.values, "up": up})
    return lambda: evidence(here, baseline=baseline(earlier))


NVLINKS = [
    Case("nvlinks", Word.FINE, "all_up", nvlinks("active", "sleep")),
    Case("nvlinks", Word.LOOK, "unequal", unequal),
    Case("nvlinks", Word.PROBLEM, "down", nvlinks("inactive")),
    Case("nvlinks", Word.PROBLEM, "down", lambda: evidence(links_down(3))),
    Case("nvlinks", Word.PROBLEM, "down", lambda: evidence(bridged())),
    Case("nvlinks", Word.LOOK, "down_in_guest", lambda: evidence(bridged(virtualization="kvm"))),
    Case("nvlinks", Word.PROBLEM, "fewer_than_before", once_up(lone(), 18)),
    Case("nvlinks", Word.ABSENT, "joins_nothing", once_up(lone(), 0)),
    Case("nvlinks", Word.ABSENT, "joins_nothing", lambda: evidence(lone())),
    Case("nvlinks", Word.ABSENT, "joins_nothing", lambda: evidence(lone(virtualization="kvm"))),
    Case("nvlinks", Word.UNCHECKED, "not_told", untold),
    Case("nvlinks", Word.ABSENT, "none", lambda: evidence(workstation())),
]

CASES = [*TORCH_WORKS, *FRAMEWORKS, *MEMORY_SPEED, *MEMORY_CHANNELS, *GPU_LINK, *NVLINKS]
