from __future__ import annotations

import array
import sys

import numpy as np
import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.judging.comparing import beside_load
from experiments.core.teaching.lesson_run import Spot
from experiments.core.teaching.motion import Travel
from experiments.python_at_work.python_objects import lesson
from experiments.python_at_work.python_objects.experiment import (
    ARRAY,
    EXPERIMENT,
    FLOATS,
    HELD,
    INTEGERS,
    KINDS,
    LIST,
    NUMPY,
    SET,
    SHUFFLED,
    SHUFFLED_ARRAY,
    TUPLE,
    WAYS,
    Params,
    Summed,
    analyse,
    bytes_each,
    drawn,
    element_s,
    measure,
    summed,
)
from machine.inspect import inspect
from tests.experiments.core.teaching.shown import recorded
from tests.experiments.machines import MIB, machine
from tests.experiments.python_at_work.lessons_of_python_objects import (
    FLAT,
    RUNS,
    SHARED,
    SMALL,
    tables,
)

AGREED = {"list_s", "shuffled_list_s", "array_s", "numpy_s", "list_bytes", "numpy_bytes"}
AGREED_COLUMNS = {"sums": {"numbers", "way", "element_s"}}


def found(rows, params=None, here=None):
    return analyse(params or Params(), rows, here or machine())


def test_objects_all_over_memory_cost_time_and_a_list_in_order_does_not():
    finding = found(tables())

    assert finding.message == "objects_all_over"
    assert finding.values["shuffled_over_in_order"] == pytest.approx(8)
    assert finding.values["list_over_numpy"] == pytest.approx(10)
    assert finding.values["numbers"] == 2**22
    assert finding.values["list_lookup_s"] / finding.values["set_lookup_s"] > 1000
    assert "loop_is_slower" in finding.limits


@pytest.mark.parametrize(("shuffled_ns", "message"), [(3.0, "order_is_free"),
    (3.4, "order_is_free"), (4.0, "objects_all_over")])  # fmt: skip
def test_an_order_that_costs_little_is_said_to_be_free(shuffled_ns, message):
    assert found(tables(dict.fromkeys(FLAT, shuffled_ns))).message == message


def test_numpy_without_a_gain_is_told_and_rounds_that_scatter_tell_nothing():
    assert found(tables(ns={NUMPY: 3.5})).message == "numpy_no_faster"
    scattered = {LIST: (0.1, 9, 1, 4, 0.3)}
    assert found(tables(noise=scattered)).message == "cannot_tell"
    two = {way: (1.0, 1.0) for way in WAYS}
    assert found(tables(noise=two)).message == "too_few_rounds"


def test_the_longest_list_that_all_ways_reached_is_compared():
    rows = tables()
    rows["sums"] = [r for r in rows["sums"] if (r.numbers, r.way) != (2**22, NUMPY)]
    assert found(rows).values["numbers"] == 2**20
    rows["sums"] = [r for r in rows["sums"] if r.way != TUPLE]
    assert found(rows).message == "nothing_to_compare"


def test_beside_load_an_effect_that_load_may_make_is_not_claimed():
    with beside_load(1.6):
        assert found(tables()).message == "objects_all_over"
        assert found(tables(dict.fromkeys(FLAT, 4.0))).message == "cannot_tell"


def test_shared_objects_and_caches_that_hold_all_are_named():
    assert "shared_objects" in found(tables(FLAT, held=SHARED), SMALL).limits
    assert "shared_objects" not in found(tables()).limits
    small = tables(lengths=(2**10,))
    assert "partly_in_cache" in found(small).limits
    assert "partly_in_cache" not in found(tables()).limits


# --- what is held, and how it is added up -------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_each_way_holds_the_same_numbers_and_the_shuffled_ones_the_same_objects(kind):
    params = Params(most_numbers=2**12, kind=kind)
    held = {(n, way): each for n, way, (each, _) in summed(params)}
    numbers = drawn(params, 2**12).tolist()

    assert {n for n, _ in held} == {2**10, 2**12}
    for way in WAYS:
        assert sorted(held[2**12, way]) == sorted(numbers), way
    in_order, shuffled = held[2**12, LIST], held[2**12, SHUFFLED]
    assert in_order == numbers != shuffled
    assert {*map(id, in_order)} == {*map(id, shuffled)}
    assert held[2**12, SHUFFLED_ARRAY].tolist() == shuffled
    assert isinstance(held[2**12, ARRAY], array.array)
    assert isinstance(held[2**12, NUMPY], np.ndarray)


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_are_those_that_python_says_of_each_object(kind):
    """Against `sys.getsizeof`, which leaves out 4 of the 32 bytes asked for a small integer."""
    numbers = drawn(Params(kind=kind), 2**14)
    for way in HELD:
        held = HELD[way](numbers)
        objects = {id(each): each for each in held} if way in (LIST, TUPLE, SET) else {}
        told = sys.getsizeof(held) + sum(map(sys.getsizeof, objects.values()))
        assert bytes_each(way, numbers) == pytest.approx(told / len(held), rel=0.12), way


