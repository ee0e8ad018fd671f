"""Every test of the engine has a lock of its own, and leaves no process behind at any remove."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from hypothesis import settings

from experiments.engine.jobs import Engine
from experiments.engine.lock import FOLDER_VARIABLE
from machine.system.kill import KILL
from tests import ROOT
from tests.experiments.engine.runs import SHELVES, signal_to
from tests.processes import TOKEN, living, until

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def token(monkeypatch, tmp_path) -> Iterator[str]:
    """Return what is in the environment of all that this test starts."""
    token = uuid.uuid4().hex
    monkeypatch.setenv(TOKEN, token)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # where a worker finds the misbehaving shelf
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))  # never wait for others on this machine
    yield token
    is_gone = until(lambda: not living(token))
    for pid in () if is_gone else living(token):
        signal_to(pid, KILL)
    assert is_gone


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Return an engine that knows the misbehaving shelf."""
    engine = Engine(shelves=SHELVES)
    yield engine
    engine.close()
