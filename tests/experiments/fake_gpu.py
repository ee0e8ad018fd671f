"""A GPU that is not there: torch's calls for it, played on the processor with a clock of its own.

Tensors "on the GPU" are real ones of the processor that carry a mark, so results are right. Time is
made up: each call costs the host CALL_S, and work takes its own time on an engine. There is an
engine for kernels, and one for each direction of copies; each stream keeps its order. So queues,
overlap and waiting behave as on a GPU, without noise.

A copy changes its target only when the copy is done, with the data that its source holds then.
`log` holds what was asked for, in order. There may be several GPUs: each has streams, engines and
marks of its own, and all share the host's clock.
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

from experiments.devices import timing

CALL_S = 5e-6  # the host's time for one call
LAUNCH_S = 2e-6  # the least that a kernel takes
PINNED_BYTES_PER_S, PAGEABLE_BYTES_PER_S = 50e9, 10e9
PINNING_BYTES_PER_S = 3e9
PEER_BYTES_PER_S = 200e9  # from GPU to GPU, in each direction
MEMORY_BYTES_PER_S = 3e12
FLOP_PER_S = 50e12
HZ = 2e9
NAME, SECOND = "cuda:0", "cuda:1"
PROCESSOR = -1  # where a GPU is named by its number

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
    index: int = 0

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
        self._gpu, self.reads = gpu, 0
        self.at_s: float | None = None
        self._index: int | None = None
        gpu.events.append(self)

    def record(self, stream: FakeStream | None = None) -> None:
        stream = stream or self._gpu.current
        self._index = stream.index
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
        assert end._index == self._index, "two GPUs have no clock in common"
        assert end.at_s is not None
        assert self.at_s is not None
        end.reads += 1
        return (end.at_s - self.at_s) * 1e3

    def wait(self, stream: FakeStream | None = None) -> None:
        (stream or self._gpu.current).wait_event(self)


@dataclass
class FakeGraph:
    """The calls during a recording; to replay it is one call."""

    gpu: FakeGpu
    took_s: float = 0.0

    def replay(self) -> None:
        self.gpu.queue("graph", self.took_s)


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
    count: int = 1
    peers: bool = True  # does each reach the others' memory?
    spoils: Callable[[int, int], bool] = lambda source, target: False  # what goes this way
    now_s: float = 100.0
    log: list[str] = field(default_factory=list)
    events: list[FakeEvent] = field(default_factory=list)
    fails: Callable[[str], BaseException | None] = lambda work: None
    engines: dict[tuple[int, str], float] = field(default_factory=dict)
    pending: list[Pending] = field(default_factory=list)
    recording: FakeGraph | None = None

    def __post_init__(self) -> None:
        super().__init__()
        names = ["default", *(f"default of {index}" for index in range(1, self.count))]
        self.streams = [FakeStream(name, self, index=n) for n, name in enumerate(names)]
        self.defaults, self.currents = list(self.streams), list(self.streams)
        self.at = 0  # the GPU that a call is for

    @property
    def default(self) -> FakeStream:
        """The stream of a GPU that is there from the start."""
        return self.defaults[self.at]

    @property
    def current(self) -> FakeStream:
        """The stream that calls for a GPU go into."""
        return self.currents[self.at]

    @contextlib.contextmanager
    def on(self, index: int) -> Iterator[None]:
        """Let calls be for this GPU."""
        before, self.at = self.at, index
        try:
            yield
        finally:
            self.at = before

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
        if self.recording is not None:
            self.recording.took_s += seconds
            return
        self.log.append(f"{work} in {self.current.name}")
        own = self.at, engine
        start_s = max(self.now_s, self.current.end_s, self.engines.get(own, 0.0))
        self.current.end_s = self.engines[own] = start_s + seconds

    def wait(self) -> None:
        """Wait for all streams of a GPU."""
        self.log.append(f"wait for {self.at}" if self.at else "wait")
        self.wait_until(max(stream.end_s for stream in self.streams if stream.index == self.at))

    def wait_until(self, moment_s: float) -> None:
        """Let the host's time pass, and copies arrive."""
        self.now_s = max(self.now_s, moment_s)
        self.arrive()

    def arrive(self, *, on_gpu: bool = False) -> None:
        """Do the copies that are done by now, or all that work on the GPU may ask for."""
        if not self.pending:
            return
        needed = [n for n, copy in enumerate(self.pending) if on_gpu and copy.to_gpu]
        last = max(needed, default=-1)
        copies, self.pending = self.pending, []
        with torch._C.DisableTorchFunction():  # noqa: SLF001  (torch has no public name for it)
            for place, copy in enumerate(copies):
                if copy.done_s <= self.now_s or place <= last:
                    copy.target.copy_(copy.source)
                else:
                    self.pending.append(copy)

    # --- what torch is asked for

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name, kwargs = getattr(func, "__name__", "?"), dict(kwargs or {})
        given = _tensors((args, kwargs))
        own = {index for each in given if (index := gpu_of(each)) is not None}
        if own and name in _TOGETHER:
            _refuse_two_devices(given, own)
        to = self._device_of(name, args, kwargs)
        before = self.at
        if name == "copy_" and is_on_gpu(given[-1]):
            self.at = gpu_of(given[-1])
        elif own or _is_gpu(to):
            self.at = min(own) if own else to
        try:
            return self._called(func, name, args, kwargs, given, to)
        finally:
            self.at = before

    def _called(self, func, name, args, kwargs, given, to):
        if to is not None:
            args = tuple(map(_to_cpu, args))
            kwargs = {key: _to_cpu(each) for key, each in kwargs.items()}
        on_gpu, there = any(map(is_on_gpu, given)), to if _is_gpu(to) else self.at
        self.arrive(on_gpu=on_gpu or _is_gpu(to))
        if name == "is_pinned":
            return is_pinned_here(given[0])
        if name in ("to", "cuda", "cpu", "copy_"):
            return self._copied(func, name, args, kwargs, given, to)
        is_pinned = bool(kwargs.pop("pin_memory", False)) or name == "pin_memory"
        result = given[0].clone() if name == "pin_memory" else func(*args, **kwargs)
        if is_pinned:
            self.log.append("pin")
            size = result.numel() * result.element_size()
            self.now_s += CALL_S + size / PINNING_BYTES_PER_S
        if name == "__set__":  # of a parameter's data: it goes where they are
            _marked(args[0], gpu_of(given[-1]), False)
        if name in _FREE or (name == "__getitem__" and not torch.is_tensor(args[1])):
            return _marked(result, there if on_gpu else None, any(map(is_pinned_here, given)))
        if on_gpu and name in _WAITING:
            self.wait()
            self.call()
            self.log.append(f"read by {name}")
            return result
        if on_gpu or (_is_gpu(to) and name in _FACTORIES):
            self.queue(name, self._cost_s(name, given))
            return _marked(result, there, False)
        self.now_s += (
            flop_of(name, given) / self.cpu_flop_per_s + _touched(given) / self.cpu_bytes_per_s
        )
        return _marked(result, None, is_pinned)

    def _device_of(self, name: str, args: Any, kwargs: Any) -> int | None:
        """Return the GPU that a call names, PROCESSOR, or None where it names nothing."""
        if kwargs.get("copy"):  # as the scaler of gradients copies, by the device that tensors have
            return None
        for each in (kwargs.get("device"), *(args[1:] if name in ("to", "cuda") else ())):
            if isinstance(each, str | torch.device):
                kind, _, index = str(each).partition(":")
                return int(index or 0) if kind == "cuda" else PROCESSOR
        return {"cuda": self.at, "cpu": PROCESSOR}.get(name)

    def _to_peer(self, source, result, size, there):
        """Copy to another GPU: in a stream of the source, and both wait for it."""
        other = self.currents[there]
        self.current.end_s = max(self.current.end_s, other.end_s)
        rate = PEER_BYTES_PER_S if self.peers else PINNED_BYTES_PER_S / 2
        self.queue(f"copy to {there}", LAUNCH_S + size / rate, f"to {there}")
        other.end_s = max(other.end_s, self.current.end_s)
        with torch._C.DisableTorchFunction():  # noqa: SLF001  (torch has no public name for it)
            result.copy_(source)
            if self.spoils(self.at, there):
                result.zero_()
        return result

    def _copied(self, func, name, args, kwargs, given, to):
        target, source = given[0], given[-1]
        is_non_blocking = bool(kwargs.get("non_blocking", False))
        from_gpu = is_on_gpu(source)
        if name == "copy_":
            result, there = target, gpu_of(target)
        else:
            there = to if _is_gpu(to) else self.at if to is None and from_gpu else None
            kwargs.pop("non_blocking", None)
            made = source.clone() if name in ("cuda", "cpu") else func(*args, **kwargs)
            moved = from_gpu != (there is not None) and made is source
            result = source.clone() if moved else made
            if isinstance(source, torch.nn.Parameter) and not isinstance(
                result, torch.nn.Parameter
            ):
                result = torch.nn.Parameter(result.detach())
            _marked(result, there, False)
        to_gpu = there is not None
        size = source.numel() * source.element_size()
        if from_gpu and to_gpu and there != self.at:
            return self._to_peer(source, result, size, there)
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
        if flop := flop_of(name, given):
            return LAUNCH_S + flop / self.flop_per_s
        return LAUNCH_S + _touched(given) / MEMORY_BYTES_PER_S


