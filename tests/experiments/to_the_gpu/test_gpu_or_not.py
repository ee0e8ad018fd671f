from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.judging.comparing import Outcome, paired
from experiments.core.parameters import to_json
from experiments.devices.device import Device
from experiments.to_the_gpu.gpu_or_not import branching, known_speeds, speeds
from experiments.to_the_gpu.gpu_or_not import experiment as gpu_or_not
from experiments.to_the_gpu.gpu_or_not.experiment import (
    EXPERIMENT,
    Answer,
    Params,
    Time,
    analyse,
    measure,
)
from experiments.to_the_gpu.gpu_or_not.works import WORKS, WorkStep
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from tests.experiments.fake_gpu import LAUNCH_S, MEMORY_BYTES_PER_S, NAME, fake_gpu  # noqa: E402

AGREED = {"cpu_s", "gpu_s", "copy_s"}

SMALL = Params(device=NAME, rows=64, columns=64, steps=10, rounds=3)
HERE = machine(gpus=1, cores=1)


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(gpu_or_not, "PROBE_BYTES", 2**16)
    for name in ("CPU_NUMBERS", "GPU_NUMBERS"):
        monkeypatch.setattr(gpu_or_not, name, 2**12)

    def once(device, work):  # the processor takes no time here, and would be asked endlessly
        work()
        return 1

    monkeypatch.setattr(branching, "enough", once)
    monkeypatch.setattr(speeds, "PRODUCT_ROWS", 64)
    monkeypatch.setattr(speeds, "UNKNOWN_L2_BYTES", 2**13)
    with fake_gpu(monkeypatch, cpu_flop_per_s=1e9) as gpu:
        yield gpu


def tables_of(params, bench):
    return in_tables(EXPERIMENT, measure(params, bench))


def finding_of(gpu, params=SMALL):
    return analyse(params, tables_of(params, Bench(HERE, clock=gpu.clock)), HERE)


def test_work_that_the_processor_is_slow_at_is_worth_it(gpu):
    finding = finding_of(gpu)
    values = finding.values

    assert finding.message == "worth_it"
    assert values["gpu_s"] + values["copy_s"] < values["cpu_s"]
    assert values["needed_bytes"] == 3 * 4 * 64 * 64
    assert values["moved_bytes"] == values["needed_bytes"]
    assert values["cpu_estimated_over_measured"] == pytest.approx(1, rel=0.2)


def test_a_gpu_s_memory_is_sampled_by_its_own_clock_and_beyond_its_cache(gpu):
    known = replace(HERE, gpus=(replace(HERE.gpus[0], l2_bytes=2**17),))
    device = Device(NAME, Bench(known, clock=gpu.clock))
    sampled = speeds.sampler(device, WorkStep("product", 64, 64, "fp32"), 2**16)()

    moved_bytes = 2 * 8 * 2**17
    own_s = LAUNCH_S + moved_bytes / MEMORY_BYTES_PER_S  # the caller's clock would add the calls
    assert sampled.bytes_per_s == pytest.approx(moved_bytes / own_s, rel=0.05)
    wanted = 2 * 64**3 / (LAUNCH_S + 2 * 64**3 / gpu.flop_per_s)
    assert sampled.operations_per_s == pytest.approx(wanted, rel=0.05)


def test_a_gpu_without_room_is_sampled_with_less(gpu):
    gpu.free_bytes = 2**16
    device = Device(NAME, Bench(HERE, clock=gpu.clock))

    assert speeds.sampler(device, WorkStep("product", 16, 16, "fp32"), 2**16)().bytes_per_s > 0


def test_products_are_large_enough_for_all_units():
    assert speeds.product_rows(NAME, "fp16", 8) == 4096
    assert [speeds.product_rows("cpu", "fp32", n) for n in (2, 8, 128)] == [512, 1024, 2048]
    assert speeds.product_rows("cpu", "bf16", 128) == 128


def test_mixed_branches_are_timed_over_the_same_numbers(gpu):
    device = Device("cpu", Bench(HERE))
    given = {}

    def kept(shape, numbers, out):
        given[len(given)] = numbers.clone()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.special, "gammainc", kept)
        patch.setattr(branching, "enough", lambda device, work: work() or 1)
        branching.branching(device, 2**12)
    alike, mixed = given.values()

    assert torch.equal(alike.sort().values, mixed.sort().values)
    assert len(set(alike[:1024].tolist())) == 1
    assert all(len(set(warp.tolist())) == 2 for warp in mixed.split(32))


