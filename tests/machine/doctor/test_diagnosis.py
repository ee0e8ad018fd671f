from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from machine.doctor.diagnosis import STEPS, diagnose, from_json, subject, to_json
from machine.doctor.evidence import AmdDevice, Card, Evidence, Nvml, Surroundings, Torch, Vendor
from machine.doctor.verdicts import State
from tests.cases import in_one
from tests.machine.doctor.made import (
    CPU_TORCH,
    CUDA_TORCH,
    amd,
    apple,
    found,
    intel,
    named,
    nvidia,
    step_of,
    unproven,
    with_device,
)

WELL = {"nvidia": nvidia, "amd": amd, "intel": intel, "apple": apple}
UHD = Card(vendor=Vendor.INTEL, name="Intel UHD Graphics", address="0000:00:02.0", only_draws=True)


@in_one("vendor", WELL)
def test_an_accelerator_that_computes_is_well_from_the_card_to_the_sum(vendor):
    diagnosis = diagnose(WELL[vendor]())

    assert (diagnosis.vendor, diagnosis.state, diagnosis.finding) == (vendor, State.OK, None)
    assert diagnosis.found is None
    assert {step.state for step in diagnosis.steps} == {State.OK}
    assert [diagnosis.steps[0].step, named(diagnosis, "works").key] == ["card", "computes"]


def test_every_step_to_a_gpu_that_is_well_is_told():
    cut = with_device(nvidia(), is_mig=True, mig_instances=7)

    assert [step.key for step in diagnose(cut).steps] == [
        *("card", "driver_holds", "nodes_there", "permitted", "driver_answers", "healthy"),
        *("mig_instances", "torch_there", "build_suits", "driver_new_enough", "code_suits"),
        *("memory_free", "computes"),
    ]


@in_one("vendor", WELL)
def test_a_build_for_processors_beside_a_working_gpu_is_found(vendor):
    step = found(unproven(WELL[vendor]()))

    assert (step.step, step.state, step.key) == ("build", State.WRONG, "build_for_processors")
    assert len(step.commands) == 1
    assert step.commands[0].startswith("/home/ada/.venv/bin/python -m pip install --upgrade")


def test_what_comes_after_the_first_thing_that_is_wrong_is_not_judged():
    diagnosis = diagnose(unproven(nvidia(nvml=Nvml(code=18))))

    after = diagnosis.steps[diagnosis.steps.index(diagnosis.found) + 1 :]
    assert diagnosis.found.key == "mismatch"
    assert [step.step for step in after] == ["torch", "build", "works"]
    assert {(step.state, step.key, step.commands) for step in after} == {
        (State.NOT_REACHED, "", ())
    }


def test_the_steps_come_in_the_order_in_which_one_cause_hides_the_next():
    names = [name for name, _, _ in STEPS]

    assert names.index("card") == 0
    for earlier, later in (
        ("power", "driver"),  # a card that has gone is no fault of its driver
        ("suited", "permission"),  # nobody needs rights to graphics that cannot compute
        ("driver", "nodes"),
        ("nodes", "library"),
        ("library", "torch"),
        ("torch", "build"),
        ("build", "cuda"),
        ("cuda", "works"),
        ("visible", "works"),
    ):
        assert names.index(earlier) < names.index(later)


def test_something_to_look_at_does_not_end_the_walk():
    diagnosis = diagnose(with_device(nvidia(), is_remap_pending=True))

    assert (diagnosis.state, diagnosis.finding) == (State.LOOK, "health")
    assert named(diagnosis, "works").state is State.OK


def test_a_sum_that_came_out_right_proves_what_could_not_be_read():
    evidence = nvidia(nvml=Nvml(code=12))

    assert step_of(evidence, "library").key == "proved"
    assert diagnose(evidence).state is State.OK


def test_a_sum_that_came_out_wrong_proves_nothing():
    device = replace(CUDA_TORCH.devices[0], has_computed=False, problem="8 times 1 + 1 gives 0")
    evidence = nvidia(torch=replace(CUDA_TORCH, devices=(device,)))

    assert found(evidence).key == "does_not_work"


# --- whose accelerator --------------------------------------------------------------------------


