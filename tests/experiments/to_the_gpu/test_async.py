from __future__ import annotations

import importlib
import itertools

import pytest

from experiments.core.bench import Bench
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

pytest.importorskip("torch")
from tests.experiments.fake_gpu import CALL_S, LAUNCH_S, NAME, fake_gpu

AGREED = {
    "queued_s", "finished_s", "print_s", "item_s", "cpu_s", "numpy_s", "if_s", "nonzero_s",
    "synchronize_s",
}  # fmt: skip

module = importlib.import_module("experiments.to_the_gpu.async.experiment")  # its name is a keyword
queue_formula = importlib.import_module("experiments.to_the_gpu.async.queue_formula")
SMALL = module.Params(device=NAME, size=64, most=8, rounds=3)


def tables_of(params, bench):
    return in_tables(module.EXPERIMENT, module.measure(params, bench))


@pytest.fixture(scope="module")
def played():
    """One run: the GPU and the tables."""
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch, flop_per_s=1e10) as gpu:
        # at so low a rate small products last
        yield gpu, tables_of(SMALL, Bench(machine(gpus=1), clock=gpu.clock))


def test_on_a_gpu_calls_are_back_before_the_work_is_done(played):
    _, tables = played
    finding = module.analyse(SMALL, tables, machine(gpus=1))

    assert finding.message == "comes_back_early"
    assert finding.values["finished_s"] > 2 * finding.values["queued_s"]


def test_the_formula_of_queued_work_tells_call_product_and_answer(played):
    gpu, tables = played
    values = module.analyse(SMALL, tables, machine(gpus=1)).values

    product_s = LAUNCH_S + 2 * 64**3 / gpu.flop_per_s
    assert values["call_s"] == pytest.approx(CALL_S, rel=0.1)
    assert values["product_s"] == pytest.approx(product_s, rel=0.02)
    assert values["formula_s"] == pytest.approx(values["finished_s"], rel=0.02)
    drawn = {row.products: row.until_s for row in tables["calls"] if row.kind == "formula"}
    assert drawn[SMALL.most] == pytest.approx(values["formula_s"])
    assert set(drawn) == {1, 2, 4, 8}


def test_waiting_after_each_product_pays_for_call_and_answer_every_time(played):
    values = module.analyse(SMALL, played[1], machine(gpus=1)).values
    one_s = values["call_s"] + values["product_s"] + values["answer_s"]

    assert values["waited_s"] == pytest.approx(SMALL.most * one_s, rel=0.1)
    assert values["waited_s"] > values["finished_s"]


def test_the_formula_is_found_again_and_left_out_where_calls_set_the_pace():
    queued = {n: 4e-6 * n for n in (1, 2, 8, 64)}
    finished = {n: 4e-6 + 3e-4 * n + 9e-6 for n in queued}
    found = queue_formula.fitted(queued, finished)

    assert found is not None
    assert (found.call_s, found.work_s, found.answer_s) == pytest.approx((4e-6, 3e-4, 9e-6))
    assert queue_formula.fitted(queued, {n: 1e-5 + 3e-6 * n for n in queued}) is None
    assert queue_formula.fitted({1: 1e-6, 2: 2e-6}, {1: 3e-6, 2: 6e-6}) is None


def test_each_blocker_waits_for_all_of_it(played):
    _, tables = played
    values = module.analyse(SMALL, tables, machine(gpus=1)).values

    for name in module.BLOCKERS:
        assert values[f"{name}_s"] >= 0.9 * values["finished_s"], name


def test_on_the_lanes_no_work_begins_before_its_call_or_beside_other_work(played):
    _, tables = played
    calls = [row for row in tables["lanes"] if row.lane == "calls"]
    work = [row for row in tables["lanes"] if row.lane == "device"]

    assert len(calls) == len(work) == module.SHOWN
    for call, done in zip(calls, work, strict=True):
        assert done.start_s >= call.start_s
        assert done.end_s > done.start_s
    assert all(one.end_s <= other.start_s for one, other in itertools.pairwise(work))


def test_warming_up_is_not_counted(played):
    gpu, tables = played
    first = next(n for n, entry in enumerate(gpu.log) if entry.startswith("mm"))
    assert "wait" in gpu.log[first + 1]
    products = sum(row.products for row in tables["calls"] if row.kind == "queued")
    called = sum(entry.startswith("mm") for entry in gpu.log)
    blocked = len(tables["blockers"]) * SMALL.most
    assert called > products + blocked + module.SHOWN


def test_a_gpu_without_memory_is_told_by_its_own_error(monkeypatch):
    import torch

    def fails(work):
        return torch.OutOfMemoryError("CUDA out of memory") if work == "mm" else None

    with fake_gpu(monkeypatch) as gpu:
        gpu.fails = fails
        with pytest.raises(torch.OutOfMemoryError):
            tables_of(SMALL, Bench(machine(gpus=1), clock=gpu.clock))


def test_a_processor_has_no_queue():
    params = module.Params(size=64, most=4, rounds=3)
    finding = module.analyse(params, tables_of(params, Bench(machine())), machine())

    assert finding.message == "no_queue"
    assert set(finding.values) >= {f"{name}_s" for name in module.BLOCKERS}
