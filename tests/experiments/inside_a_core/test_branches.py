from __future__ import annotations

import platform
import re

import numpy as np
import pytest

from experiments.core.bench import Bench
from experiments.core.declare import Frame
from experiments.core.teaching.motion import Count, Pointed, Travel
from experiments.inside_a_core.branches.experiment import (
    BRANCHLESS,
    EXPERIMENT,
    HALF,
    RANDOM,
    SHARES,
    SORTED,
    WAYS,
    Params,
    Sums,
    analyse,
    limit_of,
)
from experiments.inside_a_core.branches.lesson import motion, option_by_share, top_of_the_hump
from experiments.kernels import branches as kernels
from machine.inspect import inspect
from tests.experiments.inside_a_core import lessons_of_branches as lessons
from tests.experiments.inside_a_core.lessons_of_branches import RIGHT_S, RUNS, WRONG_S
from tests.experiments.kernel_checks import check_kept, kernels_of
from tests.experiments.machines import machine

AGREED = {"sorted_s", "random_s", "branchless_s", "penalty", "mispredict_cycles"}
AGREED_COLUMNS = {"passes": {"taken_fraction", "way", "element_s"}}


def found(here=None, **given):
    return analyse(Params(), lessons.tables(**given), here or machine())


def test_a_wrong_guess_is_priced_from_the_bytes_of_which_half_are_added():
    finding = found()

    assert finding.message == "order_costs"
    assert finding.values["penalty"] == pytest.approx((RIGHT_S + WRONG_S / 2) / RIGHT_S)
    assert finding.values["mispredict_s"] == pytest.approx(WRONG_S)
    assert finding.values["mispredict_cycles"] == pytest.approx(WRONG_S * lessons.HZ)
    assert finding.values["learned_elements"] == 2**14
    assert finding.unclear == ()


def test_a_core_that_guesses_all_right_is_said_to_and_has_no_wrong_guess_to_price():
    finding = found(wrong_s=0.0)

    assert finding.message == "order_costs_nothing"
    assert finding.values.keys().isdisjoint({"mispredict_s", "mispredict_cycles"})


def test_rounds_that_scatter_or_are_few_tell_nothing():
    assert found(noise=(0.05, 9, 1, 12, 0.1), wrong_s=1e-10).message == "cannot_tell"
    assert found(noise=(1.0, 1.01)).message == "too_few_rounds"


def test_without_a_clock_there_are_no_cycles_and_it_is_said():
    finding = found(clock=False)
    assert "mispredict_cycles" not in finding.values
    assert "no_clock" in finding.limits
    assert "no_clock" not in found().limits


def test_what_limits_it_is_said_where_it_is_so():
    assert "learned_by_heart" in found(learned_share=0.9).limits
    assert found(learned_share=0.9).values["mispredict_s"] == pytest.approx(WRONG_S)
    assert "learned_by_heart" not in found().limits
    assert "branchless_slower" in found().limits
    assert "branchless_slower" not in found(branchless_s=0.2e-9).limits
    assert "virtual_machine" in found(machine(virtualization="kvm")).limits
    assert "virtual_machine" not in found().limits


def test_one_order_alone_is_compared_with_nothing():
    rows = lessons.tables()
    rows["passes"] = [row for row in rows["passes"] if row.way != SORTED]
    assert analyse(Params(), rows, machine()).message == "nothing_to_compare"


# --- the lesson ----------------------------------------------------------------------------------


def test_the_answer_follows_the_measured_line():
    assert option_by_share(RUNS["usual"]) == 1
    assert option_by_share(RUNS["order_costs_nothing"]) == 2
    spot = top_of_the_hump(RUNS["usual"])
    assert spot.low < HALF < spot.high


