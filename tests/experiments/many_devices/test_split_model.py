from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from experiments.api import CANNOT_TELL
from experiments.core.bench import Bench
from experiments.core.problems import UserError
from experiments.many_devices.split_model import experiment as module
from experiments.many_devices.split_model.experiment import ALIKE, Params, analyse
from experiments.many_devices.split_model.steps import bubble
from experiments.many_devices.split_model.ways import (
    CHANNELS,
    DATA,
    LAYERS,
    ONE,
    WAYS,
    ByChannels,
    ByData,
    ByLayers,
    MemberStep,
    Shape,
    Start,
)
from tests.experiments.machines import machine

torch = pytest.importorskip("torch")
from experiments.devices.device import Device  # noqa: E402
from tests.experiments.fake_gpu import NAME, fake_gpu  # noqa: E402

AGREED = {
    f"{way}_{what}"
    for way in ("data", "layers", "channels")
    for what in ("step_s", "memory_bytes", "moved_bytes")
}

SHAPE = Shape(layers=4, width=8, batch=12)


@pytest.fixture
def run(small_run):
    """A run by two processes; its layers, channels and batch cannot be halved without a rest."""
    return small_run("split-model")


@pytest.fixture
def tables(run):
    return run.tables()


def made(noise=0.01, **step_s):
    """Return tables in which a step of each way took about that long, eight times."""
    steps = [
        module.StepTime(
            way=way,
            repeat=n,
            step_s=took_s * (1 + noise * math.sin(9 * n + len(way))),
            busy_fraction=0.7,
        )
        for way, took_s in step_s.items()
        for n in range(8)
    ]
    sizes = [module.Size(way=way, memory_bytes=100, moved_bytes=10) for way in step_s]
    checks = [module.Check(way=DATA, device=str(n), difference_fraction=1e-6) for n in range(2)]
    return {"lanes": [], "steps": steps, "sizes": sizes, "bubbles": [], "checks": checks}


def test_all_ways_come_to_the_weights_of_one_device(run, tables):
    checked = {(row.way, row.device) for row in tables["checks"]}

    assert checked == {(way, str(rank)) for way in WAYS for rank in range(2)}
    assert max(row.difference_fraction for row in tables["checks"]) < ALIKE
    assert analyse(run.params, tables, machine()).message != "other_results"


def test_every_way_is_timed_in_every_round_and_seen_on_every_device(run, tables):
    for way in WAYS:
        rounds = [row.repeat for row in tables["steps"] if row.way == way]
        assert sorted(rounds) == list(range(run.params.rounds))
        lanes = {row.device for row in tables["lanes"] if row.way == way}
        assert lanes == ({"0"} if way == ONE else {"0", "1"})
    assert all(0 <= row.start_s <= row.end_s for row in tables["lanes"])
    values = analyse(run.params, tables, machine()).values
    assert {f"{way}_step_s" for way in WAYS} <= values.keys()
    assert values["devices"] == 2


def test_on_the_lanes_a_later_stage_begins_later(tables):
    starts = {
        rank: min(r.start_s for r in tables["lanes"] if (r.way, r.device) == (LAYERS, rank))
        for rank in ("0", "1")
    }

    assert starts["0"] < starts["1"]


def test_the_bubble_is_measured_beside_the_expected_one(run, tables):
    expected = {r.micro_batches: r.idle_fraction for r in tables["bubbles"] if r.kind == "expected"}

    assert expected == {m: bubble(2, m) for m in (1, 4)}
    measured = [row for row in tables["bubbles"] if row.kind == "measured"]
    assert len(measured) == 2 * run.params.rounds
    assert all(0 <= row.idle_fraction <= 1 for row in measured)


def test_the_bubble_shrinks_with_micro_batches():
    assert bubble(2, 1) == 0.5
    assert bubble(4, 1) == 0.75
    assert bubble(2, 4) == pytest.approx(0.2)


# --- without processes --------------------------------------------------------------------------


def member(device="cpu", rank=0, size=2, bench=None):
    """A member that talks to no other."""
    made = Device(device, bench or Bench(machine()))
    return SimpleNamespace(rank=rank, size=size, device=made, torch=torch, bench=made.bench)


def alone(member):
    return MemberStep(member, Start(member, SHAPE))


