"""What of PyTorch works on this machine?

Method: each feature is tried once on the smallest task that needs it. Its result is compared with a
known one. The features are: products in half precision and bfloat16, a compiled function, pinned
memory, copies to each GPU and back, and communication libraries. A feature is broken if its result
is wrong, or if it fails although PyTorch offers it. A feature is missing if PyTorch was built
without it, or if it lacks a compiler.

Not shown: whether a feature is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, wraps
from typing import Any

from experiments import api as x
from experiments.devices.device import Device, devices_of
from experiments.devices.failures import device_problem

WORKS, MISSING, BROKEN = "works", "missing", "broken"
SIDE, TOLERANCE = 64, 0.05  # of small products; half precision rounds to three digits
TRY_S, COMPILE_S = 0.1, 12.0  # on two cores
Try = Callable[[], str]


class Params(x.Params):
    """The parameters."""

    compiles: bool = True


class Feature(x.Row):
    """One feature on one device, and how long it took to try."""

    device: str
    name: str
    state: str
    took_s: float = x.column(scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each feature of the processor and of each GPU."""
    yield x.Progress(0.0)
    tries = [
        (name, feature, attempt)
        for name in devices_of(bench.machine)
        for feature, attempt in _tries(Device(name, bench), compiles=params.compiles)
    ]
    for done, (device, name, attempt) in enumerate(tries, 1):
        bench.check_stop()
        begun_s = bench.now_s()
        state = attempt()
        yield Feature(device=device, name=name, state=state, took_s=bench.now_s() - begun_s)
        yield x.Progress(done / len(tries))


def _tries(device: Device, *, compiles: bool) -> Iterator[tuple[str, Try]]:
    torch = device.torch
    yield "fp16", partial(_product, device, torch.float16)
    yield "bf16", partial(_product, device, torch.bfloat16)
    if device.is_gpu:
        yield "copy", partial(_copy, device)
        yield "pinned", partial(_pinned, device)
    if compiles:
        yield "compile", partial(_compiled, device)
    if not device.is_gpu:
        yield "gloo", partial(_library, torch, "gloo")
    elif device.name.startswith("cuda") and torch.version.cuda:
        yield "nccl", partial(_library, torch, "nccl")


def _tried(attempt: Callable[..., bool]) -> Callable[..., str]:
    """Make a function that says how an attempt went; a lost device ends the run."""

    @wraps(attempt)
    def state(*given: Any) -> str:
        try:
            return WORKS if attempt(*given) else BROKEN
        except NotImplementedError:
            return MISSING
        except (RuntimeError, TypeError, ValueError, ImportError, OSError) as error:
            if device_problem(error) is not None:
                raise
            return MISSING if "not implemented" in str(error).lower() else BROKEN

    return state


def _numbers(device: Device) -> Any:
    chance = device.torch.Generator().manual_seed(x.SEED)
    return device.torch.randn(SIDE, SIDE, generator=chance)


@_tried
def _product(device: Device, kind: Any) -> bool:
    """Hold a product of few digits against the same in double precision."""
    numbers = _numbers(device)
    exact = numbers.double() @ numbers.double()
    there = numbers.to(device.name, kind)
    found = (there @ there).double().cpu()
    return bool((found - exact).abs().max() <= TOLERANCE * exact.abs().max())


@_tried
def _copy(device: Device) -> bool:
    numbers = _numbers(device)
    return bool(device.torch.equal(numbers.to(device.name).cpu(), numbers))


@_tried
def _pinned(device: Device) -> bool:
    """Copy from memory that cannot move, which a limit of the system may forbid."""
    numbers = _numbers(device).pin_memory()
    there = numbers.to(device.name, non_blocking=True)
    device.wait()
    return bool(device.torch.equal(there.cpu(), numbers))


def _compiled(device: Device) -> str:
    """Compile a small function; without a compiler torch raises an error of its own."""
    torch = device.torch
    try:
        from torch._inductor import config  # noqa: PLC2701  (torch has no public way)

        config.compile_threads = 1  # more threads would be processes that linger
        config.cpp.vec_isa_ok = False  # else a program is compiled for each set of vectors first

        def function(numbers: Any) -> Any:
            return (numbers * 2.0 + 1.0).relu().sum()

        numbers = _numbers(device).to(device.name)
        found = torch.compile(function)(numbers)
        return WORKS if torch.allclose(found, function(numbers), rtol=1e-3) else BROKEN
    except (RuntimeError, ImportError, OSError) as error:
        if device_problem(error) is not None:
            raise
        return MISSING


def _library(torch: Any, name: str) -> str:
    """Is a library built in by which processes talk?"""
    if not torch.distributed.is_available():
        return MISSING
    return WORKS if getattr(torch.distributed, f"is_{name}_available")() else MISSING


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Count the features by what became of them."""
    states = [row.state for row in tables["features"]]
    values = {f"{state}_features": states.count(state) for state in (WORKS, MISSING, BROKEN)}
    if not states:
        return x.Finding("nothing_tried", values)
    if BROKEN in states:
        return x.Finding("some_broken", values)
    return x.Finding("some_missing" if MISSING in states else "all_work", values)


def seconds(params: Params) -> float:
    """Estimate for the processor alone."""
    return 4 * TRY_S + (COMPILE_S if params.compiles else 0.0)


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"features": Feature},
    measure=measure,
    loop="experiment.py:_product",
    analyse=analyse,
    views=(
        x.Bars("took", "features", "name", "took_s"),
        x.Bars("devices", "features", "device", "took_s"),
    ),
    values=x.values(*(f"{state}_features" for state in (WORKS, MISSING, BROKEN))),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("numpy", "torch"),
    defaults=lambda machine: Params(),
    quick=lambda params: Params(compiles=False),
    seconds=seconds,
    memory_bytes=lambda params: x.MIB,
    quiet_limit_s=90.0,  # a compiler on a cold disk says nothing for long
    can_wait=False,  # it has no turns
)
