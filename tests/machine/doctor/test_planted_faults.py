"""Faults planted around a PyTorch that a real interpreter loads; each is named with its file."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from app.context import Context, ExitCode
from app.terminal import doctor
from machine.doctor.diagnosis import diagnose
from machine.doctor.evidence import Interpreter, Nvml
from machine.doctor.gather import gather
from machine.doctor.torch_probe import examine, find_python
from machine.doctor.verdicts import State
from tests.machine.doctor import fake_torch
from tests.machine.doctor.buses import geforce, load, plug
from tests.machine.doctor.made import DEVICE, named
from tests.processes import GONE_BREAKS_IMPORTS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="made of POSIX environments")
WELL = Nvml(code=0, driver="580.65.06", cuda=(13, 0), devices=(DEVICE,))
BROKEN = "raise ImportError('undefined symbol: cudaGetDriverEntryPoint, version libcudart.so.12')"
CANNOT_COMPUTE = f"{fake_torch.CUDA}\ndef ones(count, device): raise RuntimeError('it failed')\n"
NO_ROOM = "import os\nos.write(os.open('/dev/full', os.O_WRONLY), b'x')\n"
OLD = Interpreter(version="3.7.16", path="/opt/3.7/bin/python3.7")


class Usage(NamedTuple):
    """The result of shutil.disk_usage."""

    total: int
    used: int
    free: int


@pytest.fixture(scope="session")
def made_environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder


@pytest.fixture
def project(made_environment, tmp_path, monkeypatch):
    """Return a project whose environment holds nothing."""
    for name in ("PYTHONPATH", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    shutil.copytree(made_environment, folder / ".venv", symlinks=True)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def packages(project):
    (found,) = project.glob(".venv/lib/python3*/site-packages")
    return found


@pytest.fixture
def walked(tree, project):
    """Return a function that examines the project beside a card of NVIDIA or none."""

    def examined(*, with_card=True, **changes):
        if with_card:
            geforce(tree)
            load(tree, "nvidia")
        options = {"nvml": lambda: WELL if with_card else Nvml(), "probe": examine, **changes}
        return diagnose(gather(tree.root, python=find_python(str(project)), **options))

    return examined


def lib(path, size_bytes=None):
    """Write a library of 64 bits with one part to load, or only its beginning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = os.path.realpath(sys.executable)
    with open(whole, "rb") as program:
        path.write_bytes(program.read(-1 if size_bytes is None else size_bytes))
    return path


# --- torch.py in the way ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown"), [("torch.py", "torch.py"), ("torch/__init__.py", "torch")]
)
def test_a_file_of_the_user_that_is_loaded_instead_is_to_be_renamed(
    walked, packages, tmp_path, monkeypatch, name, shown
):
    fake_torch.install(packages, fake_torch.CUDA)
    mine = tmp_path / "mine"
    (mine / name).parent.mkdir(parents=True)
    (mine / name).write_text("def light(): pass\n")
    monkeypatch.setenv("PYTHONPATH", str(mine))

    step = walked().found

    assert (step.step, step.key, step.state) == ("torch", "torch_in_the_way", State.WRONG)
    assert step.values["file"] == str(mine / shown)
    assert step.commands == (f"mv {mine / shown} {mine / f'my_{shown}'}",)


def test_a_file_of_the_user_that_crashes_is_not_told_as_a_broken_pytorch(
    walked, packages, tmp_path, monkeypatch
):
    (tmp_path / "torch.py").write_text("import os; os.abort()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    assert walked().found.key == "torch_in_the_way"


@pytest.mark.parametrize("place", ["", "project"])
def test_a_file_in_the_working_folder_or_the_project_is_worth_a_look(
    walked, packages, tmp_path, place
):
    fake_torch.install(packages, fake_torch.CUDA)
    mine = tmp_path / place / "torch.py"
    mine.write_text("")

    diagnosis = walked()

    assert (diagnosis.found.key, diagnosis.state) == ("torch_beside", State.LOOK)
    assert diagnosis.found.commands == (f"mv {mine} {mine.with_name('my_torch.py')}",)
    assert named(diagnosis, "works").state is State.OK


def test_the_source_of_pytorch_in_the_working_folder_is_not_meant(walked, packages, tmp_path):
    fake_torch.install(packages, fake_torch.CUDA)
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("")
    (tmp_path / "torch/version.py").write_text("")

    assert walked().state is State.OK


def test_what_an_uninstallation_left_is_no_pytorch(walked, packages):
    (packages / "torch").mkdir()

    assert walked().found.key == "torch_missing"


# --- two of them --------------------------------------------------------------------------------


@pytest.fixture
def two(packages, tmp_path, monkeypatch):
    """Return the files of two PyTorches, the first of which is `code`."""

    def made(code):
        first = fake_torch.install(tmp_path / "first", code) / "torch/__init__.py"
        first.with_name("version.py").write_text("")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "first"))
        second = fake_torch.install(packages, fake_torch.CUDA) / "torch/__init__.py"
        return str(first), str(second)

    return made


