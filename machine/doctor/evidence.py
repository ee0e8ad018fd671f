"""What must be known to say why an accelerator can or cannot be used?

Records only. None is "could not be told". `gather.py` fills them from a machine, tests by hand.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class Vendor(enum.StrEnum):
    """Who makes an accelerator, as far as PyTorch itself knows how to use it."""

    NVIDIA = "nvidia"
    AMD = "amd"
    INTEL = "intel"
    APPLE = "apple"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A device that could compute. `driver` is the kernel module that holds it, "" for none.

    `answers` is False where all that its configuration space returns are ones: it is off the bus.
    `render_node` is the file below /dev through which it computes. `only_draws`: graphics inside of
    a processor, for which PyTorch is most likely not made.
    """

    vendor: Vendor
    name: str
    address: str | None = None
    class_id: int | None = None
    driver: str | None = None
    runtime_status: str | None = None
    answers: bool | None = None
    only_draws: bool = False
    render_node: str | None = None
    needs: str | None = None  # the package that brings it to PyTorch, of vendor OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A file below /dev through which a driver is spoken to. `group` owns it."""

    path: str
    is_usable: bool
    group: str | None = None
    mode: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """The kernel's side of a driver.

    `loaded` are the modules that run, `built` those whose file lies ready for this kernel, None
    where no list of them is here, as in a container. `built_elsewhere` lie ready for another
    kernel only. `blacklisted` and `removing_rule` name the file that keeps a driver or card away.
    """

    release: str | None = None
    loaded: frozenset[str] = frozenset()
    built: frozenset[str] | None = None
    built_elsewhere: frozenset[str] = frozenset()
    blacklisted: dict[str, str] = field(default_factory=dict)
    removing_rule: str | None = None
    secure_boot: bool | None = None
    nvidia_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where the program runs. `distributions` are the ids of os-release, the nearest first.

    `wsl` is 1 or 2; `has_dxg`: Windows shares its GPUs; `has_wsl_cuda`: its NVIDIA driver too.
    """

    system: str = "linux"
    release: str | None = None
    architecture: str | None = None
    distributions: tuple[str, ...] = ()
    virtualization: str | None = None
    container: str | None = None
    wsl: int | None = None
    has_dxg: bool = False
    has_wsl_cuda: bool = False
    board: str | None = None  # of a device tree, such as a Jetson's
    user: str | None = None
    groups: frozenset[str] = frozenset()  # of this process
    account_groups: frozenset[str] = frozenset()  # of the account, from the next login on
    environment: dict[str, str] = field(default_factory=dict)  # only what chooses devices


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process that holds GPU memory; None where the driver does not say how much."""

    pid: int
    name: str | None = None
    user: str | None = None
    used_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmlDevice:
    """A GPU as NVML sees it. `code` is the nvmlReturn_t that it refuses with, 0 where it answers.

    `fabric_state`: 0 has none, 1 not started, 2 in progress, 3 completed, and then `fabric_status`
    is 0 if it went well. `compute_mode`: 0 default, 2 prohibited, 3 exclusive.
    """

    index: int
    code: int = 0
    name: str | None = None
    address: str | None = None
    uuid: str | None = None
    capability: tuple[int, int] | None = None
    total_bytes: int | None = None
    free_bytes: int | None = None
    holders: tuple[Holder, ...] = ()
    is_mig: bool = False
    is_mig_pending: bool = False
    mig_instances: int | None = None
    compute_mode: int | None = None
    is_persistent: bool | None = None
    drives_display: bool | None = None
    fabric_state: int | None = None
    fabric_status: int | None = None
    is_remap_pending: bool = False
    has_remap_failed: bool = False
    uncorrected_errors: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Nvml:
    """What NVIDIA's library says. `code` is the nvmlReturn_t of its start, None for no answer."""

    code: int | None = None
    driver: str | None = None
    cuda: tuple[int, int] | None = None  # the newest CUDA that the driver knows
    devices: tuple[NvmlDevice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AmdDevice:
    """A GPU as AMD's compute driver (KFD) sees it; `target` is such as gfx1100."""

    target: str
    total_bytes: int | None = None
    used_bytes: int | None = None


class Outcome(enum.StrEnum):
    """How the look into an interpreter ended."""

    ANSWERED = "answered"
    UNSTARTABLE = "unstartable"
    SILENT = "silent"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchDevice:
    """An accelerator as PyTorch sees it. `target` is 8.9 on NVIDIA, gfx1100 on AMD.

    `has_computed`: a small sum came out right on it; else `problem` is what PyTorch said.
    """

    kind: str
    index: int = 0
    name: str | None = None
    target: str | None = None
    has_computed: bool = False
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Torch:
    """A Python and its PyTorch. `stage` is what it did last: start, import, look or use.

    `installer` is what brings packages into it: pip, uv or conda; `companions` are the packages of
    PyTorch beside it, whose versions must suit it. `cuda`, `hip` and `xpu` are what
    PyTorch was built for. `problem` is what it said instead of finding a device, `import_problem`
    instead of being loaded.
    """

    python: str
    outcome: Outcome = Outcome.ANSWERED
    stage: str = "use"
    detail: str | None = None
    python_version: str | None = None
    architecture: str | None = None
    installer: str = "pip"
    companions: tuple[str, ...] = ()
    is_missing: bool = False
    import_problem: str | None = None
    version: str | None = None
    cuda: str | None = None
    hip: str | None = None
    xpu: str | None = None
    has_mps: bool | None = None
    targets: tuple[str, ...] = ()
    driver_cuda: tuple[int, int] | None = None
    problem: str | None = None
    devices: tuple[TorchDevice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that the judgement knows. `nvml` is None where it was left alone, with why in `gather`.

    `libraries` are versions of NVIDIA's own library files; `nvswitches` how many lie on the bus;
    `has_fabric_manager`: its process runs.
    """

    surroundings: Surroundings = field(default_factory=Surroundings)
    cards: tuple[Card, ...] = ()
    displays: tuple[str, ...] = ()  # adapters that cannot compute
    kernel: Kernel = field(default_factory=Kernel)
    nodes: tuple[Node, ...] = ()
    libraries: tuple[str, ...] = ()
    nvml: Nvml | None = None
    nvswitches: int = 0
    has_fabric_manager: bool | None = None
    amd: tuple[AmdDevice, ...] = ()
    torch: Torch | None = None
