from __future__ import annotations

import itertools
import os
import threading
import time

import msgspec
import pytest

from experiments.core.bench import Bench, StopRequested
from experiments.core.declare import Need, Note
from experiments.core.judging.statistics import CANNOT_TELL, TOO_FEW
from experiments.core.needs import missing_need
from experiments.core.teaching.motion import Travel
from experiments.python_at_work.core_to_core import experiment as core_to_core
from experiments.python_at_work.core_to_core import kernels as handover
from experiments.python_at_work.core_to_core import lesson
from experiments.python_at_work.core_to_core.experiment import (
    EXPERIMENT,
    Handover,
    Params,
    Slots,
    analyse,
    chosen,
    measure,
    one_way_s,
    seconds,
)
from experiments.python_at_work.core_to_core.kernels import hand_over
from experiments.tools.buffers import Buffer
from experiments.tools.neighbours import SAME_CORE
from machine.inspect import inspect
from machine.model import Machine, Thread
from tests.cases import in_one
from tests.experiments.kernel_checks import check_kept, kernels_of
from tests.experiments.machines import machine
from tests.experiments.python_at_work import lessons_of_core_to_core as lessons

AGREED = {"median_s", "fastest_s", "slowest_s", "group_count"}

HERE = inspect()
two_cores = pytest.mark.skipif(
    missing_need(EXPERIMENT, HERE) is not None, reason="needs two cores that threads are kept on"
)
NOISE = (1.0, 1.02, 0.98, 1.01, 0.99)
UNSTEADY = (0.7, 1.0, 1.5, 0.9, 1.2)


def handovers(latency_s, cores, noise=NOISE):
    """Every pair's rounds have the same noise, each pair beginning with another."""
    return [
        Handover(first=str(a), second=str(b), shared="same_cache", repeat=turn,
                 latency_s=latency_s(a, b) * noise[(turn + a + b) % len(noise)])
        for a, b in itertools.combinations(range(cores), 2)
        for turn in range(len(noise))
    ]  # fmt: skip


def found(rows, here=None):
    return analyse(Params(), {"handovers": rows}, here or machine(cores=8))


def in_groups_of(size, near_s=20e-9, far_s=100e-9):
    return lambda a, b: near_s if a // size == b // size else far_s


@pytest.mark.parametrize(("size", "groups"), [(4, 2), (2, 4)])
def test_groups_appear_from_the_timings_alone(size, groups):
    finding = found(handovers(in_groups_of(size), 8))

    assert finding.message == "groups_seen"
    assert finding.values["group_count"] == groups
    assert finding.values["fastest_s"] == pytest.approx(20e-9)
    assert finding.values["slowest_s"] == pytest.approx(100e-9)


def test_the_greatest_step_decides_where_there_are_several():
    def three_levels(a, b):
        return 20e-9 if a // 2 == b // 2 else 30e-9 if a // 4 == b // 4 else 150e-9

    assert found(handovers(three_levels, 8)).values["group_count"] == 2


def test_cores_that_are_equally_near_are_one_group():
    finding = found(handovers(lambda a, b: 30e-9 + (a + b) * 1e-10, 8))

    assert finding.message == "all_alike"
    assert finding.values["group_count"] == 1


@pytest.mark.parametrize("near_s", [60e-9, 88e-9], ids=["a step", "no step"])
def test_where_the_rounds_scatter_cores_are_neither_grouped_nor_called_alike(near_s):
    finding = found(handovers(in_groups_of(4, near_s, 90e-9), 8, noise=UNSTEADY))

    assert finding.message == CANNOT_TELL
    assert "group_count" not in finding.values
    assert "unsteady" in finding.limits


def test_of_two_rounds_no_groups_are_told():
    assert found(handovers(in_groups_of(4), 8, noise=(1.0, 1.01))).message == TOO_FEW


def test_distances_without_a_gap_differ_and_make_no_groups():
    finding = found(handovers(lambda a, b: 20e-9 * 1.2 ** abs(a - b), 8))

    assert finding.message == "distances_differ"
    assert finding.values["group_count"] == 1


def test_a_ring_of_near_pairs_is_one_group_and_not_called_several():
    def ring(a, b):
        return 20e-9 if abs(a - b) in (1, 7) else 100e-9

    assert found(handovers(ring, 8)).message == "distances_differ"