def test_two_of_which_the_first_is_for_processors_are_named(walked, two):
    first, second = two(fake_torch.WELL)

    step = walked().found

    assert (step.key, step.state) == ("torch_twice", State.WRONG)
    assert step.values == {"file": first, "other": second}
    assert step.commands == ("unset PYTHONPATH",)


def test_two_of_which_the_first_computes_are_worth_a_look(walked, two):
    two(fake_torch.CUDA)

    diagnosis = walked()

    assert (diagnosis.found.key, diagnosis.state) == ("torch_twice", State.LOOK)


def test_two_of_which_the_first_is_broken_are_named(walked, two):
    first, second = two("raise ImportError('broken')")

    step = walked().found

    assert step.key == "torch_hides_another"
    assert step.values == {"file": first, "other": second, "said": "ImportError: broken"}


def test_the_first_of_two_in_packages_is_uninstalled(walked, packages, project, monkeypatch):
    (project / "more/site-packages").mkdir(parents=True)
    (packages / "more.pth").write_text(f"{project / 'more/site-packages'}\n")
    fake_torch.install(packages, fake_torch.WELL)
    fake_torch.install(project / "more/site-packages", fake_torch.CUDA)

    (command,) = walked().found.commands

    assert command == f"uv pip uninstall --python {project / '.venv/bin/python'} torch"


def test_one_that_is_reached_in_two_ways_is_one(walked, packages, project, monkeypatch):
    fake_torch.install(packages, fake_torch.CUDA)
    os.symlink(packages, project / "again")
    monkeypatch.setenv("PYTHONPATH", str(project / "again"))

    assert walked().state is State.OK


# --- libraries ----------------------------------------------------------------------------------


@pytest.fixture
def cuda(packages, tmp_path, monkeypatch):
    """Return a libcudart on LD_LIBRARY_PATH, beside PyTorch's own."""
    lib(packages / "nvidia/cuda_runtime/lib/libcudart.so.12")
    file = lib(tmp_path / "cuda-11/lib64/libcudart.so.11.0")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(file.parent))
    return file


def test_a_library_of_another_cuda_is_named_where_loading_fails(walked, packages, cuda):
    fake_torch.install(packages, BROKEN)

    step = walked().found

    assert (step.key, step.state) == ("foreign_library_offered", State.WRONG)
    assert step.values["file"] == str(cuda)
    assert step.commands == ("unset LD_LIBRARY_PATH",)


def test_only_its_folder_is_taken_out(walked, packages, cuda, tmp_path, monkeypatch):
    fake_torch.install(packages, BROKEN)
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{tmp_path / 'mine'}:{cuda.parent}")

    assert walked().found.commands == (f"export LD_LIBRARY_PATH={tmp_path / 'mine'}",)


def test_a_library_that_pytorch_does_not_bring_is_not_foreign(walked, packages, cuda):
    shutil.rmtree(packages / "nvidia")
    fake_torch.install(packages, BROKEN)

    assert walked().found.key == "torch_broken"


def test_what_fails_for_another_reason_is_not_blamed_on_the_library(walked, packages, cuda):
    fake_torch.install(packages, "raise ValueError('something else')")

    assert walked().found.key == "torch_broken"


@pytest.mark.parametrize(
    ("code", "state"), [(fake_torch.CUDA, State.LOOK), (CANNOT_COMPUTE, State.WRONG)]
)
def test_a_library_of_another_cuda_that_was_loaded_is_named(walked, packages, cuda, code, state):
    mapped = (
        f"import mmap\nfile = open({str(cuda)!r}, 'rb')\n"
        "mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\n"
    )
    fake_torch.install(packages, mapped + code)

    step = walked().found

    assert (step.key, step.state) == ("foreign_library_loaded", state)
    assert step.values == {"file": str(cuda)}


