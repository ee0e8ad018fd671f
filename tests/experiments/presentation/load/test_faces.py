from __future__ import annotations

import pytest

from experiments.core.units import show
from experiments.presentation.load.face import percent, shown_bytes
from experiments.presentation.load.faces import Faces
from experiments.presentation.load.history import History, Moment
from machine.condition import Clock
from machine.model import Cpu, Machine

GIB = 2**30
WHY = "virtual machines are not told the clock"


def moment(*, memory=None, **thread) -> Moment:
    threads = [{"id": n, **thread} for n in range(4)]
    return History().add(1.0, threads, memory or {})


@pytest.fixture
def faces(english) -> Faces:
    faces = Faces(english)
    faces.know_missing([{"what": "threads[*].hz", "why": WHY, "how": ""}])
    return faces


def test_what_is_not_known_says_so_and_why(faces):
    face = faces.clock(moment(hz=None))

    assert face.number == "not known"
    assert face.detail == WHY
    assert not face.known


@pytest.mark.parametrize("name", ["cores", "memory", "swap", "clock", "stolen"])
def test_no_unknown_value_is_shown_as_a_number(faces, name):
    face = getattr(faces, name)(moment())

    assert not any(letter.isdigit() for letter in face.number + face.detail)
    assert not face.known


def test_nothing_is_said_of_errors_where_nobody_counts_them(faces):
    for face in (faces.cores(moment(busy=0.5)), faces.memory(moment())):
        assert face.errors == ""
        assert face.error_state == "unknown"


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (None, "waiting is not counted here"),
        (0.0, "no task waits"),
        (0.12, "tasks waited 12 % of the time"),
    ],
)
def test_cores_say_how_many_are_busy_and_what_waits(faces, share, words):
    face = faces.cores(moment(busy=0.25, memory={"cpu_pressure_fraction": share}))

    assert face.number == "25 %"
    detail = face.detail.replace("\N{NO-BREAK SPACE}", " ")
    assert "1.00 of 4 hardware threads busy" in detail
    assert words in detail


def test_memory_says_what_is_used_in_the_unit_of_the_whole(faces):
    used = {"total_bytes": 24 * GIB, "used_bytes": GIB // 2, "available_bytes": 23.5 * GIB}

    face = faces.memory(moment(memory={**used, "swap_total_bytes": 0}))

    assert face.number == "0.5 of 24.0 GiB"
    assert "no swap" in face.detail
    assert not face.attention


def test_little_memory_left_asks_for_attention(faces):
    full = {"total_bytes": 24 * GIB, "used_bytes": 23.5 * GIB, "available_bytes": 0.5 * GIB}

    assert faces.memory(moment(memory=full)).attention


def test_much_stolen_time_asks_for_attention(faces):
    assert faces.stolen(moment(steal_fraction=0.2)).attention
    assert not faces.stolen(moment(steal_fraction=0.01)).attention


def test_the_limit_of_the_clock_is_said_where_it_is_known(faces):
    faces.know_machine(Machine(cpu=Cpu(clock=Clock(max_hz=5_700_000_000))))

    face = faces.clock(moment(hz=3.2e9))

    assert face.number == "3.20 GHz"
    assert "5.70" in face.detail


def test_only_where_there_is_a_host_can_time_be_stolen(faces):
    assert not faces.may_be_robbed(moment(steal_fraction=0.0))
    assert faces.may_be_robbed(moment(steal_fraction=0.01))
    faces.know_machine(Machine(virtualization="kvm"))
    assert faces.may_be_robbed(moment(steal_fraction=0.0))


def test_what_is_not_told_is_said_in_one_sentence_with_its_reason(faces):
    why = {"why": "A sandbox hides them.", "how": "lsblk"}
    faces.know_missing([{"what": "disks", **why}, {"what": "network", **why}])

    text, tip = faces.not_sampled()

    assert text == "Not available here: disks, network. A sandbox hides them."
    assert "lsblk" in tip


def test_nothing_is_said_to_be_missing_where_all_is_sampled(faces):
    faces.know_missing([])

    assert faces.not_sampled() == ("", "")


def test_a_reading_in_a_gap_is_no_value(faces):
    assert faces.reading(None, 12.0, None) == "no data, 12 s ago"
    assert faces.reading(moment(), 0.0, None) == "not known, now"
    assert faces.reading(moment(), 12.4, "42 %") == "42 %, 12 s ago"
    faces.is_recorded = True
    assert faces.reading(moment(), 12.4, "42 %") == "42 %, 12 s earlier"
    assert faces.thread_reading(moment(), 2) is None
    assert faces.thread_reading(moment(busy=0.5), 2) == "thread 2: 50 %"


def test_numbers_keep_their_width():
    assert percent(0.1249) == "12 %"
    assert shown_bytes(1.5 * GIB) == "1.5 GiB"
    assert shown_bytes(0) == "0 B"


# --- heat -----------------------------------------------------------------------------------------


def heated(*celsius: float | None, limit: float | None = 95.0, **values) -> Moment:
    sensors = [
        {"name": f"Package id {n}", "now_celsius": now, "critical_celsius": limit}
        for n, now in enumerate(celsius)
    ]
    blank = {"watts": None, "throttled_cores": None, "throttled_packages": None}
    return History().add(1.0, [], {}, heat={**blank, "sensors": sensors, **values})


def test_heat_is_that_of_the_hottest_package_with_its_limit_and_power(faces, english):
    face = faces.heat(heated(61.0, 72.0, watts=118.0))

    assert face.number == show(72.0, "celsius")
    assert show(118.0, "watts").replace(" ", "\N{NO-BREAK SPACE}") in face.detail
    assert english.say("live.hottest", {"count": 2}) in face.detail.replace("\xa0", " ")
    assert face.tip.splitlines()[0].startswith("Package id 1")
    assert (face.errors, face.known) == ("", True)


@pytest.mark.parametrize(
    ("counts", "key"), [((0, 0), "live.not_throttled"), ((0, 3), "live.throttled")]
)
def test_heat_says_whether_it_slowed_the_processor_down(faces, english, counts, key):
    cores, packages = counts
    face = faces.heat(heated(90.0, throttled_cores=cores, throttled_packages=packages))

    said = english.say(key, {"count": max(counts)})
    assert said in (face.errors if any(counts) else face.detail)
    assert face.error_state == ("some" if any(counts) else "none")


def test_without_a_temperature_the_reason_is_told_and_the_power_stays(faces):
    faces.know_missing([{"what": "heat.sensors", "why": "No sensor.", "how": ""}])

    face = faces.heat(heated(watts=40.0))

    assert not face.known
    assert face.detail.splitlines()[0] == "No sensor."
    assert "40" in face.detail


def test_a_sensor_that_has_gone_says_why(faces):
    faces.know_missing([{"what": "heat", "why": "No sensor.", "how": "sensors"}])

    assert faces.heat(moment()).detail == "No sensor."
    assert "No sensor." in faces.not_sampled()[0]
