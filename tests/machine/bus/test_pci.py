from __future__ import annotations

import gzip
import os

import pytest

from machine.bus import pcie
from machine.bus.pci import read_pci
from machine.devices import Link
from machine.facts import Notes
from machine.inspect import inspect
from machine.model import Machine, NumaNode

ROOT_PORT, SWITCH = "0x060400", "0x060400"
INTEL, AMD = "0x8086", "0x1002"
GEN1, GEN3, GEN4, GEN5 = "2.5 GT/s PCIe", "8.0 GT/s PCIe", "16.0 GT/s PCIe", "32.0 GT/s PCIe"
NODES = (NumaNode(id=0, threads=(0, 1)), NumaNode(id=1, threads=(2, 3)))


def read(tree, numa=NODES[:1]):
    notes = Notes()
    return {device.address: device for device in read_pci(tree.root, numa, notes)}, notes


def missing(notes):
    return {entry.what: entry.why for entry in notes.missing}


def plugged(tree, *, now=f"{GEN4} x16", card=f"{GEN5} x16", slot=f"{GEN4} x16", **files):
    """A card in a slot of the processor."""
    tree.pci("pci0000:00/0000:00:01.0", kind=ROOT_PORT, maker=INTEL, now=now, able=slot)
    tree.pci("pci0000:00/0000:00:01.0/0000:01:00.0", now=now, able=card, **files)


def test_the_tree_is_in_the_paths(tree):
    plugged(tree)
    found, _ = read(tree)
    assert [(d.address, d.parent) for d in found.values()] == [
        ("0000:00:01.0", "pci0000:00"),
        ("0000:01:00.0", "0000:00:01.0"),
    ]
    card = found["0000:01:00.0"]
    assert (card.class_id, card.vendor_id, card.device_id) == (0x030200, 0x10DE, 0x1234)


def test_a_link_is_told_by_card_and_slot(tree):
    plugged(tree)
    found, _ = read(tree)
    assert found["0000:01:00.0"].link == Link(
        generation=4,
        width=16,
        card_generation=5,
        card_width=16,
        slot_generation=4,
        slot_width=16,
        peak_bytes_per_s=pcie.bytes_per_s(4, 16),
    )
    assert found["0000:00:01.0"].link is None, "its link is below it"


def test_a_link_that_is_slow_because_it_is_idle_keeps_its_ceiling(tree):
    plugged(tree, now=f"{GEN1} x16", card=f"{GEN4} x16")
    found, notes = read(tree)
    link = found["0000:01:00.0"].link
    assert (link.generation, link.peak_bytes_per_s) == (1, pcie.bytes_per_s(4, 16))
    assert not [what for what in missing(notes) if what.startswith("pci[*].link.")]


def test_a_narrow_slot_is_the_ceiling_of_a_wide_card(tree):
    plugged(tree, now=f"{GEN4} x8", card=f"{GEN4} x16", slot=f"{GEN4} x8")
    found, _ = read(tree)
    assert found["0000:01:00.0"].link.peak_bytes_per_s == pcie.bytes_per_s(4, 8)


def test_unknown_and_255_are_no_link(tree):
    tree.pci("pci0000:00/0000:00:02.0", now="Unknown x0", able="Unknown x255")
    found, notes = read(tree)
    assert found["0000:00:02.0"].link is None
    assert "pci[*].link" in missing(notes)


def test_a_link_that_is_down_says_so(tree):
    plugged(tree, now="Unknown x0")
    found, notes = read(tree)
    assert (found["0000:01:00.0"].link.generation, found["0000:01:00.0"].link.width) == (None, None)
    assert "down" in missing(notes)["pci[*].link.width"]


def test_without_a_port_above_the_slot_is_not_known(tree):
    tree.pci("pci0000:00/0000:00:05.0", now=f"{GEN4} x16", able=f"{GEN4} x16")
    found, notes = read(tree)
    link = found["0000:00:05.0"].link
    assert (link.slot_generation, link.peak_bytes_per_s) == (None, pcie.bytes_per_s(4, 16))
    assert "No port above" in missing(notes)["pci[*].link.slot_width"]


def test_a_link_newer_than_the_known_generations_is_not_said_to_be_down(tree):
    newer = "128.0 GT/s PCIe x16"
    plugged(tree, now=newer, card=newer, slot=newer)
    found, notes = read(tree)
    link = found["0000:01:00.0"].link
    assert (link.generation, link.width) == (None, 16)
    assert "newer than the generations known here" in missing(notes)["pci[*].link.generation"]


