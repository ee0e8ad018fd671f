from __future__ import annotations

import pytest
from msgspec.structs import replace

from experiments.core.bench import Bench
from experiments.core.problems import UserError
from experiments.devices import ceilings, timing
from experiments.devices.device import Device, default_device, devices_of, gpu_of, number_alike
from experiments.devices.failures import device_problem
from machine.devices import Gpu, Link
from tests.experiments.machines import machine

torch = pytest.importorskip("torch")
from tests.experiments.fake_gpu import CALL_S, LAUNCH_S, NAME, fake_gpu  # noqa: E402


@pytest.fixture
def gpu(monkeypatch):
    with fake_gpu(monkeypatch) as gpu:
        yield gpu


@pytest.fixture
def device(gpu) -> Device:
    return Device(NAME, Bench(machine(gpus=1), clock=gpu.clock))


@pytest.fixture
def cpu() -> Device:
    return Device("cpu", Bench(machine()))


def test_devices_are_called_as_torch_calls_them():
    backends = ("cuda", "rocm", None, "xpu", "mps", "hpu")
    here = machine()
    gpus = tuple(Gpu(index=n, torch_backend=name) for n, name in enumerate(backends))
    here = replace(here, gpus=gpus)
    assert devices_of(here) == ("cuda:0", "cuda:1", "xpu:0", "mps", "cpu")
    assert gpu_of(here, "cuda:1") is gpus[1]
    assert gpu_of(here, "mps") is gpus[4]
    assert gpu_of(here, "cpu") is None
    assert default_device(here) == "cuda:0"
    assert default_device(machine()) == "cpu"


def test_a_gpu_that_is_hidden_is_not_counted():
    gpus = (Gpu(index=0, torch_backend="cuda", visible=False), Gpu(index=1, torch_backend="cuda"))
    here = replace(machine(), gpus=gpus)

    assert devices_of(here) == ("cuda:0", "cpu")
    assert gpu_of(here, "cuda:0") is gpus[1]


def test_a_gpu_that_torch_does_not_have_is_trouble():
    with pytest.raises(UserError) as caught:
        Device("cuda:7", Bench(machine(gpus=8)))
    assert caught.value.problem.key == "device_unusable"


def test_small_work_is_timed_without_the_calls(gpu, device):
    x = torch.ones(16, device=NAME)

    found = timing.taken(device, lambda: x.add_(1), 50)

    assert found.is_clean
    assert found.device_s == pytest.approx(LAUNCH_S, rel=0.2)
    assert found.queued_s == pytest.approx(CALL_S, rel=0.2)


def test_a_sample_that_the_device_was_too_fast_for_is_not_clean(gpu, device, monkeypatch):
    monkeypatch.setattr(device, "hold", lambda seconds: False)
    x = torch.ones(16, device=NAME)

    found = timing.taken(device, lambda: x.add_(1), 50)

    assert not found.is_clean
    assert found.device_s == pytest.approx(CALL_S, rel=0.2)  # it waited for its caller


def test_a_hold_grows_until_it_outlasts_the_calls(gpu, device):
    x = torch.ones(16, device=NAME)

    def slow():
        gpu.now_s += 1e-3
        x.add_(1)

    assert timing.taken(device, slow, 20).is_clean
    assert sum("hold" in entry for entry in gpu.log) == 2


def test_every_mark_is_read_once(gpu, device):
    x = torch.ones(16, device=NAME)
    timing.taken(device, lambda: x.add_(1), 5)

    assert sorted(event.reads for event in gpu.events) == [0, 1]


def test_no_more_is_queued_than_a_driver_takes(gpu, device):
    x = torch.ones(16, device=NAME)
    timing.taken(device, lambda: x.add_(1), 10_000)

    assert sum(entry.startswith("add_") for entry in gpu.log) <= timing.MOST_QUEUED


def test_a_device_is_warm_after_half_a_second_of_work(gpu, device):
    a = torch.ones(512, 512, device=NAME)
    before_s = gpu.now_s

    timing.warm(device, lambda: a @ a)

    assert gpu.now_s - before_s >= timing.WARM_S


def test_the_processor_has_no_queue(cpu):
    x = torch.ones(1000)
    found = timing.taken(cpu, lambda: x.add_(1), 3)

    assert found.is_clean
    assert found.device_s == pytest.approx(found.queued_s, rel=0.9)
    assert x[0] == 4
    assert cpu.stream() is None
    assert not cpu.hold(1.0)


def test_calls_in_a_row_are_timed_until_the_last_is_done(gpu, device):
    a = torch.ones(1024, 1024, device=NAME)
    product_s = timing.taken(device, lambda: a @ a, 10).device_s

    assert timing.each_s(device, lambda: a @ a, 10) == pytest.approx(product_s, rel=0.1)
    assert timing.each_s(device, lambda: a[:1].add_(1), 10) > CALL_S


def test_enough_calls_in_a_row_for_the_caller_s_clock(gpu, device):
    x = torch.ones(16, device=NAME)
    count = timing.enough_in_a_row(device, lambda: x.add_(1))

    assert count * timing.each_s(device, lambda: x.add_(1), count) >= timing.SAMPLE_S


def test_as_on_a_gpu_nothing_is_added_across_devices(gpu):
    x = torch.ones(16, device=NAME)
    with pytest.raises(RuntimeError, match="same device"):
        x + torch.ones(16)
    assert (x + torch.tensor(1.0))[0] == 2
    gpu.log.clear()
    assert x.to(NAME) is x
    assert gpu.log == []  # it is there already


