from __future__ import annotations

import pytest

from experiments.checkup.probes.training_step.experiment import (
    EXPERIMENT,
    Loss,
    Params,
    Rate,
    analyse,
    measure,
)
from experiments.core.bench import Bench
from machine.inspect import inspect
from tests.experiments.machines import machine
from tests.experiments.stopping import stop_after_rows
from tests.experiments.tables import in_tables

torch = pytest.importorskip("torch")

AGREED = {"samples_per_s", "first_loss", "last_loss", "fallen_fraction"}
AGREED_COLUMNS = {"rates": {"repeat", "samples_per_s"}, "losses": {"step", "loss"}}

SMALL = Params(width=4, batch=10, gpu_width=4, gpu_batch=10, steps=2, rounds=4)


def found(losses, rates=(100.0, 102.0, 98.0)):
    tables = {
        "rates": [Rate(repeat=turn, samples_per_s=rate) for turn, rate in enumerate(rates)],
        "losses": [Loss(step=step, loss=loss) for step, loss in enumerate(losses)],
    }
    return analyse(Params(), tables, machine())


def test_a_loss_that_falls_is_learning():
    finding = found([2.3, 2.0, 1.15])

    assert finding.message == "learns"
    assert finding.values["samples_per_s"] == 100
    assert finding.values["spread_fraction"] == pytest.approx(0.04)
    assert finding.values["fallen_fraction"] == pytest.approx(0.5)


def test_a_loss_that_stays_or_rises_is_not():
    assert found([2.3, 2.3]).message == "does_not_learn"
    assert found([2.3, 2.9]).message == "does_not_learn"


def test_a_loss_that_is_no_number_is_told_of():
    finding = found([2.3, None, None])

    assert finding.message == "no_number"
    assert "fallen_fraction" not in finding.values


def test_too_little_tells_nothing():
    assert found([2.3]).message == "nothing_measured"
    assert found([2.3, 2.0], rates=(100.0, 101.0)).message == "too_few_rounds"
    assert found([], rates=()).message == "nothing_measured"


def tables_of(params=SMALL, bench=None):
    return in_tables(EXPERIMENT, measure(params, bench or Bench(inspect())))


def test_it_learns_for_real_and_the_same_each_time():
    tables, again = tables_of(), tables_of()

    assert [row.step for row in tables["losses"]] == list(range(2 + 2 * 4))
    assert analyse(SMALL, tables, machine()).message == "learns"
    assert [row.loss for row in again["losses"]] == pytest.approx(
        [row.loss for row in tables["losses"]], rel=1e-4
    )
    assert all(row.samples_per_s > 0 for row in tables["rates"])


def test_a_device_that_computes_nonsense_is_found(monkeypatch):
    forward = torch.nn.CrossEntropyLoss.forward

    def broken(self, scores, labels):
        return forward(self, scores * float("nan"), labels)

    monkeypatch.setattr(torch.nn.CrossEntropyLoss, "forward", broken)

    assert analyse(SMALL, tables_of(), machine()).message == "no_number"


def test_weights_that_do_not_change_are_found(monkeypatch):
    monkeypatch.setattr("experiments.checkup.probes.training_step.experiment.RATE", 0.0)

    assert analyse(SMALL, tables_of(), machine()).message == "does_not_learn"


def test_it_can_be_stopped_between_two_steps():
    stop_after_rows(EXPERIMENT, Params(width=4, batch=10, steps=1, rounds=100), 2)


def test_a_gpu_learns_with_sizes_of_its_own(monkeypatch):
    from msgspec.structs import replace

    from tests.experiments.fake_gpu import fake_gpu

    params = replace(SMALL, device="cuda:0", gpu_batch=20, rounds=3)
    with fake_gpu(monkeypatch) as gpu:
        tables = tables_of(params, Bench(machine(gpus=1), clock=gpu.clock))

    assert len(tables["rates"]) == 3
    assert analyse(params, tables, machine()).message == "learns"
