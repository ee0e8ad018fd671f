"""The program in a process of its own, and a machine that is not this one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.cli import main
from experiments.engine.lock import FOLDER_VARIABLE
from machine.model import to_json
from tests.app.program import OF_TERMINALS, Program, Said
from tests.experiments.machines import machine


@pytest.fixture
def coreopsis(tmp_path) -> Iterator[Program]:
    """Return the program; nothing of it may be left at the end."""
    program = Program(tmp_path)
    yield program
    program.close()


@pytest.fixture
def inside(coreopsis, monkeypatch, capfd) -> Callable[..., Said]:
    """Return what runs a command in this process, for what it says: a process takes ten times."""
    monkeypatch.chdir(coreopsis.folder)
    for name in OF_TERMINALS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv(FOLDER_VARIABLE, str(coreopsis.lock.parent))

    def run(*arguments: object, **environment: str) -> Said:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            capfd.readouterr()
            code = main(["--data", str(coreopsis.data), *map(str, arguments)])
        return Said(code, *capfd.readouterr()).checked()

    return run


@pytest.fixture
def machine_file(tmp_path) -> Path:
    """Return a file with a machine that is not this one."""
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(to_json(machine(cores=12, virtualization="kvm"))))
    return path
