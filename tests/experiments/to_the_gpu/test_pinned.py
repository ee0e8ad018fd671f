from __future__ import annotations

import contextlib

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.needs import check_needs
from experiments.core.problems import UserError
from experiments.devices import timing
from experiments.devices.conditions import Condition
from machine.devices import Gpu, Link
from tests.experiments.machines import KIB, machine

torch = pytest.importorskip("torch")
from experiments.to_the_gpu.pinned import experiment as module  # noqa: E402
from experiments.to_the_gpu.pinned import transfers  # noqa: E402
from experiments.to_the_gpu.pinned.start_up import start_up  # noqa: E402
from tests.experiments import fake_gpu as fake  # noqa: E402

AGREED = {
    "pageable_to_gpu_bytes_per_s", "pinned_to_gpu_bytes_per_s",
    "pageable_from_gpu_bytes_per_s", "pinned_from_gpu_bytes_per_s", "pinning_s",
    "link_fraction",
}  # fmt: skip

SMALL = module.Params(device=fake.NAME, smallest_bytes=16 * KIB, largest_bytes=256 * KIB, rounds=3)


SHORT = replace(SMALL, smallest_bytes=64 * KIB, rounds=1)


@contextlib.contextmanager
def playing(monkeypatch):
    monkeypatch.setattr(timing, "MOST_QUEUED", 5)  # our time goes by as well
    monkeypatch.setattr(module, "MOST_QUEUED", 5)
    monkeypatch.setattr(transfers, "MOST_QUEUED", 5)
    with fake.fake_gpu(monkeypatch) as gpu:
        yield gpu


@pytest.fixture
def gpu(monkeypatch):
    with playing(monkeypatch) as gpu:
        yield gpu


@pytest.fixture(scope="module")
def run():
    """Return the GPU and the tables of a whole run, made once."""
    with pytest.MonkeyPatch.context() as monkeypatch, playing(monkeypatch) as gpu:
        return gpu, measured(gpu, SMALL)[0]


@pytest.fixture
def tables(run):
    return run[1]


def on_link(**values):
    link = Link(generation=1, card_generation=5, slot_generation=5, peak_bytes_per_s=63e9)
    gpu = Gpu(index=0, torch_backend="cuda", link=link, **values)
    return replace(machine(gpus=1), gpus=(gpu,))


def measured(gpu, params=SHORT, here=None):
    bench = Bench(here or machine(gpus=1), clock=gpu.clock)
    kinds = {kind: name for name, kind in module.EXPERIMENT.tables.items()}
    tables, notes = {name: [] for name in kinds.values()}, []
    for item in module.measure(params, bench):
        if type(item) in kinds:
            tables[kinds[type(item)]].append(item)
        elif isinstance(item, Note):
            notes.append(item)
    return tables, notes


def test_pinned_memory_is_faster_and_its_price_is_told(tables):
    finding = module.analyse(SMALL, tables, on_link())
    values = finding.values

    assert finding.message == "pinned_pays_back"
    assert values["pinned_to_gpu_bytes_per_s"] > 3 * values["pageable_to_gpu_bytes_per_s"]
    assert values["large_speedup"] > 2
    assert values["pinning_s"] == pytest.approx(
        256 * KIB / fake.PINNING_BYTES_PER_S + fake.CALL_S, rel=0.1
    )
    assert values["pinned_first_slowdown"] > 1
    assert values["copies_to_pay_back"] > 1
    assert isinstance(values["copies_to_pay_back"], int)
    assert not finding.unclear


def test_start_up_and_rate_are_those_of_the_gpu(tables):
    values = module.analyse(SMALL, tables, on_link()).values

    assert values["pinned_to_gpu_start_s"] == pytest.approx(fake.LAUNCH_S, rel=0.1)
    assert values["pinned_to_gpu_half_bytes"] == pytest.approx(
        fake.LAUNCH_S * fake.PINNED_BYTES_PER_S, rel=0.1
    )


