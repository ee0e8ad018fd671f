"""The program in a process of its own, and a machine that is not this one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from machine.model import to_json
from tests.app.program import Program
from tests.experiments.machines import machine


@pytest.fixture
def coreopsis(tmp_path) -> Iterator[Program]:
    """Return the program; nothing of it may be left at the end."""
    program = Program(tmp_path)
    yield program
    program.close()


@pytest.fixture
def machine_file(tmp_path) -> Path:
    """Return a file with a machine that is not this one."""
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(to_json(machine(cores=12, virtualization="kvm"))))
    return path
