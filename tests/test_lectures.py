"""Each lecture that comes with the program, tried for real: `make sweep`."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from app.lecture.lectures import SHIPPED, lectures
from experiments.core.catalogue import Catalogue
from experiments.core.needs import missing_need
from machine.inspect import inspect
from tests.app.program import Program
from tests.processes import PATIENCE_S

CATALOGUE, HERE = Catalogue(), inspect()

pytestmark = pytest.mark.slow


@pytest.fixture
def coreopsis(tmp_path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.close()


@pytest.mark.parametrize("ours", lectures(SHIPPED), ids=lambda each: each.path.name)
def test_it_is_ready_but_for_what_this_machine_lacks(coreopsis, ours):
    said = coreopsis.end(coreopsis.start("preflight", ours.path, "--json"), 5 * PATIENCE_S)
    told = json.loads(said.out)
    lacks = [
        missing_need(CATALOGUE.load(item.experiment), HERE) is not None
        for item in ours.lecture.item
    ]

    assert told["whole"]
    marks = [entry["mark"] for entry in told["items"]]
    busy = "busy" in marks
    marks = ["ready" if mark == "busy" else mark for mark in marks]
    assert marks == ["recording" if lack else "ready" for lack in lacks], said.out
    assert all(entry["fallback"] and not entry["faults"] for entry in told["items"])
    assert said.code == (4 if busy or any(lacks) else 0)
    assert not list(coreopsis.data.rglob("*.recordings"))  # all have one already
