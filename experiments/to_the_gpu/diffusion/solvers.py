"""Diffusion of heat on a plate: the same step by NumPy, torch, and compiled loops.

Every cell becomes the mean of itself and its four neighbours: the heat equation with D dt / dx² =
1/5. The cells at the edges stay. Whole-array operations pass over the plate five times, a compiled
step once.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.devices.device import Device

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMPY = "numpy"
COMPILED_ONE, COMPILED = IN_ONE_PASS = "compiled_one", "compiled"
TORCH_ONE, TORCH_CPU = "torch_cpu_one", "torch_cpu"
TORCH_GPU, GPU_COMPILED = "torch_gpu", "torch_gpu_compiled"
ENGINES = (NUMPY, TORCH_ONE, TORCH_CPU, *IN_ONE_PASS, TORCH_GPU, GPU_COMPILED)
ON_GPU = (TORCH_GPU, GPU_COMPILED)
# Arrays read or written for a step: three sums of which the first reads one array twice, once from
# the cache; a fourth, and a product in place. A compiled step reads one and writes one.
PASSES = 13
MOVED = dict.fromkeys(ENGINES, PASSES) | dict.fromkeys((*IN_ONE_PASS, GPU_COMPILED), 2)
BAND_CELLS = 2**20  # least for each thread of the compiled loop: threads wait for each other
SHARE = 0.2
COMPILERS = ("cc", "gcc", "clang")  # that Triton calls


Run = Callable[[Any, Any, int], None]  # so many steps, from one field to the other and back


@dataclass
class Plate:
    """A field now and one step later; `advance` lets the heat spread."""

    now: Any
    then: Any
    run: Run
    threads: int = 1  # of torch on the processor

    def advance(self, steps: int) -> None:
        """Do some steps, one after the other."""
        self.run(self.now, self.then, steps)
        if steps % 2:
            self.now, self.then = self.then, self.now


class Engines:
    """The engines that can compute it here, and their plates."""

    def __init__(self, device: Device, threads: int, *, compiles: bool) -> None:
        self._device, self._threads = device, threads
        has_numba = importlib.util.find_spec("numba") is not None
        self.names = [NUMPY, TORCH_ONE, TORCH_CPU, *(IN_ONE_PASS if has_numba else ())]
        if device.is_gpu:
            self.names.append(TORCH_GPU)
        if device.has_streams and compiles and has_triton():
            self.names.append(GPU_COMPILED)

    def leave_out(self, name: str) -> None:
        """Do without an engine, and without what runs the same loop."""
        without = IN_ONE_PASS if name in IN_ONE_PASS else (name,)
        self.names = [each for each in self.names if each not in without]

    def fastest(self) -> str:
        """Return the engine that draws: the device's own, or the processor's best."""
        wanted = (TORCH_GPU, COMPILED, NUMPY)
        return next(name for name in wanted if name in self.names)

    def plate(self, name: str, now: NDArray[Any], then: NDArray[Any]) -> Plate:
        """Return a plate of two equal fields; on the processor it shares the arrays' memory."""
        if name == NUMPY:
            return Plate(now, then, _one_by_one(_numpy_step))
        if name in IN_ONE_PASS:
            threads = 1 if name == COMPILED_ONE else self._threads
            bands = max(1, min(threads, now.size // BAND_CELLS))
            return Plate(now, then, functools.partial(in_bands, bands))
        torch = self._device.torch
        tensors = torch.from_numpy(now), torch.from_numpy(then)
        if name not in ON_GPU:
            step = functools.partial(_torch_step, torch)
            threads = 1 if name == TORCH_ONE else self._threads
            return Plate(*tensors, _one_by_one(step), threads)
        return self.moved(name, *(tensor.to(self._device.name) for tensor in tensors))

    def moved(self, name: str, now: Any, then: Any) -> Plate:
        """Return a plate of two equal fields on the GPU."""
        torch = self._device.torch
        if name == GPU_COMPILED:
            # Else the second size would make one slower kernel for all sizes.
            compiled = torch.compile(_fused_step, dynamic=False)
            return Plate(now, then, _one_by_one(compiled))
        return Plate(now, then, _one_by_one(functools.partial(_torch_step, torch)))


def as_picture(device: Device, plate: Plate, side: int) -> bytes:
    """Return the field, cells from 0 to 1, as `side` times `side` shades of grey."""
    every = plate.now.shape[0] // side
    cells = plate.now[::every, ::every][:side, :side]
    if device.torch.is_tensor(cells):
        cells = cells.cpu().numpy()
    shades: bytes = (cells * 255).astype("uint8").tobytes()
    return shades


def flower(side: int, dtype: str) -> NDArray[Any]:
    """Return a hot flower with eight petals on a warm plate."""
    import numpy as np

    places = np.linspace(-1, 1, side)
    x, y = places[None, :], places[:, None]
    edge = 0.55 + 0.3 * np.cos(8 * np.arctan2(y, x))
    radius = np.hypot(x, y)
    hot = (radius < edge) & (radius > 0.2)
    # Not 0: the tiny (denormal) numbers that spread into it would slow processors many times.
    field: NDArray[Any] = np.where(hot, 1.0, 0.1).astype(dtype)
    return field


def random_field(side: int, dtype: str) -> NDArray[Any]:
    """Return random cells from 0 to 1: equal numbers would make a GPU faster."""
    import numpy as np

    numbers = np.random.default_rng(side)
    block = numbers.random((min(side, 256), side), dtype=np.float32)
    return np.resize(block, (side, side)).astype(dtype)


def _one_by_one(step: Callable[[Any, Any], object]) -> Run:
    def run(now: Any, then: Any, steps: int) -> None:
        for _ in range(steps):
            step(now, then)
            now, then = then, now

    return run


def _numpy_step(now: Any, then: Any) -> None:
    import numpy as np

    inner = then[1:-1, 1:-1]
    np.add(now[:-2, 1:-1], now[2:, 1:-1], out=inner)
    inner += now[1:-1, :-2]
    inner += now[1:-1, 2:]
    inner += now[1:-1, 1:-1]
    inner *= SHARE


def _torch_step(torch: Any, now: Any, then: Any) -> None:
    inner = then[1:-1, 1:-1]
    torch.add(now[:-2, 1:-1], now[2:, 1:-1], out=inner)
    inner.add_(now[1:-1, :-2])
    inner.add_(now[1:-1, 2:])
    inner.add_(now[1:-1, 1:-1])
    inner.mul_(SHARE)


def _fused_step(now: Any, then: Any) -> None:
    total = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] + now[1:-1, 1:-1]
    then[1:-1, 1:-1] = total * SHARE


def in_bands(bands: int, now: Any, then: Any, steps: int) -> None:
    """Let each thread do its rows; all finish a step before the next one begins."""
    from .kernels import spread_rows

    inner, share = now.shape[0] - 2, now.dtype.type(SHARE)
    edges = [1 + inner * band // bands for band in range(bands + 1)]
    together = threading.Barrier(bands)

    def band(first: int, last: int) -> None:
        here, there = now, then
        for _ in range(steps):
            spread_rows(here, there, share, first, last)
            here, there = there, here
            together.wait()

    if bands == 1:
        band(1, inner + 1)
        return
    from concurrent.futures import ThreadPoolExecutor  # not for those who only list experiments

    with ThreadPoolExecutor(bands) as pool:
        list(pool.map(band, edges[:-1], edges[1:]))


def has_triton() -> bool:
    """Can torch compile for a GPU: are Triton and a C compiler there?"""
    compiler = os.environ.get("CC") or next(filter(shutil.which, COMPILERS), None)
    return compiler is not None and importlib.util.find_spec("triton") is not None
