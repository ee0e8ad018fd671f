"""The commonest case end to end: the user's environment has a PyTorch that cannot work.

The machine is made up, the environment is real, and the PyTorch in it is written by the test.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import Nvml
from machine.doctor.gather import gather
from machine.doctor.torch_probe import examine, find_python
from machine.doctor.verdicts import State
from tests.machine.doctor import fake_torch
from tests.machine.doctor.buses import geforce, load
from tests.machine.doctor.made import DEVICE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="made of POSIX environments")
WELL = Nvml(code=0, driver="580.65.06", cuda=(13, 0), devices=(DEVICE,))
UNSEEN = fake_torch.CUDA.replace("device_count=lambda: 2", "device_count=lambda: 0")
CANNOT_COMPUTE = f"""{fake_torch.CUDA}
def ones(count, device): raise RuntimeError('no kernel image')
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return the folder of a project with an environment of its own."""
    folder = tmp_path_factory.mktemp("project")
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder / ".venv")]
    subprocess.run(command, check=True)
    return folder


@pytest.fixture
def examined(tree, project, monkeypatch):
    """Return a function that examines the environment with a PyTorch made of `code`."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    geforce(tree)
    load(tree, "nvidia")
    tree.write("/etc/os-release", "ID=ubuntu\n")
    (packages,) = project.glob(".venv/lib/python3*/site-packages")

    def walked(code, environment=None, nvml=WELL):
        package = packages / "torch/__init__.py"
        package.parent.mkdir(exist_ok=True)
        package.write_text(code)
        for cached in package.parent.glob("__pycache__/*"):
            cached.unlink()
        found = gather(
            tree.root,
            python=find_python(str(project)),
            environment=environment or {},
            nvml=lambda: nvml,
            probe=examine,
        )
        return diagnose(found)

    return walked


def test_a_build_for_processors_beside_a_working_gpu_is_named_with_its_environment(
    examined, project
):
    diagnosis = examined(fake_torch.WELL)

    assert (diagnosis.state, diagnosis.found.key) == (State.WRONG, "build_for_processors")
    python = str(project / ".venv/bin/python")
    assert diagnosis.python == diagnosis.found.values["python"] == python
    assert diagnosis.found.commands == (
        f"uv pip install --python {python} --reinstall torch"  # it has no pip
        " --index-url https://download.pytorch.org/whl/cu130",
    )
    assert [step.state for step in diagnosis.steps[:-2]] == [
        *[State.OK] * (len(diagnosis.steps) - 3),
        State.WRONG,
    ]


@pytest.mark.parametrize("value", ["", "-1", "1", "GPU-of-another-machine"])
def test_a_variable_that_hides_the_gpu_is_named(examined, value):
    diagnosis = examined(UNSEEN, {"CUDA_VISIBLE_DEVICES": value})

    assert (diagnosis.found.step, diagnosis.found.key) == ("visible", "hidden")
    assert diagnosis.found.values == {"name": "CUDA_VISIBLE_DEVICES", "value": value}


@pytest.mark.parametrize(
    ("targets", "key"),
    [
        ("sm_50 sm_60 sm_70 sm_75", "too_new_for_torch"),
        ("sm_90 sm_100 sm_120 compute_120", "too_old_for_torch"),
    ],
)
def test_a_build_without_code_for_the_gpu_is_named(examined, targets, key):
    diagnosis = examined(CANNOT_COMPUTE.replace("sm_75 sm_90 compute_90", targets))

    assert (diagnosis.found.step, diagnosis.found.key) == ("architecture", key)
    assert "--index-url https://download.pytorch.org/whl/cu1" in diagnosis.found.commands[0]


def test_a_gpu_that_computes_is_well(examined):
    assert examined(fake_torch.CUDA).state is State.OK


def test_a_driver_that_is_too_old_for_the_build_is_named(examined):
    old = Nvml(code=0, driver="535.1", cuda=(12, 2), devices=(DEVICE,))

    assert examined(UNSEEN, nvml=old).found.key == "driver_too_old"


def test_a_pytorch_that_kills_its_process_is_told(examined):
    diagnosis = examined("import os; os.abort()")

    assert (diagnosis.found.step, diagnosis.found.key) == ("torch", "torch_crashes_loading")


def test_a_pytorch_that_never_ends_loading_is_told(examined, clock):
    diagnosis = examined(f"{clock.hang}hang()")

    assert (diagnosis.found.step, diagnosis.found.key) == ("torch", "torch_silent_loading")


def test_a_program_that_only_calls_itself_python_is_told(tree, tmp_path, clock):
    geforce(tree)
    load(tree, "nvidia")
    program = tmp_path / "bin/python"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{clock.in_shell}")
    program.chmod(0o755)

    found = gather(
        tree.root,
        python=find_python(str(tmp_path)),
        environment={},
        nvml=lambda: WELL,
        probe=examine,
    )

    step = diagnose(found).found
    assert (step.key, step.commands) == ("python_silent", (f"{program} --version",))
