from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note, Progress
from experiments.devices import timing
from experiments.to_the_gpu.placement import experiment as placement
from experiments.to_the_gpu.placement.experiment import (
    EXPERIMENT,
    FETCH,
    Attempt,
    Params,
    analyse,
    measure,
)
from machine.devices import Link
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from experiments.core.sizes import KIB  # noqa: E402
from tests.experiments.fake_gpu import (  # noqa: E402
    CALL_S,
    LAUNCH_S,
    NAME,
    PAGEABLE_BYTES_PER_S,
    fake_gpu,
)

AGREED = {"same_device_s", "copy_then_add_s", "copy_s"}

SMALL = Params(device=NAME, largest_bytes=256 * KIB, rounds=3)


@pytest.fixture(scope="module", autouse=True)
def short_samples():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "SAMPLE_S", 1e-4)
        yield


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


@pytest.fixture(scope="module")
def run():
    """A run on the fake GPU: what it yielded, and the log of the GPU."""
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch) as gpu:
        return on_gpu(gpu), gpu.log


@pytest.fixture
def tables(run):
    return in_tables(EXPERIMENT, run[0])


def on_gpu(gpu, params=SMALL):
    return list(measure(params, Bench(machine(gpus=1), clock=gpu.clock)))


def with_link(bytes_per_s):
    here = machine(gpus=1)
    return replace(here, gpus=(replace(here.gpus[0], link=Link(peak_bytes_per_s=bytes_per_s)),))


def test_on_a_gpu_fetching_costs_more_than_the_sum(tables):
    finding = analyse(SMALL, tables, machine(gpus=1))

    assert finding.message == "fetching_costs"
    copied_s = CALL_S + LAUNCH_S + 256 * KIB / PAGEABLE_BYTES_PER_S
    assert finding.values["copy_s"] == pytest.approx(copied_s, rel=0.05)
    assert finding.values["copy_then_add_s"] >= finding.values["copy_s"]
    assert finding.values["fetch_over_add"] > 3
    assert finding.limits == ()


def test_two_devices_are_refused_with_the_words_of_pytorch(run):
    items, _ = run
    vectors, number = (item for item in items if isinstance(item, Attempt))
    (note,) = (item for item in items if isinstance(item, Note))

    assert vectors.said.startswith("Expected all tensors to be on the same device")
    assert note.values["said"] == vectors.said
    assert number.said == ""  # one of no dimension may be added to any
    assert (vectors.first, vectors.second) == ("cpu", NAME)


def test_trouble_of_the_gpu_is_no_refusal(gpu):
    error = RuntimeError("CUDA error: an illegal memory access was encountered")
    gpu.fails = lambda work: error if work == "add" else None

    with pytest.raises(RuntimeError, match="illegal memory access"):
        on_gpu(gpu)


def test_a_gpu_that_runs_out_of_memory_is_told_by_its_own_error(gpu):
    done = []

    def fails(work):
        done.append(work)
        return torch.OutOfMemoryError("CUDA out of memory") if len(done) > 500 else None

    gpu.fails = fails
    with pytest.raises(torch.OutOfMemoryError):
        on_gpu(gpu)


def test_vectors_are_as_large_as_there_is_room_for(monkeypatch):
    with fake_gpu(monkeypatch, free_bytes=256 * KIB) as gpu:
        tables = in_tables(EXPERIMENT, on_gpu(gpu))

    assert max(row.size_bytes for row in tables["ways"]) == 16 * KIB
    assert "memory_is_short" in analyse(SMALL, tables, machine(gpus=1)).limits


def test_warming_up_is_not_counted(run, tables):
    items, log = run
    counted = SMALL.rounds * len(placement.sizes(SMALL))
    fetched = sum(entry.startswith("copy pageable to_gpu") for entry in log)

    assert len(tables["ways"]) == counted * len(placement.WAYS)
    assert len(tables["copies"]) == counted * len(placement.COPIES)
    assert fetched > 2 * counted  # fetched alone, and to add
    assert next(n for n, item in enumerate(items) if isinstance(item, Progress)) < 6


def test_a_copy_that_is_faster_than_the_link_is_suspect(tables):
    assert "above_the_limit" in analyse(SMALL, tables, with_link(1e9)).limits
    fine = analyse(SMALL, tables, with_link(1e11))
    assert "above_the_limit" not in fine.limits
    assert fine.values["link_limit_bytes_per_s"] == 1e11


def test_where_both_share_one_memory_fetching_costs_no_more(tables):
    same = [replace(row, took_s=1e-3 * (1 + row.repeat)) for row in tables["ways"]]
    finding = analyse(SMALL, tables | {"ways": same}, machine(gpus=1))

    assert finding.message == "fetching_costs_no_more"
    assert finding.unclear == ()


def test_where_the_rounds_scatter_nobody_can_tell_what_fetching_costs(tables):
    wild = [
        replace(row, took_s=1e-3 * (1 + (row.repeat + (row.way == FETCH)) % 2))
        for row in tables["ways"]
    ]
    finding = analyse(SMALL, tables | {"ways": wild}, machine(gpus=1))

    assert finding.message == "cannot_tell"
    assert finding.unclear == ("fetch_over_add",)


def test_without_a_gpu_the_refusal_is_shown_and_no_fetching_is_told():
    params = Params(largest_bytes=64 * KIB, rounds=3)
    tables = in_tables(EXPERIMENT, list(measure(params, Bench(machine()))))
    finding = analyse(params, tables, machine())
    vectors, number = tables["attempts"]

    assert vectors.second == "meta"
    assert "meta" in vectors.said
    assert number.said == ""
    assert finding.message == "one_device"
    assert {"shown_with_meta", "fetching_needs_gpu"} <= set(finding.limits)
    assert not {"copy_s", "copy_then_add_s"} & set(finding.values)


def test_an_addition_across_devices_that_works_is_said(tables):
    added = [replace(attempt, said="") for attempt in tables["attempts"]]

    assert "not_refused" in analyse(SMALL, tables | {"attempts": added}, machine(gpus=1)).limits
