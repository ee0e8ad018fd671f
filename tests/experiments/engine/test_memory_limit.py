from __future__ import annotations

from types import SimpleNamespace

import pytest

from experiments.core.catalogue import Catalogue
from experiments.devices.device import device_of, uses_gpu
from experiments.engine import measuring, messages
from tests.experiments.engine.runs import SHELVES, params
from tests.experiments.machines import machine


@pytest.mark.parametrize(("is_on_gpu", "limits"), [(False, 1), (True, 0)])
def test_a_run_is_kept_from_eating_all_memory_unless_it_uses_a_gpu(monkeypatch, is_on_gpu, limits):
    limited = []  # a real limit would hold for the process of the tests
    monkeypatch.setattr(measuring, "limit_memory", lambda: limited.append(True))
    monkeypatch.setattr(measuring, "uses_gpu", lambda *_: is_on_gpu)  # there is no GPU here
    command = messages.Measure(
        experiment="misbehave", params=params("behaves"), quick=False, run="a-run"
    )

    measuring.measure(command, Catalogue(SHELVES), lambda message: None, lambda: False)

    assert len(limited) == limits


def test_the_device_of_a_run_is_what_it_was_set_to():
    assert device_of(SimpleNamespace(device="cuda:1")) == "cuda:1"
    assert device_of(SimpleNamespace()) == "cpu"


@pytest.mark.parametrize("gpus", [0, 1])
def test_a_run_without_a_choice_takes_the_gpu_that_is_there(gpus):
    frameworks, here = (
        Catalogue(("experiments.checkup.probes",)).load("frameworks"),
        machine(gpus=gpus),
    )
    assert uses_gpu(frameworks, frameworks.defaults(here), here) is bool(gpus)

    stream = Catalogue().load("stream")
    assert not uses_gpu(stream, stream.defaults(here), here)
    amp = Catalogue().load("amp")
    assert uses_gpu(amp, amp.defaults(here), here) is bool(gpus)
    assert not uses_gpu(amp, SimpleNamespace(device="cpu"), here)
