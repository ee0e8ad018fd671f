from __future__ import annotations

import dataclasses
import json
import sys
import time

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine import live
from machine.live import Sampler

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
def test_shares_are_fractions_though_the_kernel_counts_backwards(before, after):
    first, second = (
        live._Times(idle=t[3] + t[4], stolen=t[7], total=sum(t[:8])) for t in (before, after)
    )
    if second.total > first.total:
        busy, steal_fraction = live._shares(first, second)
        assert 0 <= busy <= 1
        assert 0 <= steal_fraction <= 1


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
    sample = json.loads(json.dumps(dataclasses.asdict(Sampler().sample())))
    assert sample.keys() == {
        *("t_s", "threads", "memory", "disks", "network", "gpus", "missing"),
    }
    assert sample["threads"][0].keys() == {"id", "busy", "hz", "steal_fraction"}
    assert {"disks", "network", "gpus"} <= {entry["what"] for entry in sample["missing"]}


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
