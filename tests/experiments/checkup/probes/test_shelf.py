"""The shelf of the checkup: hidden from everybody, and run by the engine as any other."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Need
from experiments.core.needs import missing_need
from experiments.core.parameters import to_json
from experiments.core.shelves import PROBES, SHELVES
from experiments.devices.device import torch_devices
from experiments.engine import messages
from experiments.engine.jobs import Engine
from experiments.engine.lock import FOLDER_VARIABLE
from machine.inspect import inspect
from tests.experiments.engine.runs import ending, hear, rows

ALL = (*SHELVES, PROBES)
IDS = ("core-sweep", "identical", "patterns", "sustained", "training-step", "frameworks")


def test_the_probes_are_in_no_catalogue_but_the_checkups():
    assert Catalogue((PROBES,)).ids() == IDS
    assert not {*IDS} & {*Catalogue().ids()}
    assert {*Catalogue(ALL).ids()} == {*Catalogue().ids(), *IDS}


def test_their_words_are_there_for_all_that_speak():
    english = words.load()

    for experiment in Catalogue((PROBES,)):
        assert english.has(f"{experiment.id}.question")


@pytest.fixture
def engine(monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))  # never wait for others on this machine
    engine = Engine(shelves=ALL)
    yield engine
    engine.close()


@pytest.mark.parametrize("name", ["core-sweep", "training-step", "frameworks"])
def test_the_engine_runs_one_of_each_kind_to_its_end(engine, name):
    """Compiled loops, PyTorch, and processes; `test_every_experiment.py` measures all of them."""
    experiment, here = Catalogue(ALL).load(name), inspect()
    if (need := missing_need(experiment, here)) is not None:
        assert need in (Need.TORCH, Need.CORE_PAIR)
        pytest.skip(f"this machine has no {need}")
    params = experiment.smallest(experiment.params_for(here, quick=True))
    if hasattr(params, "device"):
        params = replace(params, device="cpu")
    events = hear(engine.start(experiment, to_json(params), quick=True))

    assert ending(events) == (messages.Outcome.COMPLETED, None)
    assert rows(events)
    assert events[-1].finding is not None
    assert {event.table for event in rows(events)} <= experiment.tables.keys()


@pytest.mark.gpu
@pytest.mark.parametrize("name", IDS[1:])
def test_the_engine_runs_each_on_a_gpu(engine, name):
    experiment, here = Catalogue(ALL).load(name), inspect()
    if len(torch_devices(here)) == 1:
        pytest.skip("this machine has no GPU that PyTorch can use")
    device = "all" if name == "sustained" else torch_devices(here)[0]
    params = experiment.params_for(here, quick=True)
    if hasattr(params, "device"):
        params = replace(params, device=device)
    events = hear(engine.start(experiment, to_json(params), quick=True))

    assert ending(events) == (messages.Outcome.COMPLETED, None)
    good = {"always_the_same", "all_came_back", "stays", "falls", "cannot_tell", "learns"}
    good |= {"all_work", "some_missing"}
    assert events[-1].finding.message in good


def test_an_engine_without_the_shelf_does_not_know_them(engine, monkeypatch):
    experiment = Catalogue(ALL).load("patterns")
    params = to_json(experiment.smallest(experiment.params_for(inspect(), quick=True)))
    other = Engine()
    try:
        outcome, key = ending(hear(other.start(replace(experiment, imports=()), params)))
    finally:
        other.close()

    assert outcome is messages.Outcome.FAILED
    assert key.startswith("experiment_unknown")
