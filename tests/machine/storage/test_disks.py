from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from machine.devices import Link, PciDevice
from machine.facts import Notes
from machine.inspect import inspect
from machine.storage.disks import read_storage

AHCI = "pci0000:00/0000:00:17.0/ata2/host1/target1:0:0/1:0:0:0"
NVME = "pci0000:00/0000:00:01.0/0000:01:00.0/nvme/nvme0"


def disk(tree, name, path, **files):
    """A block device below the device at `path`; underscores in the names of files are slashes."""
    folder = f"/sys/devices/{path}/block/{name}"
    for file, text in ({"size": "1000"} | files).items():
        tree.write(f"{folder}/{file.replace('_', '/')}", f"{text}\n")
    if path.startswith("pci"):
        tree.link(f"{folder}/device", f"/sys/devices/{path}")
    tree.link(f"/sys/class/block/{name}", folder)


def read(tree, pci=()):
    notes = Notes()
    return {disk.name: disk for disk in read_storage(tree.root, pci, notes)}, notes


def test_only_disks_are_listed(tree):
    disk(tree, "sda", AHCI)
    disk(tree, "sda1", f"{AHCI}/block/sda", partition="1")
    disk(tree, "sr0", AHCI.replace("ata2", "ata3"))
    disk(tree, "mmcblk0boot0", "platform/soc/mmc0/mmc0:0001")
    for name in ("loop0", "ram0", "zram0", "dm-0", "md127", "nbd0"):
        disk(tree, name, "virtual")
    assert list(read(tree)[0]) == ["sda"]


@pytest.mark.parametrize(
    ("rotational", "vendor", "kind"),
    [
        ("0", "ATA", "ssd"),
        ("1", "ATA", "hdd"),
        ("1", "QEMU", "virtual"),
        ("0", "VMware", "virtual"),
        ("", "ATA", None),
    ],
)
def test_what_turns_is_a_hard_disk_unless_a_host_made_it_up(tree, rotational, vendor, kind):
    tree.write(f"/sys/devices/{AHCI}/vendor", f"{vendor}     \n")
    disk(tree, "sda", AHCI, queue_rotational=rotational)
    found, notes = read(tree)
    assert found["sda"].kind == kind
    assert ("storage[*].kind" in {entry.what for entry in notes.missing}) is (kind is None)


@pytest.mark.parametrize(
    ("name", "path", "kind", "transport"),
    [
        ("vda", "pci0000:00/0000:00:02.0/virtio1", "virtual", "host"),
        ("xvda", "vbd-51712", "virtual", "host"),
        ("mmcblk0", "platform/soc/mmc0/mmc0:0001", "card", "mmc"),
        ("pmem0", "LNXSYSTM:00/ndbus0/region0", "persistent memory", "memory"),
        ("nvme0n1", NVME, "nvme", "pcie"),
        ("sdb", "pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0", None, "usb"),
        ("sdc", "pci0000:00/0000:01:00.0/host0/port-0:0/end_device-0:0/0:0:0:0", "hdd", "sas"),
        ("sdd", "platform/host3/session1/target3:0:0/3:0:0:0", "hdd", "network"),
    ],
)
def test_the_way_to_a_disk_tells_what_it_is(tree, name, path, kind, transport):
    disk(tree, name, path, queue_rotational="1")
    found, _ = read(tree)
    assert (found[name].kind, found[name].transport) == (kind, transport)


def test_an_nvme_disk_behind_a_network_is_not_local(tree):
    tree.write("/sys/devices/virtual/nvme-fabrics/ctl/nvme1/transport", "tcp\n")
    tree.link("/sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1",
              "/sys/devices/virtual/nvme-fabrics/ctl/nvme1")  # fmt: skip
    tree.write("/sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1/size", "8\n")
    tree.link(
        "/sys/class/block/nvme1n1", "/sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1"
    )
    found, _ = read(tree)
    assert (found["nvme1n1"].transport, found["nvme1n1"].pci_address) == ("network", None)


