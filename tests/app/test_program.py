from __future__ import annotations

import os

import pytest

from app.context import called, quoted


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Install a program in `tmp_path/.venv/bin`, and work in `tmp_path`."""
    path = tmp_path / ".venv/bin/coreopsis"
    path.parent.mkdir(parents=True)
    path.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setattr("sys.argv", [str(path)])
    return path


def test_a_program_below_this_folder_is_called_by_its_path_from_here(program):
    assert called() == os.path.join(".venv", "bin", "coreopsis")


def test_one_that_lies_elsewhere_is_called_by_its_whole_path(program, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")

    assert called() == str(program)


def test_one_in_this_folder_is_not_looked_for_among_those_of_the_shell(program, monkeypatch):
    monkeypatch.chdir(program.parent)

    assert called() == os.path.join(".", "coreopsis")


def test_a_path_with_spaces_is_one_word(program, tmp_path, monkeypatch):
    program = program.rename(tmp_path / ".venv" / "coreopsis")
    spaced = program.parent.rename(tmp_path / "a b") / "coreopsis"
    monkeypatch.setattr("sys.argv", [str(spaced)])

    assert called() == quoted(os.path.join("a b", "coreopsis")) != str(spaced)


def test_one_that_the_shell_finds_is_called_by_its_name(program, monkeypatch):
    monkeypatch.setenv("PATH", f"/usr/bin{os.pathsep}{program.parent}")

    assert called() == "coreopsis"


def test_another_of_the_same_name_does_not_stand_in_for_it(program, tmp_path, monkeypatch):
    (tmp_path / "coreopsis").touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{program.parent}")

    assert called() == os.path.join(".venv", "bin", "coreopsis")


def test_what_is_not_this_program_has_its_plain_name(program, monkeypatch):
    monkeypatch.setattr("sys.argv", ["/usr/bin/pytest"])

    assert called() == "coreopsis"
