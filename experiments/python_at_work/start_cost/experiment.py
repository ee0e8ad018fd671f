"""What does it cost to start a thread or a process? Beside them a call, a coroutine, a task.

Method: each is started, does nothing and has ended before the next one starts; a sample is a batch
of them that takes long enough for the clock. It runs in a small process of its own. Batches of one,
two and four times the size are timed in turn: if the time of each start is right, they lie on a
straight line. A pool is timed twice: made for one job (cold), and handed a job while it stands
(warm). The server of forkserver is up before the clock starts. A process is started in every way: a
tiny program by `posix_spawn`, a bare `os.fork`, and what multiprocessing makes of each. Compared
are the medians.
Source: the documentation of os and multiprocessing; pyperf for batches and rounds.

Not shown: the start of a program that imports more; set `child_imports` for that.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
from itertools import pairwise

from experiments import api as x
from experiments.tools.batches import batch
from experiments.tools.interpreters import HAS_SUBINTERPRETERS, OWN, own
from experiments.tools.own_folder import own_folder

PROCESSES = ("posix_spawn", "os_fork", "fork", "forkserver", "spawn")
LADDER = ("call", "coroutine", "task", "thread", "spawn")  # each is expected to cost more
POOLS = ("thread_pool_warm", "thread_pool_cold", "process_pool_warm", "process_pool_cold")
METHODS = ("call", "coroutine", "task", "thread", "subinterpreter", *PROCESSES, *POOLS)
BATCHES = (1, 2, 4)
SAVES_LITTLE = 0.5  # of a thread's cost: a job for a standing pool takes less
UNSTEADY = 2.0  # the costliest start of one kind over the cheapest
USUAL_S = {  # of starts that are longer than a sample
    "posix_spawn": 0.001, "os_fork": 0.001, "fork": 0.004, "forkserver": 0.06, "spawn": 0.12,
    "subinterpreter": 0.02, "process_pool_cold": 0.009,
}  # fmt: skip
FOLDER = "coreopsis-start-"  # holds the socket of forkserver


class Params(x.Params):
    """The parameters."""

    methods: tuple[str, ...] = x.param(METHODS, choices=METHODS)
    child_imports: str = x.param("nothing", choices=("nothing", "numpy"))
    parent_bytes: int = x.param(0, minimum=0, maximum=64 * x.GIB, scale="linear")
    sample_s: float = x.param(0.01, minimum=0.001, maximum=1.0, scale="log10")
    rounds: int = x.param(12, minimum=1, maximum=50)


class Start(x.Row):
    """One batch: `count` were started and ended, one after another."""

    method: str
    repeat: int
    count: int = x.column(scale="log10")
    each_s: float = x.column(scale="log10")
    all_s: float = x.column(scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each method and round."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(own_folder(FOLDER))
        from experiments.tools import start_jobs

        python = own(start_jobs, bench.check_stop, temporary=folder)
        stack.callback(python.close)
        # Before all else: after a stop only a tenth of a second is left.
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        ways = python.do(arm="hold", bytes=params.parent_bytes)["processes"]
        methods = possible_methods(params.methods, ways)
        if "subinterpreter" in params.methods and "subinterpreter" not in methods:
            yield x.Note("no_subinterpreters", {"python": OWN})

        taken_s = functools.partial(python.taken_s, arm="start", module=params.child_imports)
        counts = {
            method: batch(
                functools.partial(taken_s, method=method),
                params.sample_s,
                start=1000 if method in ("call", "coroutine") else 1,  # they come in tens
            )
            for method in methods
        }
        for arm, method in bench.interleave(methods, params.rounds):
            count = counts[method] * BATCHES[arm.round % len(BATCHES)]
            all_s = taken_s(count, method=method)
            yield Start(
                method=method, repeat=arm.round, count=count, each_s=all_s / count, all_s=all_s
            )
            yield x.Progress(arm.fraction)


def possible_methods(methods: tuple[str, ...], processes: list[str]) -> list[str]:
    """Return the methods that this system and this Python have."""
    return [
        method
        for method in methods
        if (method not in PROCESSES or method in processes)
        and (method != "subinterpreter" or HAS_SUBINTERPRETERS)
    ]


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare each step with the previous, and processes with a thread."""
    of = x.spreads_of(tables["starts"], "each_s", "method")
    values: dict[str, float] = {f"{method}_s": found.median for method, found in of.items()}
    is_whole = all(method in of for method in LADDER)
    limits = x.Limits()
    limits.add(
        "unsteady", is_whole and any(of[each].high > UNSTEADY * of[each].low for each in LADDER)
    )
    pool, thread = of.get("thread_pool_warm"), of.get("thread")
    if pool and thread and not x.too_few((pool, thread)):
        if pool.median > SAVES_LITTLE * thread.median:
            limits.append("pool_saves_little")
        elif pool.high > UNSTEADY * pool.low:
            limits.append("pool_uneven")
    limits.add("virtual_machine", x.is_virtual(machine))
    limits += ["loop_included"] if "call" in of else []
    if not x.lacks(machine, x.Use.FORK):  # else that alone is said
        limits += [f"no_{name}" for name in PROCESSES[:-1] if name not in of]
    if of:
        values |= {"microsecond_s": 1e-6, "millisecond_s": 1e-3, "frame_s": 1 / 60}
    if not is_whole:
        return x.Finding("ladder_in_part", values, tuple(limits))
    compared, unclear = x.ratios(
        {
            "thread_over_call": (of["thread"], of["call"]),
            **{f"{name}_over_thread": (of[name], of["thread"]) for name in PROCESSES if name in of},
        }
    )
    steps = [(of[less], of[more]) for less, more in pairwise(LADDER)]
    climbs = all(less.is_below(more) for less, more in steps)
    message = x.unsure(*steps) or ("each_step_costs_more" if climbs else "some_cost_no_more")
    return x.Finding(message, values | compared, tuple(limits), unclear)


