from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.declare import Note
from experiments.core.problems import UserError
from tests.experiments.machines import MIB, machine

torch = pytest.importorskip("torch")
from experiments.to_the_gpu.streams import experiment as module  # noqa: E402
from experiments.to_the_gpu.streams.pieces import ALONE, PARTS, Course, Pieces, PieceWork  # noqa: E402
from tests.experiments import fake_gpu as fake  # noqa: E402

AGREED = {"one_stream_s", "two_streams_s", "best_s", "overlap_fraction", "longest_part_s", "sum_s"}

SMALL = module.Params(device=fake.NAME, total_bytes=2 * MIB, pieces=4, rounds=3)
SHORT = replace(SMALL, rounds=1, streams=2)


@pytest.fixture
def gpu(monkeypatch):
    with playing(monkeypatch) as gpu:
        yield gpu


def playing(monkeypatch):
    """Play a GPU with a slow link and slow arithmetic: ours is slow, too."""
    monkeypatch.setattr(fake, "PINNED_BYTES_PER_S", 1e9)
    monkeypatch.setattr(fake, "PAGEABLE_BYTES_PER_S", 0.5e9)
    return fake.fake_gpu(monkeypatch, flop_per_s=1e11)


def measured(gpu, params=SHORT):
    kinds = {kind: name for name, kind in module.EXPERIMENT.tables.items()}
    tables, notes = {name: [] for name in kinds.values()}, []
    for item in module.measure(params, Bench(machine(gpus=1), clock=gpu.clock)):
        if type(item) in kinds:
            tables[kinds[type(item)]].append(item)
        elif isinstance(item, Note):
            notes.append(item)
    return tables, notes


@pytest.fixture(scope="module")
def run():
    """Return the GPU and the tables of a whole run, made once."""
    with pytest.MonkeyPatch.context() as monkeypatch, playing(monkeypatch) as gpu:
        return gpu, measured(gpu, SMALL)[0]


@pytest.fixture
def tables(run):
    return run[1]


def analysed(tables, params=SMALL):
    return module.analyse(params, tables, machine(gpus=1))


def test_several_streams_hide_copies_from_pinned_memory_alone(tables):
    finding = analysed(tables)
    values = finding.values

    assert finding.message == "hidden_from_pinned_memory"
    assert values["one_stream_s"] == pytest.approx(values["sum_s"], rel=0.05)
    assert values["longest_part_s"] < values["best_s"] < 0.7 * values["one_stream_s"]
    assert values["pageable_s"] > values["one_stream_s"]
    assert 0.5 < values["overlap_fraction"] < 1
    assert values["pageable_overlap_fraction"] < 0.01
    assert "above_the_limit" not in finding.limits
    assert "calls_set_the_pace" not in finding.limits


def test_nothing_overlaps_in_one_stream(tables):
    alone = [row for row in tables["totals"] if row.streams == 1]

    assert [row.overlap_fraction for row in alone] == [0.0] * SMALL.rounds


def test_computing_is_made_to_last_as_long_as_a_copy(tables):
    values = analysed(tables).values

    assert values["compute_s"] == pytest.approx(values["to_gpu_s"], rel=0.2)


def test_kernels_that_fill_the_gpu_are_said_not_to_overlap(tables):
    finding = analysed(tables)

    assert "kernels_fill_the_gpu" in finding.limits
    assert finding.values["kernels_speedup"] == pytest.approx(1, abs=0.05)
    assert finding.unclear == ()


def test_kernels_that_overlap_are_not_said_to_fill_the_gpu(tables):
    alone = [
        replace(row, took_s=row.took_s / 2) if row.part == "compute_in_two" else row
        for row in tables["alone"]
    ]

    assert "kernels_fill_the_gpu" not in analysed({**tables, "alone": alone}).limits


@pytest.mark.parametrize(
    ("table", "streams"), [("one_stream", 1), ("several_streams", 4), ("pageable", 4)]
)
def test_the_lanes_show_every_part_of_every_piece_once_and_in_order(tables, table, streams):
    rows = tables[table]

    assert {row.stream for row in rows} == set(range(streams))
    assert Counter((row.part, row.piece) for row in rows) == Counter(
        {(part, piece): 1 for part in PARTS for piece in range(SMALL.pieces)}
    )
    for piece in range(SMALL.pieces):
        course = [next(r for r in rows if (r.piece, r.part) == (piece, part)) for part in PARTS]
        assert all(one.end_s <= other.start_s for one, other in pairwise(course))
    for part in PARTS:  # an engine does one thing at a time
        lane = sorted((r.start_s, r.end_s) for r in rows if r.part == part)
        assert all(one[1] <= other[0] + 1e-12 for one, other in pairwise(lane))


def test_calls_that_take_as_long_as_the_work_are_named(tables):
    totals = [replace(row, called_s=0.95 * row.total_s) for row in tables["totals"]]

    assert "calls_set_the_pace" in analysed({**tables, "totals": totals}).limits


