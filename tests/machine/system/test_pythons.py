from __future__ import annotations

import glob
import os
import subprocess
import sys
import threading

import pytest

from machine.system.pythons import Interpreter, find

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fakes are shell programs")

RUNNING = sys.version.split()[0]


@pytest.fixture
def candidates(tmp_path, monkeypatch):
    """Make only what the test puts into `tmp_path / "bin"` a candidate."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(glob, "glob", lambda pattern: [])
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def answers(monkeypatch):
    """Let programs answer by their name instead of running."""
    said: dict[str, str] = {}
    run_instead(monkeypatch, lambda path: said.get(os.path.basename(path), ""))
    return said


def run_instead(monkeypatch, answer):
    """Let `answer` say what the Python at a path prints."""

    def run(command, **_options):
        return subprocess.CompletedProcess(command, 0, stdout=answer(command[0]))

    monkeypatch.setattr(subprocess, "run", run)


def install(folder, name):
    path = folder / name
    path.write_bytes(b"\x7fELF" + name.encode())
    path.chmod(0o755)
    return path


def speak(path, version, *, kind="cpython"):
    return f"{kind}\n{path}\n{version}\n[GCC 12]\n"


def test_a_found_interpreter_is_described(candidates, answers):
    path = install(candidates, "python3.99")
    answers["python3.99"] = speak(path, "3.99.1 (main, Oct  7 2030, 01:02:03) ")
    assert find() == (
        Interpreter(
            name="3.99",
            version="3.99.1",
            path=os.path.realpath(path),
            free_threaded=False,
            subinterpreters=True,
            build="3.99.1 (main, Oct 7 2030, 01:02:03) [GCC 12]",
        ),
    )


def test_a_free_threaded_build_has_a_name_of_its_own(candidates, answers):
    for name, build in (("python3.98", ""), ("python3.98t", "free-threading build ")):
        path = install(candidates, name)
        answers[name] = speak(path, f"3.98.0 {build}(main)")
    assert [(i.name, i.free_threaded) for i in find()] == [("3.98", False), ("3.98t", True)]


def test_old_interpreters_cannot_hold_several_at_once(candidates, answers):
    path = install(candidates, "python3.8")
    answers["python3.8"] = speak(path, "3.8.18 (main)")
    assert [i.subinterpreters for i in find()] == [False]


@pytest.mark.parametrize(
    "answer",
    ["", "nonsense", speak("/x", "3.7.16 (main)"), speak("/x", "3.9.1 (x)", kind="pypy")],
)
def test_what_is_no_cpython_of_today_is_left_out(candidates, answers, answer):
    install(candidates, "python3.9")
    answers["python3.9"] = answer
    assert find() == ()


def test_scripts_such_as_shims_are_not_run(candidates):
    ran = candidates.parent / "ran"
    shim = candidates / "python3.12"
    shim.write_text(f"#!/bin/sh\necho ran > {ran}\n")
    shim.chmod(0o755)
    assert find() == ()
    assert not ran.exists()


def test_one_build_at_two_paths_is_found_once(candidates, answers):
    first, second = install(candidates, "python3.98"), install(candidates, "python3")
    (candidates / "python3.97").symlink_to(first)
    for path in (first, second):
        answers[path.name] = speak(path, "3.98.0 (main)")
    answers["python3.97"] = answers["python3.98"]
    assert len(find()) == 1


def test_names_are_unique_and_the_newest_has_the_short_one(candidates, answers):
    versions = ("3.98.2 (main)", "3.98.10 (main)", "3.98.2 (debian)", "3.9.1 (main)")
    for number, version in enumerate(versions):
        name = f"python3.{number}"
        answers[name] = speak(install(candidates, name), version)
    assert [i.name for i in find()] == ["3.9", "3.98.2 (2)", "3.98.2", "3.98"]


def test_the_running_interpreter_is_left_out_and_keeps_its_name(candidates, answers):
    (candidates / "python3").symlink_to(sys.executable)
    copy, other = install(candidates, "python3.1"), install(candidates, "python3.2")
    answers["python3.1"] = f"cpython\n{copy}\n{sys.version}\n"
    answers["python3.2"] = speak(other, f"{RUNNING} (another build)")
    assert [(i.name, i.version) for i in find()] == [(RUNNING, RUNNING)]


def test_a_python_is_asked_again_only_if_its_file_changed_or_it_said_nothing(candidates, answers):
    path = install(candidates, "python3.99")
    assert find() == ()
    answers["python3.99"] = speak(path, "3.99.1")
    assert [i.version for i in find()] == ["3.99.1"]
    answers.clear()
    assert [i.version for i in find()] == ["3.99.1"]
    answers["python3.99"] = speak(path, "3.99.2")
    os.utime(path, (0, 0))
    assert [i.version for i in find()] == ["3.99.2"]


def test_what_its_names_tell_to_be_another_version_is_not_asked(candidates, monkeypatch):
    asked = []
    run_instead(monkeypatch, lambda path: asked.append(os.path.basename(path)) or "")
    (candidates.parent / "lib/python3.12").mkdir(parents=True)
    for name in ("python3", "python3.7", "python3.9", "python3.11"):
        install(candidates, name)
    find(older_than=(3, 10))
    assert asked == ["python3.9"]

    (candidates.parent / "lib/python3.13t").mkdir()
    asked.clear()
    find(free_threaded=True)
    assert "python3" in asked


def test_all_candidates_are_asked_at_once(candidates, monkeypatch):
    everybody = threading.Barrier(4, timeout=10)
    run_instead(monkeypatch, lambda path: str(everybody.wait()))
    for n in range(4):
        install(candidates, f"python3.{n}")
    assert find() == ()  # and not a BrokenBarrierError after ten seconds


@pytest.mark.parametrize(
    "program", ["import time; time.sleep(60)", "print(1); raise SystemExit(1)"]
)
def test_a_python_that_takes_too_long_or_fails_is_left_out(candidates, monkeypatch, program):
    install(candidates, "python3.96")
    run = subprocess.run

    def run_program(_command, **options):
        return run([sys.executable, "-c", program], **options | {"timeout": 0.5})

    monkeypatch.setattr(subprocess, "run", run_program)
    assert find() == ()


def test_folders_of_tools_are_searched(tmp_path, monkeypatch, answers):
    path = tmp_path / "versions/3.98.0/bin"
    path.mkdir(parents=True)
    answers["python3"] = speak(install(path, "python3"), "3.98.0 (main)")
    matches, own = glob.glob, str(tmp_path)
    monkeypatch.setattr(glob, "glob", lambda p: matches(p) if p.startswith(own) else [])
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PYENV_ROOT", own)
    assert [i.name for i in find()] == ["3.98"]


def test_without_path_and_home_nothing_is_raised(monkeypatch):
    for name in ("PATH", "HOME", "PYENV_ROOT", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    assert isinstance(find(), tuple)


def test_the_interpreters_of_this_machine_are_what_they_say():
    found = find()
    assert len({i.name for i in found}) == len(found)
    for interpreter in found:
        said = subprocess.run([interpreter.path, "-V"], capture_output=True, text=True, check=True)
        assert said.stdout.split() == ["Python", interpreter.version]
        assert os.path.realpath(sys.executable) != interpreter.path
