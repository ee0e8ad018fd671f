from __future__ import annotations

import json
import shutil
import sys

import pytest

from machine.condition import FileSystem
from machine.inspect import inspect
from machine.model import missing_of, source_of, to_json
from tests.machine.conditioned import mounted
from tests.machine.storage.test_disks import AHCI, NVME, disk


def part(tree, name, path, numbers):
    """A disk or partition below `path`, and its numbers."""
    is_part = "/block/" in path
    folder = f"/sys/devices/{path}/{name}" if is_part else f"/sys/devices/{path}/block/{name}"
    if is_part:
        tree.write(f"{folder}/partition", "1\n")
        tree.link(f"/sys/class/block/{name}", folder)
    else:
        disk(tree, name, path)
    tree.write(f"{folder}/dev", f"{numbers}\n")
    tree.link(f"/sys/dev/block/{numbers}", folder)


def on(tree, name):
    machine = inspect(tree.root)
    return next(disk.file_systems for disk in machine.storage if disk.name == name)


def test_the_file_systems_of_a_disk_are_named_by_kind_and_never_by_path(tree):
    part(tree, "sda", AHCI, "8:0")
    part(tree, "sda1", f"{AHCI}/block/sda", "8:1")
    part(tree, "sda2", f"{AHCI}/block/sda", "8:2")
    part(tree, "sda3", f"{AHCI}/block/sda", "8:3")
    part(tree, "sda4", f"{AHCI}/block/sda", "8:4")
    mounted(
        tree,
        ("8:1", "/dev/sda1", "/boot/efi", "vfat"),
        ("8:2", "/dev/root", "/", "ext4"),
        ("8:2", "/dev/root", "/var/lib/secret", "ext4"),
        ("8:3", "/dev/sda3", "/home/maria", "xfs"),
        ("8:4", "/dev/sda4", "/srv/maria", "ext4"),
        ("0:22", "proc", "/proc", "proc"),
        ("0:31", "server:/maria", "/net", "nfs4"),
    )
    machine = inspect(tree.root)
    (told,) = machine.storage
    assert told.file_systems == (
        FileSystem(kind="ext4", place="system"),
        FileSystem(kind="vfat", place="boot"),
        FileSystem(kind="xfs", place="home"),
        FileSystem(kind="ext4", place="other"),
    )
    assert "maria" not in json.dumps(to_json(machine))
    assert "recording" in missing_of(machine, "storage[0].file_systems[0].free_bytes").why


def test_btrfs_has_no_number_and_is_found_by_its_device(tree):
    part(tree, "nvme0n1", NVME, "259:0")
    part(tree, "nvme0n1p2", f"{NVME}/block/nvme0n1", "259:2")
    mounted(
        tree,
        ("0:26", "/dev/nvme0n1p2", "/home", "btrfs"),
        ("0:26", "/dev/nvme0n1p2", "/", "btrfs"),
    )
    assert on(tree, "nvme0n1") == (FileSystem(kind="btrfs", place="system"),)


def test_a_volume_over_two_disks_stands_at_both(tree):
    part(tree, "sda", AHCI, "8:0")
    part(tree, "sdb", AHCI.replace("ata2", "ata3"), "8:16")
    dm = "/sys/devices/virtual/block/dm-0"
    tree.write(f"{dm}/dev", "253:0\n")
    tree.write(f"{dm}/dm/name", "vg-root\n")
    tree.link(f"{dm}/slaves/sda", f"/sys/devices/{AHCI}/block/sda")
    tree.link(f"{dm}/slaves/sdb", f"/sys/devices/{AHCI.replace('ata2', 'ata3')}/block/sdb")
    tree.link("/sys/class/block/dm-0", dm)
    tree.link("/sys/dev/block/253:0", dm)
    mounted(tree, ("0:40", "/dev/mapper/vg-root", "/", "btrfs"))
    assert on(tree, "sda") == on(tree, "sdb") == (FileSystem(kind="btrfs", place="system"),)


def test_a_disk_that_nobody_mounted_says_so(tree):
    part(tree, "sda", AHCI, "8:0")
    machine = inspect(tree.root)
    assert "mounted" in missing_of(machine, "storage[0].file_systems").why


@pytest.mark.skipif(sys.platform != "linux", reason="reads the running Linux")
def test_the_space_of_this_machine_is_what_the_system_says():
    machine = inspect()
    places = [
        (f"storage[{n}].file_systems[{k}]", system)
        for n, disk in enumerate(machine.storage)
        for k, system in enumerate(disk.file_systems)
        if system.place == "system"
    ]
    if not places:
        pytest.skip("the root of this system lies on no disk")
    path, system = places[0]
    assert system.total_bytes == shutil.disk_usage("/").total
    assert 0 <= system.free_bytes <= system.total_bytes
    assert "now" in source_of(machine, f"{path}.free_bytes")


@pytest.mark.parametrize(
    ("life", "worn"), [("0x03 0x01", 0.3), ("0x00 0x00", None), ("", None), ("0x0b 0x01", 1.1)]
)
def test_a_card_tells_its_wear_in_tenths(tree, life, worn):
    path = "platform/soc/mmc0/mmc0:0001"
    disk(tree, "mmcblk0", path)
    tree.link(f"/sys/devices/{path}/block/mmcblk0/device", f"/sys/devices/{path}")
    tree.write(f"/sys/devices/{path}/life_time", f"{life}\n")
    machine = inspect(tree.root)
    assert machine.storage[0].wear_fraction == worn
    assert (missing_of(machine, "storage[0].wear_fraction") is None) is (worn is not None)


@pytest.mark.parametrize(("name", "path"), [("nvme0n1", NVME), ("sda", AHCI)])
def test_others_tell_it_only_to_root_and_say_how(tree, name, path):
    disk(tree, name, path, queue_rotational="0")
    missing = missing_of(inspect(tree.root), "storage[0].wear_fraction")
    assert missing.how.startswith("sudo smartctl -a /dev/")
