from __future__ import annotations

from experiments.core.catalogue import Catalogue
from experiments.engine import measuring, messages
from tests.experiments.engine.runs import SHELVES, params


def test_gpus_are_numbered_after_the_environment_was_told_and_before_anything_runs(monkeypatch):
    told: list[object] = []  # what CUDA is given may name a device, and no kept run does
    monkeypatch.setattr(measuring, "limit_memory", lambda: None)  # this process is the tests'
    monkeypatch.setattr(measuring, "number_alike", lambda *_: told.append("numbered"))
    command = messages.Measure(
        experiment="misbehave", params=params("behaves"), quick=False, run="a-run"
    )

    measuring.measure(command, Catalogue(SHELVES), told.append, lambda: False)

    assert isinstance(told[0], messages.Started)
    assert told[1] == "numbered"
    assert any(isinstance(each, messages.Row) for each in told[2:])
