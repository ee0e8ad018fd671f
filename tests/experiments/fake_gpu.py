"""A GPU that is not there: torch's calls for it, played on the processor with a clock of its own.

Tensors "on the GPU" are real ones of the processor that carry a mark, so results are right. Time is
made up: each call costs the host CALL_S, and work its own time on an engine, one for kernels and
one for each direction of copies, in order within its stream. So queues, overlap and waiting behave
as on a GPU, without noise. What a copy that nobody waits for brings is there when it is done, and
it takes what its source holds by then. `log` holds what was asked for, in order.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map

from experiments.devices import timing

CALL_S = 5e-6  # the host's time for one call
LAUNCH_S = 2e-6  # the least that a kernel takes
PINNED_BYTES_PER_S, PAGEABLE_BYTES_PER_S = 50e9, 10e9
PINNING_BYTES_PER_S = 3e9
MEMORY_BYTES_PER_S = 3e12
FLOP_PER_S = 50e12
HZ = 2e9
NAME = "cuda:0"

_FACTORIES = {"empty", "zeros", "ones", "full", "rand", "randn", "randint", "arange", "tensor",
              "linspace", "eye", "randperm", "as_tensor", "empty_like", "zeros_like", "ones_like",
              "rand_like", "randn_like"}  # fmt: skip
_WAITING = {"item", "tolist", "numpy", "nonzero", "__bool__", "__float__", "__int__", "__repr__",
            "__format__", "__str__", "equal", "allclose", "masked_select", "unique"}  # fmt: skip
_TOGETHER = {"add", "add_", "sub", "mul", "div", "mm", "matmul", "addmm", "linear"}
_FREE = {"view", "reshape", "expand", "t", "transpose", "detach", "__get__", "size", "dim", "numel",
         "element_size", "requires_grad_", "data_ptr", "untyped_storage", "is_pinned", "__len__",
         "unbind", "narrow", "select", "chunk", "tensor_split", "split", "permute", "squeeze",
         "unsqueeze", "__set__", "is_floating_point", "is_contiguous", "stride",
         "storage_offset"}  # fmt: skip


@dataclass
class FakeStream:
    """A queue; `end_s` is when the last work in it is done."""

    name: str
    gpu: FakeGpu
    end_s: float = 0.0

    def synchronize(self) -> None:
        self.gpu.log.append(f"wait for {self.name}")
        self.gpu.wait_until(self.end_s)

    def wait_stream(self, other: FakeStream) -> None:
        self.gpu.log.append(f"{self.name} waits for {other.name}")
        self.end_s = max(self.end_s, other.end_s)

    def wait_event(self, event: FakeEvent) -> None:
        self.gpu.log.append(f"{self.name} waits for an event")
        self.end_s = max(self.end_s, event.at_s or 0.0)

    def record_event(self, event: FakeEvent | None = None) -> FakeEvent:
        event = event or FakeEvent(self.gpu)
        event.record(self)
        return event

    def query(self) -> bool:
        return self.end_s <= self.gpu.now_s


class FakeEvent:
    """A mark in a queue; to read it before it is done is an error, as it is with CUDA."""

    def __init__(self, gpu: FakeGpu, enable_timing: bool = True) -> None:
        self._gpu, self.at_s, self.reads = gpu, None, 0
        gpu.events.append(self)

    def record(self, stream: FakeStream | None = None) -> None:
        stream = stream or self._gpu.current
        self._gpu.log.append(f"mark {stream.name}")
        self._gpu.call()
        stream.end_s = self.at_s = max(stream.end_s, self._gpu.now_s)

    def query(self) -> bool:
        return self.at_s is not None and self.at_s <= self._gpu.now_s

    def synchronize(self) -> None:
        self._gpu.log.append("wait for mark")
        self._gpu.wait_until(self.at_s or 0.0)

    def elapsed_time(self, end: FakeEvent) -> float:
        assert self.query(), "a mark is read that is not done"
        assert end.query(), "a mark is read that is not done"
        end.reads += 1
        return (end.at_s - self.at_s) * 1e3

    def wait(self, stream: FakeStream | None = None) -> None:
        (stream or self._gpu.current).wait_event(self)


@dataclass
class Pending:
    """A copy under way: `target` holds what `source` holds only when it is done."""

    done_s: float
    target: torch.Tensor
    source: torch.Tensor
    to_gpu: bool


@dataclass
class FakeGpu(TorchFunctionMode):
    """Plays torch's backend for CUDA while it is worn; see `fake_gpu`."""

    free_bytes: int = 8 * 2**30
    total_bytes: int = 10 * 2**30
    flop_per_s: float = FLOP_PER_S
    cpu_flop_per_s: float = math.inf  # of products by the processor, which else take no time
    cpu_bytes_per_s: float = math.inf  # of everything else that it does
    now_s: float = 100.0
    log: list[str] = field(default_factory=list)
    events: list[FakeEvent] = field(default_factory=list)
    fails: Callable[[str], BaseException | None] = lambda work: None
    engines: dict[str, float] = field(default_factory=dict)
    pending: list[Pending] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.default = self.current = FakeStream("default", self)
        self.streams = [self.default]

    # --- time

    def clock(self) -> float:
        """Return the host's time; to ask costs a little, so that loops by the clock end."""
        self.now_s += 1e-7
        return self.now_s

    def call(self) -> None:
        """Let the host's time pass for one call."""
        self.now_s += CALL_S

    def queue(self, work: str, seconds: float, engine: str = "kernels") -> None:
        """Queue work into the current stream; an engine does one thing at a time."""
        if (error := self.fails(work)) is not None:
            raise error
        self.call()
        self.log.append(f"{work} in {self.current.name}")
        start_s = max(self.now_s, self.current.end_s, self.engines.get(engine, 0.0))
        self.current.end_s = self.engines[engine] = start_s + seconds

    def wait(self) -> None:
        """Wait for all streams."""
        self.log.append("wait")
        self.wait_until(max(stream.end_s for stream in self.streams))

    def wait_until(self, moment_s: float) -> None:
        """Let the host's time pass, and copies arrive."""
        self.now_s = max(self.now_s, moment_s)
        self.arrive()

    def arrive(self, *, on_gpu: bool = False) -> None:
        """Do the copies that are done by now, or all that work on the GPU may ask for."""
        needed = [n for n, copy in enumerate(self.pending) if on_gpu and copy.to_gpu]
        last = max(needed, default=-1)
        copies, self.pending = self.pending, []
        with torch._C.DisableTorchFunction():
            for place, copy in enumerate(copies):
                if copy.done_s <= self.now_s or place <= last:
                    copy.target.copy_(copy.source)
                else:
                    self.pending.append(copy)

    # --- what torch is asked for

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name, kwargs = getattr(func, "__name__", "?"), dict(kwargs or {})
        to = self._device_of(name, args, kwargs)
        if to is not None:
            args, kwargs = _to_cpu(args), _to_cpu(kwargs)
        is_pinned = bool(kwargs.pop("pin_memory", False)) or name == "pin_memory"
        given = [each for each in tree_flatten((args, kwargs))[0] if torch.is_tensor(each)]
        on_gpu = any(is_on_gpu(each) for each in given)
        if on_gpu and name in _TOGETHER and any(e.dim() and not is_on_gpu(e) for e in given):
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                "cuda:0 and cpu!"
            )
        self.arrive(on_gpu=on_gpu or to == "gpu")
        if name == "pin_memory":
            result = given[0].clone()
        elif name in ("is_pinned",):
            return getattr(given[0], "is_pinned_here", False)
        elif name in ("to", "cuda", "cpu", "copy_"):
            return self._copied(func, name, args, kwargs, given, to)
        else:
            result = func(*args, **kwargs)
        if is_pinned:
            self.log.append("pin")
            size = result.numel() * result.element_size()
            self.now_s += CALL_S + size / PINNING_BYTES_PER_S
        if name == "__set__":  # of a parameter's data: it goes where they are
            _marked(args[0], any(is_on_gpu(each) for each in given[1:]), False)
        if name in _FREE or (name == "__getitem__" and not torch.is_tensor(args[1])):
            return _marked(result, on_gpu, any(is_pinned_here(each) for each in given))
        if on_gpu and name in _WAITING:
            self.wait()
            self.call()
            self.log.append(f"read by {name}")
            return result
        if on_gpu or (to == "gpu" and name in _FACTORIES):
            self.queue(name, self._cost_s(name, given))
            return _marked(result, on_gpu or to == "gpu", False)
        self.now_s += (
            _flop(name, given) / self.cpu_flop_per_s + _touched(given) / self.cpu_bytes_per_s
        )
        return _marked(result, False, is_pinned)

    def _device_of(self, name: str, args: Any, kwargs: Any) -> str | None:
        """Return "gpu" or "cpu" where a call names a device."""
        named = [kwargs.get("device"), *(args[1:] if name == "to" else ())]
        for each in named:
            if isinstance(each, str | torch.device):
                return "gpu" if str(each).startswith("cuda") else "cpu"
        return "gpu" if name == "cuda" else "cpu" if name == "cpu" else None

    def _copied(self, func, name, args, kwargs, given, to):
        target, source = given[0], given[-1]
        is_non_blocking = bool(kwargs.get("non_blocking", False))
        if name == "copy_":
            result, from_gpu, to_gpu = target, is_on_gpu(source), is_on_gpu(target)
        else:
            from_gpu = is_on_gpu(source)
            to_gpu = from_gpu if to is None else to == "gpu"
            kwargs.pop("non_blocking", None)
            made = source.clone() if name in ("cuda", "cpu") else func(*args, **kwargs)
            moved = from_gpu != to_gpu and made is source
            result = _marked(source.clone() if moved else made, to_gpu, False)
            if isinstance(source, torch.nn.Parameter) and not isinstance(
                result, torch.nn.Parameter
            ):
                result = _marked(torch.nn.Parameter(result.detach()), to_gpu, False)
        size = source.numel() * source.element_size()
        if from_gpu == to_gpu:
            if to_gpu and result is source and name != "copy_":  # it is there already
                self.call()
            elif to_gpu:
                self.queue("copy", LAUNCH_S + 2 * size / MEMORY_BYTES_PER_S)
            return func(*args, **kwargs) if name == "copy_" else result
        host = target if from_gpu and name == "copy_" else source
        pinned = is_pinned_here(host)
        rate = PINNED_BYTES_PER_S if pinned else PAGEABLE_BYTES_PER_S
        direction = "to_gpu" if to_gpu else "from_gpu"
        kind = "pinned" if pinned else "pageable"
        self.queue(f"copy {kind} {direction}", LAUNCH_S + size / rate, direction)
        is_async = pinned and is_non_blocking
        if name == "copy_" and is_async:
            moving = source if to_gpu else source.clone()
            self.pending.append(Pending(self.current.end_s, target, moving, to_gpu))
        elif name == "copy_":
            func(*args, **kwargs)
        if not is_async:
            self.current.synchronize()
        return result

    def _cost_s(self, name: str, given: list[Any]) -> float:
        if flop := _flop(name, given):
            return LAUNCH_S + flop / self.flop_per_s
        return LAUNCH_S + _touched(given) / MEMORY_BYTES_PER_S


