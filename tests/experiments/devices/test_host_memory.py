from __future__ import annotations

import os

import psutil
import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.devices.device import Device
from machine.devices import Gpu
from tests.experiments.machines import machine

torch = pytest.importorskip("torch")

from experiments.devices import host_memory  # noqa: E402
from experiments.devices.host_memory import PAGEABLE, PINNED, can_pin, near  # noqa: E402
from tests.experiments.fake_gpu import NAME, PINNING_BYTES_PER_S, fake_gpu  # noqa: E402


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


@pytest.fixture
def device(gpu) -> Device:
    return Device(NAME, Bench(machine(gpus=1), clock=gpu.clock))


def test_memory_is_written_to_its_end_with_random_numbers(device, monkeypatch):
    monkeypatch.setattr(host_memory, "BLOCK", 1000)  # the end is a part of a block

    of_bytes = host_memory.host_memory(device, 2500, PAGEABLE)
    of_floats = host_memory.host_memory(device, 2500, PAGEABLE, "float32")

    assert len(of_bytes[2000:].unique()) > 100
    assert abs(float(of_floats[2000:].mean())) < 0.3
    assert 0.8 < float(of_floats[2000:].std()) < 1.2


def test_pinning_is_asked_for_and_costs_time(gpu, device):
    before_s = gpu.now_s
    host_memory.host_memory(device, 3000, PAGEABLE)
    assert gpu.now_s == pytest.approx(before_s, abs=1e-5)
    host_memory.host_memory(device, 3 * 2**20, PINNED)
    assert gpu.now_s - before_s >= 3 * 2**20 / PINNING_BYTES_PER_S


def test_the_processor_has_no_pinned_memory(device):
    assert can_pin(device)
    assert not can_pin(Device("cpu", Bench(machine())))


def test_pinned_memory_is_given_back_where_torch_can(gpu, device, monkeypatch):
    assert host_memory.give_back_pinned(device)
    assert gpu.log[-1] == "give back"

    monkeypatch.delattr(torch.accelerator, "empty_host_cache")
    own = torch._C  # noqa: SLF001  (there torch before 2.12 has it)
    monkeypatch.setattr(own, "_host_emptyCache", lambda: None, raising=False)
    assert host_memory.give_back_pinned(device)
    monkeypatch.delattr(own, "_host_emptyCache")
    assert not host_memory.give_back_pinned(device)


def allowed() -> list[int]:
    return sorted(psutil.Process().cpu_affinity())


def on_nodes(gpu_node: int | None, nodes: int = 2):
    """Return a machine of which this process may use two threads, on one node each."""
    here = machine(nodes=nodes, cores=2)
    threads = tuple(replace(t, numa_node=t.id % nodes) for t in here.cpu.threads_list)
    gpu = Gpu(index=0, torch_backend="cuda", numa_node=gpu_node)
    return replace(here, cpu=replace(here.cpu, threads_list=threads), gpus=(gpu,))


@pytest.mark.skipif(len(allowed()) < 2, reason="needs two hardware threads")
def test_the_caller_works_near_to_the_gpu(gpu):
    before = allowed()
    with near(Device(NAME, Bench(on_nodes(1)))) as is_near:
        assert is_near
        assert allowed() == [1]
    assert allowed() == before


@pytest.mark.parametrize(
    ("here", "is_near"), [(on_nodes(None), False), (on_nodes(None, nodes=1), True)]
)
def test_where_no_node_is_told_the_caller_stays_free(gpu, here, is_near):
    before = os.sched_getaffinity(0)
    with near(Device(NAME, Bench(here))) as found:
        assert found is is_near
        assert os.sched_getaffinity(0) == before
