from __future__ import annotations

import json
import re
import sys
import time

import msgspec
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.engine import messages
from machine.live import io
from machine.live import threads as live_threads
from machine.live.gpu_samples import GpuProcess, GpuSample
from machine.live.io import DiskSample, NetworkSample
from machine.live.sampler import Sampler, portable
from machine.live.threads import ThreadSample, ThreadSampler
from tests.machine.elsewhere import LINUX_WORDS

ticks = st.lists(st.integers(0, 2**40), min_size=10, max_size=10)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def stat(tree, **threads):
    lines = [f"{name} {' '.join(map(str, values))}" for name, values in threads.items()]
    tree.write("/proc/stat", "\n".join(["cpu  9 9 9 9 9 9 9 9 0 0", *lines, "intr 5 1 2", ""]))


def test_the_first_sample_has_no_load_and_says_why(tree, clock):
    stat(tree, cpu0=[10, 0, 10, 80, 0, 0, 0, 0])
    sample = Sampler(tree.root, clock).sample()
    assert (sample.threads[0].busy, sample.threads[0].steal_fraction) == (None, None)
    assert "threads[*].busy" in {entry.what for entry in sample.missing}


def test_load_is_the_share_since_the_previous_sample(tree, clock):
    sampler = Sampler(tree.root, clock)
    stat(tree, cpu0=[100, 0, 0, 900, 0, 0, 0, 0], cpu1=[0, 0, 0, 0, 0, 0, 0, 0])
    sampler.sample()
    # Waiting for a disk (the fifth) is not work, interrupts (sixth, seventh) are.
    stat(tree, cpu0=[125, 0, 0, 975, 0, 0, 0, 0], cpu1=[20, 5, 15, 30, 10, 5, 5, 10])
    clock.now_s += 0.5
    sample = sampler.sample()
    assert [thread.busy for thread in sample.threads] == [0.25, 0.5]
    assert [thread.steal_fraction for thread in sample.threads] == [0.0, 0.1]
    assert sample.t_s == 0.5
    assert "threads[*].busy" not in {entry.what for entry in sample.missing}


def test_time_of_guests_is_not_counted_twice(tree):
    sampler = Sampler(tree.root)
    stat(tree, cpu0=[0] * 10)
    sampler.sample()
    stat(tree, cpu0=[50, 0, 0, 50, 0, 0, 0, 0, 50, 0])
    assert sampler.sample().threads[0].busy == 0.5


def test_threads_are_known_by_number_when_one_goes_offline_and_returns(tree):
    sampler = Sampler(tree.root)
    stat(tree, cpu0=[0] * 8, cpu1=[0] * 8, cpu2=[0] * 8)
    sampler.sample()
    stat(tree, cpu0=[0, 0, 0, 100, 0, 0, 0, 0], cpu2=[100, 0, 0, 0, 0, 0, 0, 0])
    assert {t.id: t.busy for t in sampler.sample().threads} == {0: 0.0, 2: 1.0}
    stat(tree, cpu0=[0, 0, 0, 200, 0, 0, 0, 0], cpu1=[9, 0, 0, 9, 0, 0, 0, 0])
    assert {t.id: t.busy for t in sampler.sample().threads} == {0: 0.0, 1: None}


def test_less_than_a_tick_is_unknown_and_adds_up(tree):
    sampler = Sampler(tree.root)
    stat(tree, cpu0=[10, 0, 0, 10, 0, 0, 0, 0])
    sampler.sample()
    assert sampler.sample().threads[0].busy is None
    stat(tree, cpu0=[11, 0, 0, 10, 0, 0, 0, 0])
    assert sampler.sample().threads[0].busy == 1.0


@given(ticks, ticks)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_shares_are_fractions_though_the_kernel_counts_backwards(tree, before, after):
    sampler = ThreadSampler(tree.root)
    stat(tree, cpu0=before)
    sampler.sample(0.0)
    stat(tree, cpu0=after)
    (thread,) = sampler.sample(1.0)
    if sum(after[:8]) > sum(before[:8]):
        assert thread.busy is not None
        assert 0 <= thread.busy <= 1
        assert thread.steal_fraction is not None
        assert 0 <= thread.steal_fraction <= 1