@pytest.mark.parametrize("size_bytes", [0, 20, 3000])
@pytest.mark.parametrize("code", ["raise OSError('file too short')", "import os; os.kill(0, 9)"])
def test_a_library_of_pytorch_that_is_cut_off_is_named_with_its_length(
    walked, packages, size_bytes, code
):
    fake_torch.install(packages, code.replace("os.kill(0, 9)", "os.kill(os.getpid(), 7)"))
    lib(packages / "torch/lib/libtorch_cpu.so")
    short = lib(packages / "torch/lib/libtorch_cuda.so", size_bytes)

    step = walked().found

    assert (step.key, step.state) == ("torch_file_short", State.WRONG)
    assert step.values == {"file": str(short), "size_bytes": size_bytes}
    assert "--reinstall torch" in step.commands[0]


def test_a_library_of_cudas_packages_that_is_cut_off_is_one_of_pytorchs(walked, packages):
    fake_torch.install(packages, "raise OSError('cannot read file data')")
    short = lib(packages / "nvidia/cudnn/lib/libcudnn.so.9", 300)

    step = walked().found

    assert (step.key, step.values["file"]) == ("torch_file_short", str(short))


def test_a_library_of_others_that_is_cut_off_is_not_mended_by_a_new_pytorch(
    walked, packages, tmp_path
):
    short = lib(tmp_path / "compat/libcuda.so.1", 0)
    fake_torch.install(packages, f"raise OSError('{short}: file too short')")

    step = walked().found

    assert (step.key, step.commands) == ("other_file_short", (f"ls -l {short}",))
    assert step.values == {"file": str(short), "size_bytes": 0}


# --- disks --------------------------------------------------------------------------------------


def test_a_disk_that_runs_out_of_room_is_told_and_not_a_broken_pytorch(walked, packages):
    fake_torch.install(packages, NO_ROOM)

    step = walked().found

    assert (step.step, step.key, step.state) == ("disk", "disk_ran_out", State.WRONG)
    assert "No space left on device" in step.values["said"]
    assert step.commands == ("df -h", "uv cache clean")


@pytest.mark.parametrize(
    ("code", "state"),
    [(None, State.WRONG), (fake_torch.WELL, State.WRONG), (fake_torch.CUDA, State.LOOK)],
)
def test_a_full_disk_is_named_with_its_folder(walked, packages, project, monkeypatch, code, state):
    if code is not None:
        fake_torch.install(packages, code)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(10**12, 10**12, 4096))

    step = walked().found

    assert (step.key, step.state) == ("disk_full", state)
    assert step.values == {"folder": str(project / ".venv"), "free_bytes": 4096}
    assert step.commands == ("df -h", "uv cache clean")


def test_a_full_folder_of_temporary_files_is_named(walked, packages, tmp_path, monkeypatch):
    fake_torch.install(packages, fake_torch.CUDA)
    full = tmp_path / "full"
    full.mkdir()
    monkeypatch.setenv("TMPDIR", str(full))
    usage = shutil.disk_usage

    def told(folder):
        return Usage(10**9, 10**9, 0) if folder == str(full) else usage(folder)

    monkeypatch.setattr(shutil, "disk_usage", told)

    assert walked().found.values == {"folder": str(full), "free_bytes": 0}


def test_no_room_for_temporary_files_does_not_stop_the_doctor(walked, packages, monkeypatch):
    fake_torch.install(packages, fake_torch.CUDA)
    monkeypatch.setattr(tempfile, "tempdir", "/proc/no/room")

    assert walked().state is State.OK


# --- noise --------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["noise " * 12 + "\\n", "n" * 80])
def test_fifty_megabytes_of_noise_do_not_hide_the_answer(walked, packages, line):
    noise = (
        "import os\n"
        f"piece = b'{line}' * 8192\n"
        "for end in (1, 2):\n"
        "    for _ in range(25 * 2**20 // len(piece) + 1): os.write(end, piece)\n"
    )
    fake_torch.install(packages, noise + fake_torch.CUDA)

    assert walked().state is State.OK


def test_a_pytorch_that_takes_standard_output_for_itself_does_not_hide_the_answer(walked, packages):
    fake_torch.install(packages, "import io, sys\nsys.stdout = io.StringIO()\n" + fake_torch.CUDA)

    assert walked().state is State.OK


