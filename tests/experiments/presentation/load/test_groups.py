from __future__ import annotations

from experiments.presentation.load.groups import group_threads
from machine.model import Cpu, Machine, Thread
from tests.gallery.live_samples import machine


def test_threads_of_a_core_stand_side_by_side():
    groups = group_threads(machine(8), range(8))

    assert [group.threads for group in groups] == [(0, 4, 1, 5, 2, 6, 3, 7)]


def test_kinds_of_cores_are_apart_and_fast_ones_first():
    fast = [Thread(id=n, core=n, kind="performance") for n in (2, 3)]
    slow = [Thread(id=n, core=n, kind="efficiency") for n in (0, 1)]
    known = Machine(cpu=Cpu(threads_list=(*slow, *fast)))

    groups = group_threads(known, range(4))

    assert [(group.kind, group.threads) for group in groups] == [
        ("performance", (2, 3)),
        ("efficiency", (0, 1)),
    ]


def test_packages_and_dies_are_apart():
    groups = group_threads(machine(256, packages=2), range(256))

    assert [(group.package, group.die) for group in groups] == [(0, 0), (0, 1), (1, 2), (1, 3)]
    assert sorted(n for group in groups for n in group.threads) == list(range(256))


def test_without_a_machine_threads_stand_by_number_and_have_no_names():
    groups = group_threads(None, [3, 1, 2])

    assert [group.threads for group in groups] == [(1, 2, 3)]
    assert (groups[0].package, groups[0].die, groups[0].kind) == (None, None, None)


def test_a_thread_that_the_machine_does_not_know_is_shown_all_the_same():
    groups = group_threads(machine(2), [0, 1, 9])

    assert [n for group in groups for n in group.threads] == [0, 1, 9]
