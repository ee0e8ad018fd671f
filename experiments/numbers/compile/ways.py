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
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from experiments.devices.device import Device
from experiments.devices.failures import device_problem
from experiments.devices.timing import whole_s
from experiments.tools.own_folder import own_folder

EAGER, SCRIPT, COMPILED, GRAPH = WAYS = ("eager", "script", "compiled", "graph")
FIRST_STEPS = 3  # TorchScript looks at the first, and compiles with what it has seen
CACHE_VARIABLE = "TORCHINDUCTOR_CACHE_DIR"


@dataclass(frozen=True, slots=True)
class PreparedStep:
    """What does one step, and how long it took to get ready: to make it, and its first steps."""

    step: Callable[[], object]
    prepare_s: float
    program: Any = None  # what is called with an input


def network(torch: Any, width: int, layers: int) -> Any:
    """Return a stack of layers, each of eleven operations, ready for use and not for training.

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
    """Return it scripted, None where torch can do that no more."""
    start_s = device.bench.now_s()
    try:
        program = device.torch.jit.script(model)
    except (AttributeError, RuntimeError):  # deprecated, so it may be gone some day
        return None
    return _ready(device, program, inputs, start_s)


def compiled(device: Device, model: Any, inputs: Any, mode: str) -> PreparedStep | None:
    """Return it compiled, None where there is no compiler that torch can use."""
    try:
        import_module("torch._inductor.compile_fx")  # loading the compiler is no part of compiling
        from torch._inductor import config

        start_s = device.bench.now_s()
        config.compile_threads = 1  # more of them would be processes that stay for a while
        program = device.torch.compile(model, mode=mode)
        return _ready(device, program, inputs, start_s)
    except (RuntimeError, ImportError, OSError) as error:
        if device_problem(error) is not None:
            raise
        return None  # the compiler's own troubles are many


def graph(device: Device, model: Any, inputs: Any) -> PreparedStep | None:
    """Return it as a graph of its launches, None of what is not CUDA."""
    if device.kind != "cuda":
        return None
    start_s = device.bench.now_s()
    beside = device.stream()
    beside.wait_stream(device.backend.current_stream())
    with device.on(beside):  # torch asks for this: what is set up lazily must not be recorded
        for _ in range(FIRST_STEPS):
            model(inputs)
    device.backend.current_stream().wait_stream(beside)
    device.wait()
    recorded = device.backend.CUDAGraph()
    with device.backend.graph(recorded):
        result = model(inputs)
    whole_s(device, recorded.replay)
    # The result lives in the graph's memory, so it is kept as long as the graph.
    return PreparedStep(recorded.replay, device.bench.now_s() - start_s, (recorded, result))


def _ready(device: Device, program: Any, inputs: Any, start_s: float) -> PreparedStep:
    for _ in range(FIRST_STEPS):
        program(inputs)
    device.wait()
    return PreparedStep(lambda: program(inputs), device.bench.now_s() - start_s, program)


@contextlib.contextmanager
def from_scratch(device: Device) -> Iterator[str]:
    """Let torch compile with empty caches, without a word and without processes of its own.

    Yields a folder of the run that is removed with what was compiled into it.
    """
    with own_folder("coreopsis-compile-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of TorchScript, that it is deprecated
        before = os.environ.get(CACHE_VARIABLE)
        os.environ[CACHE_VARIABLE] = folder
        try:
            yield folder
        finally:
            del os.environ[CACHE_VARIABLE]
            if before is not None:
                os.environ[CACHE_VARIABLE] = before