def _touched(given: list[Any]) -> int:
    """Return the bytes of these tensors."""
    return sum(each.numel() * each.element_size() for each in given)


def _flop(name: str, given: list[Any]) -> int:
    """Return the operations of a product, 0 of anything else."""
    is_product = name in ("mm", "matmul", "__matmul__", "linear", "addmm", "bmm") and len(given) > 1
    return 2 * given[0].numel() * given[1].shape[-1] if is_product else 0


def is_on_gpu(tensor: Any) -> bool:
    """Was it made "on the GPU"?"""
    return bool(getattr(tensor, "is_on_gpu_here", False))


def is_pinned_here(tensor: Any) -> bool:
    """Does it play pinned memory?"""
    return bool(getattr(tensor, "is_pinned_here", False))


def _marked(result: Any, on_gpu: bool, pinned: bool) -> Any:
    for each in tree_flatten(result)[0]:
        if torch.is_tensor(each):
            each.is_on_gpu_here = on_gpu or is_on_gpu(each)
            each.is_pinned_here = pinned or is_pinned_here(each)
    return result


def _to_cpu(given: Any) -> Any:
    def on_cpu(each: Any) -> Any:
        is_device = isinstance(each, torch.device) or (
            isinstance(each, str) and each.startswith("cuda")
        )
        return torch.device("cpu") if is_device else each

    return tree_map(on_cpu, given)


