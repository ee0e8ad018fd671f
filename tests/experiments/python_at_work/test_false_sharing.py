from __future__ import annotations

import functools
import statistics
import threading

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.judging.statistics import CANNOT_TELL, TOO_FEW
from experiments.core.teaching.motion import Count, Hold, Travel
from experiments.python_at_work.false_sharing import experiment as false_sharing
from experiments.python_at_work.false_sharing import kernels as counters
from experiments.python_at_work.false_sharing import lesson
from experiments.python_at_work.false_sharing.experiment import (
    ATOMIC,
    DISTANCES_BYTES,
    PLAIN,
    READERS,
    Alone,
    Increment,
    Params,
    analyse,
    measure,
)
from experiments.python_at_work.false_sharing.kernels import (
    increment,
    increment_at_once,
    read_often,
)
from experiments.tools.buffers import Buffer
from experiments.tools.neighbours import FAR, SAME_CACHE, SAME_CORE, UNKNOWN
from machine.inspect import inspect
from tests.experiments.kernel_checks import (
    best_s,
    check_kept,
    check_twice_takes_twice,
    kernels_of,
)
from tests.experiments.machines import machine
from tests.experiments.python_at_work import lessons_of_false_sharing as lessons
from tests.experiments.python_at_work.recorded import lesson_of, recorded

AGREED = {"same_line_s", "far_apart_s", "slowdown", "line_bytes_seen"}

NOISE = (1.0, 1.03, 0.97)
UNSTEADY = {8: (1.0, 0.1, 9.0), 512: (9.0, 1.0, 0.1)}  # each distance has its own
CLIFF_64 = {at: 3e-9 if at < 64 else 0.4e-9 for at in DISTANCES_BYTES}


def rows(of_distance, pair=SAME_CACHE, noise=NOISE):
    return [
        Increment(
            pair=pair,
            distance_bytes=at,
            repeat=repeat,
            increment_s=s * factor,
            together_per_s=2 / (s * factor),
        )
        for at, s in of_distance.items()
        for repeat, factor in enumerate(noise.get(at, NOISE) if isinstance(noise, dict) else noise)
    ]


def found(increments, here=None, alone=(4.4e-9, 4.5e-9, 4.3e-9), plain_alone=()):
    times = {ATOMIC: alone, PLAIN: plain_alone}
    tables = {
        "increments": increments,
        "alone": [
            Alone(increment=name, repeat=turn, increment_s=s)
            for name, each in times.items()
            for turn, s in enumerate(each)
        ],
    }
    return analyse(Params(), tables, here or machine())


def test_neighbours_on_a_line_fight():
    finding = found(rows(CLIFF_64))

    assert finding.message == "neighbours_fight"
    assert finding.values["same_line_s"] == pytest.approx(3e-9)
    assert finding.values["far_apart_s"] == pytest.approx(0.4e-9)
    assert finding.values["slowdown"] == pytest.approx(7.5)
    assert finding.values["line_bytes_seen"] == 64
    assert finding.values["alone_s"] == pytest.approx(4.4e-9)
    assert finding.unclear == ()


def test_a_run_cut_short_tells_the_distances_that_it_reached():
    some = {at: CLIFF_64[at] for at in (16, 32, 64, 128)}
    values = found(rows(some)).values

    assert (values["nearest_bytes"], values["farthest_bytes"]) == (16, 128)


def test_the_line_that_is_seen_is_where_the_cliff_is_not_what_the_system_says():
    wide = {at: 3e-9 if at < 128 else 0.4e-9 for at in DISTANCES_BYTES}

    assert found(rows(wide)).values["line_bytes_seen"] == 128


def test_a_single_dip_within_the_line_is_no_cliff():
    dip = CLIFF_64 | {16: 0.5e-9}

    assert found(rows(dip)).values["line_bytes_seen"] == 64


def test_rounds_that_scatter_tell_nothing_and_show_no_line():
    finding = found(rows(CLIFF_64, noise=UNSTEADY))

    assert finding.message == CANNOT_TELL
    assert finding.unclear == ("slowdown",)
    assert "line_bytes_seen" not in finding.values


def test_the_same_is_said_where_it_is_clear_and_shows_its_number():
    finding = found(rows(dict.fromkeys(DISTANCES_BYTES, 4.4e-9)))

    assert finding.message == "alike"
    assert finding.values["slowdown"] == pytest.approx(1)
    assert finding.unclear == ()


def test_of_two_rounds_nothing_is_said():
    assert found(rows(CLIFF_64, noise=(1.0, 1.03))).message == TOO_FEW


