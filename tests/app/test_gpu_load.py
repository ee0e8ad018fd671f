"""The program of a load on a GPU: with a stand-in for PyTorch, and on the processor."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time

import psutil
import pytest

from app import synthetic_load
from app.synthetic_load import KnownLoad
from machine.devices import Gpu
from machine.model import Machine

PATIENCE_S = 60.0
MACHINE = Machine(gpus=(Gpu(index=0, torch_backend="cuda", uuid="GPU-1"),))

# As much of PyTorch as the program asks for; it tells of each call in a file.
TORCH = """
import os, time
uint8 = float16 = None
def note(word):
    with open(os.environ["NOTES"], "a") as file:
        file.write(word + chr(10))
class Tensor:
    def pin_memory(self):
        note("pinned")
        return self
    def copy_(self, other, non_blocking):
        note("copied")
class Backend:
    @staticmethod
    def synchronize():
        time.sleep(0.01)
def set_num_threads(count): pass
def get_device_module(kind):
    note(kind + " " + os.environ["CUDA_DEVICE_ORDER"])
    return Backend
def rand(*size, dtype, device):
    note(device)
    return Tensor()
def zeros(size, dtype): return Tensor()
def empty_like(like, device=None): return Tensor()
def mm(a, b, out): note("multiplied")
"""
BROKEN = 'raise RuntimeError("CUDA error: \\x1b[31m no device")\n'


@pytest.fixture
def load():
    load = KnownLoad()
    yield load
    load.stop()


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Let a stand-in take the place of PyTorch, and return what it notes."""
    (tmp_path / "torch.py").write_text(TORCH)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))

    def read() -> set[str]:
        path = tmp_path / "notes"
        return set(path.read_text().splitlines()) if path.exists() else set()

    return read


def until(condition):
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.01)


def own(load: KnownLoad) -> psutil.Process:
    process = load._process  # noqa: SLF001  (only it knows)
    assert process is not None
    return psutil.Process(process.pid)


@pytest.mark.parametrize(
    ("kind", "calls"), [("matmul", {"cuda:1", "multiplied"}), ("copy", {"pinned", "copied"})]
)
def test_each_kind_keeps_the_device_busy_with_its_own_work(load, notes, kind, calls):
    load.start_on_gpu(kind, "cuda:1", MACHINE)

    until(lambda: calls <= notes())
    assert "cuda PCI_BUS_ID" in notes()
    assert load.count == 1
    assert load.trouble() is None


def test_stopped_it_is_gone(load, notes):
    load.start_on_gpu("matmul", "cuda:0", MACHINE)
    process = own(load)
    until(lambda: "multiplied" in notes())

    load.stop()

    assert load.count == 0
    assert not process.is_running()
    assert load.trouble() is None


def test_it_ends_by_itself_and_that_is_no_trouble(load, notes):
    load.start_on_gpu("matmul", "cuda:0", MACHINE, seconds=0.05)

    until(lambda: load.count == 0)

    assert "multiplied" in notes()
    assert load.trouble() is None


def test_a_load_on_the_processor_takes_its_place_and_the_other_way_round(load, notes):
    load.start_on_gpu("copy", "cuda:0", MACHINE)
    first = own(load)
    load.start(2)
    second = own(load)
    assert not first.is_running()
    assert load.count == 2

    load.start_on_gpu("copy", "cuda:0", MACHINE)

    assert not second.is_running()
    assert load.count == 1


def test_why_it_failed_is_told_once_and_fit_for_a_terminal(load, notes, tmp_path):
    (tmp_path / "torch.py").write_text(BROKEN)
    load.start_on_gpu("matmul", "cuda:0", MACHINE)
    until(lambda: load.count == 0)

    problem = load.trouble()

    assert problem is not None
    assert problem.key == "known_load_failed"
    assert "CUDA error" in problem.values["reason"]
    assert "\x1b" not in problem.values["reason"]
    assert load.trouble() is None


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_one_that_is_killed_is_told_by_its_exit_code(load, notes):
    load.start_on_gpu("matmul", "cuda:0", MACHINE)
    own(load).kill()
    until(lambda: load.count == 0)

    problem = load.trouble()

    assert problem is not None
    assert "-9" in problem.values["reason"]


def test_it_does_not_outlive_a_program_that_was_killed(notes):
    code = """
import time
from app.synthetic_load import KnownLoad
from machine.model import Machine
load = KnownLoad()
load.start_on_gpu("matmul", "cuda:0", Machine())
print(load._process.pid, flush=True)
time.sleep(60)
"""
    path = os.pathsep.join([os.environ["PYTHONPATH"], *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as program:
        assert program.stdout is not None
        process = psutil.Process(int(program.stdout.readline()))
        until(lambda: "multiplied" in notes())
        program.kill()

    until(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_the_program_runs_with_pytorch_on_the_processor(load):
    load.start_on_gpu("copy", "cpu", MACHINE, seconds=0.01)  # a product would take ten seconds

    until(lambda: load.count == 0)

    assert load.trouble() is None


def test_a_machine_without_a_gpu_says_so(monkeypatch):
    problem = synthetic_load.lacking(Machine())
    assert problem is not None
    assert problem.key == "needs_gpu"
    monkeypatch.setattr(synthetic_load.importlib.util, "find_spec", lambda _: None)
    problem = synthetic_load.lacking(MACHINE)
    assert problem is not None
    assert problem.key == "needs_torch"


def test_a_gpu_that_is_hidden_or_without_torch_is_not_offered():
    gpus = (
        Gpu(index=0, torch_backend="cuda", visible=False),
        Gpu(index=1, torch_backend="cuda"),
        Gpu(index=2, torch_backend="hpu"),
        Gpu(index=3, torch_backend="cuda"),
    )
    assert synthetic_load.gpus(Machine(gpus=gpus)) == {"cuda:0": 1, "cuda:1": 3}
