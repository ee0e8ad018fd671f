from __future__ import annotations

import contextlib
import os

import numpy as np
import psutil
import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench, StopRequested
from experiments.tools import own_folder
from tests.experiments.machines import machine
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")
from experiments.to_the_gpu.dataloader import experiment as dataloader  # noqa: E402
from experiments.to_the_gpu.dataloader.experiment import (  # noqa: E402
    COMPUTING,
    LEARNING,
    LOADING,
    WAITING,
    Alone,
    Epoch,
    Params,
    StepPart,
    analyse,
    counts,
)
from experiments.tools import training  # noqa: E402
from experiments.tools.images import CLASSES, TAKEN, Images  # noqa: E402
from tests.experiments.fake_gpu import NAME, fake_gpu  # noqa: E402

AGREED = {
    "best_workers", "best_samples_per_s", "model_alone_samples_per_s",
    "zero_workers_samples_per_s",
}  # fmt: skip

IMAGE_S = 1e-3  # of a loader that is played
ON_GPU = Params(device=NAME, most_workers=2, width=1, batch=2, batches=8, rounds=3, pin_memory=True)


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


def measured(params, bench):
    return in_tables(dataloader.EXPERIMENT, dataloader.measure(params, bench))


@pytest.mark.parametrize(
    ("cores", "gpus", "most"), [(20, 1, 32), (8, 1, 16), (20, 0, 16), (2, 0, 2)]
)
def test_a_gpu_gets_a_helper_for_each_thread(cores, gpus, most):
    params = dataloader.EXPERIMENT.suited(machine(cores=cores, threads_per_core=2, gpus=gpus))

    assert params.most_workers == most
    assert dataloader.seconds(params) <= 30