def test_a_kernel_that_counts_no_stolen_time_does_not_claim_none_was_stolen(tree):
    sampler = Sampler(tree.root)
    stat(tree, cpu0=[0, 0, 0, 0])
    sampler.sample()
    stat(tree, cpu0=[10, 0, 0, 30])
    sample = sampler.sample()
    assert (sample.threads[0].busy, sample.threads[0].steal_fraction) == (0.25, None)
    assert "threads[*].steal_fraction" in {entry.what for entry in sample.missing}


def test_clocks_come_from_the_policy_of_each_thread(tree, clock):
    stat(tree, cpu0=[0] * 8, cpu1=[0] * 8, cpu2=[0] * 8)
    for policy, threads, khz in (("policy0", "0 2", 1_800_000), ("policy1", "1", 900_000)):
        tree.cpu(f"cpufreq/{policy}/related_cpus", threads)
        tree.cpu(f"cpufreq/{policy}/scaling_cur_freq", f"{khz}")
    sampler = Sampler(tree.root, clock)
    assert [t.hz for t in sampler.sample().threads] == [1.8e9, 0.9e9, 1.8e9]


def test_clocks_are_read_once_a_second_at_most(tree, clock):
    stat(tree, cpu0=[0] * 8)
    tree.cpu("cpufreq/policy0/related_cpus", "0")
    tree.cpu("cpufreq/policy0/scaling_cur_freq", "1000000")
    sampler = Sampler(tree.root, clock)
    sampler.sample()
    tree.cpu("cpufreq/policy0/scaling_cur_freq", "2000000")
    clock.now_s += 0.5
    assert sampler.sample().threads[0].hz == 1e9
    clock.now_s += 0.6
    assert sampler.sample().threads[0].hz == 2e9


def test_without_cpufreq_clocks_are_unknown_with_one_reason(tree):
    stat(tree, cpu0=[0] * 8, cpu1=[0] * 8)
    sample = Sampler(tree.root).sample()
    assert [t.hz for t in sample.threads] == [None, None]
    assert [e.what for e in sample.missing].count("threads[*].hz") == 1


def test_a_hidden_proc_stat_is_no_error(tree):
    sample = Sampler(tree.root).sample()
    assert sample.threads == ()
    assert "threads" in {entry.what for entry in sample.missing}


def test_the_sample_has_the_fields_of_the_wire():
    sample = json.loads(json.dumps(msgspec.to_builtins(Sampler().sample())))
    assert sample.keys() == {
        *("t_s", "threads", "memory", "disks", "network", "gpus", "missing", "heat"),
    }
    assert sample["threads"][0].keys() == {"id", "busy", "hz", "steal_fraction"}
    messages.encode(messages.Sample(**sample))


def unexplained(sample):
    """Return the facts that a sample neither has nor explains."""
    what = {entry.what for entry in sample.missing}
    found = []
    for name, parts in msgspec.to_builtins(sample).items():
        for part in parts if name in ("threads", "disks", "network", "gpus") else ():
            found += [
                f"{name}[*].{key}"
                for key, value in part.items()
                if value is None
                and not {f"{name}[*].{key}", f"{name}[{part.get('index')}].{key}"} & what
            ]
    found += [
        f"memory.{key}"
        for key, value in msgspec.to_builtins(sample.memory).items()
        if value is None and f"memory.{key}" not in what
    ]
    heat = {} if sample.heat is None else msgspec.to_builtins(sample.heat)
    found += [f"heat.{key}" for key, value in heat.items() if value is None] if heat else ["heat"]
    return [name for name in found if name not in what]


def test_all_that_a_sample_does_not_know_is_explained(clock):
    sampler = Sampler(clock_s=clock)
    assert unexplained(sampler.sample()) == []
    clock.now_s += 0.5
    assert unexplained(sampler.sample()) == []


def test_all_that_a_sample_does_not_know_is_explained_in_an_empty_machine(tree, clock):
    assert unexplained(Sampler(tree.root, clock).sample()) == []


def test_every_reason_is_a_sentence_with_a_next_step():
    for entry in Sampler().sample().missing:
        assert re.match(r"[A-Z].*\.$", entry.why), entry
        assert entry.how


