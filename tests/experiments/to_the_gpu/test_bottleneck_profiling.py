from __future__ import annotations

import gzip
import json
import warnings

import pytest

from experiments.core.bench import Bench
from experiments.core.judging.intervals import length_s
from experiments.devices.device import Device
from experiments.to_the_gpu.bottleneck import profiling
from experiments.to_the_gpu.bottleneck.profiling import (
    STEP,
    WAITING,
    divided,
    has_device,
    lanes,
    marked,
    spans,
)
from tests.experiments.machines import machine

torch = pytest.importorskip("torch")


def event(category, name, start_us, duration_us):
    return {"ph": "X", "cat": category, "name": name, "ts": 1e6 + start_us, "dur": duration_us}


# One step as Kineto writes it: 100 µs of loading, then calls, a copy, two kernels, and a wait.
STEP_OF_CUDA = [
    event("user_annotation", WAITING, 0, 100),
    event("user_annotation", STEP, 100, 200),
    event("gpu_user_annotation", STEP, 130, 150),
    event("cpu_op", "aten::copy_", 105, 20),
    event("cuda_runtime", "cudaMemcpyAsync", 110, 10),
    event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 120, 40),
    event("cpu_op", "aten::mm", 130, 20),
    event("cuda_runtime", "cudaLaunchKernel", 140, 5),
    event("kernel", "gemm", 150, 50),
    event("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 200, 10),
    event("gpu_memset", "Memset (Device)", 210, 10),
    event("cuda_runtime", "cudaDeviceSynchronize", 160, 80),
    {"ph": "f", "cat": "ac2g", "name": "ac2g", "ts": 1e6},
    {"ph": "M", "name": "process_name", "ts": 1e6, "args": {}},
]


def parts(events, *, on_gpu=True):
    found = divided(spans({"traceEvents": events}), on_gpu=on_gpu)
    return {part: round(length_s(when) * 1e6, 6) for part, when in found.items()}


def test_every_moment_of_a_step_on_a_gpu_belongs_to_one_part():
    # Loading 0-100; host 100-120, and 240-300 after the wait; copy alone 120-150; kernels 150-220;
    # nobody 220-240, while the host is still blocked.
    assert parts(STEP_OF_CUDA) == {
        "compute": 70, "copy": 30, "waiting": 100, "host": 80, "idle": 20,
    }  # fmt: skip


def test_computing_while_the_host_loads_is_no_waiting():
    beside = [*STEP_OF_CUDA, event("kernel", "late", 40, 50)]

    assert parts(beside)["waiting"] == 50
    assert parts(beside)["compute"] == 120


def test_work_before_the_first_range_is_left_out():
    early = [event("kernel", "warm", -500, 100), *STEP_OF_CUDA]

    assert parts(early) == parts(STEP_OF_CUDA)


def test_on_the_processor_the_operators_compute_and_python_is_the_rest():
    events = [
        event("user_annotation", WAITING, 0, 100),
        event("cpu_op", "aten::stack", 50, 40),
        event("user_annotation", STEP, 110, 100),
        event("cpu_op", "aten::conv2d", 120, 50),
        event("cpu_op", "aten::convolution", 125, 40),
    ]

    assert parts(events, on_gpu=False) == {"waiting": 100, "compute": 50, "host": 50, "idle": 10}


@pytest.mark.parametrize("on_gpu", [False, True])
def test_nothing_recorded_is_no_error(on_gpu):
    assert set(parts([], on_gpu=on_gpu).values()) == {0}
    assert not has_device(spans({}))


def test_without_kernels_no_device_was_recorded():
    assert has_device(spans({"traceEvents": STEP_OF_CUDA}))
    only_host = [each for each in STEP_OF_CUDA if each.get("cat") not in ("kernel", "gpu_memset")]
    copies = [each for each in only_host if "Memcpy" not in each["name"]]
    assert not has_device(spans({"traceEvents": copies}))


def test_a_blocked_call_and_a_copy_within_the_device_are_told_from_others():
    kinds = {span.name: span.kind for span in spans({"traceEvents": STEP_OF_CUDA})}

    assert kinds["cudaDeviceSynchronize"] == "blocked"
    assert kinds["cudaLaunchKernel"] == "call"
    assert kinds["Memcpy DtoD (Device -> Device)"] == "kernel"
    assert kinds["Memcpy HtoD (Pinned -> Device)"] == "copy"


def test_spans_begin_at_0_in_seconds():
    found = spans({"traceEvents": STEP_OF_CUDA})

    assert found[0].start_s == 0
    assert lanes(found)["waiting"] == [(0, pytest.approx(100e-6))]


def test_what_torch_records_is_understood_and_names_nobody():
    device = Device("cpu", Bench(machine()))
    a = torch.ones(64, 64)

    def work():
        with marked(WAITING):
            a.clone()
        with marked(STEP):
            a @ a

    trace = profiling.traced(device, work)
    found = spans(trace)

    assert {span.kind for span in found} >= {"waiting", "step", "operator"}
    assert "host_name" not in trace
    assert "traceName" not in trace
    assert sum(map(length_s, divided(found, on_gpu=False).values())) > 0


def test_traces_are_saved_beside_each_other(tmp_path):
    names = [profiling.save({"traceEvents": []}, tmp_path, "it") for _ in range(2)]

    assert names == ["it-1.trace.json.gz", "it-2.trace.json.gz"]
    assert json.loads(gzip.decompress((tmp_path / names[0]).read_bytes())) == {"traceEvents": []}


def test_a_torch_that_warns_of_cycles_although_there_is_one_does_not_disturb(monkeypatch):
    start = torch.profiler.profile.start

    def warns(self):
        warnings.warn(
            "Warning: Profiler clears events at the end of each cycle.", UserWarning, stacklevel=2
        )
        start(self)

    monkeypatch.setattr(torch.profiler.profile, "start", warns)
    device = Device("cpu", Bench(machine()))
    assert spans(profiling.traced(device, lambda: torch.ones(8) + 1))