def test_marks_are_read_once_and_warming_up_is_not_counted(run):
    gpu, tables = run
    assert max(event.reads for event in gpu.events) == 1
    courses = len(tables["totals"]) + len({(r.streams, r.memory) for r in tables["totals"]})
    back = sum("from_gpu" in entry for entry in gpu.log)
    alone = (1 + SMALL.rounds) * SMALL.pieces  # once to warm up
    assert back >= courses * SMALL.pieces + alone


def test_a_total_below_its_longest_part_is_suspect(tables):
    totals = [replace(row, total_s=row.total_s / 4) for row in tables["totals"]]

    assert "above_the_limit" in analysed({**tables, "totals": totals}).limits


@pytest.mark.parametrize("part", ALONE)
def test_a_part_that_was_not_timed_is_not_compared(tables, part):
    alone = [row for row in tables["alone"] if row.part != part]
    finding = analysed({**tables, "alone": alone})

    assert (finding.message == "in_part") is (part in PARTS)
    assert f"{part}_s" not in finding.values


def test_parts_that_differ_much_are_named(tables):
    alone = [
        replace(row, took_s=3 * row.took_s) if row.part == "compute" else row
        for row in tables["alone"]
    ]

    assert "parts_differ" in analysed({**tables, "alone": alone}).limits


def test_no_gain_is_told_from_that_nobody_can_tell(tables):
    totals = [replace(row, total_s=1e-2 + 1e-4 * row.repeat) for row in tables["totals"]]
    wild = [
        replace(row, total_s=1e-2 * (1 + (row.repeat + (row.streams > 1)) % 2))
        for row in tables["totals"]
    ]

    assert analysed({**tables, "totals": totals}).message == "no_gain"
    scattered = analysed({**tables, "totals": wild})
    assert scattered.message == "cannot_tell"
    assert "streams_speedup" in scattered.unclear


def test_the_best_number_of_streams_is_unclear_where_chance_may_have_picked_it(tables):
    def with_two(*factors):
        rows = [
            replace(
                row, total_s=5e-3 * factors[row.repeat % len(factors)] * (1 + (row.streams < 2))
            )
            if row.streams <= 2
            else replace(row, total_s=8e-3)
            for row in tables["totals"]
        ]
        return analysed({**tables, "totals": rows})

    assert "best_streams" not in with_two(1.0, 1.001, 0.999).unclear
    assert "best_streams" in with_two(0.5, 1.9, 1.0).unclear


def test_pageable_memory_can_be_left_out(gpu):
    params = replace(SHORT, pageable=False)
    tables, _ = measured(gpu, params)

    assert tables["pageable"] == []
    assert not any("pageable to_gpu" in entry for entry in gpu.log)
    assert "pinned_alone" in analysed(tables, params).limits


def test_a_device_with_one_queue_measures_nothing_and_says_why(gpu, monkeypatch):
    monkeypatch.setattr(module, "can_pin", lambda device: False)
    tables, _ = measured(gpu)

    assert not any(tables.values())
    assert analysed(tables, replace(SHORT, device="mps")).message == "one_queue"
    assert analysed(tables, SHORT).message == "in_part"


def test_a_small_gpu_takes_less_and_says_so(gpu):
    gpu.free_bytes = 10 * MIB
    _, notes = measured(gpu)

    assert [(note.key, note.values["largest_bytes"]) for note in notes] == [("less_on_gpu", MIB)]


def test_other_data_than_expected_is_no_result(gpu, monkeypatch):
    do = Pieces.do

    def forgetful(self, part, piece, place=0, kind="pinned"):
        if (part, piece) != ("from_gpu", 1):
            do(self, part, piece, place, kind)

    monkeypatch.setattr(Pieces, "do", forgetful)
    with pytest.raises(UserError) as caught:
        measured(gpu)
    assert caught.value.problem.key == "copied_wrong"


def test_running_out_of_memory_in_the_middle_is_the_gpu_s_own_error(gpu):
    def fails(work):
        is_late = work == "mm" and len(gpu.log) > 150
        return torch.OutOfMemoryError("CUDA out of memory") if is_late else None

    gpu.fails = fails
    with pytest.raises(torch.OutOfMemoryError):
        measured(gpu)


def test_the_overlap_of_a_course_is_of_both_directions():
    def work(part, start, end):
        return PieceWork(part=part, stream=0, piece=0, ran=(start, end))

    works = (work("to_gpu", 0, 2), work("compute", 1, 5), work("from_gpu", 4, 8))
    course = Course(works=works, called_s=0.1)

    assert course.total_s == 8
    assert course.overlap_fraction == 2 / 6


@pytest.mark.parametrize(
    ("streams", "counts"), [(1, [1]), (2, [1, 2]), (4, [1, 2, 4]), (6, [1, 2, 4, 6])]
)
def test_one_two_four_and_as_many_as_allowed_are_tried(streams, counts):
    assert module.stream_counts(streams) == counts


def test_each_part_is_timed_alone(tables):
    assert {row.part for row in tables["alone"]} == set(ALONE)


def test_a_quick_run_takes_all_the_data_so_that_the_calls_do_not_set_the_pace():
    whole, quick = (module.EXPERIMENT.params_for(machine(gpus=1), quick=q) for q in (False, True))

    assert quick.total_bytes == whole.total_bytes
