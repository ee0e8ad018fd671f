from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path

import msgspec
import pytest

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Need, Use
from experiments.core.needs import check_needs, lacking, missing_need
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


def test_all_that_is_used_is_there_on_linux_and_assumed_where_the_system_is_unknown():
    for experiment in Catalogue():
        assert lacking(experiment, "linux") == lacking(experiment, None) == ()


@pytest.mark.parametrize(
    ("name", "windows", "macos"),
    [
        ("start-cost", {Use.FORK}, set()),
        ("talk-cost", {Use.PIPE_SIZE, Use.WAITS}, {Use.PIPE_SIZE}),
        ("false-sharing", {Use.MARKS}, {Use.PINNING, Use.MARKS}),
        ("cache-ladder", {Use.HUGE_PAGES, Use.MARKS}, {Use.PINNING, Use.HUGE_PAGES, Use.MARKS}),
        ("gil-threads", set(), set()),
    ],
)
def test_what_another_system_lacks_of_what_an_experiment_uses(name, windows, macos):
    experiment = Catalogue().load(name)

    assert set(lacking(experiment, "windows")) == windows
    assert set(lacking(experiment, "macos")) == macos


def test_who_keeps_its_thread_on_a_core_names_that():
    # What asks for the note "not_pinned" is what macOS has to be named for.
    for experiment in Catalogue():
        code = Path(inspect.getfile(experiment.measure)).read_text()
        if 'Note("not_pinned")' in code:
            assert Use.PINNING in experiment.uses, experiment.id