def test_branches_are_told_of_processor_and_gpu(gpu):
    tables = tables_of(SMALL, Bench(HERE, clock=gpu.clock))
    of_gpu = [row for row in tables["branches"] if row.where == "gpu"]
    slower = [replace(row, number_s=2e-9 if row.order == "mixed" else 1e-9) for row in of_gpu]
    finding = analyse(SMALL, {**tables, "branches": slower}, HERE)

    assert len(tables["branches"]) == 2 * 2 * SMALL.rounds
    assert finding.values["gpu_mixed_over_alike"] == 2
    assert "a_warp_goes_in_step" in finding.limits
    cpu = [row for row in tables["branches"] if row.where == "cpu"]
    alone = analyse(replace(SMALL, device="cpu"), {**tables, "branches": cpu}, HERE)
    assert "cores_branch_alone" in alone.limits


def test_work_that_is_done_in_no_time_stays(gpu):
    gpu.cpu_flop_per_s = 1e15
    assert finding_of(gpu).message == "stay"


def test_what_the_copies_eat_up_is_worth_it_only_there(gpu):
    gpu.cpu_flop_per_s = 3.5e10
    few = replace(SMALL, steps=1)
    finding = finding_of(gpu, few)

    assert finding.message == "worth_it_there"
    assert finding.values["gpu_s"] < finding.values["cpu_s"]


def test_deciding_after_each_step_costs_a_wait_each_on_a_gpu(gpu):
    asks = replace(SMALL, asks=True)
    tables = tables_of(asks, Bench(HERE, clock=gpu.clock))
    waits = [row.piece_s for row in tables["pieces"] if (row.where, row.piece) == ("gpu", "asking")]
    values = analyse(asks, tables, HERE).values

    assert min(waits) > 0
    assert values["gpu_s"] > finding_of(gpu).values["gpu_s"]
    assert values["estimated_gpu_s"] > finding_of(gpu).values["estimated_gpu_s"]


def test_what_does_not_fit_is_not_tried(gpu):
    gpu.free_bytes = 2**10
    finding = finding_of(gpu)

    assert finding.message == "does_not_fit"
    assert finding.values["free_bytes"] == int(0.6 * 2**10)
    assert "gpu_s" not in finding.values


def test_what_torch_does_not_have_there_is_said(gpu):
    gpu.fails = lambda work: RuntimeError("'mm' not implemented") if work == "mm" else None

    assert finding_of(gpu).message == "not_supported"


def test_a_gpu_that_fails_is_no_missing_operation(gpu):
    gpu.fails = lambda work: torch.OutOfMemoryError("CUDA out of memory") if work == "mm" else None
    with pytest.raises(torch.OutOfMemoryError):
        finding_of(gpu)


def test_of_long_work_only_the_first_steps_are_tried(gpu):
    short = replace(SMALL, steps=1000, most_s=0.02)
    tables = tables_of(short, Bench(HERE, clock=gpu.clock))
    cpu = [row for row in tables["times"] if row.kind == "cpu"]
    finding = analyse(short, tables, HERE)

    assert {row.steps for row in cpu} < set(range(20, 60))
    assert cpu[0].taken_s == pytest.approx(1000 * 2 * 64**3 / 1e9, rel=0.1)
    assert "measured_in_part" in finding.limits


def test_a_step_that_is_too_long_is_only_estimated(gpu):
    gpu.cpu_flop_per_s = 1e6
    finding = finding_of(gpu, replace(SMALL, most_s=0.05))

    assert finding.message == "cpu_estimated"
    assert "too_long_to_try" in finding.limits
    assert finding.values["estimated_cpu_s"] > 1


def test_copies_are_timed_from_and_to_ordinary_memory(gpu):
    finding = finding_of(gpu)

    assert any("copy pageable to_gpu" in entry for entry in gpu.log)
    assert not any("copy pinned" in entry for entry in gpu.log)
    assert "ordinary_memory" in finding.limits