def test_two_cores_are_no_map_and_soon_measured():
    finding = found(handovers(lambda _a, _b: 30e-9, 2), machine(cores=2))

    assert finding.message == "one_pair"
    assert "group_count" not in finding.values
    assert seconds(core_to_core.EXPERIMENT.suited(machine(cores=2))) < 1


def test_a_part_of_the_matrix_counts_no_groups():
    finding = found(handovers(in_groups_of(4), 8)[:40])

    assert finding.message == "matrix_in_part"
    assert "group_count" not in finding.values
    assert "pairs_missing" in finding.limits


def test_a_thinned_matrix_and_a_virtual_machine_are_limits():
    rows = handovers(in_groups_of(4), 8)

    assert "some_cores_only" in found(rows, machine(cores=16)).limits
    assert "some_cores_only" not in found(rows, machine(cores=8)).limits
    assert "virtual_machine" in found(rows, machine(virtualization="kvm")).limits


def test_cores_stand_under_their_numbers_where_these_are_in_order():
    assert list(chosen(Params(cores=64), machine(cores=4, threads_per_core=2))) == list("0123")


def test_numbers_out_of_order_get_their_place_in_the_topology_before_them():
    threads = tuple(
        Thread(id=n, core=n, package=n % 2, online=True, usable=True) for n in range(12)
    )
    here = msgspec.structs.replace(machine(), cpu=msgspec.structs.replace(machine().cpu,
                               threads_list=threads, caches=()))  # fmt: skip
    names = list(chosen(Params(cores=64), here))

    assert names == sorted(names)
    assert names[:3] == ["00·0", "01·2", "02·4"]
    assert names[6] == "06·1"


def test_hardware_threads_of_a_core_stand_side_by_side():
    here = machine(cores=4, threads_per_core=2)
    names = chosen(Params(cores=64, hardware_threads=True), here)

    assert [thread.id for thread in names.values()] == [0, 4, 1, 5, 2, 6, 3, 7]
    assert list(names) == sorted(names)


def test_many_cores_are_thinned_evenly_and_estimated():
    here = machine(cores=256)
    params = core_to_core.EXPERIMENT.suited(here)

    assert [thread.id for thread in chosen(params, here).values()] == list(range(0, 256, 4))
    assert seconds(params) <= 30


def test_a_machine_without_pinning_or_a_second_core_is_told_so(monkeypatch):
    needing = msgspec.structs.replace(EXPERIMENT, needs=(Need.CORE_PAIR,))
    assert missing_need(needing, machine(cores=1)) is Need.CORE_PAIR
    assert missing_need(needing, Machine()) is Need.CORE_PAIR
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    assert missing_need(needing, machine(cores=4)) is Need.CORE_PAIR


@two_cores
def test_both_halves_of_the_matrix_are_measured_and_affinity_comes_back():
    before = os.sched_getaffinity(0)
    items = list(measure(Params(cores=2, lines=2, rounds=2), Bench(HERE)))
    rows = [item for item in items if isinstance(item, Handover)]

    assert [row.repeat for row in rows] == [0, 1]
    assert rows[0].first == rows[1].second
    assert all(1e-9 < row.latency_s < 1e-3 for row in rows)
    assert os.sched_getaffinity(0) == before


@two_cores
def test_a_stop_in_the_middle_leaves_no_thread_behind():
    asked = iter([False] * 3)
    bench = Bench(HERE, stop=lambda: next(asked, True))
    with pytest.raises(StopRequested):
        one_way_s(Slots(4), 0, 1, bench)

    assert not [each for each in threading.enumerate() if each.name == "answering"]


@two_cores
def test_two_that_never_meet_give_no_figure(monkeypatch):
    slots = Slots(2)
    monkeypatch.setattr(slots, "clear", lambda: slots.give_up())  # all is up from the start
    monkeypatch.setattr(core_to_core, "pin", lambda _thread: time.sleep(0.2))

    assert one_way_s(slots, 0, 1, Bench(HERE)) is None


@two_cores
def test_a_pair_without_a_figure_is_noted(monkeypatch):
    monkeypatch.setattr(core_to_core, "one_way_s", lambda *_: None)
    items = list(measure(Params(cores=2, lines=2, rounds=1), Bench(HERE)))

    assert [i.key for i in items if isinstance(i, Note)] == ["pair_too_disturbed"]
    assert not [i for i in items if isinstance(i, Handover)]


