"""No experiment sends anything anywhere: none of its packets would leave the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.end_process import is_root
from experiments.core.catalogue import Catalogue
from experiments.core.declare import specs
from experiments.core.needs import missing_need
from experiments.core.parameters import to_text
from machine.inspect import inspect
from tests.app.program import Program

ALONE = ["unshare", "--net", "--mount", *([] if is_root() else ["--map-root-user"])]
FEW = ("latency-numbers", "talk-cost", "data-parallel")
HERE = inspect()
CATALOGUE = Catalogue()
POSSIBLE = [each.id for each in CATALOGUE if missing_need(each, HERE) is None]
REST = [pytest.param(each, marks=pytest.mark.slow) for each in POSSIBLE if each not in FEW]

Sent = Callable[..., list[str]]


@pytest.fixture
def coreopsis(tmp_path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.close()


@pytest.fixture
def sent(coreopsis, tmp_path) -> Sent:
    """Return what runs a command in a network of its own, and returns what would have left it."""

    def run(*command: str) -> list[str]:
        out = Path(tmp_path, "packets.json")
        line = [*ALONE, sys.executable, "-m", "tests.alone", str(out), *command]
        ended = subprocess.run(
            line, env=coreopsis.environment, cwd=coreopsis.folder, capture_output=True, text=True
        )
        if not out.exists():
            pytest.skip(f"no network of one's own here: {ended.stderr.strip().splitlines()[-1:]}")
        assert ended.returncode == 0, ended.stderr + ended.stdout
        return json.loads(out.read_text())

    return run


def test_whoever_looks_up_an_address_is_seen(sent):
    code = "import socket\ntry: socket.getnameinfo(('127.0.0.1', 1), 0)\nexcept OSError: pass"
    packets = sent(sys.executable, "-c", code)
    assert packets
    assert all(each.startswith("192.0.2.53: ") and "in-addr" in each for each in packets)


@pytest.mark.parametrize("experiment_id", [*(each for each in FEW if each in POSSIBLE), *REST])
def test_an_experiment_sends_nothing(experiment_id, sent, coreopsis):
    line = (sys.executable, "-m", "app", "--data", str(coreopsis.data), "run", experiment_id)
    assert sent(*line, "--quick", *smallest(experiment_id)) == []


def smallest(experiment_id: str) -> list[str]:
    """Return the settings of the shortest run that does all that a longer one does."""
    experiment = CATALOGUE.load(experiment_id)
    params = experiment.smallest(experiment.params_for(HERE, quick=True))
    units = {name: spec.unit for name, spec in specs(experiment.params).items()}
    typed = (f"{name}={to_text(getattr(params, name), unit)}" for name, unit in units.items())
    return [part for setting in typed for part in ("--set", setting)]
