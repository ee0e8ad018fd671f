from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from machine.doctor import environments
from machine.doctor.environments import Environment, find

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="made of POSIX environments")


@pytest.fixture(autouse=True)
def without_system(tmp_path, monkeypatch):
    """Look below a home of our own alone."""
    monkeypatch.setattr(environments, "SYSTEM", ())
    monkeypatch.chdir(tmp_path)


def make(folder: Path, *, torch: str | None = None) -> Path:
    program = folder / "bin/python"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    packages = folder / "lib/python3.12/site-packages"
    packages.mkdir(parents=True)
    (packages / "torch_geometric-2.6.1.dist-info").mkdir()
    if torch is not None:
        (packages / f"torch-{torch}.dist-info").mkdir()
    return folder


def folders(home, environment=None):
    return [Path(found.path) for found in find(home, environment or {})]


@pytest.mark.parametrize(
    "place",
    [
        "thesis/.venv",
        "work/thesis/venv",
        ".virtualenvs/thesis",
        "miniconda3",
        "miniforge3/envs/thesis",
        ".pyenv/versions/3.12.1",
        ".cache/pypoetry/virtualenvs/thesis-x-py3.12",
    ],
)
def test_an_environment_is_found_where_tools_put_it(tmp_path, place):
    made = make(tmp_path / "home" / place)

    assert folders(tmp_path / "home") == [made]


def test_those_with_a_pytorch_come_first_with_its_version(tmp_path):
    make(tmp_path / ".venv")
    make(tmp_path / "a/.venv", torch="2.9.0+cu128")

    first, second = find(tmp_path, {})

    assert (Path(first.path), first.torch) == (tmp_path / "a/.venv", "2.9.0+cu128")
    assert (Path(second.path), second.torch) == (tmp_path / ".venv", None)


def test_the_one_that_is_in_use_and_those_that_conda_knows_are_found(tmp_path):
    used, known = make(tmp_path / "far/away/from/home"), make(tmp_path / "opt/deep/inside/conda")
    (tmp_path / "home/.conda").mkdir(parents=True)
    (tmp_path / "home/.conda/environments.txt").write_text(f"{known}\n/gone\n\n")

    assert folders(tmp_path / "home", {"VIRTUAL_ENV": str(used)}) == [used, known]


def test_each_is_told_once_and_this_program_is_not(tmp_path, monkeypatch):
    made = make(tmp_path / ".venv")
    os.symlink(made, tmp_path / "venv")
    monkeypatch.setattr(sys, "prefix", str(make(tmp_path / "ours/.venv")))

    assert folders(tmp_path, {"VIRTUAL_ENV": str(made)}) == [made]


def test_a_folder_without_a_python_is_none(tmp_path):
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").write_text("not to be run")

    assert folders(tmp_path) == []


def test_folders_that_may_not_be_looked_into_are_passed_over(tmp_path, monkeypatch):
    def refuse(folder, pattern):
        raise PermissionError(13, "Permission denied", str(folder))

    made = make(tmp_path / "used")
    monkeypatch.setattr(Path, "glob", refuse)

    assert folders(tmp_path, {"VIRTUAL_ENV": str(made)}) == [made]


def test_the_packages_of_the_system_are_read_too(tmp_path, monkeypatch):
    make(tmp_path / "usr")
    monkeypatch.setattr(environments, "SYSTEM", (str(tmp_path / "usr"),))
    python = str(tmp_path / "usr/bin/python")
    assert find(tmp_path / "home", {}) == (Environment(path=python),)

    user = tmp_path / "home/.local/lib/python3.12/site-packages"
    (user / "torch-2.5.1.dist-info").mkdir(parents=True)
    assert find(tmp_path / "home", {}) == (Environment(path=python, torch="2.5.1"),)

    (tmp_path / "usr/lib/python3/dist-packages/torch-2.6.0.dist-info").mkdir(parents=True)
    assert find(tmp_path / "home", {}) == (Environment(path=python, torch="2.6.0"),)
