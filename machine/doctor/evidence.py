"""Records of the evidence about accelerators, drivers and PyTorch, and questions to them.

None means "unknown". `gather.py` fills the records from a machine, tests by hand.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Literal

from msgspec import field

from machine.devices import Link
from machine.record import Record


class Vendor(enum.StrEnum):
    """The maker of an accelerator; OTHER makers need a package beside PyTorch."""

    NVIDIA = "nvidia"
    AMD = "amd"
    INTEL = "intel"
    APPLE = "apple"
    OTHER = "other"


GPU_MAKERS = (Vendor.NVIDIA, Vendor.AMD, Vendor.INTEL)  # with builds of PyTorch of their own
# The kernel modules that drive a vendor's cards.
MODULES: dict[Vendor | None, tuple[str, ...]] = {
    Vendor.NVIDIA: ("nvidia",),
    Vendor.AMD: ("amdgpu",),
    Vendor.INTEL: ("xe", "i915"),
}


class Card(Record):
    """A device that could compute. `driver` is the kernel module that holds it, "" for none.

    `answers` is False if its configuration space returns only ones: it is off the bus.
    `render_node` is the file below /dev through which it computes. `only_draws`: integrated
    graphics, which PyTorch most likely does not support; `is_unlisted` ones are newer than what is
    known here. `shares` counts its virtual functions, for virtual machines.
    """

    vendor: Vendor
    name: str
    address: str | None = None
    class_id: int | None = None
    device_id: int | None = None
    driver: str | None = None
    runtime_status: str | None = None
    answers: bool | None = None
    only_draws: bool = False
    is_unlisted: bool = False
    shares: int = 0
    render_node: str | None = None
    needs: str | None = None  # the package that PyTorch needs for vendor OTHER
    link: Link | None = None


class Node(Record):
    """A device file of a driver below /dev. `group` owns it."""

    path: str
    is_usable: bool
    group: str | None = None
    mode: int | None = None


class Kernel(Record):
    """The kernel's side of a driver.

    `loaded` modules run. `built` modules are installed for this kernel; None without a list, as in
    a container. `built_elsewhere` are installed for another kernel only. `blacklisted` and
    `removing_rule` name the file that disables a driver or removes a card. With `is_open`, NVIDIA's
    running modules are the open ones. By the kernel's log, a card needs `told_branch` of its
    driver, and with `told_open` the open modules.
    """

    release: str | None = None
    loaded: frozenset[str] = frozenset()
    built: frozenset[str] | None = None
    built_elsewhere: frozenset[str] = frozenset()
    blacklisted: dict[str, str] = field(default_factory=dict)
    removing_rule: str | None = None
    secure_boot: bool | None = None
    nvidia_version: str | None = None
    is_open: bool | None = None
    told_branch: int | None = None
    told_open: bool = False


class Surroundings(Record):
    """The system around the program. `distributions` are the ids of os-release, nearest first.

    `wsl` is 1 or 2. With `has_dxg` Windows shares its GPUs, with `has_wsl_cuda` its NVIDIA driver
    too. `has_avx` says whether the processor shows these instructions; None where it is no x86.
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
    has_avx: bool | None = None
    board: str | None = None  # of a device tree, such as a Jetson's
    user: str | None = None
    groups: frozenset[str] = frozenset()  # of this process
    account_groups: frozenset[str] = frozenset()  # of the account, from the next login on
    environment: dict[str, str] = field(default_factory=dict)  # only variables that choose devices


class GpuProcess(Record):
    """A process that holds GPU memory; `used_bytes` is None if the driver does not report it."""

    pid: int
    name: str | None = None
    user: str | None = None
    used_bytes: int | None = None


class NvmlDevice(Record):
    """A GPU as NVML sees it. `code` is the nvmlReturn_t of its refusal, 0 if it answers.

    `fabric_state`: 0 no fabric, 1 not started, 2 in progress, 3 completed; a `fabric_status` of 0
    then means success. `compute_mode`: 0 default, 2 prohibited, 3 exclusive.
    """

    index: int
    code: int = 0
    name: str | None = None
    address: str | None = None
    uuid: str | None = None
    capability: tuple[int, int] | None = None
    total_bytes: int | None = None
    free_bytes: int | None = None
    gpu_processes: tuple[GpuProcess, ...] = ()
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
    link: Link | None = None
    temperature_celsius: float | None = None
    slowdown_celsius: float | None = None  # from here on, the GPU slows itself down


class Nvml(Record):
    """The answers of NVML. `code` is the nvmlReturn_t of its start, None for no answer.

    `trouble` is what its library did to the process that asked: hang, crash, or answer nonsense.
    """

    code: int | None = None
    trouble: Literal["silent", "crashed", "odd"] | None = None
    driver: str | None = None
    cuda: tuple[int, int] | None = None  # the newest CUDA that the driver knows
    devices: tuple[NvmlDevice, ...] = ()


class AmdDevice(Record):
    """A GPU as AMD's compute driver (KFD) sees it; `target` is such as gfx1100."""

    target: str
    total_bytes: int | None = None
    used_bytes: int | None = None


class ShortFile(Record):
    """A library file that ends too early, as an interrupted installation leaves it."""

    path: str
    size_bytes: int


class Room(Record):
    """A folder, and the room that is left on its disk."""

    folder: str
    free_bytes: int


class Interpreter(Record):
    """Another Python of this machine."""

    version: str
    path: str


class Outcome(enum.StrEnum):
    """The end of an interpreter's examination."""

    ANSWERED = "answered"
    UNSTARTABLE = "unstartable"
    SILENT = "silent"
    CRASHED = "crashed"


