"""The same small network, called in four ways: as it stands, scripted, compiled, as a graph.

Eager is torch's ordinary way: one call for each operation. TorchScript (`torch.jit.script`) is its
older compiler, which torch itself calls deprecated. `torch.compile` writes and compiles kernels
that join several operations. A CUDA graph records the launches of one step, and replays them.
"""

# ruff: noqa: ANN001, ANN202 - TorchScript reads annotations, and comments about types, itself
from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from experiments.core.processes.own_environment import CACHES
from experiments.devices.device import Device
from experiments.devices.failures import device_problem
from experiments.devices.timing import whole_s
from experiments.tools.own_folder import own_folder
from machine.record import Record

EAGER, SCRIPT, COMPILED, GRAPH = WAYS = ("eager", "script", "compiled", "graph")
NVRTC = "nvrtc"  # TorchScript's compiler for a GPU, which may fail where the GPU does not
FIRST_STEPS = 3  # TorchScript profiles the first ones, then compiles


class PreparedStep(Record, kw_only=False):
    """A call that does one step, and the time to prepare it: making it and its first steps."""

    step: Callable[[], object]
    prepare_s: float
    program: Any = None  # what is called with an input


def network(torch: Any, width: int, layers: int) -> Any:
    """Return a stack of layers, each of eleven operations, in evaluation mode.

    The activation is GELU, written out as its formula (by tanh): small operations, one by one.
    """

    class Layer(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(width, width)

        def forward(self, x):  # type: ignore[no-untyped-def]
            h = self.linear(x)
            return x + 0.5 * h * (1.0 + (0.7978846 * (h + 0.044715 * h * h * h)).tanh())

    return torch.nn.Sequential(*(Layer() for _ in range(layers))).eval().requires_grad_(False)


def eager(device: Device, model: Any, inputs: Any) -> PreparedStep:
    """Return the network as it stands; it is ready at once."""
    return PreparedStep(lambda: model(inputs), 0.0, model)


def scripted(device: Device, model: Any, inputs: Any) -> PreparedStep | None:
    """Return it scripted, None if this torch cannot script or compile it."""
    start_s = device.bench.now_s()
    try:
        program = device.torch.jit.script(model)
        return _ready(device, program, inputs, start_s)  # its first steps compile
    except (AttributeError, RuntimeError, OSError) as error:  # deprecated: it may be gone some day
        if device_problem(error) is not None and NVRTC not in str(error).lower():
            raise
        return None  # the compiler that joins operations fails in many ways


def compiled(device: Device, model: Any, inputs: Any, mode: str) -> PreparedStep | None:
    """Return it compiled, None if torch finds no compiler."""
    try:
        import_module(
            "torch._inductor.compile_fx"
        )  # loading the compiler does not count as compiling
        from torch._inductor import config  # noqa: PLC2701  (torch has no public way)

        start_s = device.bench.now_s()
        config.compile_threads = 1  # more threads would be processes that linger
        program = device.torch.compile(model, mode=mode)
        return _ready(device, program, inputs, start_s)
    except (RuntimeError, ImportError, OSError) as error:
        if device_problem(error) is not None:
            raise
        return None  # the compiler fails in many ways


def graph(device: Device, model: Any, inputs: Any) -> PreparedStep | None:
    """Return it as a graph of its launches, None without CUDA."""
    if device.kind != "cuda":
        return None
    start_s = device.bench.now_s()
    beside = device.stream()
    beside.wait_stream(device.backend.current_stream())
    with device.on(beside):  # torch requires this: lazy set-up must not be recorded
        for _ in range(FIRST_STEPS):
            model(inputs)
    device.backend.current_stream().wait_stream(beside)
    device.wait()
    recorded = device.backend.CUDAGraph()
    with device.backend.graph(recorded):
        result = model(inputs)
    whole_s(device, recorded.replay)
    # The result lives in the graph's memory, so it must live as long as the graph.
    return PreparedStep(recorded.replay, device.bench.now_s() - start_s, (recorded, result))


def _ready(device: Device, program: Any, inputs: Any, start_s: float) -> PreparedStep:
    for _ in range(FIRST_STEPS):
        program(inputs)
    device.wait()
    return PreparedStep(lambda: program(inputs), device.bench.now_s() - start_s, program)


@contextlib.contextmanager
def from_scratch(device: Device) -> Iterator[str]:
    """Let torch compile with empty caches, silently and in this process alone.

    Yields a folder that is removed with everything compiled into it.
    """
    with own_folder("coreopsis-compile-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchScript is deprecated
        before = {variable: os.environ.get(variable) for variable in CACHES}
        os.environ |= {variable: os.path.join(folder, CACHES[variable]) for variable in CACHES}
        try:
            yield folder
        finally:
            for variable, value in before.items():
                del os.environ[variable]
                if value is not None:
                    os.environ[variable] = value
