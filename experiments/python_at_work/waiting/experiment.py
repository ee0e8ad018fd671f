"""How long do a thousand waits take? In coroutines, in threads, in processes, one after another.

Method: a server in a process of its own, on this machine alone, answers each question after a fixed
time. A client waits for that n times, in each way. The clock runs from before the first wait is
started until the last has its answer. As a control, coroutines compute for as long as the others
wait. Ways and numbers are shuffled in each round; compared are the medians at the largest number
that all ways reached. Memory is the growth of a fresh process while hundreds wait for a signal
inside it. For threads it includes the growth of the kernel's own stacks and page tables, which
count for no process.
Source: D. Kegel, The C10K problem; the documentation of asyncio.

Not shown: the behaviour of a real server that is busy itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from experiments import api as x
from experiments.tools.interpreters import own

JOBS = Path(__file__).with_name("jobs.py")
# The first is the line that the lesson lets people draw.
COROUTINES, SERIAL, THREADS, PROCESSES = WAYS = ("coroutines", "serial", "threads", "processes")
COMPUTING = "computing"  # the control: coroutines that compute as long as others wait
ORDER = (*WAYS, COMPUTING)
STEP = 4  # from one number of waits to the next
MOST = {SERIAL: 16, PROCESSES: 64, COMPUTING: 16}  # the others go up to the largest number
KINDS = ("coroutine", "thread")
IN_KERNEL = "in_kernel"  # the part of a thread's memory that is the kernel's
WEIGHINGS = 3  # memory scatters little: the first rounds are enough
LONGER = 1.5  # times one wait: beyond noise
SPARE_FILES = 64  # of a process, beside its connections
STARTS_S = {  # of each wait
    SERIAL: 1e-4, COROUTINES: 1.5e-4, THREADS: 5e-4, PROCESSES: 5e-3, COMPUTING: 2e-5,
}  # fmt: skip


class Params(x.Params):
    """The parameters; numbers of waits are powers of four."""

    wait_s: float = x.param(0.02, minimum=0.001, maximum=5.0, scale="log10")
    most_waits: int = x.param(1024, minimum=1, maximum=65536, scale="log2")
    work_s: float = x.param(0.0, minimum=0.0, maximum=1.0)
    one_blocks: bool = False
    weighed: int = x.param(500, minimum=100, maximum=20000, scale="log10")
    rounds: int = x.param(10, minimum=1, maximum=50)


class Wait(x.Row):
    """All waits of one way together, once."""

    way: str
    waits: int = x.column(scale="log2")
    repeat: int
    all_s: float = x.column(scale="log10")


class Weight(x.Row):
    """The memory that each of many waiting ones takes; IN_KERNEL is a part of a thread's."""

    kind: str
    repeat: int
    each_bytes: float


def numbers(params: Params) -> list[int]:
    """Return the numbers of waits, smallest first."""
    return x.ladder(1, params.most_waits, STEP)


def arms(params: Params) -> list[tuple[str, int]]:
    """Return every way with each of its numbers of waits."""
    return [
        (way, number)
        for way in ORDER
        for number in numbers(params)
        if number <= MOST.get(way, number)
    ]


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each way, number and round, and for each weighing."""
    with (
        contextlib.closing(own(JOBS, bench.check_stop)) as server,
        contextlib.closing(own(JOBS, bench.check_stop)) as client,
    ):
        server.ask(arm="listen", wait_s=params.wait_s)
        client.ask(arm="ready")
        answers = server.answer(), client.answer()
        files = min((a["files"] for a in answers if a["files"] is not None), default=None)
        most = params.most_waits if files is None else files - SPARE_FILES
        planned: list[tuple[str, int]] = [a for a in arms(params) if a[1] <= most]
        if len(planned) < len(arms(params)):
            yield x.Note("too_few_files", {"files": files})
        refused: set[str] = set()
        turns = [*planned, *((kind, params.weighed) for kind in KINDS)]
        for turn, (way, number) in bench.interleave(turns, params.rounds):
            if way in KINDS:
                if turn.round < WEIGHINGS:
                    yield from _weigh(way, number, turn.round, bench)
            else:
                answer = client.do(
                    arm="wait", way=way, count=number, port=answers[0]["port"],
                    work_s=params.work_s, wait_s=params.wait_s, one_blocks=params.one_blocks,
                )  # fmt: skip
                if not answer["refused"]:
                    yield Wait(way=way, waits=number, repeat=turn.round, all_s=answer["taken_s"])
                elif way not in refused:
                    refused.add(way)
                    yield x.Note("waits_refused", {"count": number})
            yield x.Progress(turn.fraction)


def _weigh(kind: str, count: int, turn: int, bench: x.Bench) -> Iterator[Weight]:
    """Weigh in a new process each time: memory that has grown once stays."""
    with contextlib.closing(own(JOBS, bench.check_stop)) as python:
        answer = python.do(arm="weigh", kind=kind, count=count)
    if answer["refused"]:
        return
    yield Weight(kind=kind, repeat=turn, each_bytes=max(answer["growth_bytes"], 0) / count)
    if answer["kernel_bytes"] is not None:
        kernel_bytes = max(answer["kernel_bytes"], 0)
        yield Weight(kind=IN_KERNEL, repeat=turn, each_bytes=kernel_bytes / count)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare coroutines and threads with one after another where all ways were measured."""
    of = x.spreads_of(tables["waits"], "all_s", "way", "waits")
    values: dict[str, float] = {"wait_s": params.wait_s}
    if (SERIAL, 1) in of:
        values["one_wait_s"] = of[SERIAL, 1].median
    limits = x.Limits()
    for way in (COROUTINES, THREADS):
        most = max((number for other, number in of if other == way), default=None)
        if most is not None:
            values |= {f"most_{way}": most, f"most_{way}_s": of[way, most].median}
            if _is_longer(of[way, most], of.get((SERIAL, 1))):
                limits.append(f"many_{way}_take_longer")
    limits.append("started_for_it")
    limits.add("ways_end_early", params.most_waits > min(MOST.values()))
    limits.add("virtual_machine", x.is_virtual(machine))
    for kind in KINDS:
        weights = x.spread(row.each_bytes for row in tables["weights"] if row.kind == kind)
        if weights:
            values[f"bytes_per_{kind}"] = weights.median
        else:
            limits.append(f"no_bytes_per_{kind}")
    in_kernel = x.spread(row.each_bytes for row in tables["weights"] if row.kind == IN_KERNEL)
    if in_kernel:
        values["kernel_bytes_per_thread"] = in_kernel.median
    elif "bytes_per_thread" in values:
        limits.append("no_kernel_bytes")
    shared = [number for way, number in of if way == SERIAL and _measured(of, number)]
    if max(shared, default=1) == 1:
        return x.Finding("nothing_to_compare", values, tuple(limits))
    number = max(shared)
    at = {way: of[way, number].median for way in ORDER if (way, number) in of}
    values |= {"waits": number, **{f"{way}_s": all_s for way, all_s in at.items()}}
    return x.Finding(_message(of, number), values, tuple(limits))