class TorchDevice(Record):
    """An accelerator as PyTorch sees it. `target` is 8.9 on NVIDIA, gfx1100 on AMD.

    `has_computed`: a small sum on it was correct; else `problem` is PyTorch's error message.
    """

    kind: str
    index: int = 0
    name: str | None = None
    target: str | None = None
    has_computed: bool = False
    problem: str | None = None


class Torch(Record):
    """A Python and its PyTorch. `stage` is the last one that it reached: start, import, look, use.

    `installer` installs packages into it: pip, uv, conda, pipx, make or nothing. `companions` are
    packages such as torchvision, whose versions must match. PyTorch was built for `cuda`, `hip` or
    `xpu`. `problem` is its error message if it found no device, `import_problem` if it could not be
    imported.

    `file` is what `import torch` loads, `others` are more of them later on the path. `in_the_way`
    is a file of the user's that was loaded instead. `beside` is one in the working folder or the
    project, which hides PyTorch from programs there. `foreign_library` stands for one that PyTorch
    brings: it was loaded, or, if the import failed, LD_LIBRARY_PATH offers it. `full` are the full
    disks that the Python needs.
    """

    python: str
    outcome: Outcome = Outcome.ANSWERED
    stage: str = "use"
    detail: str | None = None
    python_version: str | None = None
    implementation: str | None = None  # such as cpython
    prefix: str | None = None
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
    file: str | None = None
    others: tuple[str, ...] = ()
    in_the_way: str | None = None
    beside: str | None = None
    foreign_library: str | None = None
    short_file: ShortFile | None = None
    full: tuple[Room, ...] = ()
    memory_limit_bytes: int | None = None  # of the shell (`ulimit -v`), which it inherits

    def built_for(self, vendor: Vendor | None) -> str | None:
        """Return what it was built with for a vendor, None if it was built for others."""
        is_xpu = self.xpu or (self.version or "").endswith("+xpu")
        return {
            Vendor.NVIDIA: f"CUDA {self.cuda}" if self.cuda else None,
            Vendor.AMD: f"ROCm {self.hip}" if self.hip else None,
            Vendor.INTEL: "Intel GPUs (XPU)" if is_xpu else None,
            Vendor.APPLE: "Apple's Metal (MPS)" if self.has_mps else None,
        }.get(vendor or Vendor.OTHER)

    def built_for_any(self, vendors: Iterable[Vendor] = Vendor) -> str | None:
        """Return what it was built with for the first of these that it was built for."""
        return next((name for each in vendors if (name := self.built_for(each))), None)


class Evidence(Record):
    """All the evidence. `nvml` is None if it was not asked; `gather` says why.

    `libraries` are the versions of NVIDIA's library files, `short_libraries` the files that are cut
    off; `nvswitches` is their number on the bus; `has_fabric_manager`: its process runs. `pythons`
    are looked for only if PyTorch has no build for the chosen one.
    """

    surroundings: Surroundings = field(default_factory=Surroundings)
    cards: tuple[Card, ...] = ()
    displays: tuple[str, ...] = ()  # adapters that cannot compute
    kernel: Kernel = field(default_factory=Kernel)
    nodes: tuple[Node, ...] = ()
    libraries: tuple[str, ...] = ()
    short_libraries: tuple[ShortFile, ...] = ()
    nvml: Nvml | None = None
    nvswitches: int = 0
    has_fabric_manager: bool | None = None
    amd: tuple[AmdDevice, ...] = ()
    torch: Torch | None = None
    pythons: tuple[Interpreter, ...] = ()

    @property
    def is_contained(self) -> bool:
        """Does the program run in a container?"""
        return self.surroundings.container not in (None, "none")

    @property
    def gpus(self) -> tuple[NvmlDevice, ...]:
        """The GPUs that NVML sees."""
        return self.nvml.devices if self.nvml is not None else ()

    @property
    def torch_devices(self) -> tuple[TorchDevice, ...]:
        """The accelerators that PyTorch sees."""
        return self.torch.devices if self.torch is not None else ()

    @property
    def has_computed(self) -> bool:
        """Has PyTorch computed on every device that it finds?"""
        devices = self.torch_devices
        return bool(devices) and all(device.has_computed for device in devices)

    @property
    def has_failed(self) -> bool:
        """Did PyTorch look for a device and report why it has none?"""
        return self.torch is not None and self.torch.problem is not None

    @property
    def driver_cuda(self) -> tuple[int, int] | None:
        """The newest CUDA that the driver runs."""
        if self.nvml is not None and self.nvml.cuda:
            return self.nvml.cuda
        return self.torch.driver_cuda if self.torch is not None else None

    @property
    def is_driver_too_old(self) -> bool:
        """Is PyTorch's CUDA too new for the driver? Only the major version counts.

        Source: CUDA Compatibility, minor version compatibility, in force since CUDA 11.
        """
        driver, torch = self.driver_cuda, self.torch
        if driver is None or torch is None or not torch.cuda:
            return False
        return int(torch.cuda.partition(".")[0]) > driver[0]

    def cards_of(self, vendor: Vendor | None) -> list[Card]:
        """Return the cards of a vendor, without integrated graphics if there are others."""
        cards = [card for card in self.cards if card.vendor is vendor]
        return [card for card in cards if not card.only_draws] or cards

    def nodes_of(self, vendor: Vendor | None) -> list[Node]:
        """Return the device files of a vendor's driver."""
        if vendor is Vendor.NVIDIA:
            return [node for node in self.nodes if node.path.startswith("/dev/nvidia")]
        own = {card.render_node for card in self.cards_of(vendor)}
        own |= {"/dev/kfd"} if vendor is Vendor.AMD else set()
        return [node for node in self.nodes if node.path in own]
