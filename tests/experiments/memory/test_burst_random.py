from __future__ import annotations

import itertools

import pytest

from experiments.memory.banks_mlp import experiment as banks_mlp
from experiments.memory.burst_random import experiment as burst_random
from experiments.memory.burst_random.experiment import (
    DEPENDENT,
    IN_A_ROW,
    RANDOM,
    Numbers,
    Overlap,
    Params,
    Read,
    analyse,
    sizes,
)
from machine.model import Machine
from tests.cases import in_one
from tests.experiments.machines import GIB, KIB, MIB, machine

AGREED = {
    "sequential_s", "random_s", "dependent_s", "random_over_sequential",
    "dependent_over_sequential",
}  # fmt: skip

PARAMS = Params(largest_bytes=256 * MIB)
NOISE = (1.0, 1.02, 0.98)
PLAIN = {IN_A_ROW: 0.3e-9, RANDOM: 6e-9, DEPENDENT: 120e-9}


def reads(size, order, element_s, noise=NOISE):
    return [
        Read(
            size_bytes=size,
            order=order,
            repeat=repeat,
            element_s=element_s * factor,
            useful_bytes_per_s=8 / (element_s * factor),
        )
        for repeat, factor in enumerate(noise)
    ]


def tables(times=PLAIN, *, params=PARAMS):
    return {
        "reads": [
            row
            for size in sizes(params)
            for order, element_s in times.items()
            for row in reads(size, order, element_s * (1 + size / GIB))
        ]
    }


def test_the_three_orders_have_three_answers():
    found = analyse(PARAMS, tables(), machine())

    assert found.message == "three_answers"
    assert found.values["size_bytes"] == 256 * MIB
    assert found.values["random_over_sequential"] == pytest.approx(20)
    assert found.values["dependent_over_sequential"] == pytest.approx(400)
    assert found.values["sequential_s"] == pytest.approx(0.3e-9 * 1.25)  # the median, at 256 MiB


@in_one(
    ("times", "message"),
    [
        ({**PLAIN, RANDOM: 0.3e-9}, "only_chains_wait"),
        ({**PLAIN, DEPENDENT: 6e-9}, "other_order"),
        ({**PLAIN, RANDOM: 0.1e-9}, "other_order"),
        ({**PLAIN, DEPENDENT: 0.2e-9}, "other_order"),
        (dict.fromkeys(PLAIN, 6e-9), "other_order"),
    ],
    ids=["random as in a row", "dependent as random", "random the fastest", "dependent before it",
         "equal"],
)  # fmt: skip
def test_orders_that_do_not_part_as_they_should_are_said_not_to(times, message):
    assert analyse(PARAMS, tables(times), machine()).message == message


def test_what_scatters_too_much_is_neither_a_difference_nor_the_same():
    rows = tables()
    noisy = reads(256 * MIB, IN_A_ROW, 6e-9, noise=(0.1, 1.0, 9.0))
    rows["reads"] = [
        row for row in rows["reads"] if (row.size_bytes, row.order) != (256 * MIB, IN_A_ROW)
    ]

    found = analyse(PARAMS, {"reads": [*rows["reads"], *noisy]}, machine())
    assert found.message == "cannot_tell"
    assert "random_over_sequential" in found.unclear


def test_two_rounds_are_too_few_to_compare():
    rows = {"reads": [row for row in tables()["reads"] if row.repeat < 2]}

    assert analyse(PARAMS, rows, machine()).message == "too_few_rounds"


def test_compared_is_the_largest_size_that_all_orders_reached():
    rows = tables(params=Params(largest_bytes=64 * MIB))
    rows["reads"] += reads(128 * MIB, RANDOM, 6e-9)

    assert analyse(PARAMS, rows, machine()).values["size_bytes"] == 64 * MIB


def test_a_run_without_a_complete_size_compares_nothing():
    rows = {"reads": [row for row in tables()["reads"] if row.order != DEPENDENT]}

    found = analyse(PARAMS, rows, machine())

    assert found.message == "nothing_to_compare"
    assert found.values == {}