@pytest.mark.parametrize(
    ("near_s", "is_told"), [(0.24e-9, True), (3e-9, False)], ids=["hidden", "as much"]
)
def test_that_the_store_buffer_hides_the_cost_of_plain_increments_is_seen(near_s, is_told):
    plain = {at: near_s if at < 64 else 0.2e-9 for at in DISTANCES_BYTES}
    finding = found(rows(CLIFF_64) + rows(plain, PLAIN))

    assert finding.message == "neighbours_fight"
    assert finding.values["plain_slowdown"] == pytest.approx(near_s / 0.2e-9)
    assert ("plain_is_forwarded" in finding.limits) is is_told


@pytest.mark.parametrize(
    ("plain_s", "is_told"), [((0.3e-9,) * 3, True), ((4.4e-9, 4.5e-9, 4.3e-9), False)]
)
def test_that_an_atomic_costs_more_even_alone_is_told_where_it_does(plain_s, is_told):
    finding = found(rows(CLIFF_64), plain_alone=plain_s)

    assert finding.values["plain_alone_s"] == plain_s[0]
    assert ("at_once_alone" in finding.limits) is is_told


def test_reads_that_take_less_than_a_tick_are_explained():
    readers = rows({at: 0.15e-9 for at in DISTANCES_BYTES}, READERS)

    assert "reads_overlap" in found(rows(CLIFF_64) + readers).limits
    assert "reads_overlap" not in found(rows(CLIFF_64)).limits


def test_neighbours_that_are_faster_are_not_called_slower():
    upside_down = dict(zip(DISTANCES_BYTES, reversed(CLIFF_64.values()), strict=True))

    assert found(rows(upside_down)).message == "near_is_faster"


def test_the_nearest_two_cores_are_compared_and_siblings_stand_beside():
    small = {at: 0.8e-9 if at < 64 else 0.7e-9 for at in DISTANCES_BYTES}
    far = {at: 30e-9 if at < 64 else 0.4e-9 for at in DISTANCES_BYTES}
    finding = found(rows(small, SAME_CORE) + rows(CLIFF_64) + rows(far, FAR))

    assert finding.values["slowdown"] == pytest.approx(7.5)
    assert finding.values["same_core_slowdown"] == pytest.approx(8 / 7)
    assert "no_hardware_threads" not in finding.limits


def test_readers_and_siblings_alone_tell_nothing_of_two_cores():
    for pair in (SAME_CORE, READERS):
        finding = found(rows(CLIFF_64, pair))

        assert finding.message == "nothing_to_compare"
        assert "no_two_cores" in finding.limits


def test_threads_that_could_not_be_placed_are_a_limit():
    assert "cores_not_known" in found(rows(CLIFF_64, UNKNOWN)).limits
    assert "virtual_machine" in found(rows(CLIFF_64), machine(virtualization="kvm")).limits
    assert "virtual_machine" not in found(rows(CLIFF_64), machine(virtualization="none")).limits


def test_a_system_that_pins_no_threads_still_measures_and_says_so(monkeypatch):
    monkeypatch.setattr(false_sharing, "CAN_PIN", False)
    monkeypatch.setattr("experiments.tools.side_by_side.CAN_PIN", False)
    items = list(measure(Params(rounds=1), Bench(inspect(), quick=True)))

    assert Note("not_pinned") in items
    assert {i.pair for i in items if isinstance(i, Increment)} == {UNKNOWN, PLAIN, READERS}


def test_what_both_do_together_follows_from_the_time_of_one():
    items = list(measure(Params(rounds=1), Bench(inspect(), quick=True)))

    assert {a.increment for a in items if isinstance(a, Alone)} == {ATOMIC, PLAIN}
    for each in (item for item in items if isinstance(item, Increment)):
        assert each.increment_s * each.together_per_s == pytest.approx(2)


def test_one_core_measures_one_thread_alone():
    here = inspect()
    one = msgspec.structs.replace(here.cpu, threads_list=here.cpu.threads_list[:1])
    bench = Bench(msgspec.structs.replace(here, cpu=one), quick=True)
    items = list(measure(Params(rounds=1), bench))

    assert [type(i) for i in items if isinstance(i, Alone | Increment)] == [Alone] * 2


def test_siblings_of_which_nobody_can_tell_have_no_slowdown_though_cores_have_one():
    alike = dict.fromkeys(DISTANCES_BYTES, 0.7e-9)
    finding = found(rows(alike, SAME_CORE, noise=UNSTEADY) + rows(CLIFF_64))

    assert finding.message == "neighbours_fight"
    assert finding.unclear == ("same_core_slowdown",)


# --- the kernels --------------------------------------------------------------------------------


@pytest.fixture
def buffer():
    return Buffer(4096)


@pytest.mark.parametrize("kernel", [increment, increment_at_once])
def test_every_increment_is_in_the_counter(buffer, kernel):
    kernel(buffer.address, 12_345)

    assert buffer.words[0] == 12_346  # a buffer is filled with ones
    assert set(buffer.words[1:]) == {1}