def test_both_ways_at_once_use_both_engines(tables):
    values = module.analyse(SMALL, tables, on_link()).values

    assert values["pinned_both_ways_bytes_per_s"] > 1.5 * values["pinned_to_gpu_bytes_per_s"]


def test_sizes_that_do_not_part_are_said_not_to(tables):
    first = min(row.size_bytes for row in tables["written"])
    alike = [
        replace(row, took_s=1e-5 + 1e-7 * row.repeat) if row.size_bytes == first else row
        for row in tables["written"]
    ]
    finding = module.analyse(SMALL, {**tables, "written": alike}, on_link())

    assert finding.values["small_speedup"] == pytest.approx(1)
    assert finding.unclear == ()
    assert "equal_when_small" in finding.limits


def test_no_difference_is_claimed_where_none_parts(tables):
    alike = [replace(row, took_s=1e-3 + 1e-5 * row.repeat) for row in tables["written"]]
    finding = module.analyse(SMALL, {**tables, "written": alike}, on_link())

    assert finding.message == "no_difference"
    wild = [
        replace(row, took_s=1e-3 * (1 + (row.repeat + (row.choice == "as_it_is")) % 2))
        for row in tables["written"]
    ]
    found = module.analyse(SMALL, {**tables, "written": wild}, on_link())
    assert found.message == "cannot_tell"


def test_pinned_copies_are_timed_behind_a_hold_and_pageable_ones_by_the_caller(run):
    gpu, tables = run
    assert all(row.is_clean for row in tables["copies"])
    pageable = next(n for n, entry in enumerate(gpu.log) if "copy pageable" in entry)
    assert "wait" in gpu.log[pageable + 1]
    assert max(event.reads for event in gpu.events) == 1


def test_memory_is_pinned_anew_for_each_copy_that_pays_for_it(run):
    gpu, tables = run
    paid = len(tables["pinnings"])

    assert paid == SMALL.rounds * len(
        module.sizes_between(SMALL.smallest_bytes, SMALL.largest_bytes)
    )
    pins = [n for n, entry in enumerate(gpu.log) if entry == "pin"][2:]  # the buffers' own
    assert len(pins) == paid
    assert all(gpu.log[n - 1] == "give back" for n in pins)


def test_where_pinned_memory_is_kept_its_price_is_not_told(gpu, monkeypatch):
    monkeypatch.setattr(module, "give_back_pinned", lambda device: False)
    params = replace(SMALL, rounds=3)
    finding = module.analyse(params, measured(gpu, params)[0], machine(gpus=1))

    assert finding.message == "pinned_is_faster_after_start"
    assert "pinning_not_measured" in finding.limits
    assert "pinning_s" not in finding.values


def test_without_pinned_memory_pageable_is_measured_alone(gpu, monkeypatch):
    monkeypatch.setattr(transfers, "can_pin", lambda device: False)
    finding = module.analyse(SHORT, measured(gpu)[0], machine(gpus=1))

    assert finding.message == "pageable_alone"
    assert not any(name.startswith("pinned") for name in finding.values)


def test_the_share_of_the_link_is_of_the_better_direction(tables):
    finding = module.analyse(SMALL, tables, on_link())
    best = max(r.bytes_per_s for r in tables["copies"] if r.way == "pinned_from_gpu")

    assert finding.values["link_fraction"] == pytest.approx(best / 63e9, rel=0.1)
    assert "above_the_limit" not in finding.limits


def test_more_than_the_link_carries_is_suspect(tables):
    here = on_link()
    slow = replace(here.gpus[0], link=replace(here.gpus[0].link, peak_bytes_per_s=10e9))
    finding = module.analyse(SMALL, tables, replace(here, gpus=(slow,)))

    assert "above_the_limit" in finding.limits


