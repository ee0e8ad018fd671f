from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note
from tests.experiments.machines import MIB, machine

torch = pytest.importorskip("torch")
from experiments.to_the_gpu.non_blocking import experiment as module  # noqa: E402
from tests.experiments.fake_gpu import NAME, PAGEABLE_BYTES_PER_S, fake_gpu  # noqa: E402

AGREED = {
    f"{memory}_{call}_{direction}_{until}_s"
    for memory in ("pageable", "pinned")
    for call in ("blocking", "non_blocking")
    for direction in ("to_gpu", "from_gpu")
    for until in ("returned", "finished")
}

SMALL = module.Params(device=NAME, size_bytes=MIB, rounds=3)


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


def measured(gpu, params=SMALL):
    kinds = {kind: name for name, kind in module.EXPERIMENT.tables.items()}
    tables, notes = {name: [] for name in kinds.values()}, []
    for item in module.measure(params, Bench(machine(gpus=1), clock=gpu.clock)):
        if type(item) in kinds:
            tables[kinds[type(item)]].append(item)
        elif isinstance(item, Note):
            notes.append(item)
    return tables, notes


@pytest.fixture
def tables(gpu):
    return measured(gpu)[0]


def analysed(tables):
    return module.analyse(SMALL, tables, machine(gpus=1))


def test_only_pinned_and_non_blocking_comes_back_early_and_is_unsafe(tables):
    finding = analysed(tables)

    assert finding.message == "early_and_unsafe"
    assert finding.values["finished_over_returned"] > 2
    for how in module.COMBINATIONS:
        for direction in module.DIRECTIONS:
            name = f"{how}_{direction}"
            returned, finished = (
                finding.values[f"{name}_{until}_s"] for until in ("returned", "finished")
            )
            assert (returned < 0.5 * finished) is (how == "pinned_non_blocking"), name


def test_pageable_memory_makes_the_caller_wait_whatever_is_asked_for(tables):
    values = analysed(tables).values

    for direction in module.DIRECTIONS:
        returned_s = values[f"pageable_non_blocking_{direction}_returned_s"]
        assert returned_s >= MIB / PAGEABLE_BYTES_PER_S


def test_bytes_are_wrong_until_the_copy_has_been_waited_for(tables):
    values = analysed(tables).values

    assert values["pinned_read_at_once_wrong_fraction"] == 1
    assert values["pinned_changed_at_once_wrong_fraction"] == 1
    assert values["pinned_read_after_waiting_wrong_fraction"] == 0
    assert values["pinned_changed_after_waiting_wrong_fraction"] == 0
    for tried in module.TRIES:
        assert values[f"pageable_{tried}_wrong_fraction"] == 0


def test_nothing_is_waited_for_between_the_call_and_the_unsafe_read(gpu):
    measured(gpu)
    started = [n for n, entry in enumerate(gpu.log) if entry.startswith("copy pinned from_gpu")]

    assert all(gpu.log[n - 1] == "wait" for n in started)  # all that came before is done
    assert any(gpu.log[n + 1] == "mark default" for n in started)  # those that wait for a mark
    assert all(event.reads == 0 for event in gpu.events)


def changed(tables, tried, fraction):
    rows = [replace(r, wrong_fraction=fraction) if r.tried == tried else r for r in tables["tries"]]
    return {**tables, "tries": rows}


def test_a_read_that_was_right_by_luck_is_not_said_to_be_safe(tables):
    finding = analysed(changed(tables, "read_at_once", 0.0))

    assert finding.message == "early_by_luck"
    assert "slow_is_not_safe" in finding.limits


def test_a_source_that_was_read_in_time_is_told(tables):
    assert analysed(changed(tables, "changed_at_once", 0.0)).message == "early_and_read_unsafe"


def test_wrong_bytes_after_waiting_are_suspect(tables):
    finding = analysed(changed(tables, "read_after_waiting", 0.1))

    assert "wrong_after_waiting" in finding.limits


def returned(tables, of, times):
    """Let the calls of one combination come back after `times` the time of the whole copy."""
    whole = {(r.combination, r.repeat): r.after_s for r in tables["to_gpu"] if r.until == "done"}
    rows = [
        replace(r, after_s=times * whole[r.combination, r.repeat])
        if (r.combination, r.until) == (of, "back")
        else r
        for r in tables["to_gpu"]
    ]
    return {**tables, "to_gpu": rows}


def test_other_calls_that_come_back_early_are_told(tables):
    assert analysed(returned(tables, "pageable_non_blocking", 0.1)).message == "early_elsewhere"


def test_a_call_that_comes_back_a_little_before_is_not_early(tables):
    assert analysed(returned(tables, "pinned_non_blocking", 0.95)).message == "early_elsewhere"


def test_where_no_call_is_early_it_is_said(tables):
    late = returned(tables, "pinned_non_blocking", 1.0)
    rows = [r for r in late["to_gpu"] if r.combination.startswith("pinned")]
    from_gpu = [
        module.FromGpu(combination=r.combination, until=r.until, repeat=r.repeat, after_s=r.after_s)
        for r in rows
    ]

    assert analysed({**late, "from_gpu": from_gpu}).message == "waits"


def test_without_pinned_memory_pageable_is_measured_alone(gpu, monkeypatch):
    monkeypatch.setattr(module, "can_pin", lambda device: False)
    finding = analysed(measured(gpu)[0])

    assert finding.message == "in_part"
    assert "cannot_pin" in finding.limits
    assert "pageable_blocking_to_gpu_finished_s" in finding.values


def test_a_small_gpu_takes_a_smaller_copy_and_says_so(gpu):
    gpu.free_bytes = MIB
    _, notes = measured(gpu)

    assert [note.key for note in notes] == ["less_on_gpu"]


def test_running_out_of_memory_in_the_middle_is_the_gpu_s_own_error(gpu):
    def fails(work):
        is_late = len(gpu.log) > 100
        return torch.OutOfMemoryError("CUDA out of memory") if is_late else None

    gpu.fails = fails
    with pytest.raises(torch.OutOfMemoryError):
        measured(gpu)
