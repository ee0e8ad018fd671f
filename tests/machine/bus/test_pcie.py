from __future__ import annotations

import pytest

from machine.bus import pcie
from machine.devices import Link, PciDevice
from machine.model import Machine
from tests.cases import in_one

BRIDGE = 0x060400


def linked(address, parent, gbytes, **more):
    return PciDevice(
        address=address, parent=parent, link=Link(peak_bytes_per_s=gbytes * 1e9), **more
    )


@in_one(
    ("text", "number"),
    [
        ("2.5 GT/s PCIe", 1),
        ("5 GT/s", 2),
        ("5.0 GT/s PCIe", 2),
        ("8 GT/s", 3),
        ("16.0 GT/s PCIe", 4),
        ("32.0 GT/s PCIe", 5),
        ("64.0 GT/s PCIe", 6),
        ("Unknown", None),
        ("Unknown speed", None),
        ("7 GT/s", None),
        ("128.0 GT/s PCIe", None),  # newer than the table: not the best that it knows
        ("", None),
        (None, None),
    ],
)
def test_a_speed_is_a_generation_and_unknown_is_none(text, number):
    assert pcie.generation(text) == number


@in_one(
    ("text", "lanes"),
    [("1", 1), ("16", 16), ("255", None), ("0", None), ("-1", None), ("", None), (None, None)],
)
def test_widths_that_stand_for_unknown_are_none(text, lanes):
    assert pcie.width(text) == lanes


@in_one(
    ("number", "lanes", "gbytes_per_s"),
    # The usual table, in GB/s in one direction.
    [
        (1, 1, 0.25),
        (1, 16, 4.0),
        (2, 8, 4.0),
        (3, 1, 0.985),
        (3, 16, 15.75),
        (4, 4, 7.88),
        (4, 16, 31.51),
        (5, 16, 63.02),
        (6, 1, 7.56),
        (6, 16, 121.0),
    ],
)
def test_a_link_carries_what_the_tables_say(number, lanes, gbytes_per_s):
    assert pcie.bytes_per_s(number, lanes) == pytest.approx(gbytes_per_s * 1e9, rel=1e-3)
    counted = "1 lane " if lanes == 1 else f"{lanes} lanes "
    assert counted in pcie.formula(number, lanes)


def test_what_nobody_specified_has_no_bandwidth():
    assert pcie.bytes_per_s(7, 16) is None
    assert pcie.bytes_per_s(None, 16) is None
    assert pcie.bytes_per_s(4, None) is None


def test_a_link_can_do_what_both_of_its_ends_can():
    link = Link(card_generation=5, card_width=8, slot_generation=4, slot_width=16)
    assert pcie.able(link) == (4, 8)
    assert pcie.able(Link(card_generation=5)) == (5, None)


CHAIN = Machine(
    pci=(
        PciDevice(address="0000:00:01.0", parent="pci0000:00", class_id=BRIDGE),
        linked("0000:01:00.0", "0000:00:01.0", 15.75, class_id=BRIDGE, name="PLX PCI bridge"),
        PciDevice(address="0000:02:00.0", parent="0000:01:00.0", class_id=BRIDGE),
        PciDevice(address="0000:02:01.0", parent="0000:01:00.0", class_id=BRIDGE),
        linked("0000:03:00.0", "0000:02:00.0", 31.5),
        linked("0000:03:00.1", "0000:02:00.0", 31.5),
        linked("0000:04:00.0", "0000:02:01.0", 7.88),
    )
)


def test_the_narrowest_hop_is_found_above_the_card():
    hop = pcie.limiting_hop(CHAIN, "0000:03:00.0")
    assert (hop.address, hop.name) == ("0000:01:00.0", "PLX PCI bridge")
    assert pcie.peak_bytes_per_s(CHAIN, "0000:03:00.0") == 15.75e9


def test_a_card_that_is_the_narrowest_itself_limits_itself():
    assert pcie.limiting_hop(CHAIN, "0000:04:00.0").address == "0000:04:00.0"


def test_of_equal_hops_the_one_at_the_card_is_named():
    pci = (linked("a", None, 8, class_id=BRIDGE), linked("b", "a", 8))
    assert pcie.narrowest(pci, "b").address == "b"


def test_a_device_without_a_known_link_has_no_limit():
    assert pcie.limiting_hop(CHAIN, "0000:00:01.0") is None
    assert pcie.limiting_hop(CHAIN, "ffff:00:00.0") is None
    assert pcie.peak_bytes_per_s(CHAIN, None) is None


def test_a_hop_is_compared_as_bandwidth_not_by_speed_and_width_apart():
    wide = Link(peak_bytes_per_s=pcie.bytes_per_s(3, 16))
    fast = Link(peak_bytes_per_s=pcie.bytes_per_s(5, 8))
    pci = (
        PciDevice(address="a", class_id=BRIDGE, link=wide),
        PciDevice(address="b", parent="a", link=fast),
    )
    assert pcie.narrowest(pci, "b").address == "a"  # 15.75 against 31.5 GB/s


def test_the_two_levels_of_one_broadcom_switch_are_no_hop():
    switch = {"class_id": BRIDGE, "vendor_id": 0x1000, "device_id": 0xC010}
    pci = (
        linked("a", "pci0000:00", 31.5, **switch),
        PciDevice(address="b", parent="a", **switch),
        linked("c", "b", 0.25, **switch),
        PciDevice(address="d", parent="c", **switch),
        linked("e", "d", 31.5),
    )
    assert [device.address for device in pcie.hops(pci, "e")] == ["e", "a"]


def test_cards_below_one_switch_share_its_link_and_functions_of_a_card_do_not_count():
    shared = pcie.shared_hop(CHAIN, "0000:03:00.0")
    assert (shared.hop.address, shared.others) == ("0000:01:00.0", ("0000:04:00.0",))
    alone = Machine(pci=CHAIN.pci[:1] + CHAIN.pci[4:6])
    assert pcie.shared_hop(alone, "0000:03:00.0") is None


def test_a_ring_of_parents_ends():
    ring = (linked("a", "b", 1), linked("b", "a", 2))
    assert [device.address for device in pcie.way(ring, "a")] == ["a", "b"]


@in_one(
    ("now", "card", "slot", "lacks"),
    [
        ((4, 16), (4, 16), (4, 16), None),
        ((1, 16), (4, 16), (4, 16), "speed"),  # mostly it idles
        ((4, 4), (4, 16), (4, 16), "lanes"),
        ((1, 4), (4, 16), (4, 16), "lanes"),  # idling takes none
        ((4, 8), (4, 16), (4, 8), None),  # the slot has no more
        ((3, 8), (4, 16), (3, 8), None),
        ((3, 4), (4, 16), (3, 8), "lanes"),
        ((1, 8), (4, 16), (None, None), None),  # a virtual machine hides the slot
        ((1, 16), (4, 16), (None, 16), None),
        ((None, None), (4, 16), (4, 16), None),
    ],
)
def test_lanes_that_are_lacking_are_told_from_a_speed_that_may_be_saved(now, card, slot, lacks):
    link = Link(
        generation=now[0],
        width=now[1],
        card_generation=card[0],
        card_width=card[1],
        slot_generation=slot[0],
        slot_width=slot[1],
    )
    assert pcie.shortfall(link) == lacks