# --- the kernel ---------------------------------------------------------------------------------


@pytest.fixture
def buffer():
    return Buffer(4096)


def test_a_word_goes_to_and_fro(buffer):
    buffer.words[:] = 0
    word, up = int(buffer.address) + 512, int(buffer.address)
    other = threading.Thread(target=hand_over, args=(word, up, 5_000, 1, 0))
    other.start()

    assert hand_over(word, up, 5_000, 0, 1)
    other.join()
    assert buffer.words[64] == 0
    assert buffer.words[0] == 0


def test_who_is_told_that_all_is_up_waits_no_longer(buffer):
    buffer.words[:] = 0
    buffer.words[0] = 1

    assert not hand_over(int(buffer.address) + 512, int(buffer.address), 1, 1, 0)


def test_who_waits_in_vain_says_so_and_ends(buffer, monkeypatch):
    from numba import njit

    monkeypatch.setattr(handover, "_GIVE_UP", 10_000)
    impatient = njit(handover.hand_over.signatures, nogil=True)(handover.hand_over.py_func)
    buffer.words[:] = 0

    assert not impatient(int(buffer.address) + 512, int(buffer.address), 1, 1, 0)
    assert buffer.words[0] == 1


def test_the_kernel_lets_go_of_the_lock_and_is_kept_on_disk():
    check_kept(kernels_of(handover))


# --- the lesson ---------------------------------------------------------------------------------


def test_the_brightest_cells_are_those_between_groups_whichever_core_times():
    spot = lesson.farthest(lessons.RUNS["two_dies"])

    assert set(spot.pairs) == {
        (str(a), str(b)) for a in range(8) for b in range(8) if a // 4 != b // 4
    }


@in_one("name", ["one_die", "two_cores"])
def test_where_all_cells_are_alike_any_is_right(name):
    run = lessons.RUNS[name]
    cells = {(row.first, row.second) for row in run.tables["handovers"]}

    assert cells < set(lesson.farthest(run).pairs)


def test_the_farthest_pair_is_held_against_the_nearest_and_one_pair_against_nothing():
    far = lesson.numbers(lessons.RUNS["four_dies"], None)["farthest_over_nearest"]

    assert far == pytest.approx(110 / 25)
    assert lesson.numbers(lessons.RUNS["two_cores"], None) == {}


def test_short_timings_are_counted_where_a_host_may_have_made_them():
    """As in the recording, where two virtual cores seldom met on one real core."""
    run = lessons.RUNS["a_virtual_machine"]
    first, *rest = run.tables["handovers"]
    short = msgspec.structs.replace(first, latency_s=9e-9)
    moved = msgspec.structs.replace(run, tables={"handovers": [short, *rest]})

    assert lesson.host_moved(moved)
    assert lesson.numbers(moved, None)["short_timings"] == 1
    assert not lesson.host_moved(run)
    assert not lesson.host_moved(lessons.RUNS["two_dies"])  # near pairs, not short timings


def test_the_near_and_the_far_line_walk_as_fast_as_measured():
    run = lessons.RUNS["two_dies"]
    near, far = lesson.motion(run, None).scenes
    for scene, way_s in ((near, 25e-9), (far, 110e-9)):
        ways = [event for event in scene.events if isinstance(event, Travel)]
        assert all(each.end_s - each.start_s == pytest.approx(way_s) for each in ways)
        assert ways[0].along == ways[1].along[::-1]


@in_one(("name", "scenes", "said"), [("one_die", 2, "in_step"), ("two_dies", 2, "ahead"),
                                     ("two_cores", 1, "begin")])  # fmt: skip
def test_what_is_said_follows_the_two_lines(name, scenes, said):
    motion = lesson.motion(lessons.RUNS[name], None)

    assert len(motion.scenes) == scenes
    assert motion.says[-1].text == said


def test_siblings_that_are_no_nearer_than_cores_reach_nothing():
    params = lessons.REACHING["siblings_nearer"]
    alike = lessons.modelled(params, ways_s=lessons.WAYS_S | {SAME_CORE: 24e-9})

    assert not lesson.siblings_nearer(alike)


@in_one("params", [Params(lines=1, rounds=2), Params(lines=3, rounds=2), Params(lines=2, rounds=5)])
def test_too_few_rounds_or_too_many_ways_miss_the_goal(params):
    assert not lesson.clear_with_little(lessons.modelled(params))
