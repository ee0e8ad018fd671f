"""What happens when two tensors lie on different devices?

Method: a vector of the processor and one of the device are added, and PyTorch's answer is kept.
Without a GPU the other device is PyTorch's "meta", which knows shapes and keeps no numbers: the
refusal is the same. Then vectors of growing size are added. Both lie on the device, or one is first
fetched from main memory. Fetching is also timed alone, as are copying within the device and
bringing the result back. Ways and sizes are timed in shuffled rounds, by the caller's clock until
the device has finished. Calls follow each other, so that the last wait counts little.

Not shown: the gain of pinned memory (see `pinned`), or of copying while computing (see `streams`).

To be confirmed on a GPU: small pageable copies, which may come back early. CUDA's own sentence for
two devices is what is expected (H100).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from experiments import api as x
from experiments.devices.assumed import CPU_BYTES_PER_S, PAGEABLE_BYTES_PER_S
from experiments.devices.ceilings import link_bytes_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, devices_of, on_first_device
from experiments.devices.failures import device_problem
from experiments.devices.timing import SAMPLE_S, each_s, enough_in_a_row, warm

FP32_BYTES = 4
SMALLEST_BYTES = 4 * x.KIB
STEP = 4  # times, from one size to the next
VECTORS = 3  # two and the result on the device; one more in main memory
SAME, THERE, WITHIN, FETCH, FETCH_ADD, BACK = (
    "same",
    "there",
    "within",
    "fetch",
    "fetch_add",
    "back",
)
WAYS = (SAME, FETCH_ADD, FETCH, BACK, WITHIN, THERE)
COPIES = (FETCH, BACK, WITHIN)
NAMES = {
    SAME: "same_device_s",
    FETCH_ADD: "copy_then_add_s",
    FETCH: "copy_s",
    BACK: "copy_back_s",
    WITHIN: "copy_within_s",
    THERE: "already_there_s",
}
ABOVE = 1.02  # of a limit, and more, is suspect


class Params(x.Params):
    """The parameters; `largest_bytes` is the size of one vector."""

    device: str = x.param(CPU, choices=devices_of)
    largest_bytes: int = x.param(
        64 * x.MIB, minimum=SMALLEST_BYTES, maximum=4 * x.GIB, scale="log2"
    )
    rounds: int = x.param(10, minimum=1, maximum=50)


class Attempt(x.Row):
    """One addition across devices; `said` is PyTorch's answer, empty where it added."""

    what: str
    first: str
    second: str
    said: str


class SumTime(x.Row):
    """One way to a sum, or a part of it, with vectors of one size."""

    size_bytes: int = x.column(scale="log2")
    way: str
    repeat: int
    took_s: float = x.column(scale="log10")


class Copy(x.Row):
    """A copy's rate at one size."""

    size_bytes: int = x.column(scale="log2")
    way: str
    repeat: int
    bytes_per_s: float = x.column(scale="log10")