def test_where_no_device_tells_a_link_the_machine_is_the_reason(tree):
    tree.pci("pci0000:00/0000:00:05.0")
    _, notes = read(tree)
    assert "tells of no PCIe links" in missing(notes)["pci[*].link"]


def switched(tree, endpoint=AMD, switch=AMD):
    """A GPU below a switch, whose own link claims next to nothing."""
    port = "pci0000:00/0000:00:03.1"
    tree.pci(port, kind=ROOT_PORT, maker="0x1022", now=f"{GEN3} x16", able=f"{GEN3} x16")
    up, down = f"{port}/0000:08:00.0", f"{port}/0000:08:00.0/0000:09:00.0"
    tree.pci(up, kind=SWITCH, maker=switch, now=f"{GEN3} x16", able=f"{GEN4} x16")
    tree.pci(down, kind=SWITCH, maker=switch, now=f"{GEN1} x1", able=f"{GEN1} x1")
    tree.pci(f"{down}/0000:0a:00.0", maker=endpoint, now=f"{GEN1} x1", able=f"{GEN1} x1")


def test_a_gpu_behind_a_switch_on_its_card_has_the_link_of_the_card(tree):
    switched(tree)
    found, notes = read(tree)
    gpu, card = found["0000:0a:00.0"], found["0000:08:00.0"]
    assert gpu.link == card.link
    assert (gpu.link.generation, gpu.link.width, gpu.link.slot_generation) == (3, 16, 3)
    assert gpu.link.peak_bytes_per_s == pcie.bytes_per_s(3, 16)
    index = list(found).index(gpu.address)
    assert "0000:08:00.0" in notes.sources[f"pci[{index}].link"]


def test_a_switch_of_another_maker_is_no_part_of_the_card(tree):
    switched(tree, endpoint="0x10de", switch="0x10b5")
    found, _ = read(tree)
    assert found["0000:0a:00.0"].link.peak_bytes_per_s == pcie.bytes_per_s(1, 1)
    assert found["0000:08:00.0"].link.peak_bytes_per_s == pcie.bytes_per_s(3, 16)
    assert found["0000:09:00.0"].link is None, "inside the switch"
    pci = tuple(found.values())
    assert pcie.limiting_hop(Machine(pci=pci), "0000:0a:00.0").address == "0000:0a:00.0"


def test_an_intel_card_ends_before_the_port_of_an_intel_processor(tree):
    plugged(tree, maker=INTEL)
    found, _ = read(tree)
    assert found["0000:01:00.0"].link.card_generation == 5


def test_a_disk_behind_intels_volume_management_hangs_on_it(tree):
    tree.pci("pci0000:00/0000:00:0e.0", kind="0x010400", maker=INTEL)
    port = "pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:06.0"
    tree.pci(port, kind=ROOT_PORT, maker=INTEL, able=f"{GEN4} x4")
    tree.pci(f"{port}/10000:e1:00.0", kind="0x010802", now=f"{GEN4} x4", able=f"{GEN5} x4")
    found, _ = read(tree)
    assert list(found) == ["0000:00:0e.0", "10000:e0:06.0", "10000:e1:00.0"]
    assert found["10000:e0:06.0"].parent == "0000:00:0e.0"
    assert found["10000:e1:00.0"].link.peak_bytes_per_s == pcie.bytes_per_s(4, 4)


def test_a_virtual_function_has_the_link_of_its_card(tree):
    plugged(tree)
    path = "pci0000:00/0000:00:01.0/0000:01:00.1"
    folder = tree.pci(path, now="Unknown x0", able="Unknown x255")
    tree.link(f"{folder}/physfn", "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0")
    found, _ = read(tree)
    share, card = found["0000:01:00.1"], found["0000:01:00.0"]
    assert (share.is_virtual_function, card.is_virtual_function) == (True, False)
    assert share.link == card.link


def test_a_sleeping_card_is_not_asked_for_its_link(tree):
    plugged(tree, **{"power/runtime_status": "suspended"})
    opened = []
    for end in ("0000:00:01.0", "0000:00:01.0/0000:01:00.0"):
        for file in (tree.root / f"sys/devices/pci0000:00/{end}").glob("*_link_*"):
            file.unlink()
            os.mkfifo(file)  # who asks, hangs
            opened.append(file)
    found, notes = read(tree)
    assert opened
    assert found["0000:01:00.0"].link is None
    assert "wake" in missing(notes)["pci[1].link"]


