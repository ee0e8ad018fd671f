"""Errors that come from a limit say so, however deep the sentence lies."""

from __future__ import annotations

import shutil
from collections import namedtuple

import pytest

from experiments.core.problems import UserError
from experiments.engine.worker import problem_of
from experiments.tools import training

Usage = namedtuple("Usage", "total used free")
MIB = 2**20
CAUGHT = """Caught RuntimeError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/home/ada/torch/utils/data/_utils/worker.py", line 349, in _worker_loop
    data = fetcher.fetch(index)
RuntimeError: {said}
"""


@pytest.fixture
def shared(monkeypatch):
    """Return a function that lets so much shared memory be free."""

    def free(count):
        monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(64 * MIB, 0, count))

    return free


@pytest.mark.parametrize(
    "said",
    [
        CAUGHT.format(said="unable to write to file </torch_7_1>: No space left on device (28)"),
        "unable to allocate shared memory(shm) for file </torch_7_1>: No space left on device (28)",
        "DataLoader worker (pid 7) is killed by signal: Bus error. It is possible that "
        "dataloader's workers are out of shared memory.",
    ],
)
def test_shared_memory_that_ran_full_is_named(shared, said):
    shared(5 * MIB)
    problem = problem_of(RuntimeError(said))
    assert (problem.key, problem.values) == ("shared_memory_full", {"free_bytes": 5 * MIB})


def test_of_a_trace_within_a_text_the_last_line_is_said():
    problem = problem_of(RuntimeError(CAUGHT.format(said="the picture 12 cannot be decoded")))
    assert problem.key == "experiment_raised"
    assert problem.values["error"] == "RuntimeError: the picture 12 cannot be decoded"
    assert "Original Traceback" in problem.detail, "all of it is kept for whoever looks"


@pytest.mark.parametrize(
    ("error", "key", "values"),
    [
        (
            ImportError("Numba needs NumPy 2.4 or less. Got NumPy 2.5."),
            "library_broken",
            {"error": "ImportError: Numba needs NumPy 2.4 or less. Got NumPy 2.5"},
        ),
        (
            ImportError("libcudart.so.12: cannot open shared object file", name="torch._C"),
            "library_broken",
            {"error": "ImportError: libcudart.so.12: cannot open shared object file"},
        ),
        (
            ModuleNotFoundError("No module named 'numba'", name="numba"),
            "library_missing",
            {"name": "numba"},
        ),
    ],
)
def test_a_library_that_is_there_and_does_not_work_speaks_for_itself(error, key, values):
    problem = problem_of(error)
    assert (problem.key, problem.values) == (key, values)


def test_before_the_workers_start_shared_memory_must_have_room_for_all_their_batches(shared):
    shared(64 * MIB)
    training.check_shared_memory(batch=512, workers=0)  # they hand over nothing
    training.check_shared_memory(batch=16, workers=16)
    with pytest.raises(UserError) as refused:
        training.check_shared_memory(batch=512, workers=2)
    assert refused.value.problem.key == "shared_memory_too_small"
    assert refused.value.problem.values["needed_bytes"] == 5 * 512 * training.IMAGE_BYTES


def test_systems_without_such_a_folder_have_no_such_limit(monkeypatch):
    def none(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(shutil, "disk_usage", none)
    training.check_shared_memory(batch=2**20, workers=64)
