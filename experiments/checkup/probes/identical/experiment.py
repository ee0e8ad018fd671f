"""Does the same calculation always give the same bits?

Method: two matrices of random numbers are multiplied again and again. Each result is compared bit
by bit with the first. On the processor all cores multiply at once, each thread kept on its core
(pinned). All compare with one result. On a GPU the first products only warm up: until then its
library may still choose another kernel. Afterwards kernel, shapes and stream stay the same. For
that case NVIDIA promises equal bits.
Source: gpu-burn counts errors in the same way; "Results Reproducibility" in the documentation of
cuBLAS.

Not shown: an error that comes only with another load, or after hours.

Seen on an H100: 5450 products, all alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from experiments import api as x
from experiments.devices.device import CPU, Device, torch_devices
from experiments.devices.timing import warm, whole_s
from experiments.tools.neighbours import by_topology
from experiments.tools.precisions import BF16, FP16, FP32, TF32, choose, has_tf32, kind_of
from experiments.tools.side_by_side import seconds_together

FP64 = "fp64"
DTYPES = (FP64, FP32, TF32, FP16, BF16)
OF_NUMPY = (FP64, FP32)  # which the processor has arithmetic for
WORDS = {8: "int64", 4: "int32", 2: "int16"}  # by bytes: the bits of a number as an integer
MOST_QUEUED = 1000


class Params(x.Params):
    """The parameters; matrices on the processor have `rows`, on a GPU `gpu_rows`."""

    device: str = x.param(CPU, choices=torch_devices)
    dtypes: tuple[str, ...] = x.param(DTYPES, choices=DTYPES)
    rows: int = x.param(256, minimum=8, maximum=8192, scale="log2")
    gpu_rows: int = x.param(4096, minimum=8, maximum=32768, scale="log2")
    sample_s: float = x.param(0.2, minimum=0.001, maximum=10.0)
    rounds: int = x.param(15, minimum=1, maximum=10_000)


class Repeat(x.Row):
    """So many products compared with the first; `thread` is the hardware thread, on a GPU none."""

    device: str
    thread: int | None
    dtype: str
    repeat: int
    products: int
    differing_elements: int


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each core or GPU, kind of number and round."""
    yield x.Progress(0.0)
    if params.device == CPU:
        of = {kind: _on_cores(kind, params, bench) for kind in OF_NUMPY if kind in params.dtypes}
    else:
        device = Device(params.device, bench)
        kinds = [k for k in params.dtypes if k != TF32 or has_tf32(device)]
        of = {kind: _on_gpu(kind, params, device) for kind in kinds}
    if not of:
        raise x.UserError("no_such_numbers", device=params.device)
    turns = list(itertools.product(range(params.rounds), of))
    for done, (number, kind) in enumerate(turns, 1):  # not timed, so a disturbed one counts too
        bench.check_stop()
        for thread, products, differing in of[kind]():
            yield Repeat(
                device=params.device,
                thread=thread,
                dtype=kind,
                repeat=number,
                products=products,
                differing_elements=differing,
            )
        yield x.Progress(done / len(turns))


# The hardware thread, how many products were made, and how many elements differed.
Found = tuple[int | None, int, int]
Sample = Callable[[], Iterator[Found]]


def _on_cores(kind: str, params: Params, bench: x.Bench) -> Sample:
    """Return a sample of products on all cores at once."""
    import numpy as np

    chance = np.random.default_rng(x.SEED)
    dtype = np.float64 if kind == FP64 else np.float32
    a, b = (chance.standard_normal((params.rows, params.rows)).astype(dtype) for _ in range(2))
    places: list[int | None] = [thread.id for thread in by_topology(bench.machine)] or [None]
    reference = np.matmul(a, b)

    def sample() -> Iterator[Found]:
        found: dict[int | None, tuple[int, int]] = {}
        until_s = bench.now_s() + params.sample_s

        def is_over() -> bool:
            bench.check_stop()
            return bench.now_s() >= until_s

        def job(place: int | None) -> None:
            out = np.empty_like(reference)
            multiply = partial(np.matmul, a, b, out=out)
            found[place] = repeated(multiply, reference, is_over)

        seconds_together(bench, [(place, partial(job, place)) for place in places])
        yield from ((place, *found[place]) for place in places)

    return sample


