from __future__ import annotations

import numpy as np
import pytest

from experiments.core.bench import Bench
from experiments.core.teaching.motion import Count, Pointed, Travel
from experiments.inside_a_core.matrix_order import kernels
from experiments.inside_a_core.matrix_order.experiment import (
    BLOCKED,
    COLUMNS,
    EXPERIMENT,
    LINE,
    ROWS,
    TRANSPOSE,
    WAYS,
    Matrices,
    Params,
    analyse,
    picture,
    sizes,
)
from experiments.inside_a_core.matrix_order.lesson import (
    highest_point,
    motion,
    option_by_spike,
)
from machine.inspect import inspect
from tests.experiments.inside_a_core import lessons_of_matrix_order as lessons
from tests.experiments.inside_a_core.lessons_of_matrix_order import ROWS_S, RUNS
from tests.experiments.kernel_checks import check_kept, kernels_of
from tests.experiments.machines import machine

AGREED = {"rows_s", "columns_s", "blocked_s", "power_of_two_penalty"}
AGREED_COLUMNS = {"walks": {"size", "way", "element_s"}}


def found(params=None, here=None, **given):
    params = params or Params()
    return analyse(params, {"walks": lessons.walks(params, **given)}, here or machine())


def test_rows_columns_and_blocks_are_told_beside_the_power_of_two_and_the_spike_at_it():
    finding = found()

    assert finding.message == "swapping_costs"
    assert finding.values["rows_s"] == pytest.approx(ROWS_S)
    assert finding.values["columns_over_rows"] == pytest.approx(10)
    assert finding.values["power_of_two_penalty"] == pytest.approx(4)
    assert finding.values["columns_over_blocked"] == pytest.approx(10 * 4 / (3 * 1.2))
    assert (finding.values["power_side"], finding.values["largest_side"]) == (2048, 2056)
    assert "no_spike" not in finding.limits


def test_a_machine_that_does_not_mind_is_said_to():
    assert found(columns=1.0).message == "swapping_costs_nothing"
    assert "no_spike" in found(spike=1.0).limits
    scattered = found(spike=1.0, at_spike=(0.6, 1.5, 0.9, 1.8, 1.1))
    assert "no_spike" not in scattered.limits  # which says more than that it cannot be told
    assert "power_of_two_penalty" in scattered.unclear


def test_rounds_that_scatter_or_are_few_tell_nothing():
    assert found(noise=(0.05, 9, 1, 12, 0.1), columns=1.5).message == "cannot_tell"
    assert found(noise=(1.0, 1.01)).message == "too_few_rounds"


def test_of_a_transposition_blocks_are_compared_with_the_better_order():
    params = Params(job=TRANSPOSE)
    assert found(params, columns=1.0, spike=2.0, blocked=0.5).message == "blocks_win"
    assert found(params, columns=1.0, blocked=1.0, spike=1.0).message == "blocks_gain_nothing"
    assert found(params, columns=0.4, blocked=0.5, spike=1.0).message == "blocks_gain_nothing"


def test_a_way_that_was_not_measured_is_not_compared():
    rows = [row for row in lessons.walks() if row.way != COLUMNS]
    assert analyse(Params(), {"walks": rows}, machine()).message == "nothing_to_compare"
    assert "virtual_machine" in found(here=machine(virtualization="kvm")).limits


def test_each_power_of_two_has_a_neighbour_on_both_sides():
    for largest in (512, 700, 2048):
        found_sizes = sizes(Params(largest=largest))
        powers = [size for size in found_sizes if size & (size - 1) == 0]
        assert {each + off for each in powers for off in (-8, 8)} <= {*found_sizes}
        assert found_sizes == sorted(found_sizes)


# --- the lesson ----------------------------------------------------------------------------------


def test_the_answer_follows_the_measured_line():
    assert option_by_spike(RUNS["usual"]) == 2
    assert option_by_spike(RUNS["no_spike"]) == 1
    assert option_by_spike(lessons.made(spike=0.5)) == 0
    spot = highest_point(RUNS["usual"])
    assert any(spot.low < power < spot.high for power in (256, 512, 1024, 2048))


