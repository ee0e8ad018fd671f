"""Does memory give back what was written to it?

Method: a part of the free memory is filled with a pattern of bits. The pattern is read back only
when all of it is written, far more than the caches hold. Every word is compared and written again
inverted; then that is read back too (moving inversions). The patterns: one bit that walks, each
word's own number, alternating bits, and random ones. On the processor every core works on memory
that it wrote first; on a GPU the GPU itself writes and compares.
Source: MemTest86 and memtester; on GPUs cuda_memtest, after which DCGM has its memory test.

Not shown: anything about memory that others hold. A test before the system starts (MemTest86)
reaches nearly all of it, and runs for hours.

To be confirmed on a GPU: that torch gives most of the free memory in such pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments import api as x
from experiments.devices.assumed import GPU_BYTES_PER_S, PINNING_BYTES_PER_S
from experiments.devices.device import CPU, Device, torch_devices

from .memory import Checked, GpuMemory, HostMemory, Memory

PATTERNS = ("walking", "address", "chess", "random")
USUAL_BYTES, USUAL_SHARE = 2 * x.GIB, 0.25  # of what is free, whichever is less
HOST_BYTES_PER_S = 3e9
SWEEPS = 4  # of a pattern: written, read and written inverted, read
BEYOND_CACHE = 2  # times all last-level caches: most of it must have come from memory


class Params(x.Params):
    """The parameters; on a GPU `size_bytes` is cut to what is free there."""

    device: str = x.param(CPU, choices=torch_devices)
    size_bytes: int = x.param(USUAL_BYTES, minimum=x.MIB, maximum=1024 * x.GIB, scale="log2")
    patterns: tuple[str, ...] = x.param(PATTERNS, choices=PATTERNS)
    rounds: int = x.param(1, minimum=1, maximum=1000)


class Pass(x.Row):
    """One region read back once, after all regions had been written."""

    pattern: str
    inverted: bool
    region: int
    repeat: int
    checked_bytes: int
    wrong_words: int


class Wrong(x.Row):
    """A word that came back wrong, of each region and pass the first few: expected xor found."""

    pattern: str
    inverted: bool
    region: int
    repeat: int
    offset_bytes: int
    flipped: str


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each region, pattern and pass, and for the first wrong words."""
    yield x.Progress(0.0)
    memory: Memory
    if params.device == CPU:
        memory = HostMemory(bench, params.size_bytes)
    else:
        memory = GpuMemory(Device(params.device, bench), params.size_bytes)
    if memory.is_cut:
        yield x.Note("memory_cut", {"size_bytes": memory.size_bytes})
    total = params.rounds * len(params.patterns) * 3 * memory.groups
    done = 0
    for repeat in range(params.rounds):
        for pattern in params.patterns:
            for found in _sweeps(memory, PATTERNS.index(pattern), repeat):
                bench.check_stop()
                done += 1
                for each, inverted in found:
                    where: dict[str, Any] = {
                        "pattern": pattern,
                        "inverted": inverted,
                        "region": each.region,
                        "repeat": repeat,
                    }
                    yield Pass(**where, checked_bytes=each.size_bytes, wrong_words=each.wrong_words)
                    for offset_bytes, flipped in each.first:
                        yield Wrong(**where, offset_bytes=offset_bytes, flipped=f"{flipped:016x}")
                yield x.Progress(done / total)


def _sweeps(memory: Memory, kind: int, repeat: int) -> Iterator[list[tuple[Checked, bool]]]:
    """Write everything, read it back and invert it, read that back; yield after each group."""
    for group in range(memory.groups):
        memory.write(group, kind, repeat)
        yield []
    for inverted in (False, True):
        for group in range(memory.groups):
            found = memory.check(group, kind, repeat, inverted=inverted)
            yield [(each, inverted) for each in found]


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Add the wrong words up."""
    passes = tables["passes"]
    values: dict[str, float] = {"wrong_words": sum(row.wrong_words for row in passes)}
    sizes = {row.region: row.checked_bytes for row in passes}
    values["memory_bytes"] = sum(sizes.values())
    values["checked_bytes"] = sum(row.checked_bytes for row in passes)
    limits = x.Limits()
    total_bytes = machine.memory.total_bytes
    if params.device == CPU and total_bytes:
        values["memory_fraction"] = min(1.0, values["memory_bytes"] / total_bytes)
        caches = {c for t in x.usable_threads(machine) for c in x.caches_of(machine, t.id)[-1:]}
        cached_bytes = sum(cache.size_bytes or 0 for cache in caches)
        limits.add("partly_in_cache", values["memory_bytes"] < BEYOND_CACHE * cached_bytes)
    limits.append("a_part_only")
    if not passes:
        return x.Finding("nothing_measured", values, tuple(limits))
    message = "words_are_wrong" if values["wrong_words"] else "all_came_back"
    return x.Finding(message, values, tuple(limits))


def seconds(params: Params) -> float:
    """Estimate by two cores, or by a small GPU that moves five times as much to make a pattern."""
    swept_bytes = params.rounds * len(params.patterns) * SWEEPS * params.size_bytes
    if params.device != CPU:
        return 3.0 + 5 * swept_bytes / GPU_BYTES_PER_S
    return 0.3 + params.size_bytes / PINNING_BYTES_PER_S + swept_bytes / HOST_BYTES_PER_S


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"passes": Pass, "wrong": Wrong},
    measure=measure,
    loop="kernels.py:check",
    analyse=analyse,
    views=(
        x.Bars(
            "patterns", "passes", "pattern", "wrong_words", statistic="greatest", order=PATTERNS
        ),
        x.Bars("regions", "passes", "region", "wrong_words", statistic="greatest"),
    ),
    values=x.values(
        "wrong_words",
        x.Value("memory_bytes", x.Part.MEMORY),
        "memory_fraction",
        "checked_bytes",
    ),
    parts=(x.Part.MEMORY, x.Part.GPU),
    imports=("numpy", "numba"),
    defaults=lambda _machine: Params(
        size_bytes=max(x.MIB, x.fits(USUAL_BYTES, USUAL_SHARE) // x.MIB * x.MIB)
    ),
    quick=x.change(size_bytes=lambda size: max(x.MIB, size // 2)),
    smallest=x.change(size_bytes=4 * x.MIB),
    budget=x.Budget(full={"size_bytes": x.MIB}, quick={"size_bytes": x.MIB}, full_s=25.0),
    seconds=seconds,
    memory_bytes=lambda params: params.size_bytes + 8 * x.MIB if params.device == CPU else x.MIB,
    can_wait=False,  # it has no turns
)
