"""Fixtures: made-up trees of /proc and /sys, and the recordings of hwloc."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from tests.machine.recordings import is_here, unpack
from tests.machine.trees import Tree

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")


@pytest.fixture
def tree(tmp_path) -> Tree:
    """Return an empty tree to write files into."""
    return Tree(tmp_path / "root")


@pytest.fixture(scope="session")
def recording():
    """Return a function from the name of a recording to the root of its files, unpacked once."""
    unpacked: dict[str, Path] = {}
    # Twenty thousand small files: on a slow disk that alone would take twenty seconds.
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=in_memory) as folder:

        def find(name: str) -> Path:
            if not is_here(name):
                pytest.skip("the recorded machines are not here")
            if name not in unpacked:
                unpacked[name] = unpack(name, Path(folder))
            return unpacked[name]

        yield find
