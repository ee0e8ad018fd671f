"""In which ways are two matrices multiplied? On cores, on a GPU, and with the way there and back.

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
MOST_CALLS = 20  # of small products in a sample that waits for each
WARM_SIZE = 1024

Sample = Callable[[int], float | None]  # None where the device had to wait for its caller
Matrices = Callable[[int], list[Any]]  # two factors and a product with so many rows


def matrices(whole: Sequence[Any]) -> Matrices:
    """Return what gives two factors and a product of a size, all at the head of three arrays."""

    @functools.cache
    def of(size: int) -> list[Any]:
        return [each.narrow(0, 0, size * size).view(size, size) for each in whole]

    return of


def on_cores(cpu: Device, here: Matrices, cores: int) -> dict[str, Sample]:
    """Return the ways of the processor; with one core that is all of them."""
    counts: dict[tuple[int, int], int] = {}

    def sample(threads: int, size: int) -> float:
        cpu.torch.set_num_threads(threads)
        a, b, out = here(size)
        work = functools.partial(cpu.torch.mm, a, b, out=out)
        work()  # the threads have to come together again
        if (threads, size) not in counts:
            counts[threads, size] = enough(cpu, work)
        return taken(cpu, work, counts[threads, size]).device_s

    threads = {ONE: 1, ALL: cores} if cores > 1 else {ALL: 1}
    return {kind: functools.partial(sample, count) for kind, count in threads.items()}


def on_gpu(device: Device, here: Matrices, there: Matrices, most: int) -> dict[str, Sample]:
    """Return the ways of a GPU: by its own time, called and waited for, and with copies."""
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
