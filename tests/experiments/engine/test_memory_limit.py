from __future__ import annotations

from types import SimpleNamespace

import pytest

from experiments.core.catalogue import Catalogue
from experiments.devices.device import device_of
from experiments.engine import measuring, messages
from tests.experiments.engine.runs import SHELVES, params


@pytest.mark.parametrize(("device", "limits"), [("cpu", 1), ("cuda:0", 0)])
def test_a_run_is_kept_from_eating_all_memory_unless_it_is_on_a_gpu(monkeypatch, device, limits):
    limited = []  # a real limit would hold for the process of the tests
    monkeypatch.setattr(measuring, "limit_memory", lambda: limited.append(True))
    monkeypatch.setattr(measuring, "device_of", lambda params: device)  # there is no GPU here
    command = messages.Measure(
        experiment="misbehave", params=params("behaves"), quick=False, run="a-run"
    )

    measuring.measure(command, Catalogue(SHELVES), lambda message: None, lambda: False)

    assert len(limited) == limits


def test_the_device_of_a_run_is_what_it_was_set_to():
    assert device_of(SimpleNamespace(device="cuda:1")) == "cuda:1"
    assert device_of(SimpleNamespace()) == "cpu"