def test_two_threads_on_one_line_lose_nothing(buffer):
    threads = [
        threading.Thread(target=increment, args=(buffer.address + np.uint64(8 * n), 300_000))
        for n in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert list(buffer.words[:2]) == [300_001, 300_001]


def test_reads_add_up(buffer):
    buffer.words[0] = 3

    assert read_often(buffer.address, 1000) == 3000


@pytest.mark.parametrize(
    ("kernel", "count"),
    [(increment, 2_000_000), (increment_at_once, 400_000), (read_often, 2_000_000)],
)
def test_twice_the_work_takes_about_twice_as_long(buffer, kernel, count):
    check_twice_takes_twice(functools.partial(kernel, buffer.address), count)


@pytest.mark.parametrize("kernel", [increment, read_often])
def test_an_increment_is_not_taken_out_of_its_loop(buffer, kernel):
    """Trap 6 of measurement.md: a hoisted loop would take 0.01 ns an increment."""
    assert best_s(functools.partial(kernel, buffer.address), 5_000_000) / 5_000_000 > 0.05e-9


def test_every_kernel_lets_go_of_the_lock_and_is_kept_on_disk():
    check_kept(kernels_of(counters))


# --- the place of the first counter, and the lesson ----------------------------------------------


@pytest.mark.parametrize(("first_bytes", "seen"), [(0, 64), (48, None)])
def test_the_line_is_seen_only_from_its_beginning(first_bytes, seen):
    tables = {"increments": rows(CLIFF_64), "alone": []}
    values = analyse(Params(first_bytes=first_bytes), tables, machine()).values

    assert values["fall_bytes"] == 64
    assert values.get("line_bytes_seen") == seen


@pytest.mark.parametrize(
    ("first_bytes", "message"), [(0, "alike"), (48, "alike"), (56, "apart_anyway")]
)
def test_counters_that_share_no_line_are_not_blamed_on_the_machine(first_bytes, message):
    here = machine()
    caches = tuple(msgspec.structs.replace(each, line_bytes=64) for each in here.cpu.caches)
    here = msgspec.structs.replace(here, cpu=msgspec.structs.replace(here.cpu, caches=caches))
    tables = {"increments": rows(dict.fromkeys(DISTANCES_BYTES, 3e-9)), "alone": []}

    assert analyse(Params(first_bytes=first_bytes), tables, here).message == message


def test_the_first_counter_begins_where_it_was_asked_to(monkeypatch):
    places = []

    class Work:
        def __init__(self, _kernel, place, _bench):
            self._line = place // 64 * 64

        def seconds_each(self, threads, at):
            places.append([each - self._line for each in at])
            return [1e-9 for _ in threads]

    monkeypatch.setattr(false_sharing, "Work", Work)
    list(measure(Params(first_bytes=52, rounds=1), Bench(inspect())))

    assert {each[0] for each in places} == {48}  # whole words
    assert [48, 48 + 8] in places


def explained(run):
    return lesson_of("false-sharing").explain(run, None)


def test_the_distance_at_which_lines_differ_is_that_of_the_run():
    """It said "from 64 bytes apart on, each core keeps what it owns", and that a line has 64."""
    early = lessons.made(lessons.FIGHT, values=lessons.USUAL | {"fall_bytes": 16})

    assert "From 16 B on, the counters lie in different lines." in explained(early).text
    assert "64" not in explained(early).text


def test_a_line_walks_in_the_nanoseconds_that_were_measured():
    motion = lesson.motion(lessons.made(lessons.FIGHT), None)
    near, far = (scene.events for scene in motion.scenes)
    held = [each for each in near if isinstance(each, Hold)]
    walked = [each for each in near if isinstance(each, Travel)]
    counts = [each for scene in (near, far) for each in scene if isinstance(each, Count)]

    assert motion.duration_s == pytest.approx(8 * 30e-9)  # each core writes eight times
    assert {round((h.end_s - h.start_s) * 1e9, 3) for h in held} == {3.0}
    assert {round((t.end_s - t.start_s) * 1e9, 3) for t in walked} == {12.0}
    assert [h.shape for h in held[:3]] == ["core_0", "core_1", "core_0"]
    assert [each.at(motion.duration_s) for each in counts] == [8, 8, 80, 80]
    assert lesson.motion(lessons.made("alike", values=lessons.ALIKE), None) is None


def test_plain_increments_are_explained_where_they_lose_more_and_are_quick_far_apart():
    run = recorded("false-sharing")
    at = ("plain", run.values["farthest_bytes"])
    rows = run.tables["increments"]
    far = [row.increment_s for row in rows if (row.pair, row.distance_bytes) == at]

    assert lesson.plain_lose_more(run)
    assert lesson.numbers(run, None)["plain_far_s"] == statistics.median(far)
    less = replace(run, values={**run.values, "plain_slowdown": 8.0})
    assert not lesson.plain_lose_more(less)