def sizes(params: Params, most_bytes: int | None = None) -> list[int]:
    """Return the sizes of the vectors, smallest first; at least one."""
    largest = params.largest_bytes if most_bytes is None else min(params.largest_bytes, most_bytes)
    return x.ladder(SMALLEST_BYTES, largest, STEP)


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield PyTorch's answers to two devices, then the ways in shuffled rounds."""
    device = Device(params.device, bench)
    for attempt in _attempts(device):
        yield attempt
        if attempt.said:
            values = {"first": attempt.first, "second": attempt.second, "said": attempt.said}
            yield x.Note("devices_differ", values)
    works = _works(device, sizes(params, device.free_bytes() // VECTORS))
    warm(device, works[max(works)])
    counts = {arm: enough_in_a_row(device, work) for arm, work in works.items()}
    conditions = Conditions(device)
    largest = max(size_bytes for size_bytes, _ in works), SAME
    for turn, arm in bench.interleave(list(works), params.rounds):
        size_bytes, way = arm
        took_s = each_s(device, works[arm], counts[arm])
        yield SumTime(size_bytes=size_bytes, way=way, repeat=turn.round, took_s=took_s)
        if way in COPIES:
            rate = size_bytes / took_s
            yield Copy(size_bytes=size_bytes, way=way, repeat=turn.round, bytes_per_s=rate)
        if arm == largest:
            yield from conditions.rows(turn.round)
        yield x.Progress(turn.fraction)


def _attempts(device: Device) -> Iterator[Attempt]:
    """Add across two devices: vectors, and a vector and a single number."""
    torch, second = device.torch, device.name if device.is_gpu else "meta"
    there = torch.ones(3, device=second)
    for what, here in (("vectors", torch.ones(3)), ("number", torch.tensor(1.0))):
        said = ""
        try:
            here + there
        except RuntimeError as error:
            if device_problem(error) is not None:  # not a refusal: the GPU itself failed
                raise
            said = str(error).partition("\n")[0]
        yield Attempt(what=what, first=CPU, second=second, said=said)


def _works(device: Device, of_sizes: list[int]) -> dict[tuple[int, str], Callable[[], object]]:
    """Return each way at each size; the smaller vectors are the heads of the largest."""
    torch, most = device.torch, max(of_sizes) // FP32_BYTES
    all_a, all_there = (torch.randn(most, device=device.name) for _ in range(2))
    all_out, all_host = torch.empty_like(all_a), torch.randn(most if device.is_gpu else 0)
    found: dict[tuple[int, str], Callable[[], object]] = {}
    for size_bytes in of_sizes:
        count = size_bytes // FP32_BYTES
        a, there, out, host = (each[:count] for each in (all_a, all_there, all_out, all_host))
        add = partial(torch.add, a, there, out=out)
        fetch = partial(there.copy_, host)
        works: dict[str, Callable[[], object]] = {
            SAME: add,
            THERE: partial(there.to, device.name),
            WITHIN: partial(there.copy_, a),
        }
        if device.is_gpu:
            works |= {
                FETCH: fetch,
                FETCH_ADD: partial(_both, fetch, add),
                BACK: partial(host.copy_, out),
            }
        found |= {(size_bytes, way): work for way, work in works.items()}
    return found


def _both(fetch: Callable[[], object], add: Callable[[], object]) -> None:
    fetch()
    add()


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare, at the largest size, adding on one device with fetching one vector first."""
    size_bytes = max((row.size_bytes for row in tables["ways"]), default=0)
    took = x.spreads_of(tables["ways"], "took_s", "way", size_bytes=size_bytes)
    limits = x.Limits()
    refusals = [attempt for attempt in tables["attempts"] if attempt.said]
    limits.add("not_refused", tables["attempts"] and not refusals)
    limits.add("shown_with_meta", any(attempt.second == "meta" for attempt in tables["attempts"]))
    limits.add("memory_is_short", size_bytes and size_bytes < sizes(params)[-1])
    values: dict[str, Any] = {NAMES[way]: found.median for way, found in took.items()}
    if size_bytes:
        values["size_bytes"] = size_bytes
    if params.device == CPU:
        limits.append("fetching_needs_gpu")
        if not all(way in took for way in (SAME, WITHIN, THERE)):
            return x.Finding("in_part", values, tuple(limits))
        return x.Finding("one_device", values, tuple(limits))
    link = link_bytes_per_s(machine, params.device)
    if link is not None:
        values["link_limit_bytes_per_s"] = link
    if FETCH in took:
        values["fetch_bytes_per_s"] = size_bytes / took[FETCH].median
        if link is not None and values["fetch_bytes_per_s"] > ABOVE * link:
            limits.append("above_the_limit")
    if not all(way in took for way in (SAME, FETCH, FETCH_ADD)):
        return x.Finding("in_part", values, tuple(limits))
    compared, unclear = x.ratios({"fetch_over_add": (took[FETCH], took[SAME])})
    if (unsure := x.unsure((took[SAME], took[FETCH]))) is not None:
        return x.Finding(unsure, values | compared, tuple(limits), unclear)
    costs = took[SAME].is_below(took[FETCH])
    message = "fetching_costs" if costs else "fetching_costs_no_more"
    return x.Finding(message, values | compared, tuple(limits), unclear)


def seconds(params: Params) -> float:
    """Estimate from the bytes that a call moves, at a cautious rate."""
    ways = 3 if params.device == CPU else len(WAYS)
    rate = CPU_BYTES_PER_S if params.device == CPU else PAGEABLE_BYTES_PER_S
    passes = sum(2 * SAMPLE_S + 2 * size / rate for size in sizes(params))
    return 0.5 + ways * (params.rounds + 3) * passes


def memory_bytes(params: Params) -> int:
    """Return the bytes of all vectors in main memory: on a GPU, that is a single vector."""
    vectors = VECTORS if params.device == CPU else 1
    return vectors * sizes(params)[-1] + x.MIB


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"attempts": Attempt, "ways": SumTime, "copies": Copy, "conditions": Condition},
    measure=measure,
    loop="devices/timing.py:each_s",
    analyse=analyse,
    views=(
        x.Lines("ways", "ways", x.Axis("size_bytes"), x.Axis("took_s"), series="way", order=WAYS),
        x.Lines(
            "copies",
            "copies",
            x.Axis("size_bytes"),
            x.Axis("bytes_per_s"),
            series="way",
            order=COPIES,
            limits=(x.Limit("link", "link_limit_bytes_per_s"),),
        ),
    ),
    values=x.values(
        x.Value("same_device_s", x.Part.GPU),
        "copy_then_add_s",
        x.Value("copy_s", x.Part.PCIE),
        "copy_back_s",
        "copy_within_s",
        "already_there_s",
        "fetch_over_add",
        x.Value("fetch_bytes_per_s", x.Part.PCIE),
        "link_limit_bytes_per_s",
        "size_bytes",
    ),
    keys=(
        x.Key("same_device_s", "ways", ("same",), at="size_bytes"),
        x.Key("copy_within_s", "ways", ("within",), at="size_bytes"),
        x.Key("copy_then_add_s", "ways", ("fetch_add",), at="size_bytes"),
    ),
    next=x.Next("crossover", {"largest_bytes": x.MIB}),
    parts=(x.Part.GPU, x.Part.PCIE),
    imports=("torch",),
    defaults=on_first_device(Params, largest_bytes=256 * x.MIB),  # beyond the caches
    quick=x.change(rounds=5, at_most={"largest_bytes": 16 * x.MIB}),
    smallest=x.change(largest_bytes=64 * x.KIB, rounds=2),
    budget=x.Budget(quick={"largest_bytes": x.MIB}),
    seconds=seconds,
    memory_bytes=memory_bytes,
)
