"""How much faster does a GPU copy from memory that cannot move?

Method: sizes a factor of four apart are copied from pinned and from pageable memory, both ways, in
shuffled rounds. Pinned copies are queued behind a hold and timed by the device. Pageable copies are
timed by the caller's clock around synchronous calls, as the processor copies them itself. Then that
clock alone times the ways that a program may write: copy as it is, copy from memory pinned before,
or pin first. Host memory has been written before, near to the GPU if the machine names that node.
Source: the copies of NVIDIA's nvbandwidth; PyTorch's tutorial on pin_memory and non_blocking.

Not shown: copies by kernels instead of copy engines, and other sizes of pages.

Seen on an H100: 87 % of a PCIe 5 link, which reports that speed while copying. Pinning 1 GiB costs
0.75 s anew each time.
To be confirmed on a GPU: the rates beside nvbandwidth; the nearer memory node.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from experiments import api as x
from experiments.devices.assumed import (
    PAGEABLE_BYTES_PER_S,
    PINNED_BYTES_PER_S,
    PINNING_BYTES_PER_S,
)
from experiments.devices.ceilings import link_bytes_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, default_device, gpu_of, gpus_of
from experiments.devices.host_memory import PAGEABLE, PINNED, give_back_pinned, near
from experiments.devices.timing import MOST_QUEUED, taken, warm, whole_s
from machine.bus.pcie import able

from .start_up import start_up
from .transfers import WAYS, Transfers, each_s, enough_of

CHOICES = ("pinned_before", "as_it_is", "pinned_first")
HOST_BUFFERS = 4  # pageable, pinned there, pinned back, and one that is pinned for a single copy
LOOK_S = 0.06  # to read the link's state during copies
TOO_MUCH = 1.02


class Params(x.Params):
    """The parameters."""

    device: str = x.param(CPU, choices=gpus_of)
    smallest_bytes: int = x.param(4 * x.KIB, minimum=64, maximum=x.GIB, scale="log2")
    largest_bytes: int = x.param(x.GIB, minimum=x.KIB, maximum=16 * x.GIB, scale="log2")
    rounds: int = x.param(6, minimum=1, maximum=50)


class Copy(x.Row):
    """Copies of one size; both ways counts both. Not `is_clean`: the calls may be in the time."""

    size_bytes: int = x.column(scale="log2")
    way: str
    repeat: int
    bytes_per_s: float
    is_clean: bool


class Written(x.Row):
    """One way to write it, by the caller's clock until the data is there."""

    size_bytes: int = x.column(scale="log2")
    choice: str
    repeat: int
    took_s: float
    bytes_per_s: float


