"""A small training loop: a loader of images with its workers, and a network that learns."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from experiments.core.limits import shared_memory_bytes
from experiments.core.problems import UserError
from experiments.core.sizes import MIB
from experiments.devices.assumed import network_flop_per_s
from experiments.devices.device import CPU, Device
from experiments.tools import loader_server
from experiments.tools.own_folder import own_folder
from machine.system.kill import kill
from machine.system.scratch import semaphore_prefix

FP32_BYTES = 4
FOLDER = "coreopsis-helpers-"
PRELOADED = (loader_server.__name__, "torch.utils.data", "experiments.tools.images")
LOOK_S = (1.0,)  # how often one who waits looks whether a worker has died
PIXELS, CHANNELS, CLASSES = 64 * 64, 3, 10  # of a picture, as `images` makes it
IMAGE_BYTES = PIXELS * CHANNELS * FP32_BYTES
WORKER_BYTES = 150 * MIB  # with torch's libraries, of which it shares most
PREFETCHED = 2  # batches that a worker makes beforehand, as torch has it
IMAGE_S, PASS_S = 0.8e-3, 0.6e-3  # to decode a picture, and to smooth it once
FORKS = os.name == "posix"  # there multiprocessing has its server
SERVER_S = 2.5  # until the server has loaded torch
# Until a worker's first batch. LIMIT: without forks (Windows) a quick run takes longer than 5 s.
WORKER_S = 0.15 if FORKS else SERVER_S
LAYERS = 3
RATE = 0.01  # of learning
STEP_S = 1e-3  # of calls, whatever the network


class Training:
    """A network of three convolutions on a device, which learns by gradient descent."""

    def __init__(self, device: Device, width: int, rate: float = RATE) -> None:
        from torch import nn

        self._device, self._rate = device, rate
        device.torch.manual_seed(6)
        layers: list[Any] = []
        for before in (CHANNELS, width, width):
            layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU()]
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, CLASSES)]
        self._net = nn.Sequential(*layers).to(device.name)
        self._loss = nn.CrossEntropyLoss()
        self._weights = list(self._net.parameters())

    def step(self, images: Any, labels: Any) -> Any:
        """Learn one batch, wherever it lies; return its loss when the device has finished."""
        images = images.to(self._device.name, non_blocking=True)
        labels = labels.to(self._device.name, non_blocking=True)
        loss = self._loss(self._net(images), labels)
        loss.backward()
        with self._device.torch.no_grad():  # by hand: torch's optimisers would load its compiler
            for weights in self._weights:
                weights.sub_(weights.grad, alpha=self._rate)
                weights.grad = None
        self._device.wait()
        return loss.detach()

    def batch(self, count: int) -> tuple[Any, Any]:
        """Return a batch that already lies on the device."""
        torch, name = self._device.torch, self._device.name
        side = int(PIXELS**0.5)
        images = torch.randn(count, CHANNELS, side, side, device=name)
        return images, torch.randint(0, CLASSES, (count,), device=name)


@contextlib.contextmanager
def worker_context(are_wanted: bool = True) -> Iterator[Any]:
    """Yield how to start the loaders' workers, None if none are wanted.

    This process has threads, so it must not be forked. If the system can fork, a server that has
    loaded torch does it; otherwise each worker loads torch. The sockets' folder goes with the
    workers.
    """
    if not are_wanted:
        yield None
        return
    import multiprocessing  # not for a list of experiments

    if not FORKS:
        yield multiprocessing.get_context("spawn")
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED, *_main()])
    known: dict[str, Any] = vars(multiprocessing.current_process())["_config"]
    before = dict(known)
    os.environ[loader_server.OWNER] = str(os.getpid())
    with own_folder(FOLDER) as known["tempdir"]:
        known["semprefix"] = semaphore_prefix() or known["semprefix"]
        try:
            yield context
        finally:
            _end_server()
            known.update({"tempdir": None, **before})
            del os.environ[loader_server.OWNER]


def _main() -> list[str]:
    """Return the module that runs here: each worker imports it again."""
    spec = vars(sys.modules["__main__"]).get("__spec__")
    return [] if spec is None or spec.name.endswith("__main__") else [spec.name]


def _end_server() -> None:
    """End the server; by itself it would unload torch first, and stay as long as this process."""
    from multiprocessing import forkserver

    server: Any = forkserver._forkserver
    if server._forkserver_pid is not None:
        kill(server._forkserver_pid)
        server._stop()  # as the tests of Python end it


@contextlib.contextmanager
def loader(
    device: Device, context: Any, *, batches: int, batch: int, passes: int, workers: int, pin: bool
) -> Iterator[Any]:
    """Yield a torch loader whose workers live from epoch to epoch, and end them."""
    from torch.utils.data import DataLoader, dataloader

    from experiments.tools.images import Images

    check_shared_memory(batch, workers)
    dataloader._MultiProcessingDataLoaderIter._try_get_data.__defaults__ = LOOK_S
    made: Any = DataLoader(
        Images(batches * batch, passes),
        batch_size=batch,
        num_workers=workers,
        multiprocessing_context=context if workers else None,
        persistent_workers=workers > 0,
        pin_memory=pin and device.has_streams,
        worker_init_fn=loader_server.begin_worker,
    )
    try:
        yield made
    finally:
        if workers and made._iterator is not None:
            made._iterator._shutdown_workers()


def check_shared_memory(batch: int, workers: int) -> None:
    """Look whether the workers can hand over all batches under way. Raises UserError.

    By default Docker gives a container 64 MB of it.
    """
    free_bytes = shared_memory_bytes()
    needed_bytes = (PREFETCHED * workers + 1) * batch * IMAGE_BYTES if workers else 0
    if free_bytes is not None and needed_bytes > free_bytes:
        raise UserError("shared_memory_too_small", needed_bytes=needed_bytes, free_bytes=free_bytes)


def image_s(passes: int) -> float:
    """Estimate a worker's time for one image."""
    return IMAGE_S + PASS_S * passes


def step_s(device: str, width: int, batch: int) -> float:
    """Estimate the network's time for one batch, forward and backward."""
    weights = 9 * (CHANNELS * width + (LAYERS - 1) * width**2)
    return STEP_S + batch * 3 * 2 * PIXELS * weights / network_flop_per_s(device)


def memory_bytes(device: str, width: int, batch: int, workers: int) -> int:
    """Return the memory of workers and batches, and of the network on the processor."""
    batches = (PREFETCHED * workers + 2) * batch * IMAGE_BYTES
    values = 4 * LAYERS * width * PIXELS * batch * FP32_BYTES if device == CPU else 0
    return workers * WORKER_BYTES + batches + values