def repeated(
    multiply: Callable[[], Any], reference: Any, is_over: Callable[[], bool]
) -> tuple[int, int]:
    """Return how many products were made until it is over, and how many elements differed."""
    import numpy as np

    expected = reference.view(WORDS[reference.itemsize])
    products = differing = 0
    while not products or not is_over():
        differing += int(np.count_nonzero(multiply().view(expected.dtype) != expected))
        products += 1
    return products, differing


def _on_gpu(kind: str, params: Params, device: Device) -> Sample:
    """Return a sample of products on a GPU, which compares them itself."""
    torch, rows = device.torch, params.gpu_rows
    dtype = torch.float64 if kind == FP64 else kind_of(torch, kind)
    chance = torch.Generator().manual_seed(x.SEED)
    a, b = (torch.randn(rows, rows, generator=chance).to(dtype).to(device.name) for _ in range(2))
    out, words = torch.empty_like(a), getattr(torch, WORDS[a.element_size()])
    choose(device, kind)
    warm(device, lambda: torch.mm(a, b, out=out))
    expected = out.clone().view(words)
    differing = torch.zeros((), dtype=torch.int64, device=device.name)

    def one() -> None:
        torch.mm(a, b, out=out)
        differing.add_((out.view(words) != expected).sum())

    once_s = whole_s(device, one)
    count = max(1, min(MOST_QUEUED, round(params.sample_s / once_s)))

    def sample() -> Iterator[Found]:
        choose(device, kind)
        differing.zero_()
        for _ in range(count):
            one()
        yield None, count, int(differing)

    return sample


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Add up the elements that differed."""
    rows = tables["repeats"]
    values: dict[str, float] = {
        "products": sum(row.products for row in rows),
        "differing_elements": sum(row.differing_elements for row in rows),
    }
    limits = ["another_load"]
    if not rows:
        return x.Finding("nothing_measured", values, tuple(limits))
    wrong = [row for row in rows if row.differing_elements]
    if not wrong:
        return x.Finding("always_the_same", values, tuple(limits))
    threads = {row.thread for row in wrong} - {None}
    if threads:
        values |= {"faulty_threads": len(threads), "first_faulty_thread": min(threads)}
    return x.Finding("results_differ", values, tuple(limits))


def seconds(params: Params) -> float:
    """Estimate: the samples, and on a GPU the start of each kind of number."""
    kinds = [kind for kind in params.dtypes if params.device != CPU or kind in OF_NUMPY]
    start_s = 0.3 if params.device == CPU else 1.0 + len(kinds)
    return start_s + len(kinds) * params.rounds * params.sample_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"repeats": Repeat},
    measure=measure,
    analyse=analyse,
    views=(
        x.Bars(
            "dtypes", "repeats", "dtype", "differing_elements", order=DTYPES, statistic="greatest"
        ),
        x.Lines(
            "rounds",
            "repeats",
            x.Axis("repeat"),
            x.Axis("differing_elements"),
            series="dtype",
            order=DTYPES,
            statistic="greatest",
        ),
    ),
    values=x.values(
        "differing_elements",
        "products",
        x.Value("faulty_threads", x.Part.CORES),
        "first_faulty_thread",
    ),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("numpy",),
    defaults=lambda _machine: Params(),
    quick=x.change(rounds=5),
    smallest=x.change(rows=32, gpu_rows=32, sample_s=0.002, rounds=3),
    budget=x.Budget(quick={"rounds": 3, "sample_s": 0.01}),
    seconds=seconds,
    memory_bytes=lambda params: 16 * 8 * params.rows**2 if params.device == CPU else x.MIB,
    can_wait=False,  # it has no turns
)