@contextlib.contextmanager
def fake_gpu(monkeypatch, **given: Any) -> Iterator[FakeGpu]:
    """Let torch have one GPU, "cuda:0"; hand its `clock` to the bench."""
    gpu = FakeGpu(**given)
    properties = SimpleNamespace(
        name="Fake GPU", uuid="fake", total_memory=gpu.total_bytes, L2_cache_size=32 * 2**20,
        multi_processor_count=100, major=9, minor=0,
    )  # fmt: skip

    @contextlib.contextmanager
    def in_stream(stream: FakeStream | None) -> Iterator[None]:
        before, gpu.current = gpu.current, stream or gpu.current
        try:
            yield
        finally:
            gpu.current = before

    def new_stream(*_: object, **__: object) -> FakeStream:
        gpu.streams.append(FakeStream(f"stream {len(gpu.streams)}", gpu))
        return gpu.streams[-1]

    def sleep(cycles: int) -> None:
        gpu.queue("hold", cycles / HZ)

    played = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "set_device": lambda device: None,
        "current_device": lambda: 0,
        "get_device_properties": lambda device=0: properties,
        "get_device_capability": lambda device=0: (9, 0),
        "get_device_name": lambda device=0: "Fake GPU",
        "mem_get_info": lambda device=0: (gpu.free_bytes, gpu.total_bytes),
        "memory_stats": lambda device=0: {"num_alloc_retries": 0, "segment.all.current": 1},
        "memory_allocated": lambda device=0: 0,
        "max_memory_allocated": lambda device=0: 0,
        "reset_peak_memory_stats": lambda device=0: None,
        "empty_cache": lambda: None,
        "Event": lambda enable_timing=False, **_: FakeEvent(gpu, enable_timing),
        "Stream": new_stream,
        "stream": in_stream,
        "current_stream": lambda device=None: gpu.current,
        "default_stream": lambda device=None: gpu.default,
        "synchronize": lambda device=None: gpu.wait(),
        "_sleep": sleep,
    }  # fmt: skip
    monkeypatch.setattr(
        torch.accelerator, "empty_host_cache", lambda: gpu.log.append("give back"), raising=False
    )
    monkeypatch.setattr(timing, "WARM_S", 1e-4)  # its time goes by slowly, and ours does not
    for name, call in played.items():
        monkeypatch.setattr(torch.cuda, name, call)
    with gpu:
        yield gpu
