from __future__ import annotations

import gzip
import json

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench, StopRequested
from experiments.core.declare import Note
from experiments.core.problems import UserError
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables
from tests.experiments.to_the_gpu.test_bottleneck_profiling import STEP_OF_CUDA

torch = pytest.importorskip("torch")
from experiments.to_the_gpu.bottleneck import experiment as bottleneck  # noqa: E402
from experiments.to_the_gpu.bottleneck.experiment import PARTS, Params, PartTime, WholeStep, analyse  # noqa: E402
from tests.experiments.fake_gpu import NAME, fake_gpu  # noqa: E402

AGREED = {"waiting_fraction", "host_fraction", "copy_fraction", "compute_fraction", "idle_fraction"}

SMALL = Params(width=2, batch=2, steps=3, rounds=2)
ON_GPU = Params(device=NAME, width=2, batch=2, steps=3, rounds=3)


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


def measured(params, bench):
    return in_tables(bottleneck.EXPERIMENT, bottleneck.measure(params, bench))


def tables_of(**parts_s):
    shares = [
        PartTime(part=part, repeat=repeat, part_s=part_s * (1 + 0.01 * repeat))
        for part, part_s in parts_s.items()
        for repeat in range(3)
    ]
    wholes = [
        WholeStep(is_recorded=is_recorded, repeat=repeat, step_s=1.0 + is_recorded)
        for is_recorded in (False, True)
        for repeat in range(3)
    ]
    return {"shares": shares, "wholes": wholes, "slices": [], "conditions": []}


def test_on_the_processor_a_step_is_taken_apart(small_run):
    run = small_run("bottleneck")
    tables = run.tables()
    finding = analyse(run.params, tables, machine())

    assert {row.part for row in tables["shares"]} == set(PARTS) - {"copy"}
    assert "copy_fraction" not in finding.values
    fractions = [value for name, value in finding.values.items() if name.endswith("_fraction")]
    assert sum(fractions) == pytest.approx(1)
    assert "copies_need_gpu" in finding.limits
    assert {row.kind for row in tables["slices"]} == {"waiting", "step", "operator"}
    assert {row.lane for row in tables["slices"]} == {"host"}
    for repeat in range(run.params.rounds):
        parts_s = sum(row.part_s for row in tables["shares"] if row.repeat == repeat)
        step_s = next(r.step_s for r in tables["wholes"] if r.is_recorded and r.repeat == repeat)
        assert parts_s <= step_s


def test_the_kernels_of_a_gpu_are_told_from_copies(gpu, monkeypatch):
    def traced(device, work):
        work()
        return {"traceEvents": STEP_OF_CUDA}

    monkeypatch.setattr(bottleneck.profiling, "traced", traced)
    monkeypatch.setattr(bottleneck, "SHOWN", 1)
    tables = measured(ON_GPU, Bench(machine(gpus=1), clock=gpu.clock))
    finding = analyse(ON_GPU, tables, machine(gpus=1))

    assert finding.message == "waits_for_data"
    assert finding.values["compute_fraction"] == pytest.approx(70 / 300)
    assert finding.values["copy_fraction"] == pytest.approx(30 / 300)
    lanes = {row.kind: row.lane for row in tables["slices"]}
    assert lanes["kernel"] == lanes["copy"] == "device"
    assert lanes["call"] == lanes["waiting"] == "host"


def test_a_gpu_waits_for_every_step_and_of_work_not_recorded_nothing_is_guessed(gpu):
    tables = measured(ON_GPU, Bench(machine(gpus=1), clock=gpu.clock))
    finding = analyse(ON_GPU, tables, machine(gpus=1))

    assert tables["shares"] == []
    assert "kernels_not_told" in finding.limits
    assert "compute_fraction" not in finding.values
    epochs = 1 + 2 * ON_GPU.rounds
    # The first steps warm up and are not counted.
    assert gpu.log.count("backward in default") == epochs * (ON_GPU.steps + 1)
    assert gpu.log.count("wait") == epochs * (ON_GPU.steps + 1)


def test_a_gpu_without_memory_is_told_by_its_own_error(gpu):
    gpu.fails = lambda work: torch.OutOfMemoryError("CUDA out of memory")
    with pytest.raises(torch.OutOfMemoryError):
        measured(ON_GPU, Bench(machine(gpus=1), clock=gpu.clock))


def test_a_stop_is_obeyed_between_two_steps():
    threads = torch.get_num_threads()
    with pytest.raises(StopRequested):
        measured(SMALL, Bench(machine(), stop=lambda: True))
    assert torch.get_num_threads() == threads


def test_the_trace_is_saved_where_it_is_wanted(tmp_path):
    params = Params(width=2, batch=2, steps=3, rounds=1, folder=str(tmp_path))
    notes = [each for each in bottleneck.measure(params, Bench(machine())) if type(each) is Note]

    assert [note.key for note in notes] == ["trace_saved"]
    trace = json.loads(gzip.decompress((tmp_path / notes[0].values["name"]).read_bytes()))
    assert any(each.get("name") == "aten::conv2d" for each in trace["traceEvents"])
    assert "host_name" not in trace


def test_a_folder_that_cannot_be_written_is_trouble(tmp_path):
    params = Params(width=2, batch=2, steps=3, rounds=1, folder=str(tmp_path / "gone"))
    with pytest.raises(UserError) as caught:
        list(bottleneck.measure(params, Bench(machine())))
    assert caught.value.problem.key == "trace_not_saved"


@pytest.mark.parametrize(
    ("largest", "message"),
    [
        ("waiting", "waits_for_data"),
        ("host", "host_holds_back"),
        ("copy", "copies_hold_back"),
        ("compute", "computes"),
        ("idle", "mostly_idle"),
    ],
)
def test_the_largest_part_is_named(largest, message):
    parts_s = dict.fromkeys(PARTS, 0.1) | {largest: 0.6}
    finding = analyse(ON_GPU, tables_of(**parts_s), machine(gpus=1))

    assert finding.message == message
    assert finding.values[f"{largest}_fraction"] == pytest.approx(0.6)
    assert "recording_costs" in finding.limits  # twice as long


def test_no_part_is_named_where_two_do_not_part():
    tables = tables_of(waiting=0.4, host=0.1, copy=0.0, compute=0.401, idle=0.1)

    assert analyse(ON_GPU, tables, machine(gpus=1)).message == "no_part_stands_out"


def test_no_part_is_named_where_the_rounds_scatter():
    tables = tables_of(waiting=0.4, host=0.1, copy=0.1, compute=0.45, idle=0.1)
    wild = [
        replace(row, part_s=row.part_s * (1 + (row.repeat + (row.part == "waiting")) % 2))
        for row in tables["shares"]
    ]
    assert analyse(ON_GPU, {**tables, "shares": wild}, machine(gpus=1)).message == "cannot_tell"
