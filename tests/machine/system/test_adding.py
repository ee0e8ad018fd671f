from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from experiments.core import words
from machine.system import adding as module
from machine.system.adding import Keeper, adding, adding_here, keeper

ELSEWHERE = Path("/nowhere")


def made(prefix: Path, name: str = "", text: str = "") -> Path:
    prefix.mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.13.0\n")
    if name:
        (prefix / name).write_text(text)
    return prefix


@pytest.mark.parametrize(
    ("name", "text", "by"),
    [
        ("", "", Keeper.PIP),
        ("pipx_metadata.json", "{}", Keeper.PIPX),
        ("uv-receipt.toml", "[tool]", Keeper.UV),
        ("pyvenv.cfg", "home = /usr/bin\nuv = 0.9.1\n", Keeper.UV),
        ("pyvenv.cfg", "home = /home/uv = x\n", Keeper.PIP),
    ],
)
def test_what_keeps_an_environment_left_a_file_there(tmp_path, name, text, by):
    assert keeper(made(tmp_path / "env", name, text), ELSEWHERE) is by


@pytest.mark.skipif(sys.platform == "win32", reason="there is no make")
def test_the_environment_of_a_checkout_is_kept_by_make(tmp_path):
    prefix = made(tmp_path / ".venv")
    assert keeper(prefix, tmp_path) is Keeper.PIP  # a folder above it, not yet a checkout

    for name in ("Makefile", "constraints.txt"):
        (tmp_path / name).touch()

    assert keeper(prefix, tmp_path) is Keeper.MAKE
    assert keeper(made(tmp_path / "other"), tmp_path) is Keeper.PIP
    assert keeper(tmp_path / "gone", ELSEWHERE) is Keeper.PIP


@pytest.mark.skipif(sys.platform == "win32", reason="quoted for a POSIX shell")
@pytest.mark.parametrize(
    ("by", "line"),
    [
        (Keeper.PIPX, "pipx inject coreopsis 'torch>=2.6'"),
        (Keeper.UV, "uv pip install --python '/a b/python' 'torch>=2.6'"),
        (Keeper.PIP, "'/a b/python' -m pip install 'torch>=2.6'"),
    ],
)
def test_the_line_adds_to_that_very_environment(by, line):
    prefix = Path("/pipx/venvs/coreopsis")
    assert adding("torch>=2.6", by, python="/a b/python", prefix=prefix) == line


def test_make_needs_its_folder_only_from_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHECKOUT", tmp_path)
    line = {"by": Keeper.MAKE, "python": "x", "prefix": tmp_path / ".venv"}
    monkeypatch.chdir(tmp_path)
    assert adding("torch", **line) == "make run"
    monkeypatch.chdir("/")
    assert adding("torch", **line) == f"make -C {tmp_path} run"


@pytest.mark.parametrize("key", ["needs_torch", "needs_numba", "qt_missing"])
def test_a_sentence_about_what_is_missing_holds_the_line_of_this_environment(key):
    package = {"needs_torch": "torch", "needs_numba": "numba"}.get(key, "PySide6-Essentials<6.12")
    if key == "qt_missing" and sys.version_info >= (3, 12):
        package = "PySide6-Essentials"

    assert f"`{adding_here(package)}`" in words.load().say(f"problems.{key}")


def test_a_frozen_folder_takes_nothing_and_names_the_wheel(monkeypatch):
    monkeypatch.setattr(sys, "_MEIPASS", sys.prefix, raising=False)

    assert keeper(Path(sys.prefix)) is Keeper.NOTHING
    assert keeper(ELSEWHERE) is Keeper.PIP  # another Python, which the doctor examines
    said = words.load().say("problems.needs_torch")
    assert "this folder cannot take" in said
    assert re.search(r"`pipx install '?coreopsis-\S+\.whl\[torch\]'?`", said)
