from __future__ import annotations

import itertools
import time

from experiments.core.catalogue import Catalogue
from experiments.engine import disturbance, measuring, messages
from experiments.engine.disturbance import Sleep
from tests.experiments.engine.runs import SHELVES, params


def test_the_clocks_of_a_waking_machine_stay_together():
    sleep = Sleep()
    time.sleep(0.05)
    assert sleep.note() is None


def test_a_machine_that_slept_in_the_middle_is_told_once(monkeypatch):
    apart_s = iter([100.0, 100.0, 3700.0, 3700.0])
    monkeypatch.setattr(disturbance, "_apart_s", lambda: next(apart_s))  # no test puts it to sleep

    sleep = Sleep()

    assert sleep.note() is None
    assert sleep.note().values == {"slept_s": 3600}
    assert sleep.note() is None


def test_a_run_during_which_the_machine_slept_says_so_where_it_happened(monkeypatch):
    clocks_s = itertools.chain([0.0, 0.0], itertools.repeat(60.0))
    monkeypatch.setattr(disturbance, "_apart_s", lambda: next(clocks_s))  # nor this one
    monkeypatch.setattr(measuring, "limit_memory", lambda: None)  # this process is the tests'
    sent: list[messages.Message] = []
    command = messages.Measure(
        experiment="misbehave", params=params("behaves"), quick=False, run="a-run"
    )

    measuring.measure(command, Catalogue(SHELVES), sent.append, lambda: False)

    told = [n for n, message in enumerate(sent) if getattr(message, "key", "") == "machine_slept"]
    rows = [n for n, message in enumerate(sent) if isinstance(message, messages.Row)]
    assert len(told) == 1
    assert rows[0] < told[0] < rows[-1]