def test_lines_move_at_the_measured_pace_and_serve_eight_steps_or_one():
    of = {scene.title: scene.events for scene in motion(RUNS["usual"], None).scenes}
    way_s = {name: {round(1e12 * (e.end_s - e.start_s)) for e in events if isinstance(e, Travel)}
             for name, events in of.items()}  # fmt: skip
    steps = {name: next(e for e in events if isinstance(e, Count)).every_s
             for name, events in of.items()}  # fmt: skip

    assert steps == pytest.approx({ROWS: ROWS_S, COLUMNS: 10 * ROWS_S, BLOCKED: 3 * ROWS_S})
    assert way_s[ROWS] == {round(1e12 * LINE * ROWS_S)}
    assert way_s[COLUMNS] == {round(1e12 * 10 * ROWS_S)}


def test_another_size_moves_at_its_own_pace_and_where_columns_do_not_wait_nothing_moves():
    at_power = motion(RUNS["usual"], Pointed(view="swapped", name=COLUMNS, at=2048.0))
    assert at_power.duration_s > 2 * motion(RUNS["usual"], None).duration_s
    assert motion(RUNS["swapping_costs_nothing"], None) is None
    assert motion(RUNS["transposes"], None) is None


# --- the compiled loops, and this machine --------------------------------------------------------


@pytest.mark.parametrize("block", [3, 8, 20])
@pytest.mark.parametrize("swapped", [False, True])
def test_each_order_computes_the_same(block, swapped):
    n, steps = 20, 20
    a, b = np.random.default_rng(1).random((2, n, n))
    factors = [b.ravel(), a.ravel()] if swapped else [a.ravel(), b.ravel()]
    strides = (1, n) if swapped else (n, 1)

    c = np.zeros(n * n)
    kernels.multiply(c, *factors, n, block, steps, *strides)
    assert c.reshape(n, n) == pytest.approx(a @ b)
    kernels.transpose(c, a.ravel(), b.ravel(), n, block, steps, *strides)
    assert (c.reshape(n, n) == a.T).all()


def test_a_part_of_a_product_is_its_first_steps():
    n, steps = 12, 4
    a, b = np.random.default_rng(1).random((2, n, n))
    c = np.zeros(n * n)
    kernels.multiply(c, a.ravel(), b.ravel(), n, n, steps, n, 1)
    assert c.reshape(n, n) == pytest.approx(a[:, :steps] @ b[:steps])


def test_the_loops_let_go_of_the_lock_and_are_kept_on_disk():
    check_kept([k for k in kernels_of(kernels) if k.signatures])


@pytest.mark.slow  # it measures
def test_the_spike_and_the_price_of_swapping_are_there_on_this_machine():
    matrices = Matrices(params := Params(largest=512), Bench(inspect()))
    of = {(size, way): min(matrices.step_s(size, way, turn) for turn in range(3))
          for size in (512, 520) for way in WAYS}  # fmt: skip

    assert of[512, COLUMNS] > 3 * of[512, ROWS]
    assert of[512, COLUMNS] > 2 * of[520, COLUMNS]
    assert of[512, BLOCKED] < 0.5 * of[512, COLUMNS]
    assert params.block == LINE


def test_the_picture_grows_in_the_order_of_visiting():
    params, times = Params(rounds=4), {ROWS: {0: 1e-9}, COLUMNS: {}, BLOCKED: {}}

    def drawn():
        return np.frombuffer(picture(params, times).data, np.uint8).reshape(32, -1)

    rows, columns, blocked = (slice(start, start + 32) for start in (2, 36, 70))
    once = drawn()
    assert once[:8, rows].all()
    assert not once[8:].any()
    times[COLUMNS][0], times[BLOCKED][0], times[ROWS][4] = 9e-9, 3e-9, 5e-9
    now = drawn()
    assert now[:, columns][:, :8].all()
    assert not now[:, columns][:, 8:].any()
    assert now[:, blocked][:, :8].all()
    assert now[0, columns][0] > now[0, blocked][0] > now[0, rows][0]
    assert (now[:, rows] > 0).sum() == 8 * 32


def test_it_is_as_short_as_it_says():
    assert EXPERIMENT.seconds(EXPERIMENT.reduced(Params())) < 5