@pytest.mark.parametrize(("generation", "is_slow"), [(3, True), (5, False), (None, False)])
def test_a_link_that_is_slow_while_it_copies_is_told(tables, generation, is_slow):
    condition = Condition(
        repeat=0, sm_hz=1e9, memory_hz=None, power_watts=None, temperature_celsius=None,
        pcie_generation=generation, held_back="",
    )  # fmt: skip
    finding = module.analyse(SMALL, {**tables, "conditions": [condition]}, on_link())

    assert ("link_is_slow" in finding.limits) is is_slow


def test_the_link_is_read_while_something_is_copied(gpu, monkeypatch):
    seen = []

    class Conditions:
        def __init__(self, device):
            pass

        def rows(self, repeat):
            seen.append(gpu.default.query())
            return []

    monkeypatch.setattr(module, "Conditions", Conditions)
    measured(gpu)

    assert seen == [False] * SHORT.rounds


@pytest.mark.parametrize("values", [{"unified_memory": True}, {}])
def test_without_a_known_link_there_is_no_share_of_it(tables, values):
    here = replace(machine(), gpus=(Gpu(index=0, torch_backend="cuda", **values),))
    finding = module.analyse(SMALL, tables, here)

    assert "no_link_known" in finding.limits
    assert "link_fraction" not in finding.values


def test_a_small_gpu_takes_smaller_sizes_and_says_so(gpu):
    gpu.free_bytes = 256 * KIB
    tables, notes = measured(gpu)

    assert [note.key for note in notes] == ["less_on_gpu"]
    assert max(row.size_bytes for row in tables["copies"]) == 64 * KIB


def test_other_data_than_was_sent_is_no_result(gpu, monkeypatch):
    monkeypatch.setattr(torch, "equal", lambda one, other: False)
    with pytest.raises(UserError) as caught:
        measured(gpu)
    assert caught.value.problem.key == "copied_wrong"


def test_running_out_of_memory_in_the_middle_is_the_gpu_s_own_error(gpu):
    count = 0

    def fails(work):
        nonlocal count
        count += "copy pinned" in work
        return torch.OutOfMemoryError("CUDA out of memory") if count > 30 else None

    gpu.fails = fails
    with pytest.raises(torch.OutOfMemoryError):
        measured(gpu)


def test_sizes_end_at_the_largest():
    assert module.sizes_between(4 * KIB, 64 * KIB) == [4 * KIB, 16 * KIB, 64 * KIB]
    assert module.sizes_between(4 * KIB, 32 * KIB) == [8 * KIB, 32 * KIB]
    assert module.sizes_between(4 * KIB, KIB) == [KIB]


def test_a_machine_without_a_gpu_is_told_what_is_needed():
    with pytest.raises(UserError) as caught:
        check_needs(module.EXPERIMENT, machine())

    assert caught.value.problem.key == "needs_gpu"


# --- the line through the times of many sizes ---------------------------------------------------


def test_start_up_and_rate_are_found_in_times_that_follow_the_line():
    line = start_up({size: 1e-5 + size / 2e10 for size in (4096, 2**16, 2**20, 2**28)})

    assert line is not None
    assert line.start_s == pytest.approx(1e-5)
    assert line.bytes_per_s == pytest.approx(2e10)
    assert line.half_bytes == pytest.approx(2e5)


def test_small_and_large_sizes_count_alike():
    times = {size: 1e-5 + size / 2e10 for size in (4096, 2**16, 2**20, 2**28)}
    times[2**28] *= 1.05  # half a millisecond, 50 times the start-up

    line = start_up(times)
    assert line is not None
    assert line.start_s == pytest.approx(1e-5, rel=0.1)


@pytest.mark.parametrize(
    "times",
    [{}, {1: 1.0}, {1: 1.0, 2: 2.0}, {1: 3.0, 2: 2.0, 3: 1.0}, {1: 0.0, 2: 0.0, 3: 0.0}],
)
def test_where_there_is_no_such_line_nothing_is_said(times):
    assert start_up(times) is None