class Pinning(x.Row):
    """The times of `pin_memory()`: to get pinned memory from the system, and to copy into it."""

    size_bytes: int = x.column(scale="log2")
    repeat: int
    pinning_s: float = x.column(scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield copies and ways to write them, for every size in shuffled rounds."""
    device = Device(params.device, bench)
    with near(device):
        largest = device.fitting(params.largest_bytes, lambda size: 2 * size, x.KIB)
        if largest < params.largest_bytes:
            yield x.Note("less_on_gpu", {"largest_bytes": largest})
        copies = Transfers(device, largest)
        copies.check()
        ways = WAYS if PINNED in copies.sent else (WAYS[1], WAYS[3])
        warm(device, copies.call(ways[0], largest))
        sizes = sizes_between(params.smallest_bytes, largest)
        counts = {(s, way): enough_of(copies, way, s) for s in sizes for way in ways}
        choices: tuple[str, ...] = ("as_it_is",)
        if PINNED in copies.sent:
            choices = CHOICES if give_back_pinned(device) else CHOICES[:2]
        conditions = Conditions(device)
        arms = [(size, arm) for size in sizes for arm in (*ways, *choices)]
        for turn, (size, arm) in bench.interleave(arms, params.rounds):
            if arm in ways:
                yield _timed(copies, arm, size, counts[size, arm], turn.round)
            else:
                count = counts[size, WAYS[0] if arm == CHOICES[0] else WAYS[1]]
                yield from _written(copies, arm, size, count, turn.round)
            if (size, arm) == (largest, ways[0]):
                yield from _meanwhile(copies, ways[0], conditions, turn.round)
            yield x.Progress(turn.fraction)


def sizes_between(smallest: int, largest: int) -> list[int]:
    """Return sizes down from the largest, a factor of four apart."""
    sizes = [largest]
    while sizes[-1] // 4 >= smallest:
        sizes.append(sizes[-1] // 4)
    return sizes[::-1]


def _timed(copies: Transfers, way: str, size: int, count: int, repeat: int) -> Copy:
    call, moved = copies.call(way, size), 2 * size if way.endswith("both_ways") else size
    if way.startswith(PINNED):
        found = taken(copies.device, call, count)
        took_s, is_clean = found.device_s, found.is_clean
    else:
        took_s, is_clean = each_s(copies.device, call, count), True
    return Copy(
        size_bytes=size, way=way, repeat=repeat, bytes_per_s=moved / took_s, is_clean=is_clean
    )


def _written(
    copies: Transfers, choice: str, size: int, count: int, repeat: int
) -> Iterator[Written | Pinning]:
    device = copies.device
    if choice == "pinned_first":
        # Otherwise torch would reuse the memory of the last time for nothing.
        give_back_pinned(device)
        start_s = device.bench.now_s()
        once = copies.sent[PAGEABLE][:size].pin_memory()
        pinning_s = device.bench.now_s() - start_s
        copy = partial(copies.there[:size].copy_, once, non_blocking=True)
        took_s = pinning_s + whole_s(device, copy)
        yield Pinning(size_bytes=size, repeat=repeat, pinning_s=pinning_s)
    else:
        way = "pinned_to_gpu" if choice == "pinned_before" else "pageable_to_gpu"
        took_s = each_s(device, copies.call(way, size), count)
    yield Written(
        size_bytes=size, choice=choice, repeat=repeat, took_s=took_s, bytes_per_s=size / took_s
    )


def _meanwhile(
    copies: Transfers, way: str, conditions: Conditions, repeat: int
) -> Iterator[Condition]:
    """Yield the GPU's state while it copies: at rest its link slows down."""
    device, call = copies.device, copies.call(way, copies.size_bytes)
    once_s = max(whole_s(device, call), 1e-6)
    for _ in range(min(MOST_QUEUED, 1 + int(LOOK_S / once_s))):
        call()
    yield from conditions.rows(repeat)
    device.wait()


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Take the best rates, the start-up of a copy, and the cost of pinning."""
    copies = tables["copies"]
    limits = x.Limits(["two_clocks"])
    best = x.best_of(copies, "bytes_per_s", "way", choose=max)
    values = {f"{way}_bytes_per_s": best[way] for way in WAYS if way in best}
    values |= _start_ups(copies)
    link = link_bytes_per_s(machine, params.device)
    one_way = [rate for way, rate in best.items() if way in WAYS[:4]]
    if link and one_way:
        values |= {"link_bytes_per_s": link, "link_fraction": max(one_way) / link}
        if max(one_way) > TOO_MUCH * link or best.get(WAYS[4], 0.0) > TOO_MUCH * 2 * link:
            limits.append("above_the_limit")
    elif not link:
        limits.append("no_link_known")
    values |= _links(params, tables, machine)
    if values.get("link_generation", 99) < values.get("link_best_generation", 0):
        limits.append("link_is_slow")
    limits.add("calls_included", not all(row.is_clean for row in copies))
    gpu = gpu_of(machine, params.device)
    if len(x.usable_nodes(machine)) > 1 and (gpu is None or gpu.numa_node is None):
        limits.append("node_unknown")
    of = x.spreads_of(tables["written"], "took_s", "size_bytes", "choice")
    sizes = sorted(size for size, choice in of if choice == "pinned_before")
    sizes = [size for size in sizes if (size, "as_it_is") in of]
    if not sizes:
        only_pageable = bool(copies) and not any(row.way.startswith(PINNED) for row in copies)
        if only_pageable and "pageable_to_gpu_bytes_per_s" in values:
            return x.Finding("pageable_alone", values, tuple(limits))
        return x.Finding("in_part", values, tuple(limits))
    small, large = sizes[0], sizes[-1]
    values |= {"smallest_bytes": small, "largest_bytes": large}
    compared = {
        f"{name}_speedup": (of[size, "as_it_is"], of[size, "pinned_before"])
        for name, size in (("small", small), ("large", large))
    }
    found, unclear = x.ratios(compared)
    values |= found
    is_faster = of[large, "pinned_before"].is_below(of[large, "as_it_is"])
    small_pair = of[small, "pinned_before"], of[small, "as_it_is"]
    limits.add("equal_when_small", small_pair[0].is_as(small_pair[1]))
    unsure = x.unsure((of[large, "pinned_before"], of[large, "as_it_is"]))
    pinning, unclear_too = _pinning(tables, of, large, is_faster=is_faster)
    values |= pinning
    limits.add("pinning_not_measured", not any(choice == "pinned_first" for _, choice in of))
    message = unsure or _message(values, is_faster)
    return x.Finding(message, values, tuple(limits), (*unclear, *unclear_too))


def _message(values: Mapping[str, float], is_faster: bool) -> str:
    """Return the message; each sentence needs all its values."""
    if not is_faster:
        return "no_difference"
    if not {"pinned_to_gpu_bytes_per_s", "pageable_to_gpu_bytes_per_s"} <= values.keys():
        return "in_part"
    if "pinned_to_gpu_start_s" not in values:
        return "pinned_is_faster"
    return "pinned_pays_back" if "copies_to_pay_back" in values else "pinned_is_faster_after_start"


def _start_ups(copies: Any) -> dict[str, float]:
    """Return start-up and half-rate size for each way whose times form a line."""
    of = x.spreads(
        ((row.way, row.size_bytes), row.size_bytes / row.bytes_per_s, row.repeat) for row in copies
    )
    values: dict[str, float] = {}
    for way in WAYS[:4]:
        line = start_up({size: found.median for (other, size), found in of.items() if other == way})
        if line is not None:
            values |= {f"{way}_start_s": line.start_s, f"{way}_half_bytes": line.half_bytes}
    return values


def _links(params: Params, tables: x.Tables, machine: x.Machine) -> dict[str, float]:
    """Return the link's generation while it was used, and the best of both ends."""
    gpu = gpu_of(machine, params.device)
    card = next((d for d in machine.pci if gpu and d.address == gpu.pci_address), None)
    link = (card.link if card is not None else None) or (gpu.link if gpu is not None else None)
    best = able(link)[0] if link is not None else None
    seen = [row.pcie_generation for row in tables["conditions"] if row.pcie_generation]
    found = {"link_generation": max(seen, default=None), "link_best_generation": best}
    return {name: number for name, number in found.items() if number}


def _pinning(
    tables: x.Tables, of: Mapping[tuple[int, str], x.Spread], large: int, *, is_faster: bool
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return what pinning costs, after how many copies it has paid, and against none at all."""
    pinning = x.spreads_of(tables["pinnings"], "pinning_s", "size_bytes").get(large)
    first, before = of.get((large, "pinned_first")), of[large, "pinned_before"]
    if pinning is None or first is None:
        return {}, ()
    as_it_is = of[large, "as_it_is"]
    values, unclear = x.ratios({"pinned_first_slowdown": (first, as_it_is)})
    values["pinning_s"] = pinning.median
    if is_faster:
        gain_s = as_it_is.median - before.median
        values["copies_to_pay_back"] = math.ceil(pinning.median / gain_s)
    return values, unclear


def defaults(machine: x.Machine) -> Params:
    """Go up to 1 GiB, as far as half of the free memory holds all copies of it."""
    params = Params(device=default_device(machine))
    most_bytes = x.fits(memory_bytes(params), 0.5)
    return x.shrink(params, memory_bytes, most_bytes, largest_bytes=x.MIB)


def quick(params: Params) -> Params:
    """Go up to 16 MiB, in fewer rounds."""
    largest = max(min(params.largest_bytes, 16 * x.MIB), params.smallest_bytes)
    return replace(params, largest_bytes=largest, rounds=min(params.rounds, 5))


def seconds(params: Params) -> float:
    """Estimate from the bytes that each arm moves."""
    sizes = sizes_between(params.smallest_bytes, params.largest_bytes)
    per_byte_s = 5 / PINNED_BYTES_PER_S + 3 / PAGEABLE_BYTES_PER_S + 1 / PINNING_BYTES_PER_S
    turn_s = sum(sizes) * per_byte_s + len(sizes) * (len(WAYS) + len(CHOICES)) * 4e-3
    begin_s = memory_bytes(params) / PINNING_BYTES_PER_S
    return 1.0 + begin_s + (params.rounds + 1) * turn_s + params.rounds * 2 * LOOK_S


def memory_bytes(params: Params) -> int:
    """Return the bytes of four buffers of the largest size."""
    return HOST_BUFFERS * params.largest_bytes


_SIZE = x.Axis("size_bytes")

EXPERIMENT = x.Experiment(
    params=Params,
    tables={"copies": Copy, "written": Written, "pinnings": Pinning, "conditions": Condition},
    measure=measure,
    loop="transfers.py:each_s",
    analyse=analyse,
    views=(
        x.Lines(
            "rates",
            "copies",
            _SIZE,
            x.Axis("bytes_per_s"),
            series="way",
            order=WAYS,
            statistic="greatest",
            limits=(
                x.Limit("link", "link_bytes_per_s"),
                x.Limit("half", "pinned_to_gpu_half_bytes", "x"),
            ),
        ),
        x.Lines(
            "written",
            "written",
            _SIZE,
            x.Axis("bytes_per_s"),
            series="choice",
            order=CHOICES,
            limits=(x.Limit("link", "link_bytes_per_s"),),
        ),
        x.Lines("pinning", "pinnings", _SIZE, x.Axis("pinning_s")),
    ),
    values=x.values(
        *(x.Value(f"{way}_bytes_per_s", x.Part.PCIE) for way in WAYS),
        *(f"{way}_start_s" for way in WAYS[:4]),
        *(f"{way}_half_bytes" for way in WAYS[:4]),
        x.Value("pinning_s", x.Part.MEMORY),
        "pinned_first_slowdown",
        "copies_to_pay_back",
        "small_speedup",
        "large_speedup",
        "smallest_bytes",
        "largest_bytes",
        "link_bytes_per_s",
        x.Value("link_fraction", x.Part.PCIE),
        "link_generation",
        "link_best_generation",
    ),
    keys=(
        x.Key("pinned_to_gpu_bytes_per_s", "rates", ("pinned_to_gpu",)),
        x.Key("pageable_to_gpu_bytes_per_s", "rates", ("pageable_to_gpu",)),
        x.Key("pinning_s", "pinning", at="largest_bytes"),
    ),
    next=x.Next("non-blocking", {"largest_bytes": 16 * x.MIB}),
    parts=(x.Part.MEMORY, x.Part.PCIE, x.Part.GPU),
    needs=(x.Need.GPU,),
    imports=("torch",),
    defaults=defaults,
    quick=quick,
    smallest=x.change(smallest_bytes=64 * x.KIB, largest_bytes=256 * x.KIB, rounds=2),
    seconds=seconds,
    memory_bytes=memory_bytes,
    quiet_limit_s=60.0,  # gigabytes are pinned and written first
    cuda_reference={
        f"{kind}_{way}_bytes_per_s": (f"{kind}_{way}_bytes_per_s", budget)
        for kind, budget in (("pinned", (0.95, 1.05)), ("pageable", (0.85, 1.15)))
        for way in ("to_gpu", "from_gpu")
    },
)