def test_bytes_move_as_fast_as_measured_and_wait_for_each_wrong_guess():
    """The made core guesses the likelier answer; so every second byte in random order is wrong."""
    ordered, shuffled = motion(RUNS["usual"], None).scenes
    starts = {s.title: [e.start_s for e in s.events if isinstance(e, Travel)]
              for s in (ordered, shuffled)}  # fmt: skip
    done = {s.title: len(next(e for e in s.events if isinstance(e, Count)).times)
            for s in (ordered, shuffled)}  # fmt: skip

    assert np.diff(starts["sorted"]) == pytest.approx(RIGHT_S)
    assert np.diff(starts["random"])[:2] == pytest.approx([RIGHT_S, RIGHT_S + WRONG_S], rel=1e-3)
    assert done["sorted"] > 4 * done["random"] > 0


def test_at_a_share_that_is_pointed_at_as_many_are_wrong_as_were_measured():
    at = motion(RUNS["usual"], Pointed(view="shares", name=RANDOM, at=1.0))
    ordered, shuffled = (scene.events for scene in at.scenes)
    assert len(ordered) == len(shuffled)
    assert motion(RUNS["usual"], Pointed(view="shares", at=0.123)) is None
    assert motion(RUNS["order_costs_nothing"], None) is None


# --- the compiled loops, and this machine --------------------------------------------------------


def test_both_loops_add_the_bytes_that_reach_the_limit():
    numbers = np.random.default_rng(1).integers(0, 256, 5000).astype(np.uint8)
    for limit in (0, 1, 128, 255, 256):
        right = int(numbers[numbers >= limit].sum(dtype=np.int64))
        for kernel in (kernels.with_branch, kernels.without_branch):
            assert kernel(numbers, limit, 3) == 3 * right


def test_the_loops_let_go_of_the_lock_and_are_kept_on_disk():
    check_kept(kernels_of(kernels))


@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="other instructions"
)
def test_each_addition_stands_behind_a_jump_and_none_without_a_branch():
    from numba import njit

    behind_a_jump = re.compile(r"\bj[a-z]+\s+\.LBB\w+\n\s+addq.*\n\s+#APP")
    for kernel, has_jump in ((kernels.with_branch, True), (kernels.without_branch, False)):
        again = njit(kernel.signatures, nogil=True)(kernel.py_func)
        (text,) = again.inspect_asm().values()
        assert "#APP" in text
        assert bool(behind_a_jump.search(text)) == has_jump


@pytest.mark.slow  # it measures
def test_the_hump_is_there_on_this_machine_and_gone_without_a_branch():
    sums = Sums({2**18}, Bench(inspect()))
    of = {(way, share): min(sums.element_s(way, limit_of(share), 2**18) for _ in range(5))
          for way in WAYS for share in (0.0, HALF, 1.0)}  # fmt: skip

    assert of[RANDOM, HALF] > 2 * of[SORTED, HALF]
    assert of[RANDOM, HALF] > 2 * max(of[RANDOM, 0.0], of[RANDOM, 1.0])
    assert of[BRANCHLESS, HALF] < 1.5 * of[BRANCHLESS, 0.0]


def test_the_picture_fills_a_column_of_each_half_at_each_share():
    """A clock that counts its calls makes each piece take as long as any other."""
    ticks = iter(range(10**6))
    sums = Sums({2**14}, Bench(inspect(), clock=lambda: float(next(ticks))))
    frame = sums.picture(limit_of(HALF), 2**14)
    assert isinstance(frame, Frame)
    pixels = np.frombuffer(frame.data, np.uint8).reshape(frame.shape)
    at = SHARES.index(HALF)
    assert {*np.flatnonzero(pixels.any(axis=0))} == {at, at + len(SHARES) + 1}
    assert (pixels[:, at] == 255).all()
    sums.picture(limit_of(1.0), 2**14)
    pixels = np.frombuffer(sums.picture(limit_of(0.0), 2**14).data, np.uint8).reshape(frame.shape)
    assert pixels.any(axis=0).sum() == 6


def test_it_is_as_short_as_it_says():
    assert EXPERIMENT.seconds(EXPERIMENT.reduced(Params())) < 5
