from __future__ import annotations

import pytest
from msgspec.structs import replace

from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import AmdDevice, Evidence, Nvml, Outcome, Torch, Vendor
from machine.doctor.hiding import visible_count
from machine.doctor.steps.installed_step import installed
from machine.doctor.steps.torch_steps import runs_on
from machine.doctor.verdicts import State
from machine.system.adding import Keeper
from tests.cases import in_one
from tests.machine.doctor.made import (
    CPU_TORCH,
    CUDA_TORCH,
    PYTHON,
    amd,
    apple,
    around,
    failing,
    found,
    intel,
    named,
    nvidia,
    step_of,
    with_card,
    with_device,
)

NO_DEVICE = "RuntimeError: No CUDA GPUs are available"


def with_torch(evidence, **changes):
    return replace(evidence, torch=replace(evidence.torch, devices=(), **changes))


# --- is PyTorch there ---------------------------------------------------------------------------

ABSENT = {
    "torch_missing": {"is_missing": True, "import_problem": "No module", "version": None},
    "torch_broken": {"import_problem": "OSError: libcudart.so.13: cannot open", "version": None},
    "torch_silent_loading": {"outcome": Outcome.SILENT, "stage": "import", "version": None},
    "torch_crashes_loading": {"outcome": Outcome.CRASHED, "stage": "import", "detail": "signal 11"},
    "python_silent": {"outcome": Outcome.SILENT, "stage": "start", "version": None},
    "python_unstartable": {"outcome": Outcome.UNSTARTABLE, "stage": "start", "detail": "no file"},
}


@in_one("key", ABSENT)
def test_a_pytorch_that_cannot_be_loaded_is_told_why(key):
    step = found(with_torch(nvidia(), **ABSENT[key]))

    assert (step.step, step.key, step.state) == ("torch", key, State.WRONG)
    assert step.values["python"] == PYTHON


@in_one("key", ABSENT)
def test_without_an_accelerator_that_is_worth_a_look_and_no_more(key):
    evidence = Evidence(torch=replace(CUDA_TORCH, devices=(), **ABSENT[key]))

    diagnosis = diagnose(evidence)

    assert diagnosis.state is (State.OK if key == "torch_missing" else State.LOOK)
    assert named(diagnosis, "torch").key == (key + "_here" if key == "torch_missing" else key)


@pytest.mark.parametrize(
    "said", ["what():  std::bad_alloc", "libtorch_cpu.so: failed to map segment", "MemoryError"]
)
def test_a_limit_of_the_shell_is_named_and_nothing_is_installed_anew(said):
    changes = {**ABSENT["torch_crashes_loading"], "detail": said, "memory_limit_bytes": 2**28}
    step = found(with_torch(nvidia(), **changes))
    assert (step.key, step.values["limit_bytes"]) == ("torch_without_memory", 2**28)
    assert step.commands == ("ulimit -v unlimited",)

    unlimited = found(with_torch(nvidia(), **{**changes, "memory_limit_bytes": None}))
    assert unlimited.key == "torch_crashes_loading"


@pytest.mark.parametrize(
    "torch",
    [CPU_TORCH, replace(CPU_TORCH, has_mps=True)],
)
def test_without_an_accelerator_a_build_for_processors_is_well(torch):
    verdict = installed(Evidence(torch=torch), None)

    assert verdict.key in ("torch_for_processors", "torch_there")
    assert verdict.state is State.OK


def test_a_broken_pytorch_is_replaced_by_the_build_for_the_card():
    (command,) = found(with_torch(nvidia(), **ABSENT["torch_broken"])).commands

    assert command.endswith("/whl/cu130")


def test_what_a_broken_pytorch_said_is_passed_on():
    step = found(with_torch(nvidia(), **ABSENT["torch_broken"]))

    assert step.values["said"] == "OSError: libcudart.so.13: cannot open"


# --- what was it built for ----------------------------------------------------------------------


def test_a_build_for_another_maker_is_told():
    step = found(with_torch(amd(), hip=None, cuda="12.8", version="2.9.0+cu128"))

    assert (step.step, step.key) == ("build", "build_for_others")
    assert step.values["built_for"] == "CUDA 12.8"


def test_a_python_that_is_translated_cannot_see_apples_gpu():
    evidence = with_torch(apple(), architecture="x86_64", has_mps=False)

    assert found(evidence).key == "python_translated"


@in_one(
    ("evidence", "built_for"),
    [
        (nvidia(), "CUDA 13.0"),
        (amd(), "ROCm 7.2.26015"),
        (intel(), "Intel GPUs (XPU)"),
        (apple(), "Apple's Metal (MPS)"),
    ],
)
def test_what_pytorch_was_built_for_is_told(evidence, built_for):
    assert step_of(evidence, "build").values["built_for"] == built_for


# --- CUDA versions ------------------------------------------------------------------------------


