from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from experiments.api import CANNOT_TELL
from experiments.core.bench import Bench
from experiments.core.views import BROKEN, MENDED
from experiments.devices import timing
from experiments.numbers.clinic import checker
from experiments.numbers.clinic import experiment as clinic
from experiments.numbers.clinic.experiment import (
    EXPERIMENT,
    FLOWERS,
    IMAGES,
    LEAVES,
    NEXT_WORD,
    PIECES,
    STATIONS,
    STOPS_ALONE,
    TRAIN,
    Params,
    TrainingStep,
    analyse,
    measure,
    memory_bytes,
    quick,
)
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from tests.experiments.fake_gpu import NAME, fake_gpu  # noqa: E402

AGREED = {"faults_total", "broken_step_s", "mended_step_s"}

SMALL = Params(device=NAME, length=64, rounds=3)
of_each = pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.key)
# What the checker says because of each fault, and in which line that is.
NAMED = {
    NEXT_WORD: {
        6: {(checker.NO_MULTIPLE, "5001")},
        7: {(checker.NO_MULTIPLE, "511")},
        9: {(checker.NO_MULTIPLE, "63")},
    },
    IMAGES: {
        5: {(checker.NO_MULTIPLE, "7"), (checker.TARGET_RANGE, "7 > 6")},
        8: {(checker.WRONG_NUMBERS, "int64 ≠ float32")},
        13: {(checker.MISFIT, "16 ≠ 32")},
        15: {(checker.MISFIT, "4096 ≠ 16384")},
    },
    STATIONS: {
        7: {(checker.TARGET_SHAPE, "128 ≠ 128 × 1")},
        12: {(checker.NOT_BATCH_FIRST, "128 × 24 × 8")},
        14: {(checker.NO_ACTIVATION, "judge.0 → judge.1")},
    },
    FLOWERS: {
        14: {(checker.NO_MULTIPLE, "5"), (checker.SPARE_OUTPUTS, "5 > 3")},
        15: {(checker.SQUASHED, "0 to 1")},
    },
    LEAVES: {
        10: {(checker.RAGGED, "1 < 32")},
        21: {(checker.NO_TENSOR, "DataLoader")},
    },
}
# What torch says where a program stops, by its first fault or by the only one in this line.
SAID = {
    (IMAGES, TRAIN): "should be the same",
    (IMAGES, "line 5"): "out of bounds",
    (IMAGES, "line 8"): "should be the same",
    (IMAGES, "line 13"): "16 channels",
    (IMAGES, "line 15"): "4096",
    (LEAVES, TRAIN): "must be Tensor, not DataLoader",
    (LEAVES, "line 10"): "more than 1 value per channel",
    (LEAVES, "line 21"): "must be Tensor, not DataLoader",
}