def test_small_integers_are_shared_so_a_list_takes_their_addresses_alone():
    assert bytes_each(LIST, drawn(SMALL, 2**12)) == pytest.approx(8, abs=0.5)
    assert bytes_each(LIST, drawn(Params(kind=INTEGERS), 2**12)) > 30
    assert bytes_each(NUMPY, drawn(Params(kind=FLOATS), 2**12)) == pytest.approx(8, abs=0.2)


def test_numpy_adds_a_list_of_a_million_numbers_faster_than_python():
    bench, numbers = Bench(inspect()), drawn(Params(), 2**17)
    python, numpy = (
        min(element_s(way, (HELD[way](numbers),) * 2, bench) for _ in range(3))
        for way in (LIST, NUMPY)
    )
    assert numpy < python / 3


def test_a_run_times_each_way_and_length_in_each_round():
    params = replace(Params(), most_numbers=2**12, rounds=2)
    rows = [r for r in measure(params, Bench(inspect())) if isinstance(r, Summed)]
    assert len({(r.numbers, r.way, r.repeat) for r in rows}) == 2 * len(WAYS) * 2


def test_the_most_numbers_are_a_length_that_is_measured_and_fit_the_machine():
    large = EXPERIMENT.suited(machine(cores=64, caches=(48 * 2**10, 2 * MIB, 384 * MIB)))
    for params in (EXPERIMENT.suited(machine()), large):
        assert params.most_numbers == 2**10 * 4 ** round(np.log2(params.most_numbers / 2**10) / 2)
    assert large.most_numbers * 32 > 384 * MIB or large.most_numbers >= 2**20


# --- the lesson ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("ns", "option"), [(3.1, 0), (5.0, 1), (9.0, 2)])
def test_a_guess_is_held_against_how_much_longer_the_shuffled_list_took(ns, option):
    run = RUNS["usual"]
    ratio = {**run.values, "shuffled_over_in_order": ns / 3}
    assert lesson.option_by_order(replace(run, values=ratio)) == option
    assert lesson.option_by_order(replace(run, values={})) is None


def test_the_point_to_click_is_where_the_shuffled_list_first_takes_twice_as_long():
    assert lesson.first_twice(RUNS["usual"]) == Spot(low=2**19, high=2**21)
    assert lesson.first_twice(RUNS["order_is_free"]) == Spot()


def test_goals_want_shared_objects_and_the_shortest_list():
    assert lesson.many_in_any_order(RUNS["shared_objects"])
    assert not lesson.many_in_any_order(RUNS["usual"])
    assert not lesson.many_in_any_order(RUNS["order_is_free"])
    assert lesson.shortest_for_a_set(RUNS["shortest_for_a_set"])
    assert not lesson.shortest_for_a_set(RUNS["usual"])


def test_each_number_moves_as_long_as_it_took():
    moved = lesson.motion(RUNS["usual"], None)
    (scene,) = moved.scenes
    took_s = {e.along[0]: e.end_s - e.start_s for e in scene.events if isinstance(e, Travel)}

    assert took_s["shuffled"] == pytest.approx(8 * took_s["list"])
    assert took_s["list"] == pytest.approx(10 * took_s["numpy"])
    assert lesson.motion(RUNS["order_is_free"], None) is None


def test_the_recording_shows_the_effect():
    run = recorded(EXPERIMENT)

    assert run.message == "objects_all_over"
    assert run.values["shuffled_over_in_order"] > 2
    assert run.values["list_over_numpy"] > 5
    assert run.values["array_shuffled_over_in_order"] == pytest.approx(1, abs=0.1)
    assert run.values["list_bytes"] == pytest.approx(4 * run.values["numpy_bytes"], rel=0.05)
    assert Catalogue().lesson(EXPERIMENT).right(run) == 2