@in_one(
    ("driver", "built", "is_enough"),
    [
        ((13, 0), "13.2", True),  # minor versions are compatible
        ((12, 2), "12.8", True),
        ((13, 0), "11.8", True),
        ((12, 9), "13.0", False),
        ((11, 4), "12.6", False),
    ],
)
def test_the_major_version_of_cuda_decides_whether_a_driver_is_new_enough(driver, built, is_enough):
    evidence = replace(nvidia(), nvml=replace(nvidia().nvml, cuda=driver))
    evidence = with_torch(evidence, cuda=built, problem=None)
    step = step_of(evidence, "cuda")

    assert step.key == ("driver_new_enough" if is_enough else "driver_too_old")
    assert step.values == {"driver": f"{driver[0]}.{driver[1]}", "built": built}
    if not is_enough:
        assert step.commands[0] == "sudo ubuntu-drivers install"
        assert "/whl/cu1" in step.commands[-1]


def test_pytorch_knows_the_drivers_cuda_where_the_library_was_left_alone():
    evidence = with_torch(nvidia(nvml=None), driver_cuda=(12, 4), problem=NO_DEVICE)

    assert found(evidence).values["driver"] == "12.4"


# --- hidden devices -----------------------------------------------------------------------------


@in_one(
    ("value", "count", "seen"),
    [
        ("", 2, 0),
        ("-1", 2, 0),
        ("NoDevFiles", 2, 0),
        ("none", 2, 0),
        ("0", 2, 1),
        ("1,0", 2, 2),
        ("0, 1", 2, 2),
        ("2", 2, 0),
        ("0,2,1", 2, 1),  # the first that does not exist hides all that follow
        ("5", None, 1),
        ("GPU-5d6b", 1, 1),
        ("GPU-9999", 1, 0),
        ("MIG-11e0", 1, None),
    ],
)
def test_the_variable_leaves_as_many_devices_as_cuda_would(value, count, seen):
    assert visible_count(value, count, ["GPU-5d6b-1111"]) == seen


def test_a_uuid_must_be_unique_and_is_taken_as_it_is_where_none_is_known():
    assert visible_count("GPU-5", 2, ["GPU-51", "GPU-52"]) == 0
    assert visible_count("GPU-5", None) == 1


@in_one(
    ("evidence", "name", "value"),
    [
        (nvidia(), "CUDA_VISIBLE_DEVICES", ""),
        (nvidia(), "CUDA_VISIBLE_DEVICES", "1"),
        (amd(), "HIP_VISIBLE_DEVICES", "-1"),
        (amd(), "ROCR_VISIBLE_DEVICES", "3"),
        (amd(), "CUDA_VISIBLE_DEVICES", ""),
        (intel(), "ZE_AFFINITY_MASK", "7"),
        (intel(), "ONEAPI_DEVICE_SELECTOR", "opencl:cpu"),
    ],
)
def test_hidden_devices_are_told_with_the_variable_that_hides_them(evidence, name, value):
    hidden = around(failing(evidence, NO_DEVICE), environment={name: value})

    step = found(hidden)

    assert (step.step, step.key) == ("visible", "hidden")
    assert step.values == {"name": name, "value": value}
    assert step.commands == (f"unset {name}",)


def test_a_sleeping_laptop_gpu_is_counted_on_the_bus():
    asleep = with_card(nvidia(nvml=None), runtime_status="suspended")
    evidence = around(failing(asleep, NO_DEVICE), environment={"CUDA_VISIBLE_DEVICES": "1"})

    assert found(evidence).key == "hidden"


@pytest.mark.parametrize("value", ["GPU-of-another-machine", "MIG-11e0"])
def test_a_choice_that_cannot_be_checked_is_named_where_nothing_is_found(value):
    environment = {"CUDA_VISIBLE_DEVICES": value}
    asleep = with_card(nvidia(nvml=None), runtime_status="suspended")

    step = found(around(failing(asleep, NO_DEVICE), environment=environment))

    assert (step.step, step.key) == ("works", "perhaps_hidden")
    assert step.values == {"name": "CUDA_VISIBLE_DEVICES", "value": value, "said": NO_DEVICE}
    assert step.commands == ("unset CUDA_VISIBLE_DEVICES",)


def test_the_uuid_of_another_gpu_hides_the_one_that_is_there():
    environment = {"CUDA_VISIBLE_DEVICES": "GPU-of-another-machine"}

    assert found(around(failing(nvidia(), NO_DEVICE), environment=environment)).key == "hidden"


def test_the_second_variable_may_be_the_one_that_hides():
    environment = {"HIP_VISIBLE_DEVICES": "0", "ROCR_VISIBLE_DEVICES": "9"}

    step = found(around(failing(amd(), NO_DEVICE), environment=environment))

    assert step.values["name"] == "ROCR_VISIBLE_DEVICES"