def seconds(params: Params) -> float:
    """Estimate from a usual machine; a batch takes a sample, or one start if that is longer."""
    once_s = sum(max(1.2 * params.sample_s, USUAL_S.get(m, 0.0)) for m in params.methods)
    average = sum(BATCHES) / len(BATCHES)
    return 0.3 + once_s * (1.5 + average * params.rounds)


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"starts": Start},
    measure=measure,
    loop="tools/start_jobs.py:threads",
    analyse=analyse,
    views=(
        x.Ruler(
            "each",
            "starts",
            "method",
            "each_s",
            statistic="median",
            limits=(
                x.Limit("microsecond", "microsecond_s"),
                x.Limit("millisecond", "millisecond_s"),
                x.Limit("frame", "frame_s"),
            ),
        ),
        x.Lines(
            "batches", "starts", x.Axis("count"), x.Axis("all_s"), series="method", order=METHODS
        ),
    ),
    values=x.values(
        x.Value("call_s", x.Part.CORES),
        "coroutine_s",
        "task_s",
        x.Value("thread_s", x.Part.CORES),
        "posix_spawn_s",
        "os_fork_s",
        "fork_s",
        "forkserver_s",
        x.Value("spawn_s", x.Part.CORES),
        "subinterpreter_s",
        "thread_pool_cold_s",
        "thread_pool_warm_s",
        "process_pool_cold_s",
        "process_pool_warm_s",
        "thread_over_call",
        *(f"{name}_over_thread" for name in PROCESSES),
        "microsecond_s",
        "millisecond_s",
        "frame_s",
    ),
    uses=(x.Use.FORK,),
    keys=(
        x.Key("call_s", "each", ("call",)),
        x.Key("thread_s", "each", ("thread",)),
        x.Key("spawn_s", "each", ("spawn",)),
    ),
    next=x.Next("talk-cost", {"child_imports": "numpy"}),
    parts=(x.Part.CORES,),
    defaults=lambda _machine: Params(),
    quick=x.change(sample_s=0.003, rounds=5),
    smallest=x.change(sample_s=0.001, rounds=2),
    seconds=seconds,
    memory_bytes=lambda params: params.parent_bytes + 80 * x.MIB,
    is_in_tour=True,
)