@pytest.mark.parametrize(
    ("files", "numa", "node", "source"),
    [
        ({"numa_node": "1"}, NODES, 1, None),
        ({"numa_node": "-1"}, NODES, None, None),
        ({"numa_node": "-1", "local_cpulist": "2-3"}, NODES, 1, "local_cpulist"),
        ({"numa_node": "-1", "local_cpulist": "0-3"}, NODES, None, None),
        ({"numa_node": "-1", "local_cpulist": ""}, NODES, None, None),
        ({"numa_node": "-1", "local_cpus": "c"}, NODES, 1, "local_cpulist"),
        ({"numa_node": "-1"}, NODES[:1], 0, "only memory node"),
        ({"numa_node": "-1"}, (NODES[0], NumaNode(id=1, kind="gpu")), 0, "only memory node"),
        ({"numa_node": "-1"}, (), None, None),
    ],
)
def test_minus_one_is_no_node_unless_something_else_tells(tree, files, numa, node, source):
    tree.pci("pci0000:00/0000:00:02.0", **files)
    found, notes = read(tree, numa)
    assert found["0000:00:02.0"].numa_node == node
    assert (source or "") in notes.sources.get("pci[0].numa_node", "")
    assert ("pci[*].numa_node" in missing(notes)) is (node is None)


IDS = (
    "# a comment\n10de  NVIDIA Corporation\n\t1234  GH100 [H100 SXM5 80GB]\n\t\t10de 1  Not this\n"
    "\n8086  Intel Corporation\n\t9a1b  A port\nbeef  Nobody Else\n\t1234  Thing\nC 03  Display\n"
)


@pytest.mark.parametrize(
    "place", ["usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids", "usr/share/misc/pci.ids.gz"]
)
def test_names_come_from_the_list_of_the_system(tree, place):
    data = gzip.compress(IDS.encode()) if place.endswith(".gz") else IDS.encode()
    (tree.root / place).parent.mkdir(parents=True)
    (tree.root / place).write_bytes(data)
    tree.pci("pci0000:00/0000:00:02.0")
    tree.pci("pci0000:00/0000:00:03.0", maker="0xbeef")
    tree.pci("pci0000:00/0000:00:04.0", maker="0x8086", kind=ROOT_PORT)
    found, notes = read(tree)
    assert [device.name for device in found.values()] == [
        "NVIDIA GH100 [H100 SXM5 80GB]",
        "Nobody Else Thing",
        "Intel PCI bridge",
    ]
    assert notes.sources["pci[*].name"] == f"/{place.removesuffix('.gz')}"


def test_without_a_list_the_makers_that_matter_are_known(tree):
    tree.pci("pci0000:00/0000:00:02.0")
    tree.pci("pci0000:00/0000:00:03.0", maker="0x144d", kind="0x010802")
    tree.pci("pci0000:00/0000:00:04.0", maker="0xdead", kind="0x0bad00")
    found, notes = read(tree)
    names = [device.name for device in found.values()]
    assert names == ["NVIDIA 3D controller", "Samsung NVMe controller", None]
    assert "no pci.ids" in notes.sources["pci[*].name"]
    assert "pci[*].name" in missing(notes)


def test_a_damaged_list_of_names_is_no_list(tree):
    tree.write("/usr/share/misc/pci.ids.gz", "not packed")
    tree.pci("pci0000:00/0000:00:02.0")
    assert read(tree)[0]["0000:00:02.0"].name == "NVIDIA 3D controller"


def test_no_bus_at_all_is_explained(tree):
    found, notes = read(tree)
    assert found == {}
    assert "No PCI bus" in missing(notes)["pci"]


def test_nonsense_in_the_files_is_unknown(tree):
    tree.pci("pci0000:00/0000:00:02.0", kind="\0", maker="what", numa_node="x", now="fast xmany")
    tree.write("/sys/bus/pci/devices/README", "not a device")
    found, notes = read(tree, ())
    (device,) = found.values()
    assert (device.class_id, device.vendor_id, device.numa_node, device.link) == (None,) * 4
    assert {"pci[*].class_id", "pci[*].vendor_id", "pci[*].numa_node"} <= missing(notes).keys()


def test_a_link_out_of_the_recording_leads_nowhere(tree):
    folder = tree.root / "sys/bus/pci/devices"
    folder.mkdir(parents=True)
    (folder / "0000:00:02.0").symlink_to("/sys/devices/pci0000:00/0000:00:02.0")
    found, notes = read(tree)
    assert found["0000:00:02.0"].parent is None
    assert "pci[*].parent" in missing(notes)


@pytest.mark.skipif(not os.path.isdir("/sys/bus/pci/devices"), reason="no PCI here")
def test_the_devices_are_those_of_this_machine():
    assert [device.address for device in inspect().pci] == sorted(
        os.listdir("/sys/bus/pci/devices")
    )
