from __future__ import annotations

from collections import Counter

import pytest

from machine.facts import Notes
from machine.model import NumaNode
from machine.processor.caches import read_caches
from machine.processor.topology import present_and_online, read_thread_list


@pytest.fixture
def read(tree):
    def threads():
        present, online = present_and_online(tree.root)
        numa = (NumaNode(id=4, threads=tuple(sorted(present))),)
        notes = Notes()
        caches = read_caches(tree.root, online, Notes())
        return read_thread_list(tree.root, present, online, online, numa, notes, caches), notes

    return threads


def column(threads, name):
    return [getattr(thread, name) for thread in threads]


def test_packages_and_cores_are_numbered_over_the_machine_though_ids_repeat(tree, read):
    tree.cpus(8, threads_per_core=2, packages=2)
    threads, _ = read()
    assert column(threads, "package") == [0, 0, 0, 0, 1, 1, 1, 1]
    assert column(threads, "core") == [0, 0, 1, 1, 2, 2, 3, 3]
    assert column(threads, "core_id") == [0, 0, 1, 1, 0, 0, 1, 1]
    assert column(threads, "numa_node") == [4] * 8


def test_siblings_need_not_be_neighbours(tree, read):
    tree.cpus(4)
    for n in range(4):
        tree.cpu(f"cpu{n}/topology/core_cpus_list", f"{n % 2},{n % 2 + 2}")
        tree.cpu(f"cpu{n}/topology/core_id", f"{n % 2 * 20}")
    assert column(read()[0], "core") == [0, 1, 0, 1]


def test_siblings_with_different_ids_are_cores_of_their_own(tree, read):
    tree.cpus(4, threads_per_core=2)
    for n in range(4):
        tree.cpu(f"cpu{n}/topology/core_id", f"{n}")
    assert column(read()[0], "core") == [0, 1, 2, 3]


def test_old_kernels_have_masks_with_other_names(tree, read):
    for n in range(2):
        tree.cpu(f"cpu{n}/topology/core_siblings", "00000000,00000003")
        tree.cpu(f"cpu{n}/topology/thread_siblings", f"00000000,0000000{1 << n}")
        tree.cpu(f"cpu{n}/topology/core_id", "0")
    threads, _ = read()
    assert (column(threads, "package"), column(threads, "core")) == ([0, 0], [0, 1])


def test_an_offline_thread_is_listed_and_explained(tree, read):
    tree.cpus(4, online="0,2-3")
    threads, notes = read()
    assert column(threads, "online") == [True, False, True, True]
    assert column(threads, "core") == [0, None, 1, 2]
    assert threads[1].numa_node is None
    (offline,) = (entry for entry in notes.missing if entry.what == "cpu.threads_list[*]")
    assert "offline: 1." in offline.why


def test_the_first_thread_may_be_the_one_offline(tree, read):
    tree.cpus(2, online="1")
    assert column(read()[0], "online") == [False, True]


def test_without_lists_of_the_kernel_each_thread_tells_whether_it_is_online(tree):
    tree.cpu("cpu0/topology/core_id", "0")
    tree.cpu("cpu1/online", "0")
    tree.cpu("cpu2/online", "1")
    assert present_and_online(tree.root) == ({0, 1, 2}, {0, 2})


def test_where_sys_is_hidden_the_threads_are_in_cpuinfo(tree, read):
    tree.write("/proc/cpuinfo", "processor\t: 0\nflags\t: a\n\nprocessor\t: 3\n")
    threads, notes = read()
    assert column(threads, "id") == [0, 3]
    assert column(threads, "core") == [None, None]
    assert "cpu.threads_list[*].core" in {entry.what for entry in notes.missing}


@pytest.mark.parametrize("unset", ["-1", "65535"])
def test_a_cluster_or_die_without_id_is_unknown(tree, read, unset):
    tree.cpus(2)
    for n in range(2):
        for part in ("die", "cluster"):
            tree.cpu(f"cpu{n}/topology/{part}_id", unset)
            tree.cpu(f"cpu{n}/topology/{part}_cpus_list", f"{n}")
    threads, notes = read()
    assert column(threads, "die") == column(threads, "cluster") == [None, None]
    assert {"cpu.threads_list[*].die", "cpu.threads_list[*].cluster"} <= {
        entry.what for entry in notes.missing
    }


def test_dies_of_different_packages_differ_though_both_are_called_zero(tree, read):
    tree.cpus(4, packages=2)
    for n in range(4):
        tree.cpu(f"cpu{n}/topology/die_id", "0")
        tree.cpu(f"cpu{n}/topology/die_cpus_list", "0-1" if n < 2 else "2-3")
    assert column(read()[0], "die") == [0, 0, 1, 1]


