from __future__ import annotations

import os
import sys

import pytest

from machine.doctor.evidence import Nvml, ShortFile, Torch
from machine.doctor.gather import gather

WHOLE = os.path.realpath(sys.executable)
PLACE = "/usr/lib/x86_64-linux-gnu"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="about Linux's files")


@pytest.fixture
def short(tree):
    """Return a function that puts a library there, and returns what is cut off."""

    def looked(name, size_bytes, *, link="libcuda.so.1"):
        with open(WHOLE, "rb") as program:
            tree.write(f"{PLACE}/{name}", "")
            (tree.root / f"{PLACE[1:]}/{name}").write_bytes(program.read(size_bytes))
        if link != name:
            os.symlink(name, tree.root / f"{PLACE[1:]}/{link}")
        return gather(
            tree.root,
            python="/py",
            environment={},
            nvml=lambda: Nvml(code=0),
            probe=lambda python: Torch(python=python),
        ).short_libraries

    return looked


@pytest.mark.parametrize("size_bytes", [0, 5, 64, 5000])
@pytest.mark.parametrize("name", ["libcuda.so.1", "libcuda.so.580.65.06"])
def test_a_library_of_the_driver_that_is_cut_off_is_found_with_its_length(short, name, size_bytes):
    assert short(name, size_bytes) == (ShortFile(path=f"{PLACE}/{name}", size_bytes=size_bytes),)


@pytest.mark.parametrize("name", ["libcuda.so.1", "libcuda.so.580.65.06"])
def test_a_whole_one_is_not(short, name):
    assert short(name, -1) == ()


def test_one_that_nothing_loads_is_not_looked_at(short):
    assert short("libcuda.so.470.1", 0, link="libcuda.so.470") == ()


def test_a_link_out_of_the_recording_and_a_pipe_are_not_followed(tree, short):
    folder = tree.root / PLACE[1:]
    folder.mkdir(parents=True)
    os.symlink("/etc/hostname", folder / "libnvidia-ml.so.1")
    os.mkfifo(folder / "libcuda.so.1")

    assert short("libother.so", 0, link="libanother.so") == ()
