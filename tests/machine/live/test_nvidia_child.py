"""Watching goes on though NVML hangs, aborts or exits: only the samples of GPUs are lost."""

from __future__ import annotations

import itertools

import pytest

from machine.gpus import nvml_child
from machine.live.gpus import GpuSampler
from machine.live.sampler import Sampler
from tests.machine.live.test_gpus import look, seat
from tests.machine.nvml_library import put

HUNG = "The NVIDIA library libnvidia-ml.so.1 did not answer within 0.5 s."
CRASHED = "The NVIDIA library libnvidia-ml.so.1 crashed when asked (SIGABRT)."
EXITED = "The NVIDIA library libnvidia-ml.so.1 ended the process that asked it."
PATIENT_S = 60


@pytest.fixture
def watch(tree):
    """Return a function from a root to its sampler, which is closed at the end."""
    seat(tree)
    made = []

    def start(root=tree.root, **options):
        made.append(GpuSampler(root, **options))
        return made[-1]

    yield start
    for sampler in made:
        sampler.close()


def test_a_library_that_answers_is_watched(watch, nvml_folder, monkeypatch):
    put(monkeypatch, nvml_folder, "well", PATIENT_S)
    sampler = watch()
    for now_s in (0.0, 1.0):
        (gpu,), reasons = look(sampler, now_s)
        assert (gpu.pci_address, gpu.state) == ("0000:1a:00.0", "awake")
        assert (gpu.busy, gpu.memory_busy, gpu.temperature_celsius) == (0.97, 0.41, 61.0)
        assert "too old" in reasons["gpus[*].pcie_width"]  # a call that it does not have


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("hang", HUNG),
        ("hang while watched", HUNG),
        ("abort", CRASHED),
        ("abort while watched", CRASHED),
        ("exit", EXITED),
    ],
)
def test_a_library_that_fails_is_named_and_tried_again_later(
    watch, nvml_folder, monkeypatch, way, why
):
    put(monkeypatch, nvml_folder, way, 0.5 if "hang" in way else PATIENT_S)
    sampler = watch()
    for now_s in (0.0, 20.0):
        (gpu,), reasons = look(sampler, now_s)
        assert (gpu.pci_address, gpu.busy, reasons["gpus[*].busy"]) == ("0000:1a:00.0", None, why)
    put(monkeypatch, nvml_folder, "well", PATIENT_S)
    assert look(sampler, 31.0)[0][0].busy == 0.97


def test_while_the_library_hangs_everything_else_is_sampled(nvml_folder, monkeypatch):
    put(monkeypatch, nvml_folder, "hang", 5.0)
    sampler = Sampler(clock_s=itertools.count(0.0, 2.0).__next__)  # two seconds a sample
    samples = [sampler.sample() for _ in range(4)]
    sampler.close()
    assert all(sample.threads and sample.memory.total_bytes for sample in samples)
    told = [{entry.what: entry.why for entry in sample.missing} for sample in samples]
    named = "The NVIDIA library libnvidia-ml.so.1 did not answer within 5 s."
    assert [named == reasons.get("gpus") for reasons in told] == [False, False, False, True]


def test_a_library_that_lies_is_not_believed(watch, nvml_folder, monkeypatch):
    put(monkeypatch, nvml_folder, "lie", PATIENT_S)
    (gpu,), reasons = look(watch())
    assert (gpu.busy, gpu.temperature_celsius, gpu.memory_used_bytes) == (None, None, None)
    assert "makes no sense" in reasons["gpus[*].memory_used_bytes"]


def test_without_the_library_nothing_is_started(tmp_path, monkeypatch):
    monkeypatch.setattr(nvml_child, "is_here", lambda: False)
    monkeypatch.setattr(nvml_child, "start", lambda *_: pytest.fail("started"))
    sampler = GpuSampler(tmp_path)
    assert sampler.sample(0.0)[0] == ()
    sampler.close()


def test_no_process_is_left(watch, nvml_folder, monkeypatch):
    put(monkeypatch, nvml_folder, "well", PATIENT_S)
    started = []
    start = nvml_child.start

    def kept(*arguments):
        started.append(start(*arguments))
        return started[-1]

    monkeypatch.setattr(nvml_child, "start", kept)
    sampler = watch()
    look(sampler)
    sampler.close()
    assert [child.returncode is None for child in started] == [False]
