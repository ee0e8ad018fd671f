from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.api import CANNOT_TELL
from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.problems import UserError
from experiments.many_devices.p2p import experiment as module
from experiments.many_devices.p2p.experiment import Params, analyse
from experiments.many_devices.p2p.links import NO, RIGHT, UNKNOWN, WRONG, YES
from machine.devices import GpuLink, Link, NetworkInterface
from tests.experiments.machines import MIB, machine

torch = pytest.importorskip("torch")
from experiments.devices.device import Device  # noqa: E402
from experiments.many_devices.p2p import pairs  # noqa: E402
from experiments.many_devices.p2p.pairs import Pair  # noqa: E402
from tests.experiments import fake_gpu as fake  # noqa: E402
from tests.experiments.fake_gpu import NAME, SECOND, fake_gpu  # noqa: E402

AGREED_COLUMNS = {
    "copies": {"source", "target", "bytes_per_s"},
    "delays": {"source", "target", "latency_s"},
    "staged": {"source", "target", "bytes_per_s"},
    "access": {"nvml", "cuda", "measured"},
}

SMALL = Params(device=NAME, gpus=3, size_bytes=MIB, rounds=3)
THREE = machine(gpus=3)
NVLINKED = GpuLink(a=0, b=1, path="NV18", nvlinks=18, nvlink_version="4.0",
                   peer_access_reported=True)  # fmt: skip
JOINED = replace(
    THREE,
    gpus=tuple(replace(g, link=Link(peak_bytes_per_s=6e10)) for g in THREE.gpus),
    gpu_links=(NVLINKED, GpuLink(a=0, b=2, path="SYS", peer_access_reported=False)),
)


@pytest.fixture(autouse=True, scope="module")
def slow_links():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fake, "PEER_BYTES_PER_S", 2e9)
        patch.setattr(fake, "PINNED_BYTES_PER_S", 1e9)
        patch.setattr(pairs, "DELAYS", 5)
        yield


def measured(gpu, params=SMALL, here=JOINED):
    kinds = {kind: name for name, kind in module.EXPERIMENT.tables.items()}
    tables, notes = {name: [] for name in kinds.values()}, []
    for item in module.measure(params, Bench(here, clock=gpu.clock)):
        if type(item) in kinds:
            tables[kinds[type(item)]].append(item)
        elif isinstance(item, Note):
            notes.append(item)
    return tables, notes


@pytest.fixture(scope="module")
def run():
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, count=3) as gpu:
        return measured(gpu)[0], gpu


def test_every_pair_is_measured_in_each_direction(run):
    tables, _ = run

    assert len({(row.source, row.target) for row in tables["copies"]}) == 6
    assert len({(row.source, row.target) for row in tables["both"]}) == 3
    for name in ("copies", "delays", "staged", "staged_delays"):
        assert len(tables[name]) == 6 * SMALL.rounds


def test_rates_are_those_of_the_links_and_the_host_is_two_hops_away(run):
    finding = analyse(SMALL, run[0], JOINED)
    values = finding.values

    assert finding.message == "all_alike"
    assert values["fastest_bytes_per_s"] == pytest.approx(2e9, rel=0.02)
    assert values["staged_bytes_per_s"] == pytest.approx(0.5e9, rel=0.05)
    assert values["direct_over_staged"] == pytest.approx(4, rel=0.05)
    shown = values["fastest_bytes_per_s"] / values["staged_bytes_per_s"]
    assert values["direct_over_staged"] == pytest.approx(shown)
    assert values["both_bytes_per_s"] == pytest.approx(4e9, rel=0.1)
    assert values["least_latency_s"] == pytest.approx(fake.LAUNCH_S, rel=0.2)
    assert values["pairs_looked_at"] == 6


def test_limits_are_those_of_what_joins_the_two(run):
    values = analyse(SMALL, run[0], JOINED).values

    assert values["nvlink_limit_bytes_per_s"] == 18 * 25e9
    assert values["pcie_limit_bytes_per_s"] == 6e10
    assert {row.path for row in run[0]["copies"]} == {"NV18", "SYS", UNKNOWN}


