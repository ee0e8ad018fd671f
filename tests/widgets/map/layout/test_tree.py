from __future__ import annotations

from machine.model import Cache, Cpu, Machine, Thread
from tests.widgets.map.machines import hybrid, pinned, workstation
from widgets.map.layout.boxes import Kind
from widgets.map.layout.tree import packages, private_caches, switched_off


def test_dies_hold_the_cores_that_share_a_cache():
    (package,) = packages(workstation())

    (inside,) = package.children
    assert [die.kind for die in inside.children] == [Kind.DIE, Kind.DIE]
    assert [len(die.cores) for die in inside.children] == [8, 8]
    assert all(die.children[0].cache is not None for die in inside.children)


def test_a_cache_of_one_core_belongs_to_it_whatever_its_level():
    threads = tuple(Thread(id=n, core=n) for n in (0, 1))
    caches = tuple(Cache(level=level, threads=(n,)) for level in (1, 2, 3) for n in (0, 1))
    nodes = packages(Machine(cpu=Cpu(threads_list=threads, caches=caches)))

    assert private_caches(nodes) == {1: (0, 1), 2: (2, 3), 3: (4, 5)}
    assert all(not core.caches.keys() ^ {1, 2, 3} for core in nodes[0].cores)


def test_instruction_caches_are_left_out():
    cache = Cache(level=1, kind="instruction", threads=(0,))
    machine = Machine(cpu=Cpu(threads_list=(Thread(id=0, core=0),), caches=(cache,)))

    assert private_caches(packages(machine)) == {}


def test_kinds_of_cores_stand_inside_the_cache_that_both_share():
    (package,) = packages(hybrid())

    (shared,) = package.children
    assert shared.cache is not None
    (both,) = shared.children
    assert [kind.core_kind for kind in both.children] == ["performance", "efficiency"]
    thrifty = both.children[1]
    assert [len(group.cores) for group in thrifty.children[0].children] == [4, 4]


def test_cores_that_do_not_reach_what_the_other_kinds_share_are_named_too():
    kinds = ("performance", "efficiency", "low-power", "low-power")
    threads = tuple(Thread(id=n, core=n, kind=kind) for n, kind in enumerate(kinds))
    caches = (Cache(level=3, threads=(0, 1)), Cache(level=2, threads=(2, 3)))
    (package,) = packages(Machine(cpu=Cpu(threads_list=threads, caches=caches)))

    (inside,) = package.children
    shared, apart = inside.children
    assert [kind.core_kind for kind in shared.children[0].children] == list(kinds[:2])
    assert (apart.kind, apart.core_kind) == (Kind.CORE_KIND, "low-power")
    assert [kind.core_kind for kind in apart.children] == [None]


def test_threads_that_are_off_without_a_core_stand_nowhere():
    machine = pinned()

    assert [thread.id for thread in switched_off(machine)] == [3]
    assert [core.number for core in packages(machine)[0].cores] == [0, 1, 2]


def test_threads_without_a_core_are_not_taken_for_one():
    machine = Machine(cpu=Cpu(threads_list=tuple(Thread(id=n) for n in range(3))))

    assert [len(core.threads) for core in packages(machine)[0].cores] == [1, 1, 1]


def test_more_groups_than_machines_have_are_one():
    threads = tuple(Thread(id=n, core=n, package=n % 800) for n in range(1600))
    machine = Machine(cpu=Cpu(threads_list=threads))

    (package,) = packages(machine)

    assert (package.kind, package.number) == (Kind.PACKAGE, None)
    assert len(package.cores) == 1600
