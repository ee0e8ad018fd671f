"""NVML in a process of its own: with a library in C that hangs, aborts, exits and lies."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from machine.gpus import nvml_child
from machine.inspect import inspect
from machine.model import to_json
from tests import ROOT
from tests.cases import not_on_windows
from tests.machine import nvml_library

# The doctor as users start it, with less patience, and of a Python that says nothing of PyTorch.
DOCTOR = (
    "import sys; from machine.gpus import nvml_child; nvml_child.WITHIN_S = float(sys.argv.pop(1));"
    "from machine.doctor import torch_probe; torch_probe.PROBE = '';"
    "from app.cli import main; sys.exit(main(['doctor', '--json']))"
)
HUNG = "The NVIDIA library libnvidia-ml.so.1 did not answer within 0.5 s."
EXITED = "The NVIDIA library libnvidia-ml.so.1 ended the process that asked it."
ODD = "The NVIDIA library libnvidia-ml.so.1 gave answers that make no sense."


def crashed(signal):
    return f"The NVIDIA library libnvidia-ml.so.1 crashed when asked ({signal})."


def texts(value):
    """Yield all texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from (*texts(key), *texts(each))
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


@pytest.fixture
def inspected(monkeypatch, nvml_folder):
    """Return a function from the library's way to behave to this machine, as it is written."""

    def one(way, within_s=30):
        nvml_library.put(monkeypatch, nvml_folder, way, within_s)
        machine = to_json(inspect())
        assert all(text.isprintable() for text in texts(machine))
        return machine

    return one


def reasons(machine):
    return {entry["what"]: entry["why"] for entry in machine["missing"]}


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("hang", HUNG),
        ("hang when loaded", HUNG),
        ("hang later", HUNG),
        ("abort", crashed("SIGABRT")),
        ("abort later", crashed("SIGABRT")),
        ("crash", crashed("SIGSEGV")),
        ("exit", EXITED),
        ("crowd", ODD),
    ],
)
def test_a_library_that_fails_takes_nothing_along_and_is_named(inspected, way, why):
    machine = inspected(way, within_s=0.5 if "hang" in way else 30)
    assert machine["cpu"]["counts"]["online"]
    assert reasons(machine)["gpus"] == why


def test_a_library_that_answers_is_believed(inspected):
    machine = inspected("well")
    (gpu,) = [gpu for gpu in machine["gpus"] if gpu["pci_address"] == "0000:1a:00.0"]
    assert (gpu["name"], gpu["memory_bytes"], gpu["architecture"]) == (
        "NVIDIA Fake",
        2**34,
        "Hopper",
    )
    assert (gpu["driver_version"], gpu["cuda_version"]) == ("570.86.10", "12.8")
    assert (gpu["power_limit_watts"], gpu["temperature_celsius"]) == (700.0, 61.0)


def test_a_library_that_lies_is_not_believed(inspected):
    machine = inspected("lie")
    gpu = next(gpu for gpu in machine["gpus"] if (gpu["name"] or "").startswith("Evil"))
    assert gpu["name"].startswith("Evil[2JGPUAAA")
    lies = ("memory_bytes", "memory_bus_bits", "memory_clock_hz", "power_limit_watts")
    assert [gpu[name] for name in (*lies, "temperature_celsius", "uuid")] == [None] * 6
    index = gpu["index"]
    why = reasons(machine)
    assert "makes no sense" in (
        why.get(f"gpus[{index}].memory_bytes") or why["gpus[*].memory_bytes"]
    )
    assert len(gpu["nvlinks"]) <= 64
    assert len(gpu["mig_instances"]) <= 64


def test_without_the_library_no_process_is_started(monkeypatch, tmp_path):
    monkeypatch.setattr(nvml_child, "is_here", lambda: False)
    monkeypatch.setattr(nvml_child, "start", lambda *_: pytest.fail("started"))
    assert inspect().cpu


@not_on_windows
def test_the_library_is_found_where_the_loader_looks(monkeypatch, tmp_path):
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{tmp_path}")
    before = nvml_child.is_here()
    (tmp_path / nvml_child.LIBRARY).touch()
    assert nvml_child.is_here()
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert nvml_child.is_here() == before


@pytest.mark.parametrize("way", ["hang", "abort", "lie"])
def test_the_doctor_goes_on_and_names_the_library(nvml_folder, way):
    done = subprocess.run(
        [sys.executable, "-c", DOCTOR, "0.5" if way == "hang" else "30"],
        env=nvml_library.environment(nvml_folder, way),
        capture_output=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    told = json.loads(done.stdout)
    assert all(text.isprintable() for text in texts(told))
    if way != "lie":
        assert any("libnvidia-ml.so.1" in text for text in texts(told))


def test_a_machine_with_more_gpus_is_given_more_time():
    assert nvml_child.within_s(0) == nvml_child.within_s(1) == nvml_child.WITHIN_S
    assert nvml_child.within_s(8) > 8 * 3
