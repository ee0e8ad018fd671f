from __future__ import annotations

import pytest

from experiments.presentation.load.faces import Faces
from experiments.presentation.load.gpu_faces import GpuFaces
from experiments.presentation.load.history import History, Moment
from machine.devices import Gpu, Link, NvLink
from machine.model import Machine
from tests.gallery.made_gpus import gpus

NBSP = "\N{NO-BREAK SPACE}"


@pytest.fixture
def told(english) -> Faces:
    faces = Faces(english)
    link = Link(
        card_generation=5, card_width=16, slot_generation=5, slot_width=16, peak_bytes_per_s=63e9
    )
    gpu = Gpu(index=0, name="Made-up GPU", link=link, nvlinks=(NvLink(number=0, bytes_per_s=25e9),))
    faces.know_machine(Machine(gpus=(gpu,)))
    return faces


@pytest.fixture
def faces(english, told) -> GpuFaces:
    return GpuFaces(english, told)


def moment(kind="one", t_s=5.0, **changed) -> Moment:
    (first, *rest) = gpus(kind, t_s)
    return History().add(t_s, [], {}, gpus=[{**first, **changed}, *rest])


def plain(face) -> str:
    return face.detail.replace(NBSP, " ")


def test_busy_says_what_it_means_and_that_nothing_tells_what_waits(faces):
    face = faces.busy(moment(busy=0.98), 0)

    assert face.number == "98 %"
    assert "some kernel ran: not how full it was" in plain(face)
    assert "waiting is not counted here" in plain(face)
    assert face.tip.startswith("Made-up GPU")
    assert "no kernel ran" in plain(faces.busy(moment(busy=0.0), 0))


def test_power_stands_against_its_limit_with_the_reason_of_the_clock(faces):
    cap = [{"key": "clock_reasons.power_cap", "severity": "limit"}]

    face = faces.power(moment(power_watts=212.0, power_limit_watts=575.0, clock_reasons=cap), 0)

    assert face.number == "212 of 575 W"
    assert "37 % of its limit" in plain(face)
    assert "at its power limit" in plain(face)
    assert face.error_state == "unknown"  # at its limit is no fault


def test_a_gpu_that_is_too_hot_says_so_with_the_sign(faces):
    hot = [{"key": "clock_reasons.software_thermal", "severity": "warning"}]

    for face in (
        faces.power(moment(clock_reasons=hot), 0),
        faces.whole(moment(clock_reasons=hot), 0),
    ):
        assert (face.errors, face.error_state) == ("slowed: too hot", "some")


def test_the_link_says_how_it_runs(faces):
    face = faces.link(moment(pcie_received_bytes_per_s=3.1e9, pcie_sent_bytes_per_s=1e8), 0)

    assert face.number == "3.10 GB/s in"
    assert plain(face) == "100 MB/s out · Gen5 ×16 · at most 63 GB/s"
    assert face.errors == "no errors"


def test_a_link_that_sleeps_is_no_fault_and_one_that_stays_slow_is(faces):
    idle = faces.link(moment(pcie_generation=1, busy=0.0), 0)
    slow = faces.link(moment(pcie_generation=3, busy=0.9), 0)
    narrow = faces.link(moment(pcie_width=8), 0)

    assert "link asleep at Gen1 ×16: no fault" in plain(idle)
    assert not idle.attention
    assert "only Gen3 of Gen5" in plain(slow)
    assert slow.attention
    assert "only ×8 of ×16" in plain(narrow)
    assert narrow.attention


@pytest.mark.parametrize(
    ("name", "value", "words", "state"),
    [
        ("ecc_uncorrected", 2, "uncorrected memory errors: 2", "fault"),
        ("remapping_failed", True, "a memory row was not replaced", "fault"),
        ("remapping_pending", True, "a memory row awaits replacement", "some"),
        ("remapped_rows", 1, "replaced memory rows: 1", "some"),
        ("ecc_corrected", 9, "corrected memory errors: 9", "some"),
    ],
)
def test_errors_of_memory_come_first(faces, name, value, words, state):
    for face in (faces.memory(moment(**{name: value}), 0), faces.whole(moment(**{name: value}), 0)):
        assert (face.errors, face.error_state) == (words, state)


def test_the_worst_error_stands_first_and_all_in_the_tip(faces):
    face = faces.whole(moment(ecc_corrected=9, xid=79, pcie_replays=1), 0)

    assert face.errors == "Xid 79"
    assert "corrected memory errors: 9" in face.tip
    assert "repeated PCIe packets: 1" in face.tip


def test_errors_that_nobody_counts_are_not_said_to_be_none(faces, told):
    told.know_missing([{"what": "gpus[*].xid", "why": "Only root may read them.", "how": ""}])

    face = faces.busy(moment(), 0)

    assert (face.errors, face.error_state) == ("errors unknown", "unknown")
    assert "Only root may read them." in face.tip


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("busy", "busy"),
        ("memory", "memory_used_bytes"),
        ("power", "power_watts"),
        ("nvlink", "nvlink_received_bytes_per_s"),
    ],
)
def test_what_the_driver_does_not_tell_has_its_reason(faces, told, part, name):
    told.know_missing([{"what": f"gpus[*].{name}", "why": "MIG hides it.", "how": ""}])

    face = getattr(faces, part)(moment(**{name: None}), 0)

    assert not face.known
    assert face.number == "not known"
    assert "MIG hides it." in face.detail


def test_a_sleeping_gpu_says_that_nothing_wakes_it(faces):
    face = faces.whole(moment("asleep"), 0)

    assert face.number == "asleep"
    assert "looking does not wake it" in face.detail
    assert not face.attention


def test_a_lost_gpu_says_what_to_do(faces, told):
    told.know_missing(
        [{"what": "gpus[1].busy", "why": "It has fallen off the bus.", "how": "Restart."}]
    )
    lost = faces.whole(moment("lost", 30.0), 1)
    gone = faces.whole(moment("one"), 5)

    assert lost.number == gone.number == "lost"
    assert lost.detail == "It has fallen off the bus.\nRestart."
    assert "GPU is gone" in gone.detail
    assert lost.attention


def test_a_compact_tile_has_it_all(faces):
    face = faces.whole(moment("eight"), 0)

    for words in ("GiB", "of 700 W", "°C", "GHz", "PCIe", "NVLink"):
        assert words in plain(face)


def test_nvlink_says_how_many_and_how_much_they_could(faces):
    face = faces.nvlink(moment("eight", nvlink_sent_bytes_per_s=2e9), 0)

    assert "links" in face.detail
    assert "at most 25 GB/s" in plain(face)
