from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from machine.doctor.evidence import Outcome, TorchDevice
from machine.doctor.torch_probe import BadPython, examine, find_python
from tests.machine.doctor import fake_torch
from tests.processes import until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="made of POSIX environments")

OTHERS = sorted(Path.home().glob(".pyenv/versions/*/bin/python"))


@pytest.fixture
def with_torch(tmp_path, monkeypatch):
    """Return a function that examines this Python with a PyTorch made of `code`."""

    def examined(code, **limits):
        monkeypatch.setenv("PYTHONPATH", str(fake_torch.install(tmp_path / "path", code)))
        return examine(sys.executable, **limits)

    return examined


# --- what it tells ------------------------------------------------------------------------------


def test_a_build_for_processors_is_read(with_torch):
    torch = with_torch(fake_torch.WELL)

    assert (torch.outcome, torch.version, torch.stage) == (Outcome.ANSWERED, "2.13.0+cpu", "done")
    assert (torch.cuda, torch.hip, torch.xpu, torch.has_mps) == (None, None, None, False)
    assert (torch.devices, torch.problem) == ((), None)
    assert torch.python == sys.executable
    assert torch.python_version == sys.version.split()[0]


def test_a_build_for_cuda_tells_its_code_its_driver_and_computes_on_each_device(with_torch):
    torch = with_torch(fake_torch.CUDA)

    assert (torch.cuda, torch.driver_cuda) == ("13.0", (12, 8))
    assert torch.targets == ("sm_75", "sm_90", "compute_90")
    assert torch.devices == tuple(
        TorchDevice(kind="cuda", index=n, name=f"Fake {n}", target=f"9.{n}", has_computed=True)
        for n in range(2)
    )


def test_a_build_for_amd_tells_the_generation_without_its_features(with_torch):
    torch = with_torch(fake_torch.HIP)

    assert (torch.hip, torch.cuda, torch.driver_cuda) == ("7.2.26015", None, None)
    assert [device.target for device in torch.devices] == ["gfx90a", "gfx90a"]


def test_builds_for_intel_and_apple_are_read(with_torch, tmp_path, monkeypatch):
    (device,) = with_torch(fake_torch.XPU).devices
    assert (device.kind, device.name, device.has_computed) == ("xpu", "Arc", True)

    monkeypatch.setenv("PYTHONPATH", str(fake_torch.install(tmp_path / "mac", fake_torch.MPS)))
    (device,) = examine().devices
    assert (device.kind, device.has_computed) == ("mps", True)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("def fail(): raise RuntimeError('No CUDA GPUs are available\\nmore')\ncuda.init = fail",
         "RuntimeError: No CUDA GPUs are available"),
        ("cuda.device_count = lambda: 0", "RuntimeError: torch.cuda.device_count() is 0"),
    ],
)  # fmt: skip
def test_why_no_device_is_found_is_passed_on_in_a_line(with_torch, more, problem):
    torch = with_torch(f"{fake_torch.CUDA}\n{more}")

    assert (torch.problem, torch.devices) == (problem, ())
    assert torch.cuda == "13.0"


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("def ones(count, device): raise RuntimeError('CUDA error: no kernel image')",
         "RuntimeError: CUDA error: no kernel image"),
        ("Number.item = lambda self: 0.0", "8 times 1 + 1 gives 0.0"),
    ],
)  # fmt: skip
def test_a_sum_that_fails_or_comes_out_wrong_is_told(with_torch, more, problem):
    torch = with_torch(f"{fake_torch.CUDA}\n{more}")

    assert [(d.has_computed, d.problem) for d in torch.devices] == [(False, problem)] * 2


def test_a_pytorch_of_long_ago_is_read_as_far_as_it_goes(with_torch):
    torch = with_torch(
        "import types\n__version__ = '1.2.0'\nversion = backends = types.ModuleType('v')"
    )

    assert (torch.outcome, torch.version, torch.devices) == (Outcome.ANSWERED, "1.2.0", ())


def test_packages_that_must_suit_it_are_named_but_not_loaded(with_torch, tmp_path):
    (tmp_path / "path").mkdir()
    (tmp_path / "path/torchvision.py").write_text("raise SystemExit('loaded')")

    assert with_torch(fake_torch.WELL).companions == ("torchvision",)


# --- what goes wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import ctypes; ctypes.CDLL('libcudart.so.99')", "OSError: libcudart.so.99"),
        ("raise ImportError('undefined symbol: x')", "ImportError: undefined symbol: x"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("import torch.not_there", "No module named 'torch.not_there'"),
        ("", "AttributeError: module 'torch' has no attribute '__version__'"),
    ],
)
def test_a_pytorch_that_cannot_be_loaded_is_broken_not_missing(with_torch, code, problem):
    torch = with_torch(code)

    assert problem in (torch.import_problem or "")
    assert (torch.outcome, torch.is_missing) == (Outcome.ANSWERED, False)


@pytest.mark.parametrize(
    ("code", "stage"),
    [
        ("hang()", "import"),
        (fake_torch.CUDA + "\ncuda.init = hang", "look"),
        (fake_torch.CUDA + "\nones = hang", "use"),
    ],
)
def test_a_pytorch_that_hangs_is_ended_and_the_place_is_known(with_torch, clock, code, stage):
    torch = with_torch(clock.hang + code)

    assert (torch.outcome, torch.stage) == (Outcome.SILENT, stage)
    if stage != "import":
        assert torch.cuda == "13.0"


