from __future__ import annotations

import math
import sys

import psutil
import pytest

from machine.live.io import IoSampler, missing

DISKSTATS = " 259 0 nvme0n1 {} 0 {} 0 {} 0 {} 0 {} {} {} 0 0 0 0 0 0\n"


@pytest.fixture
def disk(tree):
    """Return a function that says what the kernel has counted of the only disk."""
    device = "/sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1"
    tree.write(f"{device}/size", "2000\n")
    (tree.root / "sys/class/block").mkdir(parents=True)
    (tree.root / "sys/class/block/nvme0n1").symlink_to(f"../../..{device}")

    def write(*, read=0, written=0, busy_ms=0, waiting_ms=0, errors=None):
        counted = DISKSTATS.format(1, read, 1, written, 0, busy_ms, waiting_ms)
        tree.write("/proc/diskstats", f"   7 0 loop0 9 0 9 0 9 0 9 0 0 9 9\n{counted}")
        if errors is not None:
            tree.write(f"{device}/device/ioerr_cnt", f"{errors:#x}\n")

    return write


def network(tree, **cards):
    lines = ["Inter-| Receive | Transmit", " face |bytes packets | bytes packets"]
    lines += [f"{name}: {' '.join(map(str, counts))}" for name, counts in cards.items()]
    tree.write("/proc/net/dev", "\n".join(lines))


def test_a_disk_is_told_by_what_it_carried_since_the_previous_look(tree, disk):
    sampler = IoSampler(tree.root)
    disk(read=1000, written=0, busy_ms=100, waiting_ms=1000)
    ((first,), _) = sampler.sample(10.0)
    assert (first.read_bytes_per_s, first.busy, first.queue) == (None, None, None)
    disk(read=3000, written=500, busy_ms=350, waiting_ms=2500)
    ((now,), _) = sampler.sample(10.5)
    assert now.name == "nvme0n1"
    assert (now.read_bytes_per_s, now.write_bytes_per_s) == (2000 * 512 / 0.5, 500 * 512 / 0.5)
    assert (now.busy, now.queue) == (0.5, 3.0)


def test_a_disk_is_never_more_than_busy_and_never_runs_backwards(tree, disk):
    sampler = IoSampler(tree.root)
    disk(read=9000, busy_ms=0)
    sampler.sample(0.0)
    disk(read=1000, busy_ms=5000)
    ((now,), _) = sampler.sample(1.0)
    assert (now.read_bytes_per_s, now.busy) == (0.0, 1.0)


def test_errors_of_a_disk_count_since_the_watch_began(tree, disk):
    sampler = IoSampler(tree.root)
    disk(errors=5)
    ((first,), _) = sampler.sample(0.0)
    disk(errors=7)
    ((now,), _) = sampler.sample(1.0)
    assert (first.errors, now.errors) == (0, 2)


def test_errors_that_nobody_counts_are_not_none_but_unknown(tree, disk):
    disk()
    disks, networks = IoSampler(tree.root).sample(0.0)
    assert disks[0].errors is None
    reasons = {entry.what: entry.why for entry in missing(disks, networks)}
    assert "does not count its errors" in reasons["disks[*].errors"]


def test_loop_devices_are_no_disks(tree, disk):
    disk()
    assert [d.name for d in IoSampler(tree.root).sample(0.0)[0]] == ["nvme0n1"]


def test_a_network_is_told_by_what_it_carried_since_the_previous_look(tree):
    sampler = IoSampler(tree.root)
    network(tree, lo=[9] * 16, eth0=[1000, 1, 2, 3, 0, 0, 0, 0, 500, 1, 0, 1, 0, 0, 0, 0])
    _, (first,) = sampler.sample(0.0)
    assert (first.name, first.received_bytes_per_s, first.errors) == ("eth0", None, 0)
    network(tree, lo=[9] * 16, eth0=[3000, 1, 2, 7, 0, 0, 0, 0, 800, 1, 1, 1, 0, 0, 0, 0])
    _, (now,) = sampler.sample(2.0)
    assert (now.received_bytes_per_s, now.sent_bytes_per_s) == (1000.0, 150.0)
    assert (now.errors, now.dropped) == (1, 4)


def test_an_interface_that_comes_later_starts_anew(tree):
    sampler = IoSampler(tree.root)
    network(tree, eth0=[0] * 16)
    sampler.sample(0.0)
    network(tree, eth0=[0] * 16, eth1=[9000] * 16)
    _, cards = sampler.sample(1.0)
    assert [(c.name, c.received_bytes_per_s, c.errors) for c in cards] == [
        ("eth0", 0.0, 0),
        ("eth1", None, 0),
    ]


def test_damaged_lines_are_passed_over(tree, disk):
    disk()
    tree.write("/proc/diskstats", "259 0 nvme0n1 1 2\n")
    tree.write("/proc/net/dev", "\n\neth0: 1 2\n")
    assert IoSampler(tree.root).sample(0.0) == ((), ())


def test_without_disks_and_networks_the_reasons_are_told(tree):
    samples = IoSampler(tree.root).sample(0.0)
    assert samples == ((), ())
    assert [entry.what for entry in missing(*samples)] == ["disks", "network"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads the running Linux")
def test_the_counts_agree_with_psutil():
    from pathlib import Path

    from machine.live.io import (  # the sampler tells rates, and these counts are the system's
        _read_disks,  # noqa: PLC2701
        _read_networks,  # noqa: PLC2701
    )

    disks = psutil.disk_io_counters(perdisk=True)
    for name, disk in _read_disks(
        Path("/proc/diskstats"), Path("/sys/class/block"), frozenset(disks)
    ).items():
        assert disk["read_bytes_per_s"] == pytest.approx(disks[name].read_bytes, rel=0.05)
    cards = psutil.net_io_counters(pernic=True)
    for name, card in _read_networks(Path("/proc/net/dev"), frozenset(cards)).items():
        assert card["sent_bytes_per_s"] == pytest.approx(cards[name].bytes_sent, rel=0.1)


def test_elsewhere_the_rates_come_from_psutil(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "darwin")
    sampler = IoSampler(tmp_path)
    sampler.sample(0.0)
    disks, networks = sampler.sample(math.pi)
    assert all(disk.read_bytes_per_s is not None for disk in disks)
    assert all(card.name != "lo" for card in networks)
    told = {entry.what: entry.why for entry in missing(disks, networks)}
    if disks:
        assert "system" in told["disks[*].queue"]
