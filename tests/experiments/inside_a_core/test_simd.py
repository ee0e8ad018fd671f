from __future__ import annotations

import statistics

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.judging.statistics import CANNOT_TELL
from experiments.core.teaching.motion import Pointed, Travel
from experiments.inside_a_core.simd import experiment as simd
from experiments.inside_a_core.simd import lesson
from experiments.inside_a_core.simd.experiment import (
    PYTHON,
    SCALAR,
    Params,
    Rate,
    analyse,
    measure,
    seconds,
    sizes,
)
from experiments.inside_a_core.simd.lesson import motion
from machine.inspect import inspect
from machine.model import Machine
from tests.experiments.core.teaching.shown import recorded
from tests.experiments.inside_a_core.lessons_of_simd import RUNS
from tests.experiments.machines import GIB, KIB, MIB, machine

AGREED = {"scalar_per_s", "vector_per_s", "gain_in_l1", "gain_in_memory", "width_bits"}

PARAMS = Params(largest_bytes=128 * MIB)
NOISE = (1.0, 1.02, 0.98, 1.01, 0.99)
UNSTEADY = {SCALAR: (0.1, 1.0, 10.0), "128": (10.0, 0.1, 1.0), "256": (1.0, 10.0, 0.1)}


def rates(per_s, params=PARAMS, noise=NOISE):
    """Rows of every size; `per_s` is a function of (way, size in bytes).

    `noise` is a factor for each round, or such factors for each way.
    """
    return [
        Rate(size_bytes=size, way=way, repeat=turn, elements_per_s=per_s(way, size) * factor,
             read_bytes_per_s=4 * per_s(way, size) * factor)
        for size in sizes(params)
        for way in (SCALAR, "128", "256")
        for turn, factor in enumerate(noise[way] if isinstance(noise, dict) else noise)
    ]  # fmt: skip


def textbook(way, size, memory_per_s=4e9):
    lanes = 1 if way == SCALAR else int(way) // 32
    return min(5e9 * lanes, 50e9 if size <= 16 * MIB else memory_per_s)


def found(rows, here=None, params=PARAMS):
    return analyse(params, {"rates": rows}, here or machine())


def test_the_gain_of_the_first_cache_is_gone_in_memory():
    finding = found(rates(textbook))

    assert finding.message == "gain_in_cache_alone"
    assert finding.values["scalar_per_s"] == pytest.approx(5e9)
    assert finding.values["vector_per_s"] == pytest.approx(40e9)
    assert finding.values["gain_in_l1"] == pytest.approx(8)
    assert finding.values["gain_in_memory"] == pytest.approx(1)
    assert finding.unclear == ()
    assert "still_gains" not in finding.limits
    assert finding.values["width_bits"] == 256
    assert finding.values["all_lanes_per_s"] == pytest.approx(40e9)


@pytest.mark.parametrize(("memory_per_s", "message"), [(9e9, "gain_fades"), (1e12, "gain_fades")])
def test_a_gain_that_is_left_in_memory_is_said(memory_per_s, message):
    def cached_alike(way, size):
        return textbook(way, size, memory_per_s) * (0.9 if way == "256" and size > MIB else 1)

    assert found(rates(cached_alike)).message == message
    assert "still_gains" in found(rates(cached_alike)).limits


def test_why_the_line_of_plain_python_ends_early_is_told():
    rows = rates(textbook)
    listed = [replace(rate, way=PYTHON) for rate in rows if rate.way == SCALAR]
    assert "python_ends_early" not in found(rows).limits
    assert "python_ends_early" in found([*rows, *listed[:9]]).limits


@pytest.mark.parametrize(
    ("of_half", "told"), [(1.0, "no_wider_gain"), (1.4, "half_is_faster"), (0.6, None)]
)
def test_how_the_widest_stand_to_those_of_half_the_width_is_told(of_half, told):
    def per_s(way, size):
        return 30e9 * of_half if way == "128" else textbook(way, size)

    wide = rates(lambda way, size: 30e9 if way == "256" else per_s(way, size))
    limits = found(wide).limits

    assert {"no_wider_gain", "half_is_faster", "half_is_unclear"} & {*limits} == {told} - {None}
    few = found([rate for rate in wide if rate.repeat < 2]).limits
    assert not {"no_wider_gain", "half_is_faster", "half_is_unclear"} & {*few}