def _touched(given: list[Any]) -> int:
    """Return the bytes of these tensors."""
    return sum(each.numel() * each.element_size() for each in given)


def flop_of(name: str, given: list[Any]) -> int:
    """Return the operations of a product, 0 of anything else."""
    products = "mm", "matmul", "__matmul__", "linear", "addmm", "bmm", "_int_mm", "_scaled_mm_v2"
    is_product = name in products and len(given) > 1
    return 2 * given[0].numel() * given[1].shape[-1] if is_product else 0


def gpu_of(tensor: Any) -> int | None:
    """Which GPU was it made "on"?"""
    return getattr(tensor, "gpu_here", None)


def is_on_gpu(tensor: Any) -> bool:
    """Was it made "on a GPU"?"""
    return gpu_of(tensor) is not None


def is_pinned_here(tensor: Any) -> bool:
    """Does it play pinned memory?"""
    return getattr(tensor, "is_pinned_here", False)


def _tensors(given: Any) -> list[Any]:
    """Return the tensors in what a call takes or returns, in order."""
    if isinstance(given, torch.Tensor):
        return [given]
    if isinstance(given, dict):
        given = given.values()
    elif not isinstance(given, tuple | list):
        return []
    return [each for part in given for each in _tensors(part)]


def _marked(result: Any, gpu: int | None, pinned: bool) -> Any:
    for each in _tensors(result) if gpu is not None or pinned else ():
        if gpu is not None and not is_on_gpu(each):
            each.gpu_here = gpu
        if pinned:
            each.is_pinned_here = True
    return result


