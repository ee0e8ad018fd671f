"""Evidence of healthy machines; each test breaks one thing."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from machine.doctor.diagnosis import Diagnosis, JudgedStep, diagnose
from machine.doctor.evidence import (
    AmdDevice,
    Card,
    Evidence,
    Kernel,
    Node,
    Nvml,
    NvmlDevice,
    Surroundings,
    Torch,
    TorchDevice,
    Vendor,
)

GIB = 2**30
PYTHON = "/home/ada/.venv/bin/python"

CUDA_DEVICE = TorchDevice(
    kind="cuda", name="NVIDIA GeForce RTX 4070", target="8.9", has_computed=True
)
CUDA_TORCH = Torch(
    python=PYTHON,
    version="2.13.0+cu130",
    cuda="13.0",
    has_mps=False,
    targets=("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120", "compute_120"),
    driver_cuda=(13, 0),
    devices=(CUDA_DEVICE,),
)
CPU_TORCH = Torch(python=PYTHON, version="2.13.0+cpu", has_mps=False)
DEVICE = NvmlDevice(
    index=0,
    name="NVIDIA GeForce RTX 4070",
    address="0000:01:00.0",
    uuid="GPU-5d6b-1111",
    capability=(8, 9),
    total_bytes=12 * GIB,
    free_bytes=11 * GIB,
    compute_mode=0,
    is_persistent=False,
    fabric_state=0,
)
NVIDIA_CARD = Card(
    vendor=Vendor.NVIDIA,
    name="NVIDIA AD104 [GeForce RTX 4070]",
    address="0000:01:00.0",
    class_id=0x030000,
    driver="nvidia",
    runtime_status="active",
    answers=True,
)
NVIDIA_NODES = tuple(
    Node(path=f"/dev/{name}", is_usable=True, group="root", mode=0o666)
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm")
)
UBUNTU = Surroundings(
    architecture="x86_64",
    distributions=("ubuntu", "debian"),
    virtualization="none",
    container="none",
    user="ada",
    groups=frozenset({"ada"}),
    account_groups=frozenset({"ada"}),
)


def nvidia(**changes: Any) -> Evidence:
    """Return a desktop with one GeForce, on which PyTorch computes."""
    evidence = Evidence(
        surroundings=UBUNTU,
        cards=(NVIDIA_CARD,),
        kernel=Kernel(
            release="6.8.0-60-generic",
            loaded=frozenset({"nvidia", "nvidia_uvm"}),
            built=frozenset({"nvidia", "nouveau", "amdgpu", "i915", "xe"}),
            secure_boot=False,
            nvidia_version="580.65.06",
        ),
        nodes=NVIDIA_NODES,
        libraries=("580.65.06",),
        nvml=Nvml(code=0, driver="580.65.06", cuda=(13, 0), devices=(DEVICE,)),
        has_fabric_manager=False,
        torch=CUDA_TORCH,
    )
    return replace(evidence, **changes)


def amd(**changes: Any) -> Evidence:
    """Return a desktop with one Radeon, on which PyTorch computes."""
    node = "/dev/dri/renderD128"
    evidence = Evidence(
        surroundings=replace(UBUNTU, groups=frozenset({"ada", "render"})),
        cards=(
            Card(
                vendor=Vendor.AMD,
                name="AMD Navi 31 [Radeon RX 7900 XTX]",
                address="0000:03:00.0",
                class_id=0x030000,
                driver="amdgpu",
                runtime_status="active",
                answers=True,
                render_node=node,
            ),
        ),
        kernel=Kernel(release="6.8.0", loaded=frozenset({"amdgpu"}), built=frozenset({"amdgpu"})),
        nodes=tuple(
            Node(path=path, is_usable=True, group="render", mode=0o660)
            for path in ("/dev/kfd", node)
        ),
        amd=(AmdDevice(target="gfx1100", total_bytes=24 * GIB, used_bytes=GIB),),
        torch=Torch(
            python=PYTHON,
            version="2.13.0+rocm7.2",
            hip="7.2.26015",
            targets=("gfx90a", "gfx942", "gfx1030", "gfx1100"),
            devices=(
                TorchDevice(
                    kind="cuda", name="Radeon RX 7900 XTX", target="gfx1100", has_computed=True
                ),
            ),
        ),
    )
    return replace(evidence, **changes)


def intel(**changes: Any) -> Evidence:
    """Return a desktop with one Arc, on which PyTorch computes."""
    node = "/dev/dri/renderD128"
    evidence = Evidence(
        surroundings=UBUNTU,
        cards=(
            Card(
                vendor=Vendor.INTEL,
                name="Intel DG2 [Arc A770]",
                address="0000:03:00.0",
                class_id=0x030000,
                driver="xe",
                runtime_status="active",
                answers=True,
                render_node=node,
            ),
        ),
        kernel=Kernel(release="6.8.0", loaded=frozenset({"xe", "i915"})),
        nodes=(Node(path=node, is_usable=True, group="render", mode=0o660),),
        torch=Torch(
            python=PYTHON,
            version="2.13.0+xpu",
            xpu="20250201",
            devices=(TorchDevice(kind="xpu", name="Intel Arc A770", has_computed=True),),
        ),
    )
    return replace(evidence, **changes)


def apple(**changes: Any) -> Evidence:
    """Return a Mac with an Apple chip, on which PyTorch computes."""
    evidence = Evidence(
        surroundings=Surroundings(system="macos", release="15.1", architecture="arm64"),
        cards=(Card(vendor=Vendor.APPLE, name="Apple GPU"),),
        torch=Torch(
            python=PYTHON,
            version="2.13.0",
            architecture="arm64",
            has_mps=True,
            devices=(TorchDevice(kind="mps", has_computed=True),),
        ),
    )
    return replace(evidence, **changes)


def unproven(evidence: Evidence) -> Evidence:
    """Return the same with the build for processors, so that no sum proves anything."""
    return replace(evidence, torch=CPU_TORCH)


def failing(evidence: Evidence, problem: str) -> Evidence:
    """Return the same where PyTorch finds no device, and says so."""
    assert evidence.torch is not None
    return replace(evidence, torch=replace(evidence.torch, devices=(), problem=problem))


def around(evidence: Evidence, **changes: Any) -> Evidence:
    """Return the same in other surroundings."""
    return replace(evidence, surroundings=replace(evidence.surroundings, **changes))


def with_kernel(evidence: Evidence, **changes: Any) -> Evidence:
    """Return the same with another kernel."""
    return replace(evidence, kernel=replace(evidence.kernel, **changes))


def with_card(evidence: Evidence, **changes: Any) -> Evidence:
    """Return the same with another first card."""
    first, *others = evidence.cards
    return replace(evidence, cards=(replace(first, **changes), *others))


def with_device(evidence: Evidence, **changes: Any) -> Evidence:
    """Return the same with another first GPU, as NVML sees it."""
    assert evidence.nvml is not None
    first, *others = evidence.nvml.devices
    devices = (replace(first, **changes), *others)
    return replace(evidence, nvml=replace(evidence.nvml, devices=devices))


def found(evidence: Evidence) -> JudgedStep:
    """Return the step that says what to do."""
    step = diagnose(evidence).found
    assert step is not None, diagnose(evidence)
    return step


def step_of(evidence: Evidence, name: str) -> JudgedStep | None:
    """Return a step of the walk by its name."""
    return named(diagnose(evidence), name)


def named(diagnosis: Diagnosis, name: str) -> JudgedStep | None:
    """Return the step of that name."""
    return next((step for step in diagnosis.steps if step.step == name), None)
