from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core import words
from machine.doctor.evidence import Outcome
from machine.doctor.verdicts import State
from tests.cases import in_one
from tests.machine.doctor.made import (
    CUDA_TORCH,
    amd,
    apple,
    around,
    failing,
    found,
    intel,
    nvidia,
    step_of,
    with_card,
    with_device,
)

COUNTED = (
    "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions "
    "before calling NumCudaDevices() that might have already set an error? "
)
SAID = {
    COUNTED + "Error 803: system has unsupported display driver / cuda driver combination":
        ("mismatch", "mismatch_in_container"),
    COUNTED + "Error 804: forward compatibility was attempted on non supported HW":
        ("forward_compatibility", "forward_compatibility"),
    COUNTED + "Error 802: system not yet initialized":
        ("cuda_unknown", "cuda_unknown"),
    COUNTED + "Error 2: out of memory": ("out_of_memory", "out_of_memory"),
    COUNTED + "Error 34: CUDA driver is a stub library": ("stub_library", "stub_library"),
    "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment":
        ("cuda_unknown", "cuda_unknown"),
    "RuntimeError: Found no NVIDIA driver on your system. Please check that you have one":
        ("libcuda_missing", "library_missing_in_container"),
    "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).":
        ("driver_too_old_said", "driver_too_old_said"),
    "RuntimeError: No CUDA GPUs are available": ("none_found", "none_found"),
    "AcceleratorError: CUDA error: all CUDA-capable devices are busy or unavailable":
        ("busy", "busy"),
    "RuntimeError: something that nobody has seen": ("does_not_work", "does_not_work"),
}  # fmt: skip


@in_one("said", SAID)
def test_what_pytorch_says_is_put_into_words(said):
    plain, inside = SAID[said]
    evidence = failing(nvidia(), said)

    assert (found(evidence).step, found(evidence).key) == ("works", plain)
    assert found(around(evidence, container="docker")).key == inside
    if "said" in found(evidence).values:
        assert found(evidence).values["said"] == said


def test_a_file_that_the_container_has_is_not_said_to_be_missing():
    """Its nodes are judged where a card is in sight; here only PyTorch speaks."""
    said = "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment"
    unseen = around(with_card(failing(nvidia(), said), address=None), container="docker")
    lacking = tuple(node for node in unseen.nodes if "uvm" not in node.path)
    assert found(unseen).key == "cuda_unknown"
    assert found(replace(unseen, nodes=lacking)).key == "cuda_unknown_in_container"


@in_one(
    ("problem", "key"),
    [
        ("AcceleratorError: CUDA error: no kernel image is available for execution", "no_code"),
        ("OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB", "out_of_memory"),
        ("AcceleratorError: CUDA error: uncorrectable ECC error encountered", "memory_error_met"),
        ("8 times 1 + 1 gives 0.0", "does_not_work"),
    ],
)
def test_what_happens_on_a_device_is_put_into_words(problem, key):
    device = replace(CUDA_TORCH.devices[0], has_computed=False, problem=problem)

    assert found(nvidia(torch=replace(CUDA_TORCH, devices=(device,)))).key == key


def test_one_of_two_devices_that_fails_is_told():
    good, bad = (
        replace(CUDA_TORCH.devices[0], index=0),
        replace(CUDA_TORCH.devices[0], index=1, has_computed=False, problem="it failed"),
    )

    step = found(nvidia(torch=replace(CUDA_TORCH, devices=(good, bad))))

    assert step.values == {"where": "cuda:1", "said": "it failed"}


def test_gpus_behind_switches_wait_for_the_fabric_manager():
    said = COUNTED + "Error 802: system not yet initialized"

    assert found(failing(nvidia(nvswitches=4, has_fabric_manager=None), said)).key == (
        "fabric_not_ready"
    )
    ready = with_device(nvidia(), fabric_state=3, fabric_status=0)
    assert found(failing(ready, said)).key == "fabric_not_ready"


def test_no_code_for_a_card_of_amd_brings_the_build_for_amd():
    evidence = failing(amd(), "RuntimeError: HIP error: invalid device function")

    assert found(evidence).key == "no_code"
    assert "/whl/rocm" in found(evidence).commands[0]