def test_marks_are_read_once(run):
    assert {event.reads for event in run[1].events} <= {0, 1}


def test_what_is_said_stands_beside_what_was_measured(run):
    said = {(row.source, row.target): row for row in run[0]["access"]}

    assert said[NAME, SECOND].nvml == YES
    assert said[NAME, "cuda:2"].nvml == NO
    assert said[SECOND, "cuda:2"].nvml == UNKNOWN
    assert {(row.cuda, row.measured) for row in said.values()} == {(YES, RIGHT)}
    counted = {(row.witness, row.verdict): row.pairs for row in run[0]["verdicts"]}
    assert counted["nvml", NO] == 2
    assert counted["cuda", YES] == counted["measured", RIGHT] == 6
    finding = analyse(SMALL, run[0], JOINED)
    assert finding.values["disagreeing_pairs"] == 2
    assert "reports_disagree" in finding.limits


def test_wrong_data_is_said_to_be_wrong_and_not_timed(monkeypatch):
    spoilt = {(0, 1), (1, 2)}
    with fake_gpu(monkeypatch, count=3, spoils=lambda *way: way in spoilt) as gpu:
        tables, _ = measured(gpu)
    finding = analyse(SMALL, tables, JOINED)

    assert finding.message == "wrong_data"
    assert finding.values["wrong_pairs"] == 2
    assert (NAME, SECOND) not in {(row.source, row.target) for row in tables["copies"]}
    assert sum(row.measured == WRONG for row in tables["access"]) == 2


def test_where_no_way_is_right_nothing_is_timed(monkeypatch):
    with fake_gpu(monkeypatch, count=2, spoils=lambda *way: True) as gpu:
        tables, _ = measured(gpu, replace(SMALL, gpus=2))

    assert tables["copies"] == []
    assert analyse(SMALL, tables, JOINED).message == "wrong_data"


def test_wrong_data_through_the_host_is_trouble(monkeypatch):
    monkeypatch.setattr(Pair, "stage", lambda self, count=None: None)
    with fake_gpu(monkeypatch, count=2) as gpu, pytest.raises(UserError) as caught:
        measured(gpu, replace(SMALL, gpus=2))
    assert caught.value.problem.key == "copied_wrong"


def test_without_peer_access_a_copy_goes_through_the_host(monkeypatch):
    with fake_gpu(monkeypatch, count=2, peers=False) as gpu:
        tables, _ = measured(gpu, replace(SMALL, gpus=2))
    finding = analyse(SMALL, tables, JOINED)

    assert "without_peer_access" in finding.limits
    assert finding.values["direct_over_staged"] == pytest.approx(1, rel=0.05)


def test_both_directions_use_streams_of_their_own(monkeypatch):
    with fake_gpu(monkeypatch, count=2) as gpu:
        measured(gpu, replace(SMALL, gpus=2, rounds=1))
    way = [entry for entry in gpu.log if entry.startswith("copy to") and "stream" in entry]

    assert len({entry.rpartition(" in ")[2] for entry in way}) == 2


def test_where_no_queue_can_be_held_the_calling_is_said_to_be_in_it(monkeypatch):
    monkeypatch.setattr(Device, "hold", lambda self, seconds: False)
    with fake_gpu(monkeypatch, count=2) as gpu:
        tables, _ = measured(gpu, replace(SMALL, gpus=2, rounds=1))

    assert not any(row.is_clean for row in tables["delays"])
    assert "calling_is_in_it" in analyse(SMALL, tables, JOINED).limits


def test_gpus_with_little_memory_get_less(monkeypatch):
    with fake_gpu(monkeypatch, count=2, free_bytes=20 * MIB) as gpu:
        tables, notes = measured(gpu, replace(SMALL, gpus=2, size_bytes=8 * MIB, rounds=1))

    assert [note.values["largest_bytes"] for note in notes] == [2 * MIB]
    assert tables["copies"]