@pytest.mark.parametrize(
    ("here", "is_said"),
    [
        (machine(), False),
        (machine(caches=(32 * KIB, MIB, 128 * MIB)), True),
        (Machine(), True),
    ],
)
def test_an_array_of_less_than_four_last_caches_is_partly_answered_from_there(here, is_said):
    assert ("partly_in_cache" in analyse(PARAMS, tables(), here).limits) is is_said


def test_small_pages_are_a_limit():
    huge = Params(largest_bytes=256 * MIB, huge_pages=True)

    assert analyse(PARAMS, tables(), machine()).limits == ("page_translation_included",)
    assert analyse(huge, tables(), machine()).limits == ()


def test_reads_under_way_are_those_that_chains_side_by_side_show_as_in_banks_mlp():
    took_s = {1: 120e-9, 8: 15e-9, 16: 10e-9, 32: 11e-9}
    overlaps = [
        Overlap(chains=chains, repeat=repeat, latency_s=latency_s * factor)
        for chains, latency_s in took_s.items()
        for repeat, factor in enumerate(NOISE)
    ]
    banks = [
        banks_mlp.Read(
            chains=row.chains,
            repeat=row.repeat,
            latency_s=row.latency_s,
            asked_bytes=64 * row.chains,
            line_bytes_per_s=64 / row.latency_s,
        )
        for row in overlaps
    ]

    found = analyse(PARAMS, tables() | {"overlaps": overlaps}, machine())
    rows = {"reads": banks, "together": []}
    same = banks_mlp.analyse(banks_mlp.Params(), rows, machine())

    assert found.values["reads_in_flight"] == pytest.approx(12)
    assert found.values["reads_in_flight"] == same.values["parallelism"]


def test_a_run_of_an_older_version_opens_without_the_reads_under_way():
    assert "reads_in_flight" not in analyse(PARAMS, tables(), machine()).values


@pytest.mark.parametrize("order", [IN_A_ROW, RANDOM])
def test_both_orders_read_every_number_at_the_places_of_a_list(order):
    numbers = Numbers(32 * KIB, huge=False)

    for size in (16 * KIB, 32 * KIB, 16 * KIB):  # a smaller list takes the place of a larger one
        places = numbers.places(size // 8, order)
        assert sorted(places) == [*range(size // 8)]
        assert (list(places) == sorted(places)) is (order == IN_A_ROW)


def test_the_bandwidth_is_drawn_where_it_is_known():
    known = analyse(PARAMS, tables(), machine(peak_bytes_per_s=80e9))

    assert known.values["bandwidth_limit_s"] == pytest.approx(1.5e-10)  # 8 bytes, and 4 of the list
    assert "bandwidth_limit_s" not in analyse(PARAMS, tables(), machine()).values


@in_one(("largest", "most"), [(MIB, MIB), (MIB + 1, MIB), (3 * MIB, 2 * MIB), (GIB, GIB)])
def test_arrays_are_powers_of_two_up_to_the_largest(largest, most):
    found = sizes(Params(largest_bytes=largest))

    assert found[0] == 16 * KIB
    assert found[-1] == most
    assert all(b == 2 * a for a, b in itertools.pairwise(found))


def test_the_default_leaves_half_of_the_free_memory(free_memory):
    free_memory(100 * GIB)
    assert burst_random.EXPERIMENT.suited(machine()).largest_bytes == 512 * MIB
    large = machine(caches=(32 * KIB, MIB, 384 * MIB))
    assert burst_random.EXPERIMENT.suited(large).largest_bytes == 2 * GIB  # the power below 3 GiB
    free_memory(GIB)  # the lists of places take as much again
    assert burst_random.EXPERIMENT.suited(machine()).largest_bytes == 256 * MIB
    free_memory(KIB)
    assert burst_random.EXPERIMENT.suited(machine()).largest_bytes == MIB


def test_ratios_of_orders_that_do_not_part_are_unclear():
    rows = tables()
    rows["reads"] += reads(256 * MIB, IN_A_ROW, 100e-9, noise=(1.0,))

    assert "random_over_sequential" in analyse(PARAMS, rows, machine()).unclear
    assert analyse(PARAMS, tables(), machine()).unclear == ()
