from __future__ import annotations

import pytest

from experiments.checkup.probes.frameworks.experiment import Feature, Params, analyse, measure
from experiments.core.bench import Bench
from machine.inspect import inspect
from tests.cases import in_one
from tests.experiments.machines import machine

torch = pytest.importorskip("torch")


def found(*states):
    rows = [Feature(device="cpu", name=str(n), state=s, took_s=0.1) for n, s in enumerate(states)]
    return analyse(Params(), {"features": rows}, machine())


@in_one(
    ("states", "message"),
    [
        (("works", "works"), "all_work"),
        (("works", "missing"), "some_missing"),
        (("missing", "broken"), "some_broken"),
        ((), "nothing_tried"),
    ],
)
def test_the_worst_state_is_told(states, message):
    finding = found(*states)
    assert finding.message == message
    assert sum(finding.values.values()) == len(states)


def tried():
    rows = measure(Params(compiles=False), Bench(inspect()))
    return {row.name: row.state for row in rows if isinstance(row, Feature) and row.device == "cpu"}


def test_half_precision_works_here():
    assert tried()["fp16"] == "works"
    assert tried()["bf16"] == "works"


def test_a_wrong_answer_is_broken(monkeypatch):
    right = torch.Tensor.__matmul__

    def wrong(a, b):
        return right(a, b) + (1e3 if a.dtype is torch.float16 else 0)

    monkeypatch.setattr(torch.Tensor, "__matmul__", wrong)
    assert (tried()["fp16"], tried()["bf16"]) == ("broken", "works")


def test_what_torch_was_built_without_is_missing(monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_gloo_available", lambda: False)
    assert tried()["gloo"] == "missing"