@in_one(
    ("cards", "torch", "vendor"),
    [
        ((), CPU_TORCH, None),
        ((UHD, *nvidia().cards), CPU_TORCH, Vendor.NVIDIA),
        ((*nvidia().cards, *amd().cards), CPU_TORCH, Vendor.NVIDIA),
        ((*nvidia().cards, *amd().cards), amd().torch, Vendor.AMD),
        ((UHD, *intel().cards), CPU_TORCH, Vendor.INTEL),
        ((*amd().cards, *intel().cards), CPU_TORCH, Vendor.INTEL),  # the AMD one cannot compute
        ((*amd().cards, *intel().cards), intel().torch, Vendor.INTEL),
        ((Card(vendor=Vendor.OTHER, name="Habana"), UHD), CPU_TORCH, Vendor.OTHER),
    ],
)
def test_of_several_cards_the_likeliest_to_compute_is_looked_at(cards, torch, vendor):
    evidence = Evidence(cards=cards, torch=torch, amd=(AmdDevice(target="gfx1036"),))

    assert subject(evidence) is vendor


@in_one("vendor", WELL)
def test_a_card_that_only_pytorch_sees_is_looked_at_too(vendor):
    diagnosis = diagnose(WELL[vendor](cards=(), nvml=None, nodes=()))

    assert (diagnosis.vendor, diagnosis.state) == (vendor, State.OK)
    assert diagnosis.steps[0].values["cards"]


def test_cards_of_other_makers_are_told_beside_it():
    step = step_of(nvidia(cards=(*nvidia().cards, UHD)), "card")

    assert step.key == "cards"
    assert step.values["others"] == "Intel UHD Graphics"


def test_several_alike_are_counted():
    two = replace(nvidia().cards[0], address="0000:02:00.0")
    devices = tuple(
        replace(nvidia().nvml.devices[0], index=n, address=f"0000:0{n + 1}:00.0") for n in range(2)
    )
    evidence = nvidia(cards=(*nvidia().cards, two), nvml=replace(nvidia().nvml, devices=devices))

    assert step_of(evidence, "card").values["cards"] == "2 × NVIDIA GeForce RTX 4070"


def test_one_is_told_with_its_address_and_the_name_that_its_driver_gives_it():
    (card,) = [diagnose(nvidia()).steps[0]]

    assert card.values["cards"] == "NVIDIA GeForce RTX 4070 (0000:01:00.0)"


def test_a_name_is_taken_from_pytorch_where_the_driver_gives_none():
    assert step_of(amd(), "card").values["cards"] == "Radeon RX 7900 XTX (0000:03:00.0)"


# --- as data ------------------------------------------------------------------------------------


@in_one("vendor", WELL)
def test_a_diagnosis_survives_json(vendor):
    diagnosis = diagnose(unproven(WELL[vendor]()))

    assert from_json(json.loads(json.dumps(to_json(diagnosis)))) == diagnosis


EVIDENCE = [well() for well in WELL.values()]


@given(
    surroundings=st.sampled_from([f.surroundings for f in EVIDENCE] + [Surroundings()]),
    cards=st.sampled_from([f.cards for f in EVIDENCE] + [(), (UHD,)]),
    kernel=st.sampled_from([f.kernel for f in EVIDENCE] + [Evidence().kernel]),
    nodes=st.sampled_from([f.nodes for f in EVIDENCE]),
    nvml=st.sampled_from([None, nvidia().nvml, Nvml(), Nvml(code=0), Nvml(code=9)]),
    amd_devices=st.sampled_from([(), amd().amd]),
    torch=st.sampled_from([f.torch for f in EVIDENCE] + [None, CPU_TORCH, Torch(python="python")]),
)
def test_any_evidence_together_give_a_diagnosis(
    surroundings, cards, kernel, nodes, nvml, amd_devices, torch
):
    evidence = Evidence(
        surroundings=surroundings,
        cards=cards,
        kernel=kernel,
        nodes=nodes,
        nvml=nvml,
        amd=amd_devices,
        torch=torch,
    )

    diagnosis = diagnose(evidence)

    assert diagnosis.steps[0].step == "card"
    wrong = [step for step in diagnosis.steps if step.state is State.WRONG]
    assert len(wrong) <= 1
    assert (diagnosis.state is State.OK) == (diagnosis.found is None)
    if wrong:
        assert diagnosis.found == wrong[0]
