from __future__ import annotations

import pytest

from machine.system.cgroups import (
    allowed_nodes,
    cpuset,
    memory_left_bytes,
    memory_limit,
    oom_kills,
    quota,
)

V2 = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
V1 = (
    "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n"
    "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n"
    "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
)


@pytest.fixture
def v2(tree):
    tree.write("/proc/mounts", V2)
    tree.write("/proc/self/cgroup", "0::/user.slice/job\n")
    return tree


@pytest.fixture
def v1(tree):
    tree.write("/proc/mounts", V1)
    tree.write(
        "/proc/self/cgroup", "3:cpuset:/batch/job\n2:cpu,cpuacct:/batch/job\n4:memory:/job\n"
    )
    return tree


def test_a_limit_above_the_own_group_holds(v2):
    v2.write("/sys/fs/cgroup/user.slice/job/cpu.max", "400000 100000\n")
    v2.write("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n")
    assert quota(v2.root) == (1.5, "/sys/fs/cgroup/user.slice/cpu.max")


def test_max_is_no_limit(v2):
    v2.write("/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n")
    assert quota(v2.root) is None


def test_a_quota_of_version_1_is_time_over_period(v1):
    v1.write("/sys/fs/cgroup/cpu,cpuacct/batch/job/cpu.cfs_quota_us", "-1\n")
    v1.write("/sys/fs/cgroup/cpu,cpuacct/batch/job/cpu.cfs_period_us", "100000\n")
    v1.write("/sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "25000\n")
    v1.write("/sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_period_us", "100000\n")
    assert quota(v1.root) == (0.25, "/sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us")


def test_a_group_without_a_cpuset_has_that_of_the_group_above(v2):
    v2.write("/sys/fs/cgroup/user.slice/cpuset.cpus.effective", "2-5\n")
    v2.write("/sys/fs/cgroup/cpuset.cpus.effective", "0-7\n")
    file = "/sys/fs/cgroup/user.slice/cpuset.cpus.effective"
    assert cpuset(v2.root) == ({2, 3, 4, 5}, file)


def test_in_version_1_a_group_has_the_threads_and_nodes_that_it_asked_for(v1):
    """ "On legacy hierarchy: The user-configured masks are always the same with effective masks."

    So says struct cpuset in kernel/cgroup/cpuset.c; a mount option makes it behave as version 2.
    """
    group = "/sys/fs/cgroup/cpuset/batch/job"
    for name, asked, effective in (("cpus", "0-7", "0-3"), ("mems", "0-1", "0")):
        v1.write(f"{group}/cpuset.{name}", f"{asked}\n")
        v1.write(f"{group}/cpuset.effective_{name}", f"{effective}\n")
    assert cpuset(v1.root) == (frozenset(range(8)), f"{group}/cpuset.cpus")
    assert allowed_nodes(v1.root) == ({0, 1}, f"{group}/cpuset.mems")
    v1.write("/proc/mounts", V1.replace("rw,cpuset", "rw,cpuset,cpuset_v2_mode"))
    assert cpuset(v1.root) == ({0, 1, 2, 3}, f"{group}/cpuset.effective_cpus")
    assert allowed_nodes(v1.root) == ({0}, f"{group}/cpuset.effective_mems")


def test_effective_threads_and_nodes_of_version_2_count_rather_than_configured_ones(v2):
    group = "/sys/fs/cgroup/user.slice/job"
    for name in ("cpus", "mems"):
        v2.write(f"{group}/cpuset.{name}", "0-7\n")
        v2.write(f"{group}/cpuset.{name}.effective", "0-3\n")
    assert cpuset(v2.root)[0] == allowed_nodes(v2.root)[0] == {0, 1, 2, 3}


def test_the_nodes_of_the_process_are_those_of_its_status_and_of_its_groups(v2):
    assert allowed_nodes(v2.root) is None
    v2.write("/proc/self/status", "Mems_allowed:\t3\nMems_allowed_list:\t0-1\n")
    assert allowed_nodes(v2.root) == ({0, 1}, "Mems_allowed_list of /proc/self/status")
    file = "/sys/fs/cgroup/user.slice/cpuset.mems.effective"
    v2.write(file, "1-2\n")
    assert allowed_nodes(v2.root) == ({1}, file)


def test_the_least_memory_limit_of_all_groups_above_holds(v2):
    assert memory_limit(v2.root) is None
    v2.write("/sys/fs/cgroup/user.slice/job/memory.max", "max\n")
    assert memory_limit(v2.root) is None
    v2.write("/sys/fs/cgroup/user.slice/job/memory.max", "9000\n")
    v2.write("/sys/fs/cgroup/user.slice/memory.max", "5000\n")
    assert memory_limit(v2.root) == (5000, "/sys/fs/cgroup/user.slice/memory.max")


def test_the_memory_limit_of_version_1_has_a_number_for_none(v1):
    file = "/sys/fs/cgroup/memory/job/memory.limit_in_bytes"
    v1.write(file, "9223372036854771712\n")
    assert memory_limit(v1.root) is None
    v1.write(file, "4096\n")
    assert memory_limit(v1.root) == (4096, file)


def test_of_two_groups_that_allow_other_threads_those_of_both_count(v2):
    v2.write("/sys/fs/cgroup/user.slice/cpuset.cpus.effective", "0-5\n")
    v2.write("/sys/fs/cgroup/cpuset.cpus.effective", "4-7\n")
    assert cpuset(v2.root)[0] == {4, 5}


def test_on_a_hybrid_host_the_empty_version_does_not_hide_the_other(tree):
    tree.write("/proc/mounts", V1 + "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n")
    tree.write("/proc/self/cgroup", "3:cpuset:/job\n2:cpu,cpuacct:/job\n0::/\n")
    tree.write("/sys/fs/cgroup/unified/cgroup.controllers", "\n")
    tree.write("/sys/fs/cgroup/cpuset/job/cpuset.cpus", "1\n")
    tree.write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n")
    tree.write("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
    assert cpuset(tree.root)[0] == {1}
    assert quota(tree.root)[0] == 0.5


def test_in_a_container_the_mounted_group_counts_where_the_named_one_is_not_visible(tree):
    tree.write("/proc/mounts", V2)
    tree.write("/proc/self/cgroup", "0::/docker/4b1f\n")
    tree.write("/sys/fs/cgroup/cpu.max", "300000 100000\n")
    assert quota(tree.root) == (3.0, "/sys/fs/cgroup/cpu.max")


def test_a_group_outside_of_the_own_namespace_does_not_lead_out_of_the_tree(tree):
    tree.write("/proc/mounts", V2)
    tree.write("/proc/self/cgroup", "0::/../../../../elsewhere\n")
    tree.write("/sys/fs/cgroup/cpu.max", "200000 100000\n")
    (tree.root.parent / "elsewhere").mkdir()
    (tree.root.parent / "elsewhere/cpu.max").write_text("100000 100000\n")
    assert quota(tree.root)[0] == 2.0


def test_old_cpusets_are_found_by_proc_self_cpuset(tree):
    tree.write("/proc/mounts", "none /dev/cpuset cpuset rw 0 0\n")
    tree.write("/proc/self/cpuset", "/batch\n")
    tree.write("/dev/cpuset/batch/cpus", "4-6\n")
    assert cpuset(tree.root) == ({4, 5, 6}, "/dev/cpuset/batch/cpus")


def test_without_control_groups_there_is_no_limit(tree):
    assert (cpuset(tree.root), quota(tree.root), memory_left_bytes(tree.root)) == (None, None, None)


def test_files_that_can_be_dropped_count_as_memory_left(v2):
    v2.write("/sys/fs/cgroup/user.slice/job/memory.max", "1000\n")
    v2.write("/sys/fs/cgroup/user.slice/job/memory.current", "900\n")
    v2.write("/sys/fs/cgroup/user.slice/job/memory.stat", "anon 500\ninactive_file 300\n")
    v2.write("/sys/fs/cgroup/user.slice/memory.max", "max\n")
    v2.write("/sys/fs/cgroup/user.slice/memory.current", "9000\n")
    assert memory_left_bytes(v2.root) == 400


def test_memory_limits_of_version_1_are_read(v1):
    v1.write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n")
    v1.write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "6000\n")
    assert memory_left_bytes(v1.root) == 0


def test_the_kills_for_want_of_memory_are_those_of_the_own_group(v2):
    assert oom_kills(v2.root) is None
    v2.write("/proc/vmstat", "nr_free_pages 1\noom_kill 9\n")
    assert oom_kills(v2.root) == 9
    v2.write("/sys/fs/cgroup/user.slice/memory.events", "oom 1\noom_kill 5\n")
    v2.write("/sys/fs/cgroup/user.slice/job/memory.events", "oom 1\noom_kill 3\noom_group_kill 0\n")
    assert oom_kills(v2.root) == 3


def test_version_1_counts_the_kills_elsewhere(v1):
    v1.write("/sys/fs/cgroup/memory/job/memory.oom_control", "under_oom 0\noom_kill 2\n")
    assert oom_kills(v1.root) == 2