def test_the_ceilings_of_a_device_are_those_that_inspection_knows():
    here = machine(gpus=1, peak_bytes_per_s=1e11)
    link = Link(peak_bytes_per_s=6e10)
    known = {"vendor": "NVIDIA", "memory_bus_bits": 512, "memory_clock_hz": 10**9}
    gpu = replace(here.gpus[0], l2_bytes=1000, link=link, **known)
    here = replace(here, gpus=(gpu,))

    assert ceilings.memory_bytes_per_s(here, "cpu") == 1e11
    assert ceilings.memory_bytes_per_s(here, NAME) == 2 * 10**9 * 512 / 8
    assert ceilings.cache_bytes(here, NAME) == 1000
    assert ceilings.link_bytes_per_s(here, NAME) == 6e10
    assert ceilings.link_bytes_per_s(here, "cpu") is None
    assert ceilings.memory_bytes_per_s(machine(gpus=1), NAME) is None
    unified = replace(here, gpus=(replace(gpu, unified_memory=True),))
    assert ceilings.link_bytes_per_s(unified, NAME) is None


def test_pinned_copies_return_at_once_and_pageable_ones_do_not(gpu, device):
    there = torch.empty(2**20, dtype=torch.uint8, device=NAME)
    pinned = torch.empty(2**20, dtype=torch.uint8, pin_memory=True)
    pageable = torch.empty(2**20, dtype=torch.uint8)
    device.wait()

    fast = timing.taken(device, lambda: there.copy_(pinned, non_blocking=True), 1)
    slow_s = timing.whole_s(device, lambda: there.copy_(pageable, non_blocking=True))

    assert fast.queued_s < fast.device_s < slow_s


def test_copies_run_beside_kernels_in_another_stream(gpu, device):
    a = torch.ones(2048, 2048, device=NAME)
    host = torch.empty(2**24, dtype=torch.uint8, pin_memory=True)
    there = torch.empty(2**24, dtype=torch.uint8, device=NAME)

    def both(stream):
        with device.on(stream):
            there.copy_(host, non_blocking=True)
        _ = a @ a

    apart_s = timing.whole_s(device, lambda: both(None))
    beside_s = timing.whole_s(device, lambda: both(device.stream()))

    assert beside_s < 0.7 * apart_s


def test_what_a_copy_brings_is_there_when_it_is_done(gpu, device):
    there = torch.full((1000,), 7, dtype=torch.uint8, device=NAME)
    host = torch.zeros(1000, dtype=torch.uint8, pin_memory=True)
    device.wait()

    host[:500].copy_(there[:500], non_blocking=True)
    assert host.sum() == 0  # read too early
    there.fill_(9)  # queued behind the copy, which has its bytes
    device.wait()

    assert host.sum() == 3500


def test_a_copy_takes_what_its_source_holds_when_it_is_done(gpu, device):
    host = torch.full((1000,), 7, dtype=torch.uint8, pin_memory=True)
    there = torch.empty(1000, dtype=torch.uint8, device=NAME)
    device.wait()

    there.copy_(host, non_blocking=True)
    host[500:] = 9  # too early
    device.wait()

    assert there.cpu().sum() == 500 * 7 + 500 * 9


def test_work_behind_a_copy_has_its_data(gpu, device):
    host = torch.full((1000,), 7, dtype=torch.uint8, pin_memory=True)
    there = torch.zeros(1000, dtype=torch.uint8, device=NAME)

    there.copy_(host, non_blocking=True)
    doubled = there + there

    assert doubled.cpu().sum() == 14_000


def numbered(*gpus, **environment):
    number_alike(replace(machine(), gpus=gpus), environment)
    return environment


def gpu_called(uuid, *, visible=True):
    return Gpu(index=0, torch_backend="cuda", uuid=uuid, visible=visible)


def test_cuda_numbers_the_gpus_in_the_order_of_the_bus():
    assert numbered(gpu_called("GPU-a")) == {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def test_which_gpus_are_visible_stays_and_their_order_does_not():
    two = gpu_called("GPU-a"), gpu_called("GPU-b", visible=False), gpu_called("GPU-c")

    assert numbered(*two, CUDA_VISIBLE_DEVICES="2,0")["CUDA_VISIBLE_DEVICES"] == "GPU-a,GPU-c"
    assert numbered(*two[1:2], CUDA_VISIBLE_DEVICES="")["CUDA_VISIBLE_DEVICES"] == ""


@pytest.mark.parametrize(("uuid", "listed"), [(None, "1,0"), ("GPU-a", "MIG-5")])
def test_what_cannot_be_told_apart_is_left_as_it_is(uuid, listed):
    assert numbered(gpu_called(uuid), CUDA_VISIBLE_DEVICES=listed)["CUDA_VISIBLE_DEVICES"] == listed


@pytest.mark.parametrize(
    ("error", "key"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried 2 GiB"), "gpu_out_of_memory"),
        (RuntimeError("CUDA error: out of memory"), "gpu_out_of_memory"),
        (torch.AcceleratorError("CUDA error: an illegal memory access"), "gpu_failed"),
        (RuntimeError("cuBLAS error: CUBLAS_STATUS_NOT_INITIALIZED"), "gpu_failed"),
        (RuntimeError("CUDA error: GPU has fallen off the bus"), "gpu_lost"),
        (RuntimeError("[enforce] DefaultCPUAllocator: can't allocate memory"), "out_of_memory"),
    ],
)  # fmt: skip
def test_an_error_of_a_device_is_a_sentence(error, key):
    assert device_problem(error).key == key


@pytest.mark.parametrize("error", [ValueError("CUDA error"), RuntimeError("shapes do not fit")])
def test_other_errors_are_not_the_device_s(error):
    assert device_problem(error) is None