@pytest.mark.parametrize(
    ("code", "stage"),
    [
        ("import os; os.kill(os.getpid(), 11)", "import"),
        (fake_torch.CUDA + "\nimport os\ncuda.init = lambda: os.kill(os.getpid(), 11)", "look"),
        (fake_torch.CUDA + "\nimport os\ndef ones(n, device): os.abort()", "use"),
        (fake_torch.CUDA + "\nimport os\ndef ones(n, device): os._exit(7)", "use"),
    ],
)
def test_a_pytorch_that_crashes_is_survived_and_the_place_is_known(with_torch, code, stage):
    torch = with_torch(code)

    assert (torch.outcome, torch.stage) == (Outcome.CRASHED, stage)
    assert torch.detail in ("signal 11", "signal 6", "status 7")


def test_the_last_words_of_a_crash_are_kept(with_torch):
    torch = with_torch("import os, sys\nos.write(2, b'terminate called\\n\\n')\nos.abort()")

    assert torch.detail == "terminate called"


def test_what_it_starts_ends_with_it(with_torch, clock, tmp_path):
    pid = tmp_path / "pid"
    with_torch(
        f"{clock.hang}"
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(pid)!r}, 'w').write(str(p.pid))\n"
        "hang()"
    )

    def is_gone():
        state = Path(f"/proc/{pid.read_text()}/stat")
        return not state.exists() or state.read_text().split()[2] == "Z"

    until(is_gone)
    assert is_gone()


def test_chatter_of_a_library_is_not_taken_for_an_answer(with_torch):
    torch = with_torch("print('hello', end='')\nprint('@coreopsis {broken')\n" + fake_torch.WELL)

    assert torch.version == "2.13.0+cpu"


def test_a_file_called_torch_beside_the_user_is_not_loaded(with_torch, tmp_path, monkeypatch):
    (tmp_path / "torch.py").write_text("raise SystemExit('loaded')")
    monkeypatch.chdir(tmp_path)

    assert with_torch(fake_torch.WELL).version == "2.13.0+cpu"


def test_a_program_that_does_not_start_is_told(tmp_path):
    program = tmp_path / "python"
    program.write_bytes(b"\x7fELF but not really")
    program.chmod(0o755)

    torch = examine(str(program))

    assert torch.outcome is Outcome.UNSTARTABLE
    assert torch.detail


def test_a_program_that_is_no_python_is_told(tmp_path):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho something else >&2\n")
    program.chmod(0o755)

    assert examine(str(program)).outcome is Outcome.UNSTARTABLE
    assert examine(str(program)).detail == "something else"


@pytest.mark.skipif(not OTHERS, reason="there is no other Python here")
@pytest.mark.parametrize("python", [OTHERS[0], OTHERS[-1]] if OTHERS else [], ids=str)
def test_other_pythons_without_pytorch_say_so(python, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)

    torch = examine(find_python(str(python)))

    assert (torch.outcome, torch.is_missing) == (Outcome.ANSWERED, True)
    assert torch.version is None
    assert torch.python_version


# --- how packages come into it ------------------------------------------------------------------


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Return an environment without pip, as uv makes them."""
    folder = tmp_path_factory.mktemp("project") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder


def test_an_environment_is_found_from_itself_its_program_and_its_project(environment):
    program = str(environment / "bin/python")

    assert find_python(str(environment)) == program
    assert find_python(program) == program  # not what the link leads to
    assert find_python(str(environment.parent)) == program


def test_an_environment_without_pip_is_uvs(environment, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    torch = examine(find_python(str(environment)))

    assert (torch.is_missing, torch.installer) == (True, "uv")


def test_an_environment_into_which_conda_brought_pytorch_is_condas(environment, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    record = environment / "conda-meta/pytorch-2.5.1-cpu_generic_py311_0.json"
    record.parent.mkdir()
    record.write_text("{}")

    assert examine(find_python(str(environment))).installer == "conda"


def test_a_folder_that_an_uninstallation_left_is_broken_not_missing(
    environment, tmp_path, monkeypatch
):
    (tmp_path / "torch").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    torch = examine(find_python(str(environment)))

    assert (torch.is_missing, torch.version) == (False, None)
    assert torch.import_problem


# --- what can be given --------------------------------------------------------------------------


def test_a_name_is_looked_for_where_a_shell_would(tmp_path, monkeypatch):
    (tmp_path / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_python("python3") == str(tmp_path / "python3")


def test_the_home_folder_is_understood(environment, monkeypatch):
    monkeypatch.setenv("HOME", str(environment.parent))

    assert find_python("~/.venv") == str(environment / "bin/python")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("/nowhere/at/all", "There is no /nowhere/at/all; give a Python,"),
        ("python9.9", "There is no python9.9; give a Python,"),
        ("/proc", "There is no Python in the folder /proc;"),
        ("/bin/ls", "/bin/ls does not look like a Python;"),
        ("{folder}/python", "{folder}/python cannot be run:"),
    ],
)  # fmt: skip
def test_what_is_no_python_is_refused_in_a_sentence(tmp_path, given, said):
    (tmp_path / "python").write_text("")

    with pytest.raises(BadPython) as caught:
        find_python(given.format(folder=tmp_path))

    assert str(caught.value).startswith(said.format(folder=tmp_path))
    assert str(caught.value).endswith(".")


def test_the_examination_leaves_nothing_in_the_environment(with_torch, tmp_path):
    with_torch(fake_torch.WELL)

    assert sorted(os.listdir(tmp_path / "path/torch")) == ["__init__.py"]


@pytest.mark.parametrize("place", ["", ".venv"])
def test_an_environment_whose_python_was_removed_says_so(tmp_path, place):
    (tmp_path / place / "bin").mkdir(parents=True)
    (tmp_path / place / "bin/python").symlink_to("/gone/python3")

    with pytest.raises(BadPython, match="there is no /gone/python3; make the environment anew"):
        find_python(str(tmp_path))