@pytest.mark.parametrize("stage", ["look", "use"])
def test_a_pytorch_that_hangs_or_crashes_on_the_device_is_told(stage):
    silent = replace(CUDA_TORCH, devices=(), outcome=Outcome.SILENT, stage=stage)
    crashed = replace(silent, outcome=Outcome.CRASHED, detail="signal 11")

    assert found(nvidia(torch=silent)).key == "torch_silent"
    assert found(nvidia(torch=crashed)).values == {"said": "signal 11"}


def test_apple_and_intel_have_words_of_their_own():
    mac = found(failing(apple(), "RuntimeError: torch.backends.mps.is_available() is False"))
    arc = found(failing(intel(), "RuntimeError: No XPU devices are available."))

    assert (mac.key, mac.values) == ("mps_unavailable", {"release": "15.1"})
    assert arc.key == "xpu_unavailable"


def test_a_pytorch_that_says_nothing_is_not_judged():
    step = step_of(nvidia(torch=replace(CUDA_TORCH, devices=())), "works")

    assert (step.key, step.state) == ("nothing_tried", State.UNKNOWN)


OTHERS = {
    ("amd", "RuntimeError: No HIP GPUs are available"): "hip_none_found",
    ("amd", "RuntimeError: HIP error: no ROCm-capable device is detected"): "hip_none_found",
    ("amd", "OutOfMemoryError: HIP out of memory. Tried to allocate 2 GiB"): "out_of_memory",
    ("amd", "RuntimeError: HIP error: uncorrectable ECC error encountered"): "memory_error_met",
    ("amd", "RuntimeError: HIP error: unknown error"): "does_not_work",
    ("amd", "RuntimeError: HIP error: invalid device function"): "no_code",
    ("intel", "RuntimeError: No XPU devices are available."): "xpu_unavailable",
    ("intel", "OutOfMemoryError: XPU out of memory. Tried to allocate 2 GiB"): "out_of_memory",
    ("intel", "RuntimeError: level_zero backend failed (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)"):
        "out_of_memory",
    ("intel", "RuntimeError: level_zero backend failed (UR_RESULT_ERROR_DEVICE_LOST)"):
        "does_not_work",
    ("intel", "RuntimeError: no kernel image"): "no_code",
}  # fmt: skip
OF_NVIDIA = ("nvidia", "NVRM", "/whl/cu", "CUDA")


@in_one(("maker", "said"), OTHERS)
def test_rocm_and_xpu_have_words_and_commands_of_their_own(maker, said):
    evidence = failing({"amd": amd, "intel": intel}[maker](), said)

    step = found(evidence)

    assert (step.step, step.key) == ("works", OTHERS[maker, said])
    assert not [command for command in step.commands if any(word in command for word in OF_NVIDIA)]
    assert not any(word in words.load("en").text(f"doctor.{step.key}") for word in OF_NVIDIA)


@in_one("outcome", [Outcome.SILENT, Outcome.CRASHED])
@in_one(("make", "driver"), [(amd, "amdgpu"), (intel, "xe")])
def test_a_rocm_or_xpu_that_hangs_or_crashes_has_the_log_of_its_driver(make, driver, outcome):
    torch = replace(make().torch, devices=(), outcome=outcome, stage="look")

    step = found(make(torch=torch))

    assert step.key in ("torch_silent", "torch_crashes")
    assert driver in step.commands[0]


@pytest.mark.parametrize(("make", "index"), [(amd, "rocm"), (intel, "xpu")])
def test_a_broken_pytorch_for_amd_or_intel_is_replaced_by_one_for_it(make, index):
    torch = replace(make().torch, devices=(), version=None, import_problem="OSError: libsycl.so.8")

    step = found(make(torch=torch))

    assert step.key == "torch_broken"
    assert f"/whl/{index}" in step.commands[0]


def test_a_missing_level_zero_is_told_by_its_name():
    said = "OSError: libze_loader.so.1: cannot open shared object file"
    torch = replace(intel().torch, devices=(), version=None, import_problem=said)

    assert found(intel(torch=torch)).key == "level_zero_missing"