def test_a_difference_from_half_the_width_that_is_not_shown_is_not_called_none():
    noise = {SCALAR: NOISE, "128": NOISE, "256": (0.5, 1.0, 0.6, 0.9, 0.4)}

    assert "half_is_unclear" in found(rates(textbook, noise=noise)).limits


def test_why_the_widest_gain_less_than_their_lanes_is_told():
    fed = rates(lambda way, size: textbook(way, size) * (0.7 if way == "256" else 1))
    assert "too_slow_for_vectors" in found(fed).limits
    assert "too_slow_for_vectors" not in found(rates(textbook)).limits
    assert "too_slow_for_vectors" not in found([rate for rate in fed if rate.repeat < 2]).limits


def test_the_caches_stand_in_the_plot_and_a_guest_may_have_a_part_of_the_last():
    guest = found(rates(textbook), machine(virtualization="kvm"))

    assert guest.values["l2_bytes"] == MIB
    assert "part_of_l3" in guest.limits
    assert "part_of_l3" not in found(rates(textbook)).limits


def test_memory_that_keeps_up_is_said_to():
    assert found(rates(lambda way, _size: textbook(way, MIB))).message == "gain_everywhere"


def test_of_rounds_that_scatter_neither_a_gain_nor_none_is_told():
    finding = found(rates(textbook, noise=UNSTEADY))

    assert finding.message == CANNOT_TELL
    assert set(finding.unclear) == {"gain_in_l1", "gain_in_memory"}


def test_vectors_that_are_as_fast_are_no_gain():
    finding = found(rates(lambda _way, _size: 5e9))

    assert finding.message == "no_gain"
    assert finding.values["gain_in_l1"] == pytest.approx(1)
    assert finding.unclear == ()


def test_a_gain_in_memory_of_which_nobody_can_tell_is_not_called_none():
    rows = [
        replace(rate, elements_per_s=rate.elements_per_s * UNSTEADY[rate.way][rate.repeat % 3])
        if rate.size_bytes > 16 * MIB
        else rate
        for rate in rates(textbook)
    ]
    finding = found(rows)

    assert finding.message == "gain_in_cache_memory_unclear"
    assert finding.unclear == ("gain_in_memory",)
    assert "still_gains" not in finding.limits


def test_a_gain_in_memory_that_is_small_at_most_is_said_to_be():
    finding = found_of(RUNS["gain_hardly_in_memory"])

    assert finding.message == "gain_hardly_in_memory"
    assert finding.unclear == ("gain_in_memory",)


def found_of(run):
    return analyse(run.params, run.tables, run.machine)


def test_numbers_that_are_added_often_count_each_time_and_are_loaded_once():
    params = Params(largest_bytes=MIB, additions=4, rounds=1)
    rows = [i for i in measure(params, Bench(inspect())) if isinstance(i, Rate)]

    assert PYTHON not in {row.way for row in rows}
    assert all(row.elements_per_s == pytest.approx(row.read_bytes_per_s) for row in rows)
    assert seconds(replace(PARAMS, additions=32)) > 1.5 * seconds(PARAMS)


# --- the motion of the lesson ---------------------------------------------------------------------


def test_an_instruction_moves_as_long_as_its_numbers_took_and_brings_them_all():
    run = RUNS["usual"]
    scenes = {scene.title: scene.events for scene in motion(run, None).scenes}
    travels = {name: [e for e in of if isinstance(e, Travel)] for name, of in scenes.items()}
    took_s = {name: of[0].end_s - of[0].start_s for name, of in travels.items()}

    assert took_s["l1_single"] == pytest.approx(1 / 5e9)
    assert took_s["l1_wide"] == pytest.approx(8 / 40e9)
    assert took_s["memory_wide"] == pytest.approx(8 / (1.1 * 7.5e9))
    assert {each.token for each in travels["memory_wide"]} == {"8"}
    end_s = motion(run, None).duration_s
    assert scenes["l1_wide"][-1].at(end_s) == pytest.approx(40e9 * end_s, abs=1)


