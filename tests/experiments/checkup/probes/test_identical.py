from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from experiments.checkup.probes.identical.experiment import (
    DTYPES,
    EXPERIMENT,
    Params,
    Repeat,
    analyse,
    measure,
    repeated,
)
from experiments.core.bench import Bench
from experiments.core.declare import specs
from experiments.core.problems import UserError
from machine.inspect import inspect
from tests.experiments.machines import machine
from tests.experiments.stopping import stop_after_rows

AGREED = {"products", "differing_elements", "faulty_threads", "first_faulty_thread"}
AGREED_COLUMNS = {
    "repeats": {"device", "thread", "dtype", "repeat", "products", "differing_elements"}
}

SMALL = Params(rows=16, gpu_rows=32, sample_s=0.002, rounds=3)


def rows_of(params, bench):
    return [item for item in measure(params, bench) if isinstance(item, Repeat)]


def repeats(wrong=()):
    """Rows of four cores; `wrong` names hardware threads with a product that differed."""
    return [
        Repeat(
            device="cpu",
            thread=thread,
            dtype="fp64",
            repeat=turn,
            products=100,
            differing_elements=int(thread in wrong and turn == 1),
        )
        for thread in range(4)
        for turn in range(3)
    ]


def found(rows):
    return analyse(Params(), {"repeats": rows}, machine())


def test_products_that_are_all_the_same_are_said_to_be():
    finding = found(repeats())

    assert finding.message == "always_the_same"
    assert finding.values == {"products": 1200, "differing_elements": 0}


def test_one_element_that_differs_once_is_found_and_its_core_named():
    finding = found(repeats(wrong={2, 3}))

    assert finding.message == "results_differ"
    assert finding.values["differing_elements"] == 2
    assert finding.values["faulty_threads"] == 2
    assert finding.values["first_faulty_thread"] == 2


def test_nothing_multiplied_is_not_the_same():
    assert found([]).message == "nothing_measured"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_single_bit_counts_also_one_that_equals(dtype):
    """0.0 and -0.0 are equal numbers, and not the same bits."""
    reference = np.zeros((4, 4), dtype)
    left = iter(range(10))

    def multiply():
        result, turn = reference.copy(), next(left)
        if turn == 3:
            result[1, 2] = -0.0
        if turn == 5:
            result[0] = np.nan
        return result

    done = iter([False] * 7)
    assert repeated(multiply, reference, lambda: next(done, True)) == (8, 1 + 4)


def test_a_result_that_is_no_number_is_the_same_as_itself():
    reference = np.full((4, 4), np.nan)

    assert repeated(lambda: reference.copy(), reference, lambda: True) == (1, 0)


def test_every_core_multiplies_both_kinds_in_every_round():
    here = inspect()
    rows = rows_of(SMALL, Bench(here))

    threads = {t.id for t in here.cpu.threads_list if t.usable}
    assert {row.thread for row in rows} <= threads
    assert {(row.dtype, row.repeat) for row in rows} == {
        (kind, turn) for kind in ("fp64", "fp32") for turn in range(3)
    }
    assert all(row.products > 0 for row in rows)
    assert found(rows).message == "always_the_same"


def test_a_product_that_the_processor_spoils_is_found(monkeypatch):
    """The fault stands where a faulty core would make it: in the product of one thread."""
    import threading

    multiply, spoiled = np.matmul, []

    def faulty(a, b, out=None):
        out = multiply(a, b, out=out)
        if threading.current_thread() is not threading.main_thread() and not spoiled:
            spoiled.append(True)
            out[3, 3] += 1
        return out

    monkeypatch.setattr(np, "matmul", faulty)
    finding = found(rows_of(SMALL, Bench(inspect())))

    assert finding.message == "results_differ"
    assert finding.values["differing_elements"] == 1
    assert finding.values["faulty_threads"] == 1


def test_numbers_that_the_processor_lacks_are_refused_in_words():
    with pytest.raises(UserError, match="no_such_numbers"):
        list(measure(Params(dtypes=("bf16",)), Bench(inspect())))


def test_it_can_be_stopped_between_two_samples():
    stop_after_rows(EXPERIMENT, Params(sample_s=0.01, rounds=10_000), 4)


# --- on a GPU -----------------------------------------------------------------------------------


@pytest.fixture
def gpu(monkeypatch):
    pytest.importorskip("torch")
    from tests.experiments.fake_gpu import fake_gpu

    with fake_gpu(monkeypatch, flop_per_s=1e9) as gpu:
        yield gpu


def on(gpu, **changes):
    from msgspec.structs import replace

    params = replace(SMALL, device="cuda:0", **changes)
    return params, Bench(machine(gpus=1), clock=gpu.clock)


def test_a_gpu_multiplies_every_kind_of_number(gpu):
    rows = rows_of(*on(gpu))

    assert {row.dtype for row in rows} == {*DTYPES}
    assert {(row.device, row.thread) for row in rows} == {("cuda:0", None)}
    finding = found(rows)
    assert finding.message == "always_the_same"
    assert finding.values["products"] >= 5 * 3


def test_a_gpu_that_makes_an_error_is_found(gpu, monkeypatch):
    import torch

    multiply, calls = torch.mm, []

    def faulty(a, b, out):
        multiply(a, b, out=out)
        calls.append(a.dtype)
        if calls.count(torch.float16) == 10:
            out[0, 0] += 1
        return out

    monkeypatch.setattr(torch, "mm", faulty)
    rows = rows_of(*on(gpu, dtypes=("fp32", "fp16"), rounds=40))

    assert {row.dtype for row in rows if row.differing_elements} == {"fp16"}
    finding = found(rows)
    assert finding.message == "results_differ"
    assert "first_faulty_thread" not in finding.values


@pytest.mark.parametrize(
    ("torch", "offered"), [(object(), ("cuda:0", "cuda:1", "cpu")), (None, ("cpu",))]
)
def test_without_pytorch_no_gpu_is_offered(torch, offered, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: torch if n == "torch" else find(n))
    assert specs(EXPERIMENT.params)["device"].known_choices(machine(gpus=2)) == offered
