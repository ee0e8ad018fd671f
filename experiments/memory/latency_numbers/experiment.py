"""How long does everything take on this machine? From one step of the first cache to a process.

Method: each number is timed as in the experiment that it comes from. Dependent reads are from
`cache-ladder`, calls, threads and processes from `start-cost`, and the hand-over from `talk-cost`.
The disk is from `storage`, wrong guesses from `branches`, page faults from `page-faults`, and the
switch of threads from `context-switch`. The kernel is timed by a call that only asks for a number.
Numbers are shuffled in each round, and the best counts, because all disturbance only adds. A second
table scales them, as if a read from the first cache took one second.
Source: J. Dean, "Numbers everyone should know"; P. Norvig for the seconds. Their numbers are of
another machine. The well-known interactive version computes them; here they are measured.

A word to a thread can take longer than a byte to a process: `queue.Queue` is written in Python. A
thread that it wakes soon sleeps again, until the other lets go of the queue's lock and of Python's.
On one core of a virtual machine, there and back, that was 4.4 changes of thread and 24 µs;
`queue.SimpleQueue`, written in C, took 3 and 12 µs, a byte through loopback 15 µs.

Not shown: the numbers of a busy machine, which `stream` and `core-to-core` show.
"""

from __future__ import annotations

import contextlib
import math

from experiments import api as x
from experiments.tools.core_clock import Clock, clocks, core_hz

from . import everyday

DISTANCES = ("l1", "l2", "l3", "memory")
NAMES = (
    *DISTANCES, "mispredict", "call", "lock", "system_call", "page_fault", "switch", "handoff",
    "loopback", "thread", "disk", "process",
)  # fmt: skip
SCALED = ("memory", "disk", "process")
FREE_SHARE = 0.25
FILE_BYTES, QUICK_FILE_BYTES = 64 * x.MIB, 16 * x.MIB
QUICK_MEMORY_BYTES = x.GIB
FRAME_S, BLINK_S = 1 / 60, 0.1


class Params(x.Params):
    """The parameters; with `memory_bytes` of less than four last-level caches, no memory."""

    memory_bytes: int = x.param(128 * x.MIB, minimum=x.MIB, maximum=64 * x.GIB, scale="log2")
    folder: str = x.param("", is_folder=True)
    file_bytes: int = x.param(FILE_BYTES, minimum=8 * x.MIB, maximum=64 * x.GIB, scale="log2")
    rounds: int = x.param(7, minimum=1, maximum=50)


class Number(x.Row):
    """One sample of one operation."""

    what: str
    repeat: int
    took_s: float = x.column(scale="log10")


