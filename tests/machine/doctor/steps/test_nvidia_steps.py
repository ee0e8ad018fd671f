from __future__ import annotations

import pytest
from msgspec.structs import replace

from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import Evidence, GpuProcess, Nvml, ShortFile
from machine.doctor.verdicts import State
from machine.gpus.nvml_child import LIBRARY
from tests.cases import in_one
from tests.machine.doctor.made import (
    CPU_TORCH,
    GIB,
    NVIDIA_CARD,
    around,
    failing,
    found,
    nvidia,
    step_of,
    unproven,
    with_card,
    with_device,
)

NOT_READY = "RuntimeError: ... Error 802: system not yet initialized"


def answering(code, **nvml):
    return unproven(nvidia(nvml=Nvml(code=code, **nvml)))


@in_one(
    ("code", "key", "inside"),
    [
        (None, "nvml_silent", "nvml_silent"),
        (18, "mismatch", "mismatch_in_container"),
        (12, "library_missing", "library_missing_in_container"),
        (9, "driver_does_not_answer", "driver_does_not_answer"),
        (4, "nvml_not_permitted", "nvml_not_permitted_in_container"),
        (17, "nvml_not_permitted", "nvml_not_permitted_in_container"),
        (15, "gpu_lost", "gpu_lost"),
        (999, "nvml_failed", "container_lost_gpu"),
        (10, "nvml_failed", "nvml_failed"),
    ],
)
def test_each_refusal_of_the_library_is_told_in_words(code, key, inside):
    assert (found(answering(code)).step, found(answering(code)).key) == ("library", key)
    assert found(around(answering(code), container="docker")).key == inside


@pytest.mark.parametrize(
    ("trouble", "key"),
    [("silent", "nvml_silent"), ("crashed", "nvml_crashed"), ("odd", "nvml_odd")],
)
def test_a_library_that_hangs_crashes_or_lies_is_named(trouble, key):
    failed = Nvml(trouble=trouble)
    step = found(unproven(nvidia(nvml=failed)))
    assert (step.step, step.state, step.key) == ("library", State.WRONG, key)
    assert step.values == {"library": LIBRARY}
    alone = found(Evidence(nvml=failed, torch=CPU_TORCH))
    assert (alone.step, alone.state, alone.key) == ("library", State.LOOK, key)


def test_an_update_while_the_driver_ran_is_told_with_both_versions():
    step = found(replace(answering(18), libraries=("590.10.01",)))

    assert step.values == {"running": "580.65.06", "installed": "590.10.01"}
    assert step.commands == ("sudo reboot",)


def test_a_driver_without_gpus_is_told():
    assert found(answering(0)).key == "nvml_without_gpus"
    job = around(answering(0), environment={"SLURM_JOB_ID": "17"})
    assert found(job).key == "slurm_without_gpu"


def test_a_driver_that_answers_tells_its_version_and_cuda():
    assert step_of(nvidia(), "library").values == {"driver": "580.65.06", "cuda": "13.0"}
    terse = answering(0, devices=nvidia().nvml.devices)
    assert step_of(terse, "library").values == {"driver": "?", "cuda": "?"}


# --- health -------------------------------------------------------------------------------------


@in_one(
    ("device", "key", "state"),
    [
        ({"code": 15}, "gpu_lost", State.WRONG),
        ({"code": 16}, "reset_required", State.WRONG),
        ({"code": 999}, "gpu_refuses", State.WRONG),
        ({"has_remap_failed": True}, "memory_broken", State.WRONG),
        ({"is_remap_pending": True}, "repair_pending", State.LOOK),
        ({"uncorrected_errors": 3}, "memory_errors", State.LOOK),
    ],
)
def test_each_ailment_of_a_gpu_is_told(device, key, state):
    step = found(unproven(with_device(nvidia(), **device)) if state is State.WRONG
                 else with_device(nvidia(), **device))  # fmt: skip

    assert (step.step, step.key, step.state) == ("health", key, state)


def test_a_card_that_the_driver_holds_and_does_not_offer_is_worth_a_look():
    two = (*nvidia().cards, replace(NVIDIA_CARD, address="0000:02:00.0"))
    evidence = nvidia(cards=two)

    assert found(evidence).key == "gpus_missing"
    assert found(evidence).values == {"held": 2, "offered": 1}
    assert step_of(around(evidence, container="docker"), "health").key == "healthy"
    job = around(evidence, environment={"SLURM_JOB_ID": "17"})
    assert step_of(job, "health").key == "healthy"


# --- the switches between GPUs ------------------------------------------------------------------


@in_one(
    ("device", "evidence", "key"),
    [
        ({"fabric_state": 1}, {}, "fabric_not_ready"),
        ({"fabric_state": 2}, {}, "fabric_not_ready"),
        ({"fabric_state": 3, "fabric_status": 999}, {}, "fabric_failed"),
        ({"fabric_state": None}, {"nvswitches": 6}, "fabric_not_ready"),  # before Hopper
    ],
)
def test_switches_that_nobody_has_set_up_keep_cuda_from_starting(device, evidence, key):
    server = failing(with_device(nvidia(**evidence), **device), NOT_READY)

    step = found(server)

    assert (step.step, step.key, step.state) == ("fabric", key, State.WRONG)
    assert "nvidia-fabricmanager" in step.commands[0]


def test_switches_that_are_not_ready_are_only_worth_a_look_where_pytorch_computes():
    assert found(with_device(nvidia(), fabric_state=2)).state is State.LOOK