def _is_longer(many: x.Spread, one: x.Spread | None) -> bool:
    return one is not None and one.is_below(many) and many.median > LONGER * one.median


def _message(of: dict[tuple[str, int], x.Spread], number: int) -> str:
    serial = of[SERIAL, number]
    ways = [of[way, number] for way in (COROUTINES, THREADS)]
    if unsure := x.unsure(*((way, serial) for way in ways)):
        return unsure
    shorter = [way.is_below(serial) for way in ways]
    if all(shorter):
        return "waits_overlap"
    return "some_waits_overlap" if any(shorter) else "no_gain"


def _measured(of: dict[tuple[str, int], x.Spread], number: int) -> bool:
    return all((way, number) in of for way in WAYS)


def seconds(params: Params) -> float:
    """Estimate: each wait takes its start; all wait at once, except one after another."""
    at_once_s = params.wait_s + (params.wait_s if params.one_blocks else 0.0)
    turns_s = 0.0
    for way, number in arms(params):
        waits_s = number * params.wait_s if way in (SERIAL, COMPUTING) else at_once_s
        turns_s += waits_s + number * (STARTS_S[way] + params.work_s)
    weighing_s = sum(0.2 + STARTS_S[way] * params.weighed for way in (COROUTINES, THREADS))
    return 0.4 + params.rounds * turns_s + min(params.rounds, WEIGHINGS) * weighing_s


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"waits": Wait, "weights": Weight},
    measure=measure,
    loop="jobs.py:threads",
    analyse=analyse,
    views=(
        x.Lines(
            "all",
            "waits",
            x.Axis("waits"),
            x.Axis("all_s"),
            series="way",
            order=ORDER,
            limits=(x.Limit("one_wait", "one_wait_s"),),
        ),
        x.Bars("memory", "weights", "kind", "each_bytes"),
    ),
    values=x.values(
        "one_wait_s",
        *(f"{way}_s" for way in ORDER),
        *(f"bytes_per_{kind}" for kind in KINDS),
        "kernel_bytes_per_thread",
        "waits",
        "wait_s",
        "most_coroutines",
        "most_coroutines_s",
        "most_threads",
        "most_threads_s",
    ),
    keys=(
        x.Key("serial_s", "all", (SERIAL,), at="waits"),
        x.Key("most_coroutines_s", "all", (COROUTINES,), at="most_coroutines"),
        x.Key("most_threads_s", "all", (THREADS,), at="most_threads"),
    ),
    next=x.Next("gil-threads", {"one_blocks": True}),
    parts=(x.Part.CORES, x.Part.MEMORY),
    defaults=lambda _machine: Params(),
    quick=x.change(wait_s=0.006, most_waits=16, weighed=300, rounds=5),
    smallest=x.change(wait_s=0.002, most_waits=16, weighed=100, rounds=2),
    seconds=seconds,
    quiet_limit_s=120.0,  # much work can be asked for
    memory_bytes=lambda params: 100 * x.MIB + params.most_waits * 64 * 2**10,
)
