from __future__ import annotations

import pytest
from msgspec.structs import replace

from machine.doctor.evidence import Node, Nvml
from tests.cases import in_one
from tests.machine.doctor.made import (
    NVIDIA_NODES,
    amd,
    around,
    failing,
    found,
    intel,
    nvidia,
    step_of,
    unproven,
    with_card,
)

NO_DEVICE = "RuntimeError: No CUDA GPUs are available"


def without(evidence, *paths):
    return replace(evidence, nodes=tuple(node for node in evidence.nodes if node.path not in paths))


def denied(evidence, *, group="render", mode=0o660):
    nodes = (replace(node, is_usable=False, group=group, mode=mode) for node in evidence.nodes)
    return replace(evidence, nodes=tuple(nodes))


def test_the_files_are_told():
    assert step_of(nvidia(), "nodes").values == {
        "paths": "/dev/nvidia-uvm, /dev/nvidia0, /dev/nvidiactl"
    }
    assert step_of(amd(), "nodes").values == {"paths": "/dev/dri/renderD128, /dev/kfd"}


def test_files_that_cuda_made_in_vain_are_missed():
    step = found(failing(without(nvidia(), "/dev/nvidia-uvm"), NO_DEVICE))

    assert (step.step, step.key) == ("nodes", "nodes_missing")
    assert step.values == {"paths": "/dev/nvidia-uvm"}
    assert step.commands == ("sudo nvidia-modprobe -c 0 -u",)


def test_files_that_nobody_needed_yet_are_not_missed():
    before_first_use = without(unproven(nvidia()), "/dev/nvidia-uvm")
    asleep = with_card(unproven(nvidia(nvml=None, nodes=())), runtime_status="suspended")

    assert found(before_first_use).key == "build_for_processors"
    assert step_of(asleep, "nodes") is None


def test_files_that_cuda_had_no_reason_to_make_are_not_missed():
    fresh = failing(without(nvidia(), "/dev/nvidia-uvm"), NO_DEVICE)  # nothing computed since start
    old = replace(fresh, nvml=replace(fresh.nvml, cuda=(12, 2)))

    assert found(around(fresh, environment={"CUDA_VISIBLE_DEVICES": ""})).key == "hidden"
    assert found(old).key == "driver_too_old"


def test_files_that_the_library_lacks_are_missed():
    step = found(unproven(nvidia(nodes=(), nvml=Nvml(code=9))))

    assert step.values == {"paths": "/dev/nvidiactl, /dev/nvidia0"}


def test_a_container_with_one_of_several_gpus_lacks_nothing():
    nodes = tuple(replace(n, path=n.path.replace("nvidia0", "nvidia3")) for n in NVIDIA_NODES)

    assert step_of(around(nvidia(nodes=nodes), container="docker"), "nodes").key == "nodes_there"


def test_a_container_with_a_part_of_the_files_is_told_how_to_start():
    evidence = around(failing(without(nvidia(), "/dev/nvidia-uvm"), NO_DEVICE), container="docker")

    assert found(evidence).key == "nodes_missing_in_container"
    assert found(evidence).commands == ("docker run --gpus all ...  # on the host",)


@in_one(
    ("evidence", "missing"),
    [
        (without(amd(), "/dev/kfd"), "/dev/kfd"),
        (without(amd(), "/dev/dri/renderD128"), "/dev/dri/renderD128"),
        (with_card(amd(), render_node=None), "/dev/dri/renderD*"),
        (with_card(intel(), render_node=None), "/dev/dri/renderD*"),
    ],
)
def test_files_of_amd_and_intel_are_missed(evidence, missing):
    step = found(unproven(evidence))

    assert (step.key, step.values) == ("nodes_missing", {"paths": missing})
    assert "dmesg" in step.commands[0]


# --- permission ---------------------------------------------------------------------------------


@pytest.mark.parametrize("evidence", [amd(), intel()])
def test_who_is_not_in_the_group_joins_it(evidence):
    step = found(unproven(denied(around(evidence, groups=frozenset({"ada"})))))

    assert (step.step, step.key) == ("permission", "not_permitted")
    assert step.commands == ("sudo usermod --append --groups render ada",)
    assert step.values["group"] == "render"


def test_who_has_joined_the_group_since_the_login_logs_in_again():
    evidence = around(amd(), groups=frozenset({"ada"}), account_groups=frozenset({"ada", "render"}))

    step = found(unproven(denied(evidence)))

    assert (step.key, step.commands) == ("login_again", ())


def test_files_that_no_group_may_use_are_opened_by_the_administrator():
    step = found(unproven(denied(nvidia(), group="root", mode=0o600)))

    assert step.key == "not_permitted_to_all"
    assert step.commands[0].startswith("sudo chmod a+rw /dev/nvidia")


def test_a_container_must_be_started_as_a_member_of_the_group():
    assert found(around(unproven(denied(amd())), container="docker")).key == (
        "not_permitted_in_container"
    )


def test_gpus_that_belong_to_others_are_not_missed():
    others = Node(path="/dev/nvidia1", is_usable=False, group="lab", mode=0o660)

    assert step_of(nvidia(nodes=(*NVIDIA_NODES, others)), "permission").key == "permitted"
    no_sum = unproven(nvidia(nodes=(*NVIDIA_NODES, others)))
    assert found(no_sum).key == "build_for_processors"