def test_what_to_do_next_answers_the_question_without_a_gpu(monkeypatch):
    monkeypatch.setattr(gpu_or_not, "PROBE_BYTES", 2**16)
    params = Params(rows=32, columns=16, steps=3, rounds=3)
    typed = replace(params, **gpu_or_not.EXPERIMENT.next.changes(to_json(params)))
    asked, answered = (analyse(p, tables_of(p, Bench(HERE)), HERE) for p in (params, typed))

    assert asked.limits[:2] == ("gpu_unknown", "way_unknown")
    assert answered.limits[0] == "gpu_as_given"
    assert {"cpu_s", "estimated_gpu_s", "estimated_copy_s"} <= answered.values.keys()


@pytest.mark.parametrize("kind", WORKS)
@pytest.mark.parametrize("asks", [False, True])
def test_on_the_processor_it_says_what_to_run_for_the_rest(kind, asks, monkeypatch):
    monkeypatch.setattr(gpu_or_not, "PROBE_BYTES", 2**16)
    params = Params(work=kind, rows=32, columns=16, steps=3, asks=asks, rounds=3)
    finding = analyse(params, tables_of(params, Bench(HERE)), HERE)

    helps = kind != "sort"  # no number that could be typed tells how long a GPU sorts
    assert finding.message == ("cpu_alone" if helps else "cpu_alone_at_this")
    assert ("needs_gpu" in finding.limits) is not helps
    assert ({"way_unknown", "gpu_unknown"} <= set(finding.limits)) is helps
    assert set(finding.values) == {
        "cpu_s", "estimated_cpu_s", "cpu_estimated_over_measured", "steps", "needed_bytes",
        "moved_bytes", "cpu_mixed_over_alike",
    }  # fmt: skip


def test_work_knows_what_it_computes_and_moves():
    product, add, sort = (WorkStep(kind, 100, 10, "fp64") for kind in WORKS)

    assert (product.operations, add.operations) == (20_000, 2000)
    assert sort.operations == pytest.approx(1000 * 3.3219, rel=1e-3)
    assert (product.bytes_there, product.bytes_back) == (8 * 1100, 8000)
    assert (add.bytes_there, sort.bytes_there) == (16_000, 8000)
    assert sort.needed_bytes == 16_000 + 8000


@pytest.mark.parametrize("kind", WORKS)
def test_work_does_what_it_says(kind):
    device = gpu_or_not.Device("cpu", Bench(machine()))
    work = WorkStep(kind, 8, 6, "fp64")
    inputs = work.inputs(device)
    step, out = work.step(device, inputs)
    step()

    wanted = {
        "product": lambda x, w: x @ w,
        "elementwise": lambda x, w: x + 0.5 * w,
        "sort": lambda x: x.sort(dim=1).values,
    }[kind](*inputs)
    assert torch.allclose(out, wanted)
    assert work.is_supported(device)


# --- what is known before -----------------------------------------------------------------------


KNOWN = {
    "cpu_flop_per_s": 1e9, "cpu_bytes_per_s": 1e10, "gpu_flop_per_s": 1e12, "gpu_bytes_per_s": 1e12,
    "to_gpu_bytes_per_s": 1e9, "from_gpu_bytes_per_s": 2e9,
}  # fmt: skip


def estimated_s(tables, where, piece):
    rows = [row for row in tables["pieces"] if (row.where, row.piece) == (where, piece)]
    return rows[0].piece_s


def test_what_other_experiments_found_is_what_is_estimated_with(gpu):
    known = replace(SMALL, **KNOWN)
    tables = tables_of(known, Bench(HERE, clock=gpu.clock))
    finding = analyse(known, tables, HERE)

    assert estimated_s(tables, "cpu", "arithmetic") == pytest.approx(10 * 2 * 64**3 / 1e9)
    assert estimated_s(tables, "gpu", "there") > 2 * 4 * 64 * 64 / 1e9
    assert not {limit for limit in finding.limits if limit.endswith("_sampled")}