class Scaled(x.Row):
    """An operation's best, as if a read from the first cache took one second."""

    what: str
    as_if_s: float = x.column(scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each operation and round; at the end, each one scaled."""
    best: dict[str, float] = {}
    with contextlib.ExitStack() as stack:
        yield x.Progress(0.0)
        numbers = everyday.started(bench, stack) | everyday.asked(bench)
        numbers |= everyday.by_kernel(bench) | everyday.guessed(bench)
        yield x.Progress(0.1)
        numbers |= everyday.handed_over(bench, stack)
        numbers |= everyday.from_disk(bench, stack, params.folder, params.file_bytes)
        yield x.Progress(0.2)
        numbers |= everyday.distances(bench, _memory_bytes(params, bench.machine))
        clocked = -1
        for arm, name in bench.interleave(list(numbers), params.rounds):
            if arm.round > clocked:
                with bench.pinned():
                    yield from clocks(bench, arm.round)
                clocked = arm.round
            took_s = numbers[name](arm.round)
            if took_s <= 0:  # of a difference: no price could be seen
                continue
            if bench.disturbed is None:
                best[name] = min(took_s, best.get(name, took_s))
            yield Number(what=name, repeat=arm.round, took_s=took_s)
            yield x.Progress(0.25 + 0.75 * arm.fraction)
    if "l1" in best:
        for name, took_s in best.items():
            yield Scaled(what=name, as_if_s=took_s / best["l1"])


def _memory_bytes(params: Params, machine: x.Machine) -> int:
    """Return the memory to walk through, 0 if it is so little that caches would answer."""
    largest = max(x.cache_sizes(machine).values(), default=0)
    return params.memory_bytes if largest and params.memory_bytes >= x.BEYOND_CACHE * largest else 0


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Take each one's best, and compare them."""
    best = x.best_of(tables["numbers"], "took_s", "what")
    values = {f"{name}_s": best[name] for name in NAMES if name in best}
    climb = [best[name] for name in DISTANCES if name in best]
    limits = x.Limits(["levels_out_of_order"] if climb != sorted(climb) else [])
    limits += [f"no_{name}" for name in NAMES if name not in best]
    limits.add("l3_of_a_guest", x.is_guest(machine) and "l3" in best)
    limits.add("virtual_machine", x.is_virtual(machine))
    limits.add("thread_behind_loopback", best.get("handoff", 0.0) > best.get("loopback", math.inf))
    limits.append("no_gpu_numbers")
    if (clock_hz := core_hz(tables)) is not None:
        values["cycle_s"] = 1 / clock_hz
    if best:
        values |= {"frame_s": FRAME_S, "blink_s": BLINK_S}
    if "l1" not in best or not all(name in best for name in SCALED):
        return x.Finding("numbers_in_part", values, tuple(limits))
    values |= {f"{name}_as_if_s": best[name] / best["l1"] for name in SCALED}
    return x.Finding("felt_in_seconds", values, tuple(limits))


def defaults(machine: x.Machine) -> Params:
    """Walk through four last-level caches, at least 128 MiB, within a quarter of free memory."""
    largest = max(x.cache_sizes(machine).values(), default=0)
    wanted = max(x.BEYOND_CACHE * largest, 128 * x.MIB)
    fits = x.fits(wanted, FREE_SHARE)
    return Params(memory_bytes=max(fits, x.MIB))


def seconds(params: Params) -> float:
    """Estimate: starting what is needed, laying out the memory, and the samples."""
    starting_s = 1.2 + params.file_bytes / 250e6 + 1.2 * params.memory_bytes / x.GIB
    layout_s = params.memory_bytes / 64 * 45e-9
    return starting_s + params.rounds * (0.3 + layout_s)


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"numbers": Number, "scaled": Scaled, "clocks": Clock},
    measure=measure,
    loop="kernels/chains.py:walk",
    analyse=analyse,
    views=(
        x.Ruler(
            "ruler",
            "numbers",
            "what",
            "took_s",
            limits=(
                x.Limit("cycle", "cycle_s"),
                x.Limit("frame", "frame_s"),
                x.Limit("blink", "blink_s"),
            ),
            order=("l1", "call", "thread"),
        ),
        x.Ruler("as_if", "scaled", "what", "as_if_s"),
    ),
    values=x.values(
        x.Value("l1_s", x.Part.L1),
        x.Value("l2_s", x.Part.L2),
        x.Value("l3_s", x.Part.L3),
        x.Value("memory_s", x.Part.MEMORY),
        "mispredict_s",
        x.Value("call_s", x.Part.CORES),
        "lock_s",
        "system_call_s",
        "page_fault_s",
        "switch_s",
        "handoff_s",
        "loopback_s",
        "thread_s",
        x.Value("disk_s", x.Part.STORAGE),
        "process_s",
        *(f"{name}_as_if_s" for name in SCALED),
        "cycle_s",
        "frame_s",
        "blink_s",
    ),
    keys=(*(x.Key(f"{name}_s", "ruler", (name,)) for name in SCALED),),
    next=x.Next("waiting", {"rounds": 20}),
    parts=(x.Part.CORES, x.Part.L1, x.Part.L2, x.Part.L3, x.Part.MEMORY, x.Part.STORAGE),
    uses=(x.Use.PINNING, x.Use.SYSTEM_CALL),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=x.change(
        rounds=2, at_most={"file_bytes": QUICK_FILE_BYTES, "memory_bytes": QUICK_MEMORY_BYTES}
    ),
    smallest=x.change(memory_bytes=x.MIB, file_bytes=8 * x.MIB, rounds=2),
    seconds=seconds,
    memory_bytes=lambda params: params.memory_bytes + 100 * x.MIB,
)