@in_one(
    ("device", "evidence", "key"),
    [
        ({"fabric_state": 3, "fabric_status": 0}, {}, "fabric_ready"),
        ({"fabric_state": None}, {"nvswitches": 6, "has_fabric_manager": True}, "fabric_ready"),
        ({"fabric_state": None}, {"nvswitches": 6, "has_fabric_manager": None}, None),
        ({"fabric_state": 0}, {}, None),
    ],
)
def test_switches_that_are_ready_or_not_there_are_no_problem(device, evidence, key):
    step = step_of(with_device(nvidia(**evidence), **device), "fabric")

    assert (step.key if step else None) == key


# --- instances and modes ------------------------------------------------------------------------


def test_a_gpu_cut_into_no_instances_has_nothing_to_compute_on():
    step = found(unproven(with_device(nvidia(), is_mig=True, mig_instances=0)))

    assert (step.step, step.key) == ("partitions", "mig_without_instances")
    assert step.commands[-1] == "sudo nvidia-smi -i 0 -mig 0"


def test_instances_are_counted():
    evidence = with_device(nvidia(), is_mig=True, mig_instances=7)

    assert step_of(evidence, "partitions").values == {"count": 7}


def test_a_division_that_waits_for_a_reset_is_worth_a_look():
    assert found(with_device(nvidia(), is_mig_pending=True)).key == "mig_pending"


def test_a_gpu_on_which_computing_is_prohibited_is_told():
    step = found(unproven(with_device(nvidia(), compute_mode=2)))

    assert (step.key, step.commands) == ("prohibited", ("sudo nvidia-smi -i 0 -c DEFAULT",))


def test_a_gpu_for_one_program_at_a_time_names_who_is_on_it():
    taken = with_device(nvidia(), compute_mode=3, gpu_processes=(GpuProcess(pid=4711),))

    assert step_of(taken, "mode") is None  # PyTorch computed
    assert found(unproven(taken)).key == "exclusive"
    assert found(unproven(taken)).values == {"index": 0, "pid": 4711}


# --- memory and persistence ---------------------------------------------------------------------


def test_who_holds_the_memory_is_named():
    ghost = GpuProcess(pid=4711, name="python", user="grace", used_bytes=11 * GIB)
    step = found(with_device(nvidia(), free_bytes=GIB // 2, gpu_processes=(ghost,)))

    assert (step.key, step.state) == ("memory_held", State.LOOK)
    assert step.commands == ("nvidia-smi", "kill 4711")
    assert (step.values["user"], step.values["name"]) == ("grace", "python")


def test_memory_whose_holder_is_hidden_is_told():
    assert found(with_device(nvidia(), free_bytes=GIB // 2)).key == "memory_full"


def test_free_memory_is_told_and_unified_memory_is_not_judged():
    assert step_of(nvidia(), "memory").values == {"free_bytes": 11 * GIB, "total_bytes": 12 * GIB}
    unified = with_device(nvidia(), total_bytes=None, free_bytes=None)
    assert step_of(unified, "memory") is None


def server(**device):
    evidence = with_card(nvidia(), class_id=0x030200)
    return with_device(evidence, **{"name": "NVIDIA H100 80GB HBM3", **device})


def test_a_driver_that_goes_to_sleep_between_programs_is_worth_a_look_on_a_server():
    assert found(server()).key == "not_persistent"
    assert step_of(server(is_persistent=True), "persistence").key == "persistent"


@in_one(
    "evidence",
    [
        nvidia(),  # a desktop
        server(name="NVIDIA GeForce RTX 4060 Laptop GPU"),
        server(name="NVIDIA RTX A2000 Laptop GPU"),
        server(drives_display=True),
        server(is_persistent=None),
        around(server(), container="docker"),
    ],
)
def test_others_need_no_persistence(evidence):
    assert step_of(evidence, "persistence") is None


def test_without_the_library_its_steps_are_left_out():
    steps = {step.step for step in diagnose(nvidia(nvml=None)).steps}

    assert NVIDIA_CARD.address in step_of(nvidia(nvml=None), "card").values["cards"]
    assert steps.isdisjoint({"library", "health", "fabric", "partitions", "mode", "memory"})


# --- heat, files that are cut off ---------------------------------------------------------------


@in_one(
    ("now", "limit", "is_hot"), [(97, 92, True), (92, 92, True), (91, 92, False), (97, None, False)]
)
def test_a_gpu_over_the_temperature_at_which_it_slows_down_is_worth_a_look(now, limit, is_hot):
    diagnosis = diagnose(with_device(nvidia(), temperature_celsius=now, slowdown_celsius=limit))

    assert (diagnosis.state is State.LOOK) == is_hot
    if is_hot:
        assert (diagnosis.found.step, diagnosis.found.key) == ("health", "too_hot")
        assert diagnosis.found.values == {"index": 0, "now_celsius": now, "limit_celsius": limit}


@pytest.mark.parametrize(
    ("container", "key", "first"),
    [
        ("none", "library_short", "sudo ubuntu-drivers install"),
        ("docker", "library_short_in_container", "rm /usr/lib64/libcuda.so.1"),
    ],
)
def test_a_library_that_is_cut_off_is_named_with_its_length(container, key, first):
    short = ShortFile(path="/usr/lib64/libcuda.so.1", size_bytes=0)
    evidence = unproven(nvidia(short_libraries=(short,)))

    step = found(around(evidence, container=container))

    assert (step.step, step.key) == ("library", key)
    assert step.values == {"file": "/usr/lib64/libcuda.so.1", "size_bytes": 0}
    assert step.commands[0] == first
