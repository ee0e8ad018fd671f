"""Lessons of this shelf: what is right, what is to be clicked, what a goal takes, what moves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.teaching.motion import Hold, Travel
from experiments.many_devices.data_parallel import lesson as data_parallel
from experiments.many_devices.data_parallel.experiment import Params as Workers
from experiments.many_devices.data_parallel.training_turns import EACH_FULL
from experiments.many_devices.split_model import lesson as split_model
from experiments.many_devices.split_model.experiment import Params as Split
from tests.experiments.many_devices import lessons_of_data_parallel as workers
from tests.experiments.many_devices import lessons_of_split_model as split


@pytest.mark.parametrize(("efficiency", "right"), [(0.95, 0), (0.8, 1), (0.5, 2)])
def test_the_answer_goes_by_how_near_the_ideal_is(efficiency, right):
    run = workers.RUNS["usual"]
    run = replace(run, values={**run.values, "efficiency": efficiency})

    assert data_parallel.option_by_ideal(run) == right
    assert data_parallel.option_by_ideal(replace(run, message="losses_differ")) is None


def test_the_first_number_of_workers_that_averages_is_the_first_below_the_ideal():
    spot = data_parallel.first_below_ideal(workers.RUNS["usual"])

    assert 1 < spot.low < 2 < spot.high < 4


def test_computing_is_named_where_it_loses_most():
    found = {name: data_parallel.computing_slows(run) for name, run in workers.RUNS.items()}

    assert found["crowded"]
    assert not found["usual"]
    assert not found["shared_and_scales"]


@pytest.mark.parametrize(
    ("params", "reached"),
    [
        (Workers(most_workers=4, batch=32_768), {"shared_and_scales"}),
        (Workers(most_workers=4, batch=32_768, split=EACH_FULL), set()),
        (Workers(most_workers=4, batch=128, split=EACH_FULL), {"whole_and_short"}),
        (Workers(most_workers=4, batch=128), set()),
        (Workers(most_workers=4, split=EACH_FULL), set()),
    ],
)
def test_how_much_each_worker_computes_decides_a_goal(params, reached):
    run = workers.modelled(params)
    goals = ("shared_and_scales", "whole_and_short")

    assert {goal for goal in goals if getattr(data_parallel, goal)(run)} == reached


def test_workers_that_take_turns_reach_no_goal():
    params = Workers(most_workers=4, batch=128, split=EACH_FULL, threads=1)

    assert not data_parallel.whole_and_short(workers.modelled(params, cores=1))


@pytest.mark.parametrize(("name", "drawn"), [("two", 2), ("usual", 4), ("eight", 4)])
def test_workers_compute_wait_and_average_as_long_as_measured(name, drawn):
    run = workers.RUNS[name]
    motion = data_parallel.motion(run, None)
    one, several = (scene.events for scene in motion.scenes)
    steps = {row.part: row.step_s for row in run.tables["shares"] if row.workers == drawn}
    computing = [e for e in several if isinstance(e, Hold) and e.label == "computes"][:drawn]
    back = [e for e in several if isinstance(e, Travel) and e.returns][:drawn]

    assert one[0].end_s == pytest.approx(run.params.batch * workers.SAMPLE_S, rel=0.02)
    took_s = [each.end_s for each in computing]
    assert sum(took_s) / drawn == pytest.approx(steps["compute"])
    assert max(took_s) == pytest.approx(steps["compute"] + steps["idle"])
    assert {each.start_s for each in back} == {max(took_s)}
    assert back[0].end_s - back[0].start_s == pytest.approx(steps["communication"])


@pytest.mark.parametrize(
    ("times", "right"),
    [((1.0, 1.5, 1.6), 0), ((1.5, 1.0, 1.6), 1), ((1.6, 1.5, 1.0), 2), ((1.0, 1.05, 1.09), 3),
     ((1.0, 1.02, 2.0), None)],
)  # fmt: skip
def test_the_quickest_way_is_the_answer_if_it_is_clear(times, right):
    took_s = dict(zip(("data", "layers", "channels"), times, strict=True))
    run = split.RUNS["usual"]
    steps = [replace(r, step_s=took_s[r.way]) for r in run.tables["steps"] if r.way in took_s]
    values = {f"{way}_step_s": step_s for way, step_s in took_s.items()}
    run = replace(run, values=run.values | values, tables={**run.tables, "steps": steps})

    assert split_model.quickest_way(run) == right
    assert split_model.data_sends_more(run) is (right == 1)  # by channels still more is sent
    assert split_model.quickest_way(replace(run, message="other_results")) is None


def test_the_longest_pause_is_of_the_first_stage_between_its_two_ways():
    """It begins when the first stage has no more to do, and ends when the gradients are back."""
    run = split.RUNS["four"]
    spot = split_model.longest_pause(run)
    first = [row for row in run.tables["lanes"] if (row.way, row.device) == ("layers", "0")]

    assert (spot.low, spot.high) == (first[3].end_s, first[4].start_s)


@pytest.mark.parametrize(
    ("params", "reached"),
    [
        (Split(batch=4096, micro_batches=16), {"hardly_idle"}),
        (Split(batch=64, micro_batches=16), set()),
        (Split(width=2048, batch=128), {"layers_beat_data"}),
        (Split(width=2048, batch=1024), set()),
        (Split(batch=64), set()),
    ],
)
def test_sizes_decide_a_goal_of_sharing(params, reached):
    run = split.modelled(params)

    goals = ("hardly_idle", "layers_beat_data")
    assert {goal for goal in goals if getattr(split_model, goal)(run)} == reached


@pytest.mark.parametrize("name", ["usual", "four"])
def test_micro_batches_travel_when_they_were_handed_on(name):
    run = split.RUNS[name]
    _, layers = (scene.events for scene in split_model.motion(run, None).scenes)
    forward = [e for e in layers if isinstance(e, Travel) and e.along == ("device_0", "device_1")]
    of = {n: [r for r in run.tables["lanes"] if (r.way, r.device) == ("layers", n)] for n in "01"}

    assert [each.token for each in forward] == ["1", "2", "3", "4"]
    for place, travel in enumerate(forward):
        assert travel.start_s == of["0"][place].end_s
        assert travel.end_s == of["1"][place].start_s
    idle_s = sum(e.end_s - e.start_s for e in layers if isinstance(e, Hold) and e.label == "waits")
    end_s = max(event.end_s for event in layers)
    share = idle_s / end_s / run.params.devices
    assert share == pytest.approx(run.values["bubble_fraction"], abs=0.02)