def test_what_is_not_known_is_sampled_and_the_experiment_that_tells_it_is_named(gpu):
    limits = finding_of(gpu).limits
    assert [each for each in limits if each.endswith("sampled")] == ["all_sampled"]
    told = {
        "cpu_bytes_per_s": "memory_sampled",
        "cpu_flop_per_s": "arithmetic_sampled",
        "gpu_flop_per_s": "gpu_arithmetic_sampled",
        "gpu_bytes_per_s": "gpu_memory_sampled",
        "from_gpu_bytes_per_s": "way_sampled",
    }
    for name, limit in told.items():
        but_one = replace(SMALL, **{**KNOWN, name: 0.0})
        tables = tables_of(but_one, Bench(HERE, clock=gpu.clock))
        limits = analyse(but_one, tables, HERE).limits
        assert [each for each in limits if each.endswith("sampled")] == [limit]


def test_arithmetic_in_another_precision_is_not_what_was_earned(gpu):
    half = replace(SMALL, precision="fp16", **KNOWN)
    finding = analyse(half, tables_of(half, Bench(HERE, clock=gpu.clock)), HERE)

    assert "own_arithmetic_sampled" in finding.limits
    assert "arithmetic_sampled" not in finding.limits


def test_a_gpu_that_is_not_here_is_estimated_from_the_numbers_given():
    params = replace(SMALL, device="cpu", rounds=1, **KNOWN)
    tables = tables_of(params, Bench(HERE))
    finding = analyse(params, tables, HERE)

    assert estimated_s(tables, "gpu", "calls") == pytest.approx(10 * known_speeds.CALL_S)
    assert finding.values["estimated_copy_s"] > 2 * 4 * 64 * 64 / 1e9
    assert "gpu_s" not in finding.values
    assert "gpu_as_given" in finding.limits


@pytest.mark.parametrize(
    ("cpu_s", "message"),
    [
        ([5.0, 5.1, 5.2, 5.1, 5.0], "would_be_worth_it"),
        ([2.0, 2.1, 2.2, 2.1, 2.0], "would_be_worth_it_there"),
        ([1.0, 1.01, 0.99, 1.0, 1.0], "would_be_no_winner"),
        ([0.7, 1.4, 0.9, 1.2, 1.1], "cannot_tell"),
        ([0.5, 0.6, 0.7, 0.6, 0.5], "would_stay"),
        ([5.0, 5.1], "too_few_rounds"),
    ],
)
def test_the_question_is_answered_by_the_numbers_given(cpu_s, message):
    times = [
        Time(kind=kind, repeat=turn, steps=10, taken_s=taken_s)
        for turn, each_s in enumerate(cpu_s)
        for kind, taken_s in (("cpu", each_s), ("gpu_estimated", 1.0), ("copy_estimated", 2.0))
    ]
    fits = Answer(where="cpu", is_supported=True, needed_bytes=1, free_bytes=2)
    tables = {"times": times, "pieces": [], "answers": [fits], "branches": [], "conditions": []}

    assert analyse(replace(SMALL, device="cpu", **KNOWN), tables, HERE).message == message


def test_two_comparisons_are_as_strict_as_one():
    cpu = [3.0, 3.0, 3.0, 3.0]
    both = [3 * 0.957, 3 * 0.957, 3 * 0.944, 3 * 0.975]
    assert paired(both, cpu).outcome is Outcome.DIFFERS
    gpu = [1.0, 5.0, 2.0, 3.0]  # of it nobody can tell
    times = [
        Time(kind=kind, repeat=turn, steps=10, taken_s=s)
        for turn in range(4)
        for kind, s in (
            ("cpu", cpu[turn]),
            ("gpu_estimated", gpu[turn]),
            ("copy_estimated", both[turn] - gpu[turn]),
        )
    ]
    fits = Answer(where="cpu", is_supported=True, needed_bytes=1, free_bytes=2)
    tables = {"times": times, "pieces": [], "answers": [fits], "branches": [], "conditions": []}

    assert analyse(replace(SMALL, device="cpu", **KNOWN), tables, HERE).message == "cannot_tell"


def test_nothing_is_told_of_a_gpu_of_which_a_number_is_missing():
    params = replace(SMALL, device="cpu", rounds=1, **{**KNOWN, "gpu_bytes_per_s": 0.0})
    finding = analyse(params, tables_of(params, Bench(HERE)), HERE)

    assert finding.message == "cpu_alone"
    assert "estimated_gpu_s" not in finding.values
    assert {"way_unknown", "gpu_unknown"} <= set(finding.limits)
