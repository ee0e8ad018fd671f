"""The answer is measured while a person thinks; the runs are played."""

from __future__ import annotations

import threading

import pytest

from app.guesses import meanwhile as meanwhiles
from app.guesses.meanwhile import Meanwhile
from experiments.core.catalogue import Catalogue
from experiments.engine import messages
from experiments.engine.recording import read
from experiments.presentation.guesses.questions import questions
from experiments.presentation.guesses.quick_round import Source
from tests.experiments.machines import machine
from tests.processes import PATIENCE_S, until
from tests.shipped import SHIPPED

CATALOGUE = Catalogue()
CALL = next(question for question in questions() if question.id == "call")
STARTED = read(SHIPPED[CALL.experiment]).started
FOUND = messages.FindingSent(message="ladder_in_part", values={CALL.value: 5e-8}, limits=[])
SOON_S = 0.3  # by then a run would have begun


class Played:
    """Stands in for engine and run; it has its answer once that is let `go`, unless stopped."""

    def __init__(self) -> None:
        self.params = None
        self.has_begun, self._go = threading.Event(), threading.Event()
        self.is_stopped = self.is_closed = False

    def start(self, _experiment, params, **_):
        self.params = params
        return self

    def events(self):
        yield STARTED
        self.has_begun.set()
        assert self._go.wait(PATIENCE_S)
        outcome = messages.Outcome.STOPPED if self.is_stopped else messages.Outcome.COMPLETED
        yield messages.Finished(outcome=outcome, finding=FOUND)

    def go(self):
        self._go.set()

    def stop(self):
        self.is_stopped = True
        self._go.set()

    def close(self):
        self.is_closed = True


@pytest.fixture
def engine() -> Played:
    return Played()


@pytest.fixture
def meanwhile(engine):
    made = Meanwhile(CATALOGUE, machine(), engine=engine)
    yield made
    made.close()


def test_what_was_measured_before_the_answer_counts(meanwhile, engine):
    meanwhile.begin(CALL)
    engine.go()
    assert until(lambda: meanwhile.found is not None)

    found = meanwhile.end()

    assert (found.source, found.value) == (Source.MEASURED, 5e-8)
    assert list(engine.params["methods"]) == ["call"]  # nothing else is measured


def test_an_answer_before_its_end_stops_it(meanwhile, engine):
    meanwhile.begin(CALL)
    assert engine.has_begun.wait(PATIENCE_S)

    assert meanwhile.end() is None
    assert engine.is_stopped


def test_it_is_stopped_when_it_takes_too_long(meanwhile, engine, monkeypatch):
    monkeypatch.setattr(meanwhiles, "LONGEST_S", 0.35)  # the estimate is below
    meanwhile.begin(CALL)

    assert until(lambda: engine.is_stopped)
    assert meanwhile.end() is None


def test_what_would_take_too_long_is_not_begun(meanwhile, engine, monkeypatch):
    monkeypatch.setattr(meanwhiles, "LONGEST_S", 0.01)
    meanwhile.begin(CALL)

    assert not engine.has_begun.wait(SOON_S)
    assert engine.params is None


@pytest.mark.parametrize("lacks", ["numba", "direct_io"])
def test_an_experiment_that_cannot_run_here_is_not_begun(meanwhile, engine, monkeypatch, lacks):
    monkeypatch.setattr("experiments.core.needs.missing_need", lambda *_: lacks)
    meanwhile.begin(CALL)

    assert not engine.has_begun.wait(SOON_S)
    assert engine.params is None


def test_closing_stops_the_run_and_ends_the_processes(meanwhile, engine):
    meanwhile.begin(CALL)
    assert engine.has_begun.wait(PATIENCE_S)

    meanwhile.close()

    assert engine.is_stopped
    assert engine.is_closed
