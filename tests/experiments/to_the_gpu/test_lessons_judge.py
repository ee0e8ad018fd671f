"""Lessons of this shelf: what is right, what is to be clicked, what a goal takes, what moves."""

from __future__ import annotations

import pytest

from experiments.core.teaching.motion import Count, Hold, Travel
from experiments.devices.device import CPU
from experiments.to_the_gpu.many_small import lesson as many_small
from experiments.to_the_gpu.many_small.experiment import THOUSAND
from experiments.to_the_gpu.many_small.experiment import Params as Calls
from tests.experiments.to_the_gpu import lessons_of_many_small as calls

GPU = calls.GPU


@pytest.mark.parametrize("device", [CPU, GPU])
def test_the_knee_is_where_calls_alone_outgrow_the_work(device):
    run = calls.modelled(Calls(device=device, numbers=1_000_000))
    spot = many_small.knee(run)

    assert spot.low < run.values["knee_calls"] <= spot.high


def test_without_work_there_is_no_knee():
    assert many_small.knee(calls.RUNS["no_work"]).low in {None, 1}


@pytest.mark.parametrize(("off", "is_reached"), [(1.0, True), (0.85, False), (1.15, False)])
def test_the_knee_must_lie_within_a_tenth(off, is_reached):
    run = calls.modelled(Calls(numbers=round(80_000_000 * off), calls=5000))

    assert many_small.knee_at_2000(run) is is_reached


def test_a_knee_beyond_what_was_measured_is_not_seen():
    assert not many_small.knee_at_2000(calls.modelled(Calls(numbers=80_000_000)))


@pytest.mark.parametrize("device", [CPU, GPU])
def test_one_call_and_many_move_on_one_clock(device):
    """A call takes the price of a call, and the one with all the work is done after its time."""
    run = calls.modelled(Calls(device=device, numbers=2_000_000))
    motion = many_small.motion(run, None)
    one, many = (scene.events for scene in motion.scenes)
    (added,) = (event for event in one if isinstance(event, Hold))
    (counted,) = (event for event in many if isinstance(event, Count))
    called = [event for event in many if isinstance(event, Travel)]

    assert added.end_s == pytest.approx(run.values["one_op_s"])
    assert counted.every_s == pytest.approx(run.values["thousand_ops_s"] / THOUSAND)
    assert len(called) == round(motion.duration_s / counted.every_s)
    for event in called[:3]:
        share = (event.end_s - event.start_s) / counted.every_s
        assert share == pytest.approx(1.0 if device == GPU else 1 - 0.1 / 2.1, abs=0.03)
    # so much of the work as a thousandth is beside what the call costs
    pieces = [event.end_s - event.start_s for event in many if isinstance(event, Hold)]
    assert pieces[0] == pytest.approx(run.tables["pieces"][0].device_s if device == GPU
                                      else run.values["one_op_s"] / THOUSAND)  # fmt: skip
