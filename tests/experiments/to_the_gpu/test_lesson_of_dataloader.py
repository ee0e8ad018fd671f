"""The lesson of dataloader: what is right, what is to be clicked, what a goal takes, what moves."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments import api as x
from experiments.core.teaching.motion import Count, Hold, Travel
from experiments.to_the_gpu.dataloader import lesson as dataloader
from experiments.to_the_gpu.dataloader.experiment import Params
from tests.cases import in_one
from tests.experiments.to_the_gpu import lessons_of_dataloader as loaders


@in_one(
    ("name", "top", "right"),
    [("usual", 16, 3), ("few_cores", 4, 2), ("one_is_enough", 1, 1), ("wide_on_a_processor", 0, 0)],
)
def test_the_fewest_workers_at_top_speed_are_right_to_say_and_to_click(name, top, right):
    run = loaders.RUNS[name]
    spot = dataloader.first_flat(run)

    assert spot.low < top < spot.high
    assert dataloader.option_by_workers(run) == right
    assert dataloader.numbers(run, None).get("top_workers") == (top or None)


def test_nothing_is_right_where_it_is_unknown_how_many_are_enough():
    run = replace(loaders.RUNS["usual"], message="cannot_tell_how_many")

    assert dataloader.option_by_workers(run) is None
    assert dataloader.first_flat(run).low is None
    assert "top_workers" not in dataloader.numbers(run, None)


@in_one(
    ("name", "said"),
    [
        ("usual", set()),
        ("too_few", {"still_waits", "most_were_tried"}),
        ("few_cores", {"still_waits", "more_add_nothing"}),
        ("each_adds_less", {"still_waits", "most_were_tried", "add_less"}),
        ("two_keep_up", set()),  # though the second adds less
        ("on_a_processor", {"cores_are_shared"}),
    ],
)
def test_what_is_said_beside_follows_from_what_more_workers_brought(name, said):
    branches = (
        "still_waits", "most_were_tried", "more_add_nothing", "add_less", "cores_are_shared",
    )  # fmt: skip
    run = loaders.RUNS[name]

    assert {each for each in branches if getattr(dataloader, each)(run)} == said


@in_one(("width", "is_reached"), [(300, True), (64, False), (1024, False)])
def test_one_worker_is_enough_and_gains_where_both_stages_take_about_as_long(width, is_reached):
    """Of a narrow network it is too few; beside a wide network it gains next to nothing."""
    params = Params(device=loaders.GPU, width=width, most_workers=4)

    assert dataloader.one_is_enough(loaders.modelled(params)) is is_reached


@in_one("params", [Params(width=64, passes=4), Params(width=128, passes=3)])
def test_a_network_is_fed_all_the_same_where_it_is_slow_and_pictures_are_too(params):
    params = replace(params, device=loaders.GPU, most_workers=16)

    assert not dataloader.fed_all_the_same(loaders.modelled(params))


def test_the_network_is_said_to_wait_only_where_one_worker_is_too_few():
    said = [
        {say.text for say in dataloader.motion(loaders.RUNS[name], None).says}
        for name in ("usual", "one_is_enough")
    ]

    assert said == [{"decoding", "waiting"}, {"decoding"}]


@pytest.mark.parametrize(("at", "workers"), [(None, 16), (3.9, 4)])
def test_batches_arrive_as_often_as_they_were_delivered_and_wait_or_are_waited_for(at, workers):
    run = loaders.RUNS["usual"]
    pointed = None if at is None else x.Pointed(view="rates", at=at)
    motion = dataloader.motion(run, pointed)
    rows = [row for row in run.tables["epochs"] if row.kind == dataloader.LOADING]
    delivered = x.medians((row.workers, row.samples_per_s) for row in rows)

    for scene, count in zip(motion.scenes, (1, workers), strict=True):
        travels = [each for each in scene.events if isinstance(each, Travel)]
        every_s = travels[1].end_s - travels[0].end_s
        assert every_s == pytest.approx(run.params.batch / delivered[count])
        assert travels[0].end_s == pytest.approx(count * every_s)
        learns = [e for e in scene.events if isinstance(e, Hold) and e.label == "learns"]
        waits = [e for e in scene.events if isinstance(e, Hold) and e.label == "waits"]
        assert len(waits) == (1 if count == 16 else len(learns))  # then batches are there before
        (counted,) = (each for each in scene.events if isinstance(each, Count))
        assert counted.times == tuple(each.end_s for each in learns)