@pytest.fixture(scope="module", autouse=True)
def short():
    """Take one step a sample, on one thread: time on the fake GPU is made up, and ours is not."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "SAMPLE_S", 1e-9)
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def run():
    """A run on the fake GPU: its tables, the GPU, and the texts that were compiled."""
    compiled = []
    with pytest.MonkeyPatch.context() as patch, fake_gpu(patch) as gpu:
        patch.setattr(clinic, "LEARNING_STEPS", 1)  # what is learnt is looked at on the processor
        patch.setattr(
            clinic, "compile", lambda text, *more: compiled.append(text) or compile(text, *more),
            raising=False,
        )  # fmt: skip
        tables = in_tables(EXPERIMENT, measure(SMALL, Bench(machine(gpus=1), clock=gpu.clock)))
    return tables, gpu, compiled


@pytest.fixture
def tables(run):
    return run[0]


# --- the pieces ---------------------------------------------------------------------------------


@of_each
def test_a_piece_is_short_and_every_fault_is_one_line(piece):
    broken, mended = piece.broken.splitlines(), piece.mended.splitlines()

    assert len(broken) == len(mended) < 30
    assert max(map(len, broken + mended)) <= 75
    assert list(piece.fault_lines().values()) == list(piece.faults)
    assert set(piece.fault_lines()) == set(NAMED[piece.key])


@of_each
def test_the_checker_names_every_fault_and_is_silent_about_the_mended_piece(piece, tables):
    told = {
        (row.kind, row.detail)
        for row in tables["remarks"]
        if (row.piece, row.version) == (piece.key, BROKEN)
        and row.kind not in (checker.STOPS, STOPS_ALONE)
    }

    assert told == set().union(*NAMED[piece.key].values())
    assert not [row for row in tables["remarks"] if row.version == MENDED]


def test_of_a_changed_program_no_faulty_line_is_known_and_it_is_still_measured():
    """A copy of the experiment may be mended line by line."""
    piece = clinic.BY_KEY[IMAGES]
    lines = piece.broken.splitlines()
    for changed in (["# mine", *lines], piece.mended.splitlines()):
        mine = replace(piece, broken="\n".join(changed))
        assert mine.fault_lines() == {}
        rows = [*clinic._remarks(torch, mine, BROKEN, 64)]  # noqa: SLF001
        assert STOPS_ALONE not in {row.kind for row in rows}
    assert rows == []  # the mended one


def test_a_copy_that_stops_before_its_model_is_called_says_what_stopped_it():
    piece = clinic.BY_KEY[IMAGES]
    mine = replace(piece, mended=piece.mended + '\n\ndef train():\n    raise ValueError("mine")\n')
    (row,) = clinic._remarks(torch, mine, MENDED, 64)  # noqa: SLF001

    assert (row.where, row.detail) == (TRAIN, "mine")


def test_where_a_program_stops_the_reason_is_torch_s_own(tables):
    """With all its faults, and with each of them alone; all else runs on in silence."""
    stops = {
        (row.piece, row.where): row.detail
        for row in tables["remarks"]
        if row.kind in (checker.STOPS, STOPS_ALONE)
    }

    assert stops.keys() == SAID.keys()
    assert [place for place, part in SAID.items() if part not in stops[place]] == []


def test_what_is_run_is_the_text_that_is_shown_or_that_with_one_line_faulty(run):
    compiled = set(run[2])
    shown = {each.text(version) for each in PIECES for version in (BROKEN, MENDED)}

    assert compiled >= shown
    one_line_off = {
        "\n".join([*good[: line - 1], piece.broken.splitlines()[line - 1], *good[line:]])
        for piece in PIECES
        for good in [piece.mended.splitlines()]
        for line in piece.fault_lines()
    }
    assert compiled - shown == one_line_off


@pytest.mark.parametrize("version", [BROKEN, MENDED])
def test_the_weather_model_mixes_stations_before_it_is_mended(version):
    """That is what the fault's text says: batch and time are taken for each other."""
    names = clinic.run_piece(torch, clinic.BY_KEY[STATIONS], version, device="cpu")
    inputs = names["inputs"].clone()
    before = names["model"](inputs)[5]
    inputs[3] += 1.0  # another station
    changed = not torch.equal(before, names["model"](inputs)[5])

    assert changed is (version == BROKEN)


@pytest.mark.parametrize(
    ("piece", "version", "low", "high"),
    [
        (STATIONS, BROKEN, 0.0, 0.1),
        (STATIONS, MENDED, 0.9, 1.0),
        (FLOWERS, BROKEN, 0.0, 0.1),
        (FLOWERS, "sigmoid", 0.2, 0.5),  # 1 - ln(1 + 2/e) / ln 3 at most
        (FLOWERS, "five_outputs", 0.7, 1.0),
        (FLOWERS, MENDED, 0.7, 1.0),
    ],
)
def test_a_program_learns_what_its_faults_let_it(piece, version, low, high):
    """Weather's targets are what the thermometer shows; random ones would show nothing."""
    row = clinic.learnt(torch, clinic.BY_KEY[piece], version, Bench(machine()), device="cpu")

    assert row.steps == clinic.LEARNING_STEPS
    assert low <= row.learnt_fraction <= high


# --- on a GPU -----------------------------------------------------------------------------------


def test_each_piece_that_runs_is_timed_on_the_gpu(run):
    tables, gpu, _ = run
    arms = {(row.piece, row.version) for row in tables["steps"]}

    assert arms == {
        (NEXT_WORD, BROKEN), (NEXT_WORD, MENDED), (IMAGES, MENDED),
        (STATIONS, BROKEN), (STATIONS, MENDED),
    }  # fmt: skip
    assert len(tables["steps"]) == SMALL.rounds * len(arms)
    assert any("cross_entropy" in entry for entry in gpu.log)


