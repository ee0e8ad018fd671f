"""The lesson of crossover: what is right, what is to be clicked, what a goal takes, what moves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments import api as x
from experiments.core.catalogue import Catalogue
from experiments.core.teaching.motion import Travel
from experiments.to_the_gpu.crossover import lesson as crossover
from experiments.to_the_gpu.crossover.experiment import Params as Products
from experiments.to_the_gpu.crossover.ways import CALLED, COPIED, KERNEL
from tests.cases import in_one
from tests.experiments.core.teaching.shown import recorded
from tests.experiments.to_the_gpu import lessons_of_crossover as products


def test_what_is_clicked_is_the_crossing_with_copies_or_without_a_gpu_that_of_the_cores():
    for name, value in (
        ("usual", "crossover_size_with_copies"),
        ("on_a_processor", "threads_crossover_size"),
    ):
        run = products.RUNS[name]
        spot = crossover.stays_below(run)
        assert spot.low < run.values[f"{value}_low"] < run.values[value]
        assert run.values[value] < run.values[f"{value}_high"] < spot.high

    assert crossover.stays_below(products.RUNS["slow_copies"]).high is None
    assert crossover.stays_below(products.RUNS["wins_at_once"]).low < 16


def test_where_the_cores_scatter_the_crossing_with_one_core_is_told():
    scattered = recorded(Catalogue().load("crossover"))

    assert crossover.cores_scatter(scattered)
    assert crossover.one_core_is_steadier(scattered)
    known = scattered.values
    told = crossover.numbers(scattered, None)
    assert known["crossover_size_low"] < told["one_core_size"] < told["win_size"]
    assert told["win_size"] == known["crossover_size_high"]
    assert not crossover.cores_scatter(products.RUNS["usual"])


@in_one(
    ("name", "right"),
    [
        ("wins_at_once", 0),
        ("usual", 1),
        ("a_slow_gpu", 3),
        ("on_a_processor", None),
        ("one_core", None),
    ],
)
def test_a_vote_goes_by_the_rows_from_which_the_gpu_clearly_wins(name, right):
    assert crossover.option_by_size(products.RUNS[name]) == right


@in_one("params", [Products(largest=16384), Products(largest=8192, most_s=1.0)])
def test_copies_hardly_add_takes_larger_matrices_and_longer_products(params):
    assert not crossover.copies_hardly_add(products.modelled(replace(params, device=products.GPU)))


@in_one(("times", "is_reached"), [(8, True), (4, False), (30, False)])
def test_a_line_that_ends_at_twice_the_rows_takes_eight_times_as_long(times, is_reached):
    """From the product of 1536 rows; who thinks of four times ends too early."""
    half_s = 2 * 1536**3 / products.CORE_FLOP_PER_S
    run = products.modelled(Products(largest=8192, most_s=1.01 * times * half_s))

    assert crossover.ends_at_3072(run) is is_reached


@pytest.mark.parametrize("size", [16, 1024])
def test_a_call_and_its_copies_take_what_they_add_to_the_device_alone(size):
    run = products.RUNS["usual"]
    rows = run.tables["products"]
    median = x.medians((row.kind, row.product_s) for row in rows if row.size == size)
    motion = crossover.motion(run, x.Pointed(view="times", at=size * 1.01))
    _, called, copied = (scene.events for scene in motion.scenes)

    call, work = called[:2]
    assert call.end_s == pytest.approx(median[CALLED] - median[KERNEL])
    assert work.end_s == pytest.approx(median[CALLED])
    lasts = [each.end_s - each.start_s for each in copied if isinstance(each, Travel)]
    assert sum(lasts[1:]) == pytest.approx(median[COPIED] - median[CALLED])
    assert lasts[1] == pytest.approx(2 * lasts[2])  # two factors go, a product comes
    assert copied[-2].end_s == pytest.approx(median[COPIED])
