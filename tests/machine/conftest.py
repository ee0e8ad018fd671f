"""Fixtures: made-up trees of /proc and /sys, and the recordings of hwloc."""

from __future__ import annotations

import functools
import os
import pickle
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from machine.inspect import inspect
from machine.model import Machine
from machine.system import asking
from tests.machine import nvml_library
from tests.machine.clock import Clock
from tests.machine.recordings import is_here, unpack
from tests.machine.trees import Tree

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")


@pytest.fixture
def tree(tmp_path) -> Tree:
    """Return an empty tree to write files into."""
    if sys.platform == "win32":
        pytest.skip("no tree of /sys can stand there: its names have colons, and links lead on")
    return Tree(tmp_path / "root")


@pytest.fixture
def clock(tmp_path, monkeypatch) -> Clock:
    """Return the clock of the questions that are asked of a process, and ways to hang."""
    clock = Clock(tmp_path / "hangs")
    monkeypatch.setattr(asking, "time", clock)
    return clock


@pytest.fixture(scope="session")
def nvml_folder(tmp_path_factory) -> Path:
    """Return the folder of a fake NVML in C."""
    return nvml_library.build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="session")
def recorded(tmp_path_factory, worker_id):
    """Return a function from the name of a recording to the machine, read once for all processes.

    A test process that needs another one's machine takes it from a file.
    """
    folder = tmp_path_factory.getbasetemp()
    folder = (folder if worker_id == "master" else folder.parent) / "recorded"
    folder.mkdir(exist_ok=True)

    @functools.cache
    def read(name: str) -> Machine:
        if not is_here(name):
            pytest.skip("the recorded machines are not here")
        kept = folder / name
        if not kept.exists():
            writing = kept.with_name(f"{name}.{os.getpid()}")
            writing.write_bytes(pickle.dumps(_inspected(name)))
            writing.replace(kept)
        machine: Machine = pickle.loads(kept.read_bytes())
        return machine

    return read


def _inspected(name: str) -> Machine:
    # Thousands of small files: on a slow disk that alone would take twenty seconds.
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=in_memory) as folder:
        return inspect(unpack(name, Path(folder)))