def test_running_out_of_memory_is_the_gpu_s_own_error(monkeypatch):
    error = torch.OutOfMemoryError("CUDA out of memory")
    with fake_gpu(monkeypatch, count=2) as gpu:
        gpu.fails = lambda work: error if gpu.at == 1 and work == "zeros_like" else None
        with pytest.raises(torch.OutOfMemoryError):
            measured(gpu, replace(SMALL, gpus=2))


def test_pairs_that_part_are_told_from_those_that_do_not():
    def made(fast, slow):
        rows = [
            module.Copied(source=NAME, target=SECOND, path="NV18", repeat=n, bytes_per_s=fast + n)
            for n in range(3)
        ]
        rows += [replace(row, target="cuda:2", bytes_per_s=slow + row.repeat) for row in rows]
        delays = [module.Delay(source=NAME, target=SECOND, repeat=0, latency_s=1e-5, is_clean=True)]
        empty = {name: [] for name in module.EXPERIMENT.tables}
        return empty | {"copies": rows, "delays": delays}

    assert analyse(SMALL, made(4e11, 2e10), THREE).message == "some_are_nearer"
    assert analyse(SMALL, made(4e11, 3.9e11), THREE).message == "all_alike"
    mixed = made(4e11, 3.9e11)
    mixed["copies"] = [
        replace(
            row, bytes_per_s=row.bytes_per_s * (0.5 if row.repeat == (row.target != SECOND) else 1)
        )
        for row in mixed["copies"]
    ]
    assert analyse(SMALL, mixed, THREE).message == CANNOT_TELL
    assert "above_the_limit" in analyse(SMALL, made(5e11, 1e10), JOINED).limits
    assert analyse(SMALL, {**made(1, 1), "copies": []}, THREE).message == "in_part"


def test_the_way_through_the_host_is_compared_on_the_same_pair():
    def made(*direct):
        pair = {"source": NAME, "target": SECOND, "path": "PHB"}
        empty = {name: [] for name in module.EXPERIMENT.tables}
        copies = [module.Copied(**pair, repeat=n, bytes_per_s=s) for n, s in enumerate(direct)]
        staged = [module.Staged(**pair, repeat=n, bytes_per_s=1e9 + n) for n in range(len(direct))]
        # The way of another pair is faster: it must not be taken for this one's.
        staged += [replace(row, target="cuda:2", bytes_per_s=1e10) for row in staged]
        return analyse(SMALL, empty | {"copies": copies, "staged": staged}, THREE)

    clear, unclear = made(4e9, 4.01e9, 3.99e9), made(0.5e9, 4e9, 1.1e9)
    assert clear.values["direct_over_staged"] == pytest.approx(4, rel=0.01)
    assert clear.unclear == ()
    assert unclear.unclear == ("direct_over_staged",)


@pytest.mark.parametrize(
    ("rates", "fastest"), [([1.25e8, 1.25e9], 1.25e9), ([None], None), ([], None)]
)
def test_the_network_stands_beside_what_joins_gpus(rates, fastest):
    up = [
        NetworkInterface(name=f"eth{n}", is_up=True, peak_bytes_per_s=s)
        for n, s in enumerate(rates)
    ]
    down = NetworkInterface(name="eth9", is_up=False, peak_bytes_per_s=1e12)
    here = replace(THREE, network=(*up, down))
    copied = module.Copied(source=NAME, target=SECOND, path="NV18", repeat=0, bytes_per_s=1.25e11)
    empty = {name: [] for name in module.EXPERIMENT.tables}
    found = analyse(SMALL, empty | {"copies": [copied]}, here)

    assert found.values.get("network_limit_bytes_per_s") == fastest
    assert found.values.get("fastest_over_network") == (fastest and 100)
    assert ("no_network_speed" in found.limits) is (fastest is None)


def test_the_chosen_gpu_comes_first_and_others_of_its_maker_follow():
    assert module.chosen(replace(SMALL, device=SECOND, gpus=2), THREE) == [SECOND, NAME]
    assert module.EXPERIMENT.suited(machine(gpus=8)).gpus == 8
    eight = module.EXPERIMENT.reduced(module.EXPERIMENT.suited(machine(gpus=8)))
    assert module.seconds(eight) <= 5
