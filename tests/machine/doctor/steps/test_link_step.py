from __future__ import annotations

import pytest
from msgspec.structs import replace

from machine.devices import Link
from machine.doctor.cards import read_bus
from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import Nvml
from machine.doctor.verdicts import State
from tests.machine.doctor.made import (
    DEVICE,
    NVIDIA_CARD,
    amd,
    intel,
    nvidia,
    step_of,
    unproven,
    with_card,
)

GEN4, GEN1 = "16.0 GT/s PCIe", "2.5 GT/s PCIe"


def link(now, able=16, slot=16):
    return Link(
        generation=1,
        width=now,
        card_generation=4,
        card_width=able,
        slot_generation=4,
        slot_width=slot,
    )


@pytest.mark.parametrize("make", [nvidia, amd, intel])
def test_a_card_with_fewer_lanes_than_both_ends_have_is_something_to_look_at(make):
    evidence = with_card(make(), link=link(4))
    step = step_of(evidence, "link")
    assert (step.state, step.key) == (State.LOOK, "fewer_lanes")
    assert step.values["cards"].endswith(f"({evidence.cards[0].address}) 4 of 16")
    assert step.commands == (
        f"sudo lspci -vv -s {evidence.cards[0].address} | grep -E 'LnkCap|LnkSta'",
    )
    assert diagnose(evidence).finding == "link"


def test_every_such_card_is_named():
    second = replace(NVIDIA_CARD, address="0000:02:00.0")
    third = replace(NVIDIA_CARD, address="0000:03:00.0")
    cards = tuple(
        replace(card, link=link(now)) for card, now in ((NVIDIA_CARD, 8), (second, 16), (third, 1))
    )
    step = step_of(nvidia(cards=cards), "link")
    assert "0000:01:00.0) 8 of 16, " in step.values["cards"]
    assert "0000:03:00.0) 1 of 16" in step.values["cards"]
    assert "0000:02:00.0" not in step.values["cards"]
    assert len(step.commands) == 2


@pytest.mark.parametrize("told", [link(16), link(8, slot=8)])
def test_a_slower_link_and_a_narrow_slot_are_no_finding(told):
    step = step_of(with_card(nvidia(), link=told), "link")
    assert (step.state, step.key) == (State.OK, "all_lanes")
    assert step.values == {"lanes": f"×{told.width}"}


def test_without_both_ends_nothing_is_said():
    assert step_of(nvidia(), "link") is None
    assert step_of(with_card(nvidia(), link=link(4, slot=None)), "link") is None


def test_it_is_judged_also_where_pytorch_cannot_use_the_card():
    assert step_of(with_card(unproven(nvidia()), link=link(4)), "link").key == "fewer_lanes"


def test_where_the_kernel_tells_of_no_link_the_driver_does():
    device = replace(DEVICE, link=link(8))
    evidence = nvidia(nvml=Nvml(code=0, driver="580.65.06", cuda=(13, 0), devices=(device,)))
    assert step_of(evidence, "link").key == "fewer_lanes"
    assert step_of(with_card(evidence, link=link(16)), "link").key == "all_lanes"


def test_the_link_of_a_card_is_read_from_the_bus(tree):
    able = f"{GEN4} x16"
    tree.pci("pci0000:00/0000:00:01.0", kind="0x060400", able=able, now=f"{GEN1} x4")
    tree.pci("pci0000:00/0000:00:01.0/0000:01:00.0", able=able, now=f"{GEN1} x4")
    (card,) = read_bus(tree.root).cards
    assert card.address == "0000:01:00.0"
    assert replace(card.link, peak_bytes_per_s=None) == link(4)
