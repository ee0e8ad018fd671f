from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from machine.facts import Notes
from machine.inspect import inspect
from machine.network import read_network

CARD = "pci0000:00/0000:00:01.0/0000:01:00.0"


def interface(tree, name, path=CARD, **files):
    told = {"type": "1", "operstate": "up", "carrier": "1", "speed": "1000"} | files
    folder = f"/sys/devices/{path}/net/{name}"
    for file, text in told.items():
        tree.write(f"{folder}/{file}", f"{text}\n")
    if "virtual" not in path:
        tree.link(f"{folder}/device", f"/sys/devices/{path}")
    tree.link(f"/sys/class/net/{name}", folder)


def adapter(tree, name="mlx5_0", path=CARD, **files):
    told = {"link_layer": "InfiniBand", "state": "4: ACTIVE", "rate": "100 Gb/sec (4X EDR)"}
    for file, text in (told | files).items():
        tree.write(f"/sys/devices/{path}/infiniband/{name}/ports/1/{file}", f"{text}\n")
    tree.link(f"/sys/devices/{path}/infiniband/{name}/device", f"/sys/devices/{path}")
    tree.link(f"/sys/class/infiniband/{name}", f"/sys/devices/{path}/infiniband/{name}")


def read(tree):
    notes = Notes()
    return {found.name: found for found in read_network(tree.root, notes)}, notes


def missing(notes):
    return {entry.what: entry.why for entry in notes.missing}


def test_only_devices_are_listed(tree):
    interface(tree, "eth0")
    for name in ("lo", "br0", "docker0", "veth1", "bond0", "eth0.5", "tun0"):
        interface(tree, name, "virtual")
    assert list(read(tree)[0]) == ["eth0"]


def test_the_speed_of_a_link_is_in_bytes_and_on_its_card(tree):
    interface(tree, "eth0", speed="25000")
    found = read(tree)[0]["eth0"]
    assert (found.kind, found.is_up, found.pci_address) == ("ethernet", True, "0000:01:00.0")
    assert found.peak_bytes_per_s == 3.125e9


@pytest.mark.parametrize("speed", ["-1", "4294967295", "65535", "0", ""])
def test_a_speed_that_stands_for_unknown_is_none(tree, speed):
    interface(tree, "eth0", speed=speed)
    found, notes = read(tree)
    assert found["eth0"].peak_bytes_per_s is None
    assert "tells no speed" in missing(notes)["network[*].peak_bytes_per_s"]


def test_a_link_that_is_down_has_no_speed_though_its_driver_remembers_one(tree):
    interface(tree, "eth0", operstate="down", carrier="0", speed="1000")
    found, notes = read(tree)
    assert (found["eth0"].is_up, found["eth0"].peak_bytes_per_s) == (False, None)
    assert "down" in missing(notes)["network[*].peak_bytes_per_s"]


def test_a_driver_that_never_says_up_has_a_carrier(tree):
    interface(tree, "eth0", operstate="unknown")
    assert read(tree)[0]["eth0"].is_up is True


def test_wireless_is_told_from_wired(tree):
    interface(tree, "wlan0", speed="")
    tree.write(f"/sys/devices/{CARD}/net/wlan0/phy80211/name", "phy0\n")
    assert read(tree)[0]["wlan0"].kind == "wifi"


def test_a_kind_that_is_not_known_is_explained(tree):
    interface(tree, "wwan0", type="65534")
    found, notes = read(tree)
    assert found["wwan0"].kind is None
    assert "network[*].kind" in missing(notes)


def test_virtual_functions_are_shares_not_interfaces_of_their_own(tree):
    interface(tree, "eth0")
    share = CARD.replace("01:00.0", "01:00.1")
    interface(tree, "eth1", share)
    tree.link(f"/sys/devices/{share}/physfn", f"/sys/devices/{CARD}")
    assert list(read(tree)[0]) == ["eth0"]


@pytest.mark.parametrize(
    ("rate", "bytes_per_s"),
    # What the kernel calls the rate counts coding for the old ones, and not for the new.
    [
        ("10 Gb/sec (4X)", 1e9),
        ("10 Gb/sec (4X SDR)", 1e9),
        ("20 Gb/sec (4X DDR)", 2e9),
        ("40 Gb/sec (4X QDR)", 4e9),
        ("40 Gb/sec (4X FDR10)", 5e9),
        ("56 Gb/sec (4X FDR)", 54.545e9 / 8),
        ("100 Gb/sec (4X EDR)", 12.5e9),
        ("200 Gb/sec (4X HDR)", 25e9),
        ("400 Gb/sec (4X NDR)", 50e9),
        ("800 Gb/sec (4X XDR)", 100e9),
        ("1 Gb/sec (4X WHAT)", None),
        ("", None),
    ],
)
def test_infiniband_carries_its_data_rate(tree, rate, bytes_per_s):
    interface(tree, "ib0", type="32", speed="56000")
    adapter(tree, rate=rate)
    found, _ = read(tree)
    assert list(found) == ["ib0"]
    assert found["ib0"].kind == "infiniband"
    if bytes_per_s is None:
        assert found["ib0"].peak_bytes_per_s is None
    else:
        assert found["ib0"].peak_bytes_per_s == pytest.approx(bytes_per_s, rel=1e-4)


def test_an_adapter_without_ip_is_listed_by_its_own_name(tree):
    adapter(tree)
    adapter(tree, "mlx5_1", CARD.replace("01:00.0", "02:00.0"), state="1: DOWN")
    adapter(tree, "mlx5_2", CARD.replace("01:00.0", "03:00.0"), link_layer="Ethernet")
    adapter(tree, "rxe0", "virtual/rdma")
    found, _ = read(tree)
    assert list(found) == ["mlx5_0", "mlx5_1"]
    assert (found["mlx5_0"].peak_bytes_per_s, found["mlx5_1"].is_up) == (12.5e9, False)


def test_a_container_with_virtual_interfaces_only_says_why(tree):
    interface(tree, "eth0", "virtual")
    found, notes = read(tree)
    assert found == {}
    assert "with a device of its own" in missing(notes)["network"]


def test_lanes_newer_than_the_list_are_not_said_to_be_untold(tree):
    interface(tree, "ib0", type="32")
    adapter(tree, rate="1600 Gb/sec (4X GDR)")
    found, notes = read(tree)
    assert found["ib0"].peak_bytes_per_s is None
    assert "newer than the list" in missing(notes)["network[*].peak_bytes_per_s"]


@pytest.mark.skipif(not shutil.which("ip"), reason="there is no ip here")
def test_every_interface_is_known_to_ip():
    said = subprocess.run(["ip", "-json", "link"], capture_output=True, text=True, check=True)
    states = {link["ifname"]: link["operstate"] for link in json.loads(said.stdout)}
    for found in inspect().network:
        if found.kind != "infiniband":
            assert found.is_up is (states[found.name] != "DOWN")