def test_all_faults_are_counted_and_each_that_stops_alone(tables):
    values = analyse(SMALL, tables, machine(gpus=1)).values
    alone = [place for place in SAID if place[1] != TRAIN]

    assert values["faults_total"] == sum(len(piece.faults) for piece in PIECES)
    assert values["faults_that_stop"] == len(alone)
    assert values["remarks_mended"] == 0
    assert {row.code for row in tables["learnt"]} == {
        f"{key}_{version}" for key, versions in clinic.LEARNERS for version in versions
    }


def test_no_more_words_than_there_is_room_for(monkeypatch):
    read = []
    made = clinic.run_piece
    monkeypatch.setattr(clinic, "LEARNING_STEPS", 1)
    monkeypatch.setattr(
        clinic, "run_piece", lambda *given, **more: read.append(more) or made(*given, **more)
    )
    room = clinic.FP32_BYTES * clinic.WORDS * clinic.LOGITS * 40 / 0.6
    with fake_gpu(monkeypatch, free_bytes=int(room)) as gpu:
        list(measure(replace(SMALL, rounds=1), Bench(machine(gpus=1), clock=gpu.clock)))

    assert {more["length"] for more in read if more["device"] == NAME} == {32}


def test_a_gpu_that_runs_out_of_memory_is_told_by_its_own_error(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        error = torch.OutOfMemoryError("CUDA out of memory")
        gpu.fails = lambda work: error if work == "embedding" else None

        with pytest.raises(torch.OutOfMemoryError):
            list(measure(SMALL, Bench(machine(gpus=1), clock=gpu.clock)))


# --- what is said -------------------------------------------------------------------------------


def steps(noise=0.01, **medians):
    """Return rows of eight rounds for each piece and version, close to a median."""
    arms = {
        "word": (NEXT_WORD, BROKEN), "word_mended": (NEXT_WORD, MENDED),
        "feed": (STATIONS, BROKEN), "feed_mended": (STATIONS, MENDED),
        "images_mended": (IMAGES, MENDED),
    }  # fmt: skip
    return [
        TrainingStep(code="_".join(arms[name]), piece=arms[name][0], version=arms[name][1],
             repeat=repeat, step_s=median * (1 + noise * math.sin(9 * repeat + len(name))))
        for name, median in medians.items()
        for repeat in range(8)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "feed", "message"),
    [
        (2.0, 3.0, "both_gain"),
        (1.0, 3.0, "feed_gains"),
        (0.5, 3.0, "feed_gains_shapes_cost"),
        (2.0, 1.0, "shapes_gain"),
        (1.0, 1.0, "nothing_gained"),
        (0.5, 0.5, "nothing_gained"),
    ],
)
def test_the_sentence_follows_what_was_measured(word, feed, message):
    rows = steps(word=word, word_mended=1.0, feed=feed, feed_mended=1.0, images_mended=1.0)
    tables = {"remarks": [], "steps": rows, "conditions": []}
    finding = analyse(SMALL, tables, machine(gpus=1))

    assert finding.message == message
    assert finding.values["shapes_gain"] == pytest.approx(word, rel=0.02)
    assert finding.unclear == ()
    assert finding.values["faults_total"] == 10


@pytest.mark.parametrize(
    ("feed", "message"), [(1.0, CANNOT_TELL), (5.0, "feed_gains_shapes_unclear")]
)
def test_noise_is_not_called_the_same(feed, message):
    rows = steps(
        noise=0.3, word=1.0, word_mended=1.0, feed=feed, feed_mended=1.0, images_mended=1.0
    )
    tables = {"remarks": [], "steps": rows, "conditions": []}
    finding = analyse(SMALL, tables, machine(gpus=1))

    assert finding.message == message
    assert "shapes_gain" in finding.unclear


def test_a_run_in_part_says_what_it_has():
    tables = {"remarks": [], "steps": steps(word=1.0), "conditions": []}
    finding = analyse(Params(), tables, machine())

    assert finding.message == "in_part"
    assert finding.values["broken_step_s"] == pytest.approx(1.0, rel=0.01)
    assert "processor_cares_little" in finding.limits


def test_a_quick_run_reads_few_words_on_a_processor_and_a_gpu_needs_no_memory_of_ours():
    assert quick(Params(length=65_536)).length == clinic.CPU_LENGTH
    assert quick(replace(SMALL, length=65_536)).length == 65_536
    assert memory_bytes(replace(SMALL, length=65_536)) < memory_bytes(Params(length=256))