class Played:
    """A loader whose helpers work as long as they should, by the clock of the fake GPU."""

    def __init__(self, gpu, batches, batch, workers) -> None:
        self._gpu, self._count, self._batch, self._workers = gpu, batches, batch, workers

    def __len__(self) -> int:
        return self._count

    def __iter__(self):
        start_s, load_s = self._gpu.now_s, IMAGE_S * self._batch
        for number in range(self._count):
            if self._workers:
                there_s = start_s + load_s * (1 + number // self._workers)
                self._gpu.now_s = max(self._gpu.now_s, there_s)
            else:
                self._gpu.now_s += load_s
            yield torch.zeros(self._batch, 3, 4, 4), torch.zeros(self._batch, dtype=torch.long)


@pytest.fixture
def played(gpu, monkeypatch):
    """Play the loaders; returns what was asked of them."""
    asked = []

    @contextlib.contextmanager
    def loader(device, context, *, batches, batch, passes, workers, pin):
        asked.append((workers, pin))
        yield Played(gpu, batches, batch, workers)

    monkeypatch.setattr(dataloader, "LAPS", 4)
    monkeypatch.setattr(training, "loader", loader)
    monkeypatch.setattr(training, "worker_context", lambda: contextlib.nullcontext())
    return asked


def test_a_fast_gpu_waits_for_its_loader(gpu, played):
    tables = measured(ON_GPU, Bench(machine(gpus=1), clock=gpu.clock))
    finding = analyse(ON_GPU, tables, machine(gpus=1))

    assert finding.message == "loading_holds_back"
    assert finding.values["best_workers"] == 2
    assert finding.values["one_worker_samples_per_s"] == pytest.approx(1 / IMAGE_S, rel=0.01)
    assert finding.values["best_over_zero"] > 1.8
    assert finding.values["needed_workers"] > 2


def test_a_slow_network_is_fed_by_few_helpers(gpu, played, monkeypatch):
    learn = training.Training.step

    def slowly(self, images, labels):
        learn(self, images, labels)
        gpu.now_s += 1.5 * IMAGE_S  # of a batch of two

    monkeypatch.setattr(training.Training, "step", slowly)
    tables = measured(ON_GPU, Bench(machine(gpus=1), clock=gpu.clock))
    finding = analyse(ON_GPU, tables, machine(gpus=1))

    assert finding.message == "model_is_fed"
    assert finding.values["best_workers"] == 2
    assert finding.values["waiting_fraction"] < 0.1


def test_batches_are_pinned_where_that_is_wanted_and_warming_up_is_not_counted(gpu, played):
    tables = measured(ON_GPU, Bench(machine(gpus=1), clock=gpu.clock))

    assert {pin for _, pin in played} == {True}
    assert len(played) == 1 + len(counts(ON_GPU)) * ON_GPU.rounds
    assert len(tables["epochs"]) == 2 * (len(played) - 1)
    assert len(tables["alone"]) == ON_GPU.rounds


def test_a_gpu_without_memory_is_told_by_its_own_error(gpu, played):
    gpu.fails = lambda work: torch.OutOfMemoryError("CUDA out of memory")
    with pytest.raises(torch.OutOfMemoryError):
        measured(ON_GPU, Bench(machine(gpus=1), clock=gpu.clock))


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_real_helpers_deliver(small_run):
    tables = small_run("dataloader").tables()

    assert {(row.workers, row.kind) for row in tables["epochs"]} == {
        (workers, kind) for workers in (0, 1) for kind in (LEARNING, LOADING)
    }
    assert all(row.samples_per_s > 0 for row in tables["epochs"])


def test_a_stop_ends_the_helpers_and_leaves_nothing():
    asked = iter([False] * 12)
    params = Params(most_workers=1, width=2, batch=2, batches=4, rounds=1, passes=0)
    threads, before = torch.get_num_threads(), children()
    with pytest.raises(StopRequested):
        measured(params, Bench(machine(), stop=lambda: next(asked, True)))
    names = [" ".join(psutil.Process(pid).cmdline()) for pid in children() - before]
    assert [name for name in names if "tracker" not in name] == []
    assert torch.get_num_threads() == threads
    folder = own_folder.SHORT_PATH
    assert not [n for n in os.listdir(folder) if n.startswith(f"{training.FOLDER}{os.getpid()}-")]


def test_pictures_are_the_same_each_time_and_in_range():
    picture, label = Images(5, 1)[3]
    again, _ = Images(5, 1)[3]

    assert picture.shape == (3, TAKEN, TAKEN)
    assert picture.dtype == np.float32
    assert np.array_equal(picture, again)
    assert abs(picture.mean()) < 1e-3
    assert 0 <= label < CLASSES


def test_numbers_of_helpers_end_with_the_most():
    assert counts(Params(most_workers=1)) == [0, 1]
    assert counts(Params(most_workers=6)) == [0, 1, 2, 4, 6]


def tables_of(learning, alone=1000.0, waiting=0.5):
    epochs, steps = [], []
    for workers, rate in learning.items():
        for repeat in range(3):
            spread = 1 + 0.01 * repeat
            for kind, each in ((LEARNING, rate), (LOADING, 2 * rate)):
                epochs.append(
                    Epoch(workers=workers, kind=kind, repeat=repeat, samples_per_s=each * spread)
                )
            for part, step_s in ((WAITING, waiting), (COMPUTING, 1 - waiting)):
                steps.append(StepPart(workers=workers, part=part, repeat=repeat, step_s=step_s))
    rows = [Alone(repeat=repeat, samples_per_s=alone) for repeat in range(3)]
    return {"epochs": epochs, "alone": rows, "steps": steps, "starts": [], "conditions": []}


def test_the_fewest_helpers_that_do_not_part_from_the_best_are_named():
    finding = analyse(Params(), tables_of({0: 100, 1: 200, 2: 399, 4: 400}), machine())

    assert finding.values["best_workers"] == 2
    assert finding.message == "loading_holds_back"


def test_helpers_of_whom_nobody_can_tell_are_neither_praised_nor_denied():
    tables = tables_of({0: 400, 1: 410})
    wild = [
        replace(row, samples_per_s=row.samples_per_s * (1 + (row.repeat + row.workers) % 2))
        for row in tables["epochs"]
    ]

    assert analyse(Params(), {**tables, "epochs": wild}, machine()).message == "cannot_tell"


def test_a_best_number_of_helpers_that_is_only_chance_is_unclear():
    tables = tables_of({0: 100, 1: 200, 2: 400})
    scattered = [
        replace(row, samples_per_s=400 * (1.6, 0.7, 0.9)[row.repeat]) if row.workers == 1 else row
        for row in tables["epochs"]
    ]

    clear = analyse(Params(), tables, machine())
    assert (clear.values["best_workers"], "best_workers" in clear.unclear) == (2, False)
    unclear = analyse(Params(), {**tables, "epochs": scattered}, machine())
    assert (unclear.values["best_workers"], "best_workers" in unclear.unclear) == (1, True)
    assert unclear.message == "cannot_tell_how_many"


def test_too_many_helpers_are_told():
    finding = analyse(Params(), tables_of({0: 100, 1: 200, 2: 400, 4: 300}), machine())

    assert "slower_with_more" in finding.limits
    assert finding.values["most_workers_samples_per_s"] == pytest.approx(303)


def test_helpers_that_bring_nothing_are_not_praised():
    finding = analyse(Params(), tables_of({0: 400, 1: 398, 2: 300}), machine())

    assert finding.message == "no_helper_needed"
    assert finding.values["best_workers"] == 0


def test_faster_than_the_network_alone_is_suspect():
    finding = analyse(Params(), tables_of({0: 100, 1: 2000}), machine())

    assert "above_the_limit" in finding.limits
