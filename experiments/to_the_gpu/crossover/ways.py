"""The ways of multiplying two matrices: on cores, on a GPU, and including the copies.

A way takes a number of rows and returns the seconds of one product.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from experiments.devices.device import Device
from experiments.devices.timing import SAMPLE_S, enough, taken, warm, whole_s

ONE, ALL, KERNEL, CALLED, COPIED = "one_core", "all_cores", "kernel", "called", "with_copies"
KINDS = (ONE, ALL, KERNEL, CALLED, COPIED)
MOST_CALLS = 20  # of small products in a sample; each is waited for
WARM_SIZE = 1024

Sample = Callable[[int], float | None]  # None if the device had to wait for its caller
Matrices = Callable[[int], list[Any]]  # two factors and a product with so many rows


def matrices(whole: Sequence[Any]) -> Matrices:
    """Return a function from a size to two factors and a product, at the head of three arrays."""

    @functools.cache
    def of(size: int) -> list[Any]:
        return [each.narrow(0, 0, size * size).view(size, size) for each in whole]

    return of


def on_cores(cpu: Device, here: Matrices, cores: int) -> dict[str, Sample]:
    """Return the processor's ways; with one core there is only one."""
    counts: dict[tuple[int, int], int] = {}

    def sample(threads: int, size: int) -> float:
        cpu.torch.set_num_threads(threads)
        a, b, out = here(size)
        work = functools.partial(cpu.torch.mm, a, b, out=out)
        work()  # the threads must be set up again
        if (threads, size) not in counts:
            counts[threads, size] = enough(cpu, work)
        return taken(cpu, work, counts[threads, size]).device_s

    threads = {ONE: 1, ALL: cores} if cores > 1 else {ALL: 1}
    return {kind: functools.partial(sample, count) for kind, count in threads.items()}


def on_gpu(device: Device, here: Matrices, there: Matrices, most: int) -> dict[str, Sample]:
    """Return a GPU's ways: by its own time, called and waited for, and with copies."""
    torch = device.torch
    counts: dict[int, int] = {}

    def product(size: int) -> Callable[[], object]:
        a, b, out = there(size)
        return functools.partial(torch.mm, a, b, out=out)

    def carried(size: int) -> Callable[[], object]:
        (a, b, out), (from_a, from_b, to) = there(size), here(size)

        def work() -> None:
            a.copy_(from_a, non_blocking=True)
            b.copy_(from_b, non_blocking=True)
            torch.mm(a, b, out=out)
            to.copy_(out, non_blocking=True)

        return work

    def kernel(size: int) -> float | None:
        work = product(size)
        if size not in counts:
            counts[size] = enough(device, work)
        found = taken(device, work, counts[size])
        return found.device_s if found.is_clean else None

    def waited(work_of: Callable[[int], Callable[[], object]], size: int) -> float:
        work = work_of(size)
        calls = max(1, min(MOST_CALLS, int(SAMPLE_S / max(whole_s(device, work), 1e-9))))
        return sum(whole_s(device, work) for _ in range(calls)) / calls

    warm(device, product(min(WARM_SIZE, most)))
    return {
        KERNEL: kernel,
        CALLED: functools.partial(waited, product),
        COPIED: functools.partial(waited, carried),
    }
