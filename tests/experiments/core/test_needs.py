from __future__ import annotations

import importlib.util

import msgspec
import pytest

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Need
from experiments.core.needs import check_needs, missing_need
from experiments.core.problems import UserError
from machine.devices import Gpu
from machine.model import Machine
from tests.cases import in_one
from tests.experiments.machines import machine


def needing(*needs):
    experiment = Catalogue().load("cache-ladder")
    return msgspec.structs.replace(experiment, needs=needs, imports=())


def with_gpu(**values):
    return Machine(gpus=(Gpu(index=0, **values),))


def with_second_node(**values):
    first = machine(nodes=2)
    return msgspec.structs.replace(
        first, numa=(first.numa[0], msgspec.structs.replace(first.numa[1], **values))
    )


@in_one(
    ("need", "meets", "lacks"),
    [
        (Need.GPU, machine(gpus=1), machine()),
        (Need.TWO_GPUS, machine(gpus=2), machine(gpus=1)),
        (Need.GPU, machine(gpus=1), with_gpu(torch_backend=None)),
        (Need.GPU, with_gpu(torch_backend="mps"), with_gpu(torch_backend="xla")),
        (Need.GPU, machine(gpus=1), with_gpu(torch_backend="cuda", visible=False)),
        (Need.NUMA, machine(nodes=2), machine(nodes=1)),
        (Need.NUMA, machine(nodes=2), with_second_node(kind="gpu")),
        (Need.NUMA, machine(nodes=2), with_second_node(allowed=False)),
        (Need.SMT, machine(threads_per_core=2), machine()),
    ],
)
def test_a_need_is_met_by_what_the_machine_has(need, meets, lacks):
    assert missing_need(needing(need), meets) is None
    assert missing_need(needing(need), lacks) is need


def test_nothing_is_met_by_a_machine_of_which_nothing_is_known():
    for need in (Need.GPU, Need.TWO_GPUS, Need.NUMA, Need.SMT):
        assert missing_need(needing(need), Machine()) is need


def test_a_library_is_looked_for_without_being_imported(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("time.monotonic", lambda: -1.0)  # a moment in which nobody asked before

    assert missing_need(needing(Need.NUMBA), machine()) is Need.NUMBA
    assert missing_need(needing(Need.TORCH), machine()) is Need.TORCH


def test_the_first_need_that_is_not_met_is_told():
    experiment = needing(Need.NUMA, Need.GPU)

    check_needs(needing(), machine())
    with pytest.raises(UserError) as caught:
        check_needs(experiment, machine())
    assert caught.value.problem.key == "needs_numa"