def test_intel_names_the_kinds_of_its_cores(tree, read):
    tree.cpus(5)
    tree.write("/sys/devices/cpu_core/cpus", "0-1\n")
    tree.write("/sys/devices/cpu_atom/cpus", "2-3\n")
    tree.write("/sys/devices/cpu_lowpower/cpus", "4\n")
    assert column(read()[0], "kind") == [
        *("performance", "performance", "efficiency", "efficiency", "low-power")
    ]


@pytest.mark.parametrize(
    ("capacities", "kinds"),
    [
        ((1024, 1024), (None, None)),
        ((1024, 980), (None, None)),  # a favoured core is not another kind
        ((446, 1024, 1010), ("efficiency", "performance", "performance")),
        ((160, 498, 1024), (None, None, None)),  # three kinds: we have no name for the middle one
    ],
)
def test_capacities_tell_two_kinds_apart(tree, read, capacities, kinds):
    tree.cpus(len(capacities))
    for n, capacity in enumerate(capacities):
        tree.cpu(f"cpu{n}/cpu_capacity", f"{capacity}")
    threads, notes = read()
    assert column(threads, "kind") == list(kinds)
    lacking = [entry for entry in notes.missing if entry.what == "cpu.threads_list[*].kind"]
    assert len(lacking) == (None in kinds)


def test_a_named_kind_for_some_cores_only_is_explained(tree, read):
    tree.cpus(4)
    tree.write("/sys/devices/cpu_core/cpus", "0-1\n")
    threads, notes = read()
    assert column(threads, "kind") == ["performance", "performance", None, None]
    assert "cpu.threads_list[*].kind" in {entry.what for entry in notes.missing}


def hybrid(tree, *, threads_of_large=2, low_power=False):
    """Write two large cores, four small ones that share an L2 cache, and perhaps two smaller."""
    large = 2 * threads_of_large
    count = large + 4 + 2 * low_power
    tree.cpus(count)
    groups = [range(n, n + threads_of_large) for n in range(0, large, threads_of_large)]
    for group in groups:
        for n in group:
            tree.cpu(f"cpu{n}/topology/core_cpus_list", f"{group[0]}-{group[-1]}")
            tree.cpu(f"cpu{n}/topology/core_id", f"{group[0]}")
    groups += [range(large, large + 4), *([range(large + 4, count)] if low_power else [])]
    for group in groups:
        for n in group:
            tree.cache(n, 2, 2, "Unified", "2M", f"{group[0]}-{group[-1]}")
            if n < large + 4:
                tree.cache(n, 3, 3, "Unified", "24M", f"0-{large + 3}")


@pytest.mark.parametrize("low_power", [False, True])
def test_where_no_list_names_them_shared_caches_tell_the_kinds(tree, read, low_power):
    hybrid(tree, low_power=low_power)
    threads, notes = read()
    small = ["low-power"] * 2 * low_power
    assert column(threads, "kind") == ["performance"] * 4 + ["efficiency"] * 4 + small
    assert "cpu.caches" in notes.sources["cpu.threads_list[*].kind"]
    assert "cpu.threads_list[*].kind" not in {entry.what for entry in notes.missing}


def test_caches_that_fit_no_known_kinds_tell_nothing(tree, read):
    hybrid(tree, threads_of_large=1)
    assert {*column(read()[0], "kind")} == {None}


def test_a_recorded_laptop_has_its_kinds_of_cores(recorded):
    found = recorded("20em64t-hybrid-1p6c2t+2ca4co1t").cpu.threads_list
    assert Counter(column(found, "kind")) == {"performance": 12, "efficiency": 8}


@pytest.mark.parametrize("name", ["64amd64-4s2n4ca2co", "96em64t-4no4pa3ca2co", "256ppc-8n8s4t"])
def test_recorded_machines_with_shared_caches_of_one_kind_have_no_kinds(recorded, name):
    assert {*column(recorded(name).cpu.threads_list, "kind")} == {None}


@pytest.mark.parametrize("number", [2**14, 999_999_999])
def test_a_thread_that_only_damage_could_number_is_none(tree, read, number):
    """The machine that is read must be readable again."""
    tree.cpus(2)
    (tree.root / f"sys/devices/system/cpu/cpu{number}").mkdir()
    (tree.root / "sys/devices/system/cpu/present").unlink(missing_ok=True)
    (tree.root / "sys/devices/system/cpu/online").unlink(missing_ok=True)
    threads, _ = read()
    assert column(threads, "id") == [0, 1]
    (tree.root / "sys/devices/system/cpu/online").write_text(f"0-{2**14}\n")
    assert all(thread.id < 2**14 for thread in read()[0])
