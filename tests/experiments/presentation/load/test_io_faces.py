from __future__ import annotations

import pytest

from experiments.presentation.load.faces import Faces
from experiments.presentation.load.history import History, Moment
from experiments.presentation.load.io_faces import IoFaces
from machine.devices import NetworkInterface
from machine.model import Machine

DISK = {
    "name": "nvme0n1",
    "read_bytes_per_s": 1.9e9,
    "write_bytes_per_s": 2e8,
    "busy": 0.41,
    "queue": 3.0,
    "errors": 0,
}
CARD = {
    "name": "eth0",
    "received_bytes_per_s": 1e6,
    "sent_bytes_per_s": 4e6,
    "errors": 0,
    "dropped": 0,
}


@pytest.fixture
def told(english) -> Faces:
    return Faces(english)


@pytest.fixture
def faces(english, told) -> IoFaces:
    return IoFaces(english, told)


def moment(disks=(), network=(), memory=None) -> Moment:
    return History().add(1.0, [], memory or {}, disks=disks, network=network)


def plain(face) -> str:
    return face.detail.replace("\N{NO-BREAK SPACE}", " ")


def test_one_disk_says_what_it_carries_and_what_is_under_way(faces):
    face = faces.disks(moment([DISK]))

    assert face.number == "1.90 GB/s read"
    assert plain(face) == "200 MB/s written · nvme0n1 · busy 41 %\n3.0 requests under way"
    assert (face.errors, face.error_state) == ("no errors", "none")
    assert face.tip == ""


def test_many_disks_are_summed_up_and_the_busiest_is_named(faces):
    many = [{**DISK, "name": f"sd{n}", "busy": n / 100} for n in range(24)]

    face = faces.disks(moment(many))

    assert face.number == "45.6 GB/s read"
    assert "busiest of 24: sd23" in plain(face)
    assert len(face.tip.splitlines()) == 12


def test_errors_of_any_disk_are_told(faces):
    face = faces.disks(moment([DISK, {**DISK, "errors": 2}, {**DISK, "errors": None}]))

    assert (face.errors, face.error_state) == ("errors: 2", "some")


def test_nothing_is_said_of_errors_where_no_disk_counts_them(faces):
    face = faces.disks(moment([{**DISK, "errors": None}] * 2))

    assert (face.errors, face.error_state) == ("", "unknown")


def test_one_disk_that_counts_no_errors_leaves_them_untold(faces):
    face = faces.disks(moment([DISK, {**DISK, "errors": None}]))

    assert (face.errors, face.error_state) == ("errors unknown", "unknown")


def test_without_a_queue_the_pressure_speaks(faces):
    face = faces.disks(moment([{**DISK, "queue": None}], memory={"io_pressure_fraction": 0.2}))

    assert "tasks waited 20 % of the time" in plain(face)


def test_the_first_look_knows_no_rate_and_says_why(faces, told):
    told.know_missing([{"what": "disks[*].read_bytes_per_s", "why": "Two are needed.", "how": ""}])
    first = {**dict.fromkeys(DISK), "name": "sda"}

    face = faces.disks(moment([first]))

    assert (face.number, face.detail, face.known) == ("not known", "Two are needed.", False)


def test_network_says_the_larger_way_first_and_whether_packets_were_dropped(faces, told):
    told.know_machine(Machine(network=(NetworkInterface(name="eth0", peak_bytes_per_s=1.25e9),)))

    face = faces.network(moment(network=[CARD]))

    assert face.number == "4 MB/s out"
    assert plain(face) == "1 MB/s in · eth0 · at most 1.25 GB/s\nno packet dropped"


def test_dropped_packets_are_counted(faces):
    cards = [CARD, {**CARD, "name": "eth1", "dropped": 3, "received_bytes_per_s": 9e9}]

    face = faces.network(moment(network=cards))

    assert "packets dropped: 3" in face.detail
    assert "most of 2: eth1" in face.detail


def test_drops_that_nobody_counts_are_not_none(faces):
    assert (
        "dropped packets unknown"
        in faces.network(moment(network=[{**CARD, "dropped": None}])).detail
    )