def _refuse_two_devices(given: list[Any], own: set[int]) -> None:
    """Raise what torch raises; a single number may come from the processor."""
    if len(own) > 1 or any(each.dim() and not is_on_gpu(each) for each in given):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"cuda:0 and {'cuda:1' if len(own) > 1 else 'cpu'}!"
        )


def _is_gpu(named: int | None) -> bool:
    return named is not None and named != PROCESSOR


def _to_cpu(each: Any) -> Any:
    is_device = isinstance(each, torch.device) or (isinstance(each, str) and each[:4] == "cuda")
    return torch.device("cpu") if is_device else each


@contextlib.contextmanager
def fake_gpu(monkeypatch, **given: Any) -> Iterator[FakeGpu]:
    """Let torch have one GPU, "cuda:0", or `count`; hand its `clock` to the bench."""
    gpu = FakeGpu(**given)
    properties = SimpleNamespace(
        name="Fake GPU", uuid="fake", total_memory=gpu.total_bytes, L2_cache_size=32 * 2**20,
        multi_processor_count=100, major=9, minor=0,
    )  # fmt: skip

    @contextlib.contextmanager
    def in_stream(stream: FakeStream | None) -> Iterator[None]:
        stream = stream or gpu.current
        before, gpu.currents[stream.index] = gpu.currents[stream.index], stream
        try:
            with gpu.on(stream.index):
                yield
        finally:
            gpu.currents[stream.index] = before

    def number_of(device: Any = None) -> int:
        is_number = device is None or isinstance(device, int)
        return (gpu.at if device is None else device) if is_number else int(str(device)[5:] or 0)

    def new_stream(device: Any = None, **_: object) -> FakeStream:
        name = f"stream {len(gpu.streams)}"
        gpu.streams.append(FakeStream(name, gpu, index=number_of(device)))
        return gpu.streams[-1]

    def set_device(device: Any) -> None:
        gpu.at = number_of(device)

    def synchronize(device: Any = None) -> None:
        with gpu.on(number_of(device)):
            gpu.wait()

    def sleep(cycles: int) -> None:
        gpu.queue("hold", cycles / HZ)

    @contextlib.contextmanager
    def graph(recorded: FakeGraph) -> Iterator[None]:
        gpu.recording = recorded
        try:
            yield
        finally:
            gpu.recording = None

    played = {
        "is_available": lambda: True,
        "device_count": lambda: gpu.count,
        "set_device": set_device,
        "device": lambda device: gpu.on(number_of(device)),
        "current_device": lambda: gpu.at,
        "can_device_access_peer": lambda device, peer: gpu.peers,
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
        "current_stream": lambda device=None: gpu.currents[number_of(device)],
        "default_stream": lambda device=None: gpu.defaults[number_of(device)],
        "synchronize": synchronize,
        "_sleep": sleep,
        "CUDAGraph": lambda: FakeGraph(gpu),
        "graph": graph,
    }  # fmt: skip
    monkeypatch.setattr(
        torch.accelerator, "empty_host_cache", lambda: gpu.log.append("give back"), raising=False
    )
    monkeypatch.setattr(timing, "WARM_S", 1e-4)  # its time goes by slowly, and ours does not
    autocast = torch.autocast  # tensors are the processor's, and so rounding is that of the kind
    monkeypatch.setattr(torch, "autocast", lambda device_type, **how: autocast("cpu", **how))
    for name, call in played.items():
        monkeypatch.setattr(torch.cuda, name, call)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # of small works, several would only wait for each other
    try:
        with gpu:
            yield gpu
    finally:
        torch.set_num_threads(threads)  # or all that follows had as many as the made-up machine