def test_a_size_that_is_pointed_at_moves_alone_and_one_not_measured_not_at_all():
    here = motion(RUNS["usual"], Pointed(view="rate", at=8.0 * MIB))
    assert [scene.title for scene in here.scenes] == ["here_single", "here_wide"]
    assert motion(RUNS["usual"], Pointed(view="rate", at=5.0)) is None


def test_vectors_that_are_clearly_slower_are_no_gain_either():
    finding = found(rates(lambda way, _size: 5e9 if way == SCALAR else 3e9))

    assert finding.message == "no_gain"
    assert finding.unclear == ()


def test_without_large_arrays_only_the_cache_is_spoken_of():
    small = Params(largest_bytes=MIB)
    finding = found(rates(textbook, small), params=small)

    assert finding.message == "gain_in_cache"
    assert "gain_in_memory" not in finding.values
    assert "no_memory_gain" in finding.limits


def test_without_vectors_or_a_known_cache_nothing_is_compared():
    scalar = [row for row in rates(textbook) if row.way == SCALAR]

    for finding in (found(scalar), found(rates(textbook), Machine())):
        assert finding.message == "nothing_to_compare"
        assert "no_l1_gain" in finding.limits


def test_numbers_twice_as_wide_are_half_as_many_in_a_vector():
    params = Params(largest_bytes=128 * MIB, numbers="float64")
    finding = found(rates(textbook), machine(peak_bytes_per_s=80e9), params)

    assert finding.values["lanes"] == 4
    assert finding.values["bandwidth_limit_per_s"] == pytest.approx(10e9)


@pytest.mark.parametrize("numbers", ["float32", "float64"])
def test_every_way_is_measured_and_python_where_it_is_short_enough(numbers):
    params = Params(largest_bytes=MIB, numbers=numbers, rounds=1)
    rows = [i for i in measure(params, Bench(inspect())) if isinstance(i, Rate)]
    of_size = {size: {row.way for row in rows if row.size_bytes == size} for size in sizes(params)}

    assert {SCALAR, "128"} <= of_size[MIB]
    assert PYTHON in of_size[256 * KIB]
    assert PYTHON not in of_size[MIB]
    assert all(row.elements_per_s > 1e5 for row in rows)


def test_vectors_wider_than_the_processor_has_are_left_out(monkeypatch):
    monkeypatch.setattr("experiments.kernels.simd_sums.widest_bits", lambda: 128)

    assert list(simd.ways_for(32)) == [PYTHON, SCALAR, "128"]


def test_the_default_fits_a_large_cache_little_memory_and_half_a_minute(free_memory):
    free_memory(100 * GIB)
    large = simd.EXPERIMENT.suited(machine(caches=(48 * KIB, 2 * MIB, 384 * MIB)))
    assert large.largest_bytes == 2 * GIB
    assert seconds(large) < 30
    free_memory(100 * MIB)
    assert simd.EXPERIMENT.suited(machine()).largest_bytes == 50 * MIB


def test_the_rates_at_the_right_end_are_those_of_the_run_and_said_only_where_they_lie_closer():
    """ "About the same bytes in a second" stood there, of 10.7, 12.6 and 15.4 GB/s."""
    run = recorded(simd.EXPERIMENT)
    at_end = [row for row in run.tables["rates"] if row.size_bytes == run.params.largest_bytes]
    read = {way: statistics.median(row.read_bytes_per_s for row in at_end if row.way == way)
            for way in (SCALAR, "256")}  # fmt: skip
    values = lesson.numbers(run, None)

    assert read["256"] > 1.3 * read[SCALAR]
    assert values["single_far_bytes_per_s"] == pytest.approx(read[SCALAR])
    assert values["widest_far_bytes_per_s"] == pytest.approx(read["256"])
    assert lesson.closer_in_memory(run)
    assert not lesson.closer_in_memory(RUNS["gains_everywhere"])


def test_half_width_vectors_refute_nothing_where_they_are_as_fast_in_l1():
    assert lesson.one_width(RUNS["halves_alike"])
    assert not lesson.one_width(RUNS["usual"])


def test_l2_is_said_to_deliver_less_only_where_vectors_gain_less_from_it():
    run = recorded(simd.EXPERIMENT)

    assert lesson.numbers(run, None)["gain_in_l2"] == pytest.approx(4, rel=0.05)
    assert lesson.l2_gains_less(run)
    assert not lesson.l2_gains_less(RUNS["usual"])
