"""Problems that people reported, as evidence; the doctor names the cause they found.

Each is a thread on GitHub, whose last comments say what had been wrong.
"""

from __future__ import annotations

from msgspec.structs import replace

from machine.doctor.evidence import AmdDevice, Nvml, Outcome, Surroundings
from tests.cases import in_one
from tests.machine.doctor.made import (
    CPU_TORCH,
    DEVICE,
    amd,
    apple,
    around,
    failing,
    found,
    intel,
    nvidia,
    unproven,
    with_card,
    with_device,
    with_kernel,
)

COUNTED = (
    "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions"
)
UNKNOWN = "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment"


def denied(evidence, group):
    nodes = (replace(node, is_usable=False, group=group, mode=0o660) for node in evidence.nodes)
    return replace(unproven(evidence), nodes=tuple(nodes))


def torch(evidence, **changes):
    return replace(evidence, torch=replace(evidence.torch, devices=(), **changes))


THREADS = {
    # a build for processors beside a working GPU
    "microsoft/torchgeo#529": (
        nvidia(torch=replace(CPU_TORCH, installer="conda", version="1.11.0")),
        "build_for_processors",
    ),
    "intel/torch-xpu-ops#2024": (
        torch(intel(), xpu=None, version="2.9.0+cu128", cuda="12.8"),
        "build_for_others",
    ),
    # the driver
    "Syllo/nvtop#125": (unproven(nvidia(nvml=Nvml(code=18))), "mismatch"),
    "illinois-scicomp/machine-shop-maintenance#70": (
        unproven(nvidia(nvml=Nvml(code=18), libraries=("525.85.12",))),
        "mismatch",
    ),
    "NVIDIA/nvidia-container-toolkit#394": (
        around(unproven(nvidia(nvml=Nvml(code=18))), container="docker"),
        "mismatch_in_container",
    ),
    "NVIDIA/nvidia-docker#1730": (
        around(unproven(nvidia(nvml=Nvml(code=999))), container="docker"),
        "container_lost_gpu",
    ),
    "secureblue/secureblue#1043": (
        with_kernel(
            with_card(unproven(nvidia(nvml=None, nodes=())), driver=""),
            loaded=frozenset(),
            secure_boot=True,
        ),
        "secure_boot",
    ),
    # CUDA does not start
    "pytorch/pytorch#35710": (
        failing(nvidia(nvswitches=6), f"{COUNTED} ... Error 802: system not yet initialized"),
        "fabric_not_ready",
    ),
    "ollama/ollama#12136": (
        failing(with_device(nvidia(), fabric_state=3, fabric_status=999), "Error 802"),
        "fabric_failed",
    ),
    "NVIDIA/gpu-operator#2511": (
        failing(with_device(nvidia(), fabric_state=2), "Error 802"),
        "fabric_not_ready",
    ),
    "wilicc/gpu-burn#133": (failing(nvidia(), "Error 802: system not ..."), "cuda_unknown"),
    "pytorch/pytorch#49081": (
        failing(
            nvidia(nodes=tuple(n for n in nvidia().nodes if "uvm" not in n.path)), UNKNOWN
        ),
        "nodes_missing",
    ),
    "pop-os/default-settings#64": (failing(nvidia(), UNKNOWN), "cuda_unknown"),
    "NVIDIA/open-gpu-kernel-modules#797": (failing(nvidia(), UNKNOWN), "cuda_unknown"),
    "oobabooga/textgen#4407": (
        around(
            failing(nvidia(), f"{COUNTED} Error 804: forward compatibility was attempted"),
            container="docker",
        ),
        "forward_compatibility",
    ),
    "microsoft/WSL#9092": (failing(nvidia(), f"{COUNTED} Error 2: out of memory"), "out_of_memory"),
    "pytorch/pytorch#85332": (
        # CUDA 10.2 runs on a driver for 11.0; something else was wrong there
        torch(
            nvidia(nvml=Nvml(code=0, driver="450.51", cuda=(11, 0), devices=(DEVICE,))),
            version="1.8.1+cu102",
            cuda="10.2",
            targets=("sm_37", "sm_50", "sm_60", "sm_70"),
        ),
        "too_new_for_torch",
    ),
    "VAST-AI/DetailGen3D d164652": (
        torch(
            with_device(nvidia(), capability=(12, 0)),
            version="2.11.0+cu126",
            cuda="12.6",
            targets=("sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"),
        ),
        "too_new_for_torch",
    ),
    # Windows' Linux
    "oobabooga/textgen#458": (
        replace(
            failing(nvidia(cards=(), nvml=None), "RuntimeError: Found no NVIDIA driver"),
            surroundings=Surroundings(virtualization="wsl", wsl=1),
        ),
        "wsl_1",
    ),
    "microsoft/WSL#9254": (
        replace(
            failing(nvidia(cards=(), nvml=None), "RuntimeError: Found no NVIDIA driver"),
            surroundings=Surroundings(virtualization="wsl", wsl=2, has_dxg=True),
        ),
        "wsl_without_nvidia",
    ),
    # clusters, containers, instances
    "NVIDIA/nvidia-docker#1547": (denied(nvidia(), "vglusers"), "not_permitted"),
    "wookayin/gpustat#102": (
        unproven(with_device(nvidia(), is_mig=True, mig_instances=0)),
        "mig_without_instances",
    ),
    # AMD and Intel
    "ROCm/rocminfo#34": (denied(amd(), "render"), "not_permitted"),
    "ROCm/legacy-rocm-build#2838": (denied(amd(), "render"), "not_permitted"),
    "ROCm/legacy-rocm-build#2232": (
        with_card(unproven(amd(amd=(), nodes=amd().nodes[1:])), driver="amdgpu"),
        "nodes_missing",
    ),
    "viebrix/pytorch-gfx803-for-Whisper#1": (
        torch(amd(amd=(AmdDevice(target="gfx803"),))),
        "amd_without_code",
    ),
    "pytorch/pytorch#150260": (failing(intel(), "RuntimeError: no XPU device"), "xpu_unavailable"),
    "pytorch/pytorch#148477": (denied(intel(), "render"), "not_permitted"),
    "intel/intel-extension-for-pytorch#244": (
        with_card(unproven(intel()), only_draws=True),
        "intel_integrated",
    ),
    "pytorch/pytorch#157775": (
        torch(intel(), outcome=Outcome.CRASHED, stage="look", detail="status 3221225477"),
        "torch_crashes",
    ),
    "pytorch/pytorch#125197": (
        failing(apple(), "RuntimeError: torch.backends.mps.is_available() is False"),
        "mps_unavailable",
    ),
}  # fmt: skip


@in_one("thread", THREADS)
def test_the_cause_that_was_found_in_the_thread_is_named(thread):
    evidence, key = THREADS[thread]

    assert found(evidence).key == key