def test_memory_and_traffic_are_those_of_the_shapes():
    start = Start(member(), SHAPE)
    one, data = MemberStep(member(), start), ByData(member(), start)
    layers, channels = ByLayers(member(), start, 2), ByChannels(member(), start)
    weights, made = 4 * 64 * 4, 12 * 8 * 4  # bytes of all weights, and of what a layer makes

    assert one.memory_bytes() == 2 * weights + 5 * made
    assert data.memory_bytes() == 2 * weights + 5 * made / 2
    assert layers.memory_bytes() == weights + 3 * made
    assert channels.memory_bytes() == weights + 5 * made
    assert one.moved_bytes() == 0
    assert data.moved_bytes() == 2 * weights
    assert layers.moved_bytes() == 2 * made
    assert channels.moved_bytes() == (4 + 2 * 3) * made


def test_the_steps_by_hand_are_those_of_autograd():
    share = alone(member())
    weights = [each.clone().requires_grad_() for each in share.weights]
    made = share.given
    for place, each in enumerate(weights):
        made = made @ each.T if place == 3 else (made @ each.T).relu()
    (((made - share.wanted) ** 2).sum() / (2 * SHAPE.batch)).backward()
    share.step()

    for ours, right in zip(share.weights, weights, strict=True):
        torch.testing.assert_close(ours, right.detach() - 0.05 * right.grad)


def test_other_weights_are_noticed():
    share = alone(member())
    share.step()
    right = [each.clone() for each in share.weights]
    assert share.difference(right) == 0
    share.weights[2][0, 0] += 0.01
    assert share.difference(right) > ALIKE


def test_on_a_gpu_every_part_is_waited_for(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        share = alone(member(NAME, bench=Bench(machine(gpus=1), clock=gpu.clock)))
        gpu.log.clear()
        share.step()

    assert gpu.log[-1] == "wait"
    assert gpu.log.count("wait") == len(share.busy) == 3
    assert all(start_s < end_s for start_s, end_s in share.busy)


def test_gpus_are_taken_by_members_of_their_kind(monkeypatch):
    asked = {}

    def together(bench, work, params, **how):
        asked.update(how)
        return iter(())

    monkeypatch.setattr(module, "together", together)
    list(module.measure(Params(device=NAME, devices=4), Bench(machine(gpus=2))))
    assert (asked["device"], asked["size"]) == ("cuda", 2)
    list(module.measure(Params(devices=4), Bench(machine(gpus=2))))
    assert (asked["device"], asked["size"]) == ("cpu", 4)
    with pytest.raises(UserError) as caught:
        list(module.measure(Params(device=NAME), Bench(machine(gpus=1))))
    assert caught.value.problem.key == "needs_two_gpus"


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((0.5, 0.6, 0.7), "all_are_faster"),
        ((0.5, 1.0, 1.5), "some_are_faster"),
        ((1.0, 1.2, 1.5), "none_is_faster"),
    ],
)
def test_the_text_follows_the_times(steps, message):
    found = dict(zip((DATA, LAYERS, CHANNELS), steps, strict=True))
    finding = analyse(Params(), made(one=1.0, **found), machine())

    assert finding.message == message
    assert finding.values["bubble_fraction"] == pytest.approx(0.3)
    assert finding.values["expected_bubble_fraction"] == pytest.approx(0.2)
    assert finding.unclear == ()


@pytest.mark.parametrize(("data", "message"), [(1.0, CANNOT_TELL), (0.2, "some_unclear")])
def test_noise_is_not_called_as_slow(data, message):
    tables = made(one=1.0, data=data, layers=1.0, channels=1.0, noise=0.3)
    finding = analyse(Params(), tables, machine())

    assert finding.message == message
    assert "layers_speedup" in finding.unclear


def test_other_results_are_no_result():
    tables = made(one=1.0, data=0.5, layers=0.5, channels=0.5)
    tables["checks"].append(module.Check(way=CHANNELS, device="1", difference_fraction=0.1))
    finding = analyse(Params(), tables, machine())

    assert finding.message == "other_results"
    assert finding.values["difference_fraction"] == 0.1


def test_more_threads_than_cores_are_named():
    tables = made(one=1.0)

    assert "more_threads_than_cores" in analyse(Params(threads=4), tables, machine()).limits
    assert "more_threads_than_cores" not in analyse(Params(), tables, machine()).limits


def test_a_network_has_a_layer_and_whole_channels_for_each_device():
    shape = Shape(layers=2, width=64, batch=8).shared_by(3)

    assert (shape.layers, shape.width) == (3, 63)