def test_an_nvme_disk_with_several_ways_is_listed_once_and_found_on_its_card(tree):
    system = "/sys/devices/virtual/nvme-subsystem/nvme-subsys0"
    tree.write(f"/sys/devices/{NVME}/transport", "pcie\n")
    tree.link(f"{system}/nvme0", f"/sys/devices/{NVME}")
    tree.write(f"{system}/nvme0n1/size", "8\n")
    tree.link("/sys/class/block/nvme0n1", f"{system}/nvme0n1")
    tree.write(f"/sys/devices/{NVME}/nvme0c0n1/hidden", "1\n")
    tree.link("/sys/class/block/nvme0c0n1", f"/sys/devices/{NVME}/nvme0c0n1")
    found, _ = read(tree)
    assert list(found) == ["nvme0n1"]
    assert (found["nvme0n1"].pci_address, found["nvme0n1"].transport) == ("0000:01:00.0", "pcie")


def test_the_size_counts_sectors_of_512_bytes_also_on_disks_with_larger_ones(tree):
    disk(tree, "sda", AHCI, size="7814037168", queue_rotational="1")
    tree.write(f"/sys/devices/{AHCI}/block/sda/queue/logical_block_size", "4096\n")
    assert read(tree)[0]["sda"].size_bytes == 4000787030016


def test_a_drive_without_a_medium_has_no_size_rather_than_none_at_all(tree):
    disk(tree, "sda", AHCI, size="0")
    found, notes = read(tree)
    assert found["sda"].size_bytes is None
    assert "storage[*].size_bytes" in {entry.what for entry in notes.missing}


def test_an_nvme_disk_is_limited_by_the_narrowest_hop(tree):
    disk(tree, "nvme0n1", NVME)
    pci = (
        PciDevice(address="0000:00:01.0", class_id=0x060400, link=Link(peak_bytes_per_s=2e9)),
        PciDevice(address="0000:01:00.0", parent="0000:00:01.0", link=Link(peak_bytes_per_s=8e9)),
    )
    found, notes = read(tree, pci)
    assert found["nvme0n1"].peak_bytes_per_s == 2e9
    assert "0000:00:01.0" in notes.sources["storage[*].peak_bytes_per_s"]


def test_a_sata_disk_is_limited_by_what_its_port_agreed_on(tree):
    disk(tree, "sda", AHCI)
    tree.write("/sys/class/ata_link/link2/sata_spd", "6.0 Gbps\n")
    assert read(tree)[0]["sda"].peak_bytes_per_s == pytest.approx(600e6)
    tree.write("/sys/class/ata_link/link2/sata_spd", "<unknown>\n")
    assert read(tree)[0]["sda"].peak_bytes_per_s is None


def test_the_model_is_told_without_its_padding(tree):
    tree.write(f"/sys/devices/{AHCI}/model", "ST9250610NS     \n")
    disk(tree, "sda", AHCI)
    assert read(tree)[0]["sda"].model == "ST9250610NS"


def test_a_machine_without_disks_says_why(tree):
    found, notes = read(tree)
    assert found == {}
    assert [entry.what for entry in notes.missing] == ["storage"]


def whole_disks(devices) -> Iterator[dict]:
    for device in devices:
        if device["type"] == "disk" and not device["name"].startswith(("zram", "ram", "nbd")):
            yield device


@pytest.mark.skipif(not shutil.which("lsblk"), reason="there is no lsblk here")
def test_the_disks_agree_with_lsblk():
    command = ["lsblk", "--json", "--bytes", "--nodeps", "--output", "NAME,TYPE,SIZE,MODEL"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    listed = {
        device["name"]: (int(device["size"]) or None, device["model"])
        for device in whole_disks(json.loads(said.stdout)["blockdevices"])
    }
    assert {disk.name: (disk.size_bytes, disk.model) for disk in inspect().storage} == listed