def test_a_job_without_a_gpu_asks_for_one():
    environment = {"CUDA_VISIBLE_DEVICES": "", "SLURM_JOB_ID": "17"}

    assert found(around(failing(nvidia(), NO_DEVICE), environment=environment)).key == (
        "hidden_by_slurm"
    )


def test_a_choice_that_leaves_devices_is_told_and_no_problem():
    evidence = around(nvidia(), environment={"CUDA_VISIBLE_DEVICES": "0"})

    assert step_of(evidence, "visible").key == "chosen"
    assert step_of(nvidia(), "visible") is None
    arc = around(intel(), environment={"ZE_AFFINITY_MASK": "0"})
    assert step_of(arc, "visible").key == "chosen"


# --- code for this generation -------------------------------------------------------------------


@in_one(
    ("targets", "capability", "runs"),
    [
        (["sm_80"], (8, 0), True),
        (["sm_80"], (8, 9), True),
        (["sm_86"], (8, 0), False),
        (["sm_80"], (9, 0), False),
        (["sm_90a"], (9, 0), True),
        (["sm_100a"], (10, 3), False),
        (["sm_100f"], (10, 3), True),
        (["compute_90"], (12, 0), True),
        (["compute_120"], (9, 0), False),
        (["compute_90a"], (12, 0), False),
        (["sm_80"], (8, 7), False),  # a Jetson
        (["sm_87"], (8, 7), True),
        (["sm_101"], (11, 0), True),  # Thor, as CUDA 12 numbered it
        (["sm_110"], (11, 0), True),
        (["sm_100"], (11, 0), False),
        (["sm_120"], (12, 1), True),  # GB10
        ([], (8, 0), False),
        (["odd"], (8, 0), False),
    ],
)
def test_code_runs_where_nvidia_says_that_it_does(targets, capability, runs):
    assert runs_on(targets, capability) is runs


@pytest.mark.parametrize(
    ("capability", "targets", "key", "index"),
    [
        ((12, 0), ("sm_50", "sm_80", "sm_86", "sm_90"), "too_new_for_torch", "cu130"),
        ((6, 1), ("sm_75", "sm_80", "sm_90"), "too_old_for_torch", "cu126"),
        ((3, 5), ("sm_50", "sm_90"), "too_old_for_all", None),
    ],
)
def test_a_gpu_for_which_pytorch_holds_no_code_is_told(capability, targets, key, index):
    evidence = with_torch(
        with_device(nvidia(), capability=capability), targets=targets, problem="x"
    )

    step = found(evidence)

    assert (step.step, step.key) == ("architecture", key)
    assert step.values["capability"] == f"{capability[0]}.{capability[1]}"
    assert [index in command for command in step.commands] == ([True] if index else [])


def test_pytorch_knows_the_capability_where_the_library_was_left_alone():
    assert step_of(nvidia(nvml=None), "architecture").values == {"capability": "8.9"}
    assert step_of(nvidia(nvml=Nvml(code=0)), "architecture").values == {"capability": "8.9"}


@in_one(
    ("target", "environment", "key"),
    [
        ("gfx1031", {}, "amd_override"),
        ("gfx1031", {"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}, "override_set"),
        ("gfx803", {}, "amd_without_code"),
        ("gfx1100", {}, "amd_code_suits"),
    ],
)
def test_a_generation_of_amd_is_looked_for_in_the_code(target, environment, key):
    evidence = around(with_torch(amd(amd=(AmdDevice(target=target),)), problem="x"),
                   environment=environment)  # fmt: skip

    assert step_of(evidence, "architecture").key == key


def test_a_relative_passes_for_the_one_that_pytorch_knows():
    step = found(with_torch(amd(amd=(AmdDevice(target="gfx1032"),)), problem="x"))

    assert step.commands == ("export HSA_OVERRIDE_GFX_VERSION=10.3.0",)


def test_without_a_list_of_code_nothing_is_judged():
    assert step_of(with_torch(nvidia(), targets=()), "architecture") is None
    assert step_of(with_torch(amd(amd=()), problem="x"), "architecture") is None


def test_a_pytorch_that_was_not_looked_at_leaves_its_steps_out():
    diagnosis = diagnose(nvidia(torch=None))

    assert not {"torch", "build", "works"} & {step.step for step in diagnosis.steps}
    assert diagnosis.python is None
    assert step_of(nvidia(torch=Torch(python="p")), "build").key == "build_for_processors"


@pytest.mark.parametrize("vendor", [None, Vendor.NVIDIA])
def test_the_doctor_says_the_same_of_a_frozen_folder(vendor):
    torch = Torch(python="/a/coreopsis", is_missing=True, installer=Keeper.NOTHING)

    said = installed(Evidence(torch=torch), vendor)

    assert said.key == "torch_not_in_folder"
    assert "pipx install" in said.commands[0]
    assert ".whl" in said.commands[0]