def test_a_sample_that_is_kept_names_nobody():
    process = GpuProcess(pid=4711, user="alice", command="python secret.py")
    gpu = GpuSample(index=0, busy=0.5, processes=(process,))
    network = (NetworkSample(name="enx00e04c680001"), NetworkSample(name="eth0"))
    sample = msgspec.structs.replace(Sampler().sample(), gpus=(gpu,), network=network)
    assert "alice" in str(sample)
    kept = portable(sample)
    told = str((kept.gpus, kept.network))  # the rest counts what this machine does: any number
    assert [word for word in ("alice", "secret", "4711", "00e04c") if word in told] == []
    assert (kept.gpus[0].busy, kept.network[1].name) == (0.5, "eth0")


def test_waiting_is_the_share_of_the_time_since_the_previous_sample(tree, clock):
    for resource, total_us in (("cpu", 1_000_000), ("memory", 0), ("io", 500_000)):
        text = f"some avg10=0.00 avg60=0.00 avg300=0.00 total={total_us}\nfull avg10=9 total=9\n"
        tree.write(f"/proc/pressure/{resource}", text)
    sampler = Sampler(tree.root, clock)
    first = sampler.sample()
    assert first.memory.cpu_pressure_fraction is None
    assert "two samples" in next(
        entry.why for entry in first.missing if entry.what == "memory.cpu_pressure_fraction"
    )
    tree.write("/proc/pressure/cpu", "some avg10=0.00 total=1100000\n")
    tree.write("/proc/pressure/io", "some avg10=0.00 total=9500000\n")
    clock.now_s += 0.5
    memory = sampler.sample().memory
    assert memory.cpu_pressure_fraction == 0.2
    assert memory.memory_pressure_fraction == 0.0
    assert memory.io_pressure_fraction == 1.0


def test_a_kernel_that_does_not_count_waiting_says_so(tree, clock):
    sample = Sampler(tree.root, clock).sample()
    assert sample.memory.memory_pressure_fraction is None
    assert "does not count" in next(
        entry.why for entry in sample.missing if entry.what == "memory.memory_pressure_fraction"
    )


def test_memory_agrees_with_psutil():
    memory, ours = psutil.virtual_memory(), Sampler().sample().memory
    assert ours.total_bytes == memory.total
    assert ours.available_bytes == pytest.approx(memory.available, rel=0.2)
    assert ours.used_bytes == ours.total_bytes - ours.available_bytes


def test_elsewhere_the_load_comes_from_psutil(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    sampler = Sampler()
    sampler.sample()
    end_s = time.monotonic() + 0.15
    while time.monotonic() < end_s:
        pass
    sample = sampler.sample()
    assert max(thread.busy or 0 for thread in sample.threads) > 0.3
    assert sample.threads[0].steal_fraction is None


def test_a_thread_at_work_is_seen_at_work():
    sampler = Sampler()
    sampler.sample()
    end_s = time.monotonic() + 0.2
    while time.monotonic() < end_s:
        pass
    busy = sum(thread.busy or 0 for thread in sampler.sample().threads)
    assert busy > 0.4


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_elsewhere_no_gap_is_explained_in_words_of_linux(tree, monkeypatch, system):
    monkeypatch.setattr(sys, "platform", system)
    said = [
        *live_threads.missing(()),
        *live_threads.missing((ThreadSample(id=0, busy=None, hz=None, steal_fraction=None),)),
        *io.missing((), ()),
        *io.missing((DiskSample(name="a"),), (NetworkSample(name="b"),)),
    ]
    assert len(said) >= 10
    words = " ".join(f"{entry.why} {entry.how}" for entry in said)
    assert [word for word in LINUX_WORDS if word in words] == []


def test_swap_that_the_system_does_not_count_is_unknown_with_a_reason(tree, monkeypatch):
    """As on a Windows whose performance counters are switched off."""

    def fail():
        raise RuntimeError("PdhAddEnglishCounterW failed. Performance counters may be disabled.")

    monkeypatch.setattr(psutil, "swap_memory", fail)
    sample = Sampler(tree.root).sample()

    assert sample.memory.total_bytes > 0
    assert (sample.memory.swap_total_bytes, sample.memory.swap_used_bytes) == (None, None)
    assert {"memory.swap_total_bytes", "memory.swap_used_bytes"} <= {
        entry.what for entry in sample.missing
    }