@GONE_BREAKS_IMPORTS
def test_a_working_folder_that_was_removed_does_not_stop_the_doctor(walked, packages, tmp_path):
    fake_torch.install(packages, fake_torch.CUDA)
    gone = tmp_path / "gone"
    gone.mkdir()
    with contextlib.chdir(gone):  # pytest cannot tell of a failure in a folder that is gone
        gone.rmdir()
        found = walked()

    assert found.state is State.OK


# --- Pythons without a build --------------------------------------------------------------------


def told_version(version):
    """Return a probe whose Python says that it is of that version."""

    def probe(python):
        return replace(examine(python), python_version=version)

    return probe


@pytest.mark.parametrize("version", ["3.7.16", "3.99.0"])
def test_a_python_without_a_build_is_told_and_which_one_has_one(walked, version):
    suiting = Interpreter(version="3.12.1", path="/opt/3.12/bin/python3.12")

    step = walked(probe=told_version(version), others=lambda: (OLD, suiting)).found

    assert (step.key, step.state) == ("python_without_build_others", State.WRONG)
    assert step.values["version"] == version
    assert step.values["others"] == "3.12.1 (/opt/3.12/bin/python3.12)"
    assert step.commands == (
        "/opt/3.12/bin/python3.12 -m venv torch-env",
        "torch-env/bin/python -m pip install torch"
        " --index-url https://download.pytorch.org/whl/cu130",
    )


def test_where_no_python_has_a_build_one_is_to_be_installed(walked):
    step = walked(probe=told_version("3.7.16"), others=lambda: (OLD,)).found

    assert step.key == "python_without_build"
    assert step.commands == ("https://www.python.org/downloads/",)


def test_the_pythons_of_this_machine_are_found(walked):
    found = walked(probe=told_version("3.7.16")).found

    assert found.key == "python_without_build_others"
    assert found.values["others"]


def test_without_a_card_it_is_told_too(walked):
    step = named(walked(with_card=False, probe=told_version("3.7.16")), "torch")

    assert (step.key, step.state) == ("python_without_build_here", State.OK)


# --- builds for GPUs without a card -------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "version", "built_for"),
    [
        (fake_torch.CUDA, "2.13.0+cu130", "CUDA 13.0"),
        (fake_torch.HIP, "2.13.0+cu130", "ROCm 7.2.26015"),
        (fake_torch.XPU, "2.13.0+xpu", "Intel GPUs (XPU)"),
    ],
)
def test_a_build_for_gpus_without_a_card_is_worth_a_look(
    walked, packages, code, version, built_for
):
    unseen = re.sub(r"device_count=lambda: \d", "device_count=lambda: 0", code)
    fake_torch.install(packages, unseen)

    diagnosis = walked(with_card=False)

    assert (diagnosis.vendor, diagnosis.state) == (None, State.LOOK)
    assert (diagnosis.found.step, diagnosis.found.key) == ("build", "torch_without_card")
    assert diagnosis.found.values["version"] == version
    assert diagnosis.found.values["built_for"] == built_for


@pytest.mark.parametrize(
    ("code", "exit_code"), [(fake_torch.CUDA, ExitCode.LOOK), (fake_torch.WELL, ExitCode.DONE)]
)
def test_the_command_ends_with_4_and_says_which_build(
    tree, packages, project, monkeypatch, capsys, code, exit_code
):
    fake_torch.install(packages, code.replace("lambda: 2", "lambda: 0"))

    def recorded(python):
        return gather(tree.root, python=python, nvml=lambda: Nvml())

    monkeypatch.setattr(doctor, "gather", recorded)
    options = type("Options", (), {"json": False, "python": str(project)})()

    assert doctor.run(options, Context()) == exit_code
    assert ("2.13.0+cu130" in capsys.readouterr().out) == (exit_code == ExitCode.LOOK)


def test_a_card_of_amd_brings_a_build_for_rocm(tree, walked, packages):
    plug(tree, "0000:03:00.0", 0x1002, 0x744C, 0x030000, driver="amdgpu")
    load(tree, "amdgpu")
    tree.write("/dev/kfd", "")
    fake_torch.install(packages, fake_torch.WELL)

    diagnosis = walked(with_card=False)

    commands = [command for step in diagnosis.steps for command in step.commands]
    assert commands
    assert not [command for command in commands if "nvidia" in command or "/cu1" in command]
