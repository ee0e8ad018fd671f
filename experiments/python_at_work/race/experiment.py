"""Does one counter count right for several threads? Some of their increments are lost.

Method: several threads add 1 to the same counter again and again. They do so in one line (bare),
with a function call between reading and writing, and under a lock. The share that is missing at the
end was lost: between a thread's read and its write another one wrote. Several counters are dealt to
the threads in turn, and what all of them miss counts. Threads that end within a switch interval run
one after another and lose nothing. So each gets increments for at least 20 intervals; under a lock,
which is slow, an eighth. Every run is a row, in shuffled rounds, in a process of its own; the
chosen other Pythons run the first two forms too. Once, two threads note when they read and wrote
what, until an update is found that undid others.
Source: the evaluation loop of CPython. Since 3.10 it hands the lock over only where a function
begins and where a loop turns back.

Not shown: that code which lost nothing is safe.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from experiments import api as x
from experiments.tools.interpreters import OWN, OWN_COMMAND, Interpreter, other_pythons
from machine.system.pythons import find

JOBS = Path(__file__).with_name("jobs.py")
BARE, CALL, LOCKED = FORMS = ("bare", "read_call_write", "locked")
HOLDS, RAISES = "holds", "raises"
TRACED, TRACES = 100_000, 5  # updates of each thread; tries to find one that undid others
LIFE = 20  # switch intervals that the threads of a race live, at least
SAFE = 1.5  # times that: the trial that says how many increments it takes may be disturbed
LOCKED_PART = 8  # an increment under a lock takes about as many bare ones
INCREMENT_S = {BARE: 4e-8, CALL: 7e-8, LOCKED: 37e-8}  # on a usual machine
NEARLY_WHOLE = 0.001  # of what one thread does
SOON = 0.8  # of the caught update: the other thread's last write was clearly before it went on
SHORT = 0.9  # times the switch interval: clearly less than a turn with the GIL
LONG = 1.3  # times the switch interval: the thread then waited for more than the GIL
HANDED_OVER_LAST = (3, 10)  # older ones switch also in the middle of a line


class Params(x.Params):
    """The parameters."""

    workers: int = x.param(4, minimum=1, maximum=64)
    counters: int = x.param(1, minimum=1, maximum=64)
    times: int = x.param(200_000, minimum=1000, maximum=10_000_000, scale="log10")
    pythons: tuple[str, ...] = x.param((), choices=other_pythons)
    switch_interval_s: float = x.param(0.005, minimum=1e-5, maximum=0.5, scale="log10")
    rounds: int = x.param(12, minimum=1, maximum=100)


class Race(x.Row):
    """The end value of all counters, the share of increments lost, the time of one."""

    form: str
    python: str
    repeat: int
    increments: int
    count: int
    lost_fraction: float
    increment_s: float


class Moment(x.Row):
    """A thread's act in a race: one holds an old value, the other raises the counter.

    `updates` is how often it raised the counter in that time.
    """

    worker: int
    act: str
    start_s: float
    end_s: float
    value: int
    updates: int


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each form, Python and round, and the moments of a lost update."""
    commands: dict[str, Sequence[str]] = {OWN: OWN_COMMAND}
    for other in find() if params.pythons else ():  # asks each in a process
        if other.name in params.pythons:
            commands[other.name] = [str(other.path), "-I", "-S"]
    with contextlib.ExitStack() as stack:
        pythons = {}
        for name, command in commands.items():
            python = Interpreter(name, command, JOBS, bench.check_stop)
            pythons[name] = stack.enter_context(contextlib.closing(python))

        def ask(python: str, form: str, times: int) -> dict[str, Any]:
            return pythons[python].do(
                form=form, workers=params.workers, counters=params.counters, times=times,
                switch_s=params.switch_interval_s,
            )  # fmt: skip

        arms = [(form, name) for name in pythons for form in FORMS if form != LOCKED or name == OWN]
        times = {name: _times(partial(ask, name, BARE), params) for name in pythons}
        for form, name in arms:  # warmed up: specialised and the threads started once
            ask(name, form, params.times // 10)
        for _ in range(TRACES if params.counters < params.workers else 0):
            found = ask(OWN, "trace", TRACED)
            if found["late"] is not None:
                yield from moments_of(found)
                break
        for turn, (form, name) in bench.interleave(arms, params.rounds):
            each = max(1, times[name] // LOCKED_PART) if form == LOCKED else times[name]
            answer = ask(name, form, each)
            increments = params.workers * each
            yield Race(
                form=form,
                python=name,
                repeat=turn.round,
                increments=increments,
                count=answer["count"],
                lost_fraction=1 - answer["count"] / increments,
                increment_s=answer["wall_s"] / increments,
            )
            yield x.Progress(turn.fraction)


def _times(race: Callable[[int], dict[str, Any]], params: Params) -> int:
    """Return how often each thread raises the counter: long enough that it is interrupted."""
    least_s, times = SAFE * LIFE * params.switch_interval_s, params.times
    while (life_s := race(times)["wall_s"]) < least_s:
        times = math.ceil(times * min(1.1 * least_s / life_s, 100))
    return times


def moments_of(found: dict[str, Any]) -> Iterator[Moment]:
    """Yield what both threads did around a lost update, from its first read on."""
    began_s = found["late"][0]
    for worker, act, updates, (start_s, end_s, value) in (
        (found["worker"], HOLDS, 1, found["late"]),
        (1 - found["worker"], RAISES, found["undone"], found["others"]),
    ):
        yield Moment(
            worker=worker, act=act, start_s=start_s - began_s, end_s=end_s - began_s, value=value,
            updates=updates,
        )  # fmt: skip


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Name the forms that lost increments in any run; losing none is no promise."""
    # Rounds are shuffled: the first row may be that of another Python.
    own = next((r.python for r in tables["races"] if r.python not in params.pythons), OWN)
    lost = x.collected(tables["races"], "lost_fraction", "form", "python")
    expected = next(
        (r.increments for r in tables["races"] if r.form != LOCKED and r.python == own),
        params.workers * params.times,
    )
    values: dict[str, float] = {
        "expected": expected,
        "workers": params.workers,
        "counters": params.counters,
        "times": expected // params.workers,
        "all_but_one_fraction": max(0.0, 1 - params.counters / params.workers),
    }
    bare, call = lost.get((BARE, own), []), lost.get((CALL, own), [])
    for name, losses in (("bare", bare), ("read_call_write", call)):
        if found := x.spread(losses):
            values[f"lost_fraction_{name}"] = found.median
    of = x.spreads_of(tables["races"], "increment_s", "form", python=own)
    both = {"locked_slowdown": (of[LOCKED], of[BARE])} if {LOCKED, BARE} <= of.keys() else {}
    slowdowns, unclear = x.ratios(both)
    values |= slowdowns
    elsewhere = [
        max(losses) for (form, name), losses in lost.items() if form == BARE and name != own
    ]
    is_owned = params.counters >= params.workers  # each thread has a counter for itself
    limits = x.Limits(["no_promise"] if bare and not any(bare) and not is_owned else [])
    if max(elsewhere, default=0) > 0:
        values["lost_fraction_elsewhere"] = max(elsewhere)
        limits.append("not_everywhere")
    limits += ["late_writes"] if any(bare) or any(call) else []
    if any(_is_whole(loss * params.workers) for losses in lost.values() for loss in losses):
        limits.append("whole_shares")
    for moment in tables["moments"]:
        if moment.act == HOLDS:
            values["caught_s"] = moment.end_s - moment.start_s
            if values["caught_s"] > LONG * params.switch_interval_s:
                limits.append("waited_for_a_core")
            elif values["caught_s"] < SHORT * params.switch_interval_s:
                limits.append("handed_over_early")
        elif moment.end_s < SOON * values.get("caught_s", 0.0):  # the caught update comes first
            limits.append("other_was_over")
    limits.add("lock_here_only", elsewhere and (LOCKED, own) in lost)
    if params.workers == 1 or not bare or not call:
        return x.Finding("nothing_to_compare", values, tuple(limits), unclear)
    values["runs"] = min(len(bare), len(call))
    values["lost_most_fraction"] = max(call)
    if is_owned and not any(bare) and not any(call):
        message = "one_owner_each"
    elif any(bare):
        message = "both_lost" if any(call) else "bare_lost"
    else:
        message = "only_the_call_lost" if any(call) else "nothing_lost"
    return x.Finding(message, values, tuple(limits), unclear)


def _is_whole(shares: float) -> bool:
    """Did the loss equal the work of a whole number of threads, but for a few increments?"""
    return round(shares) > 0 and abs(shares - round(shares)) < NEARLY_WHOLE


def defaults(_machine: x.Machine) -> Params:
    """Let four threads race, here and in the Pythons found that switch at other places."""
    found = find(free_threaded=True, older_than=HANDED_OVER_LAST)
    others = [python.name for python in found if python.free_threaded]
    others += [python.name for python in found if _version(python.version) < HANDED_OVER_LAST][:1]
    return Params(pythons=tuple(others[:2]))


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())


def seconds(params: Params) -> float:
    """Estimate from the time that threads live, and that of an increment in each form."""
    bare_s = max(
        1.1 * SAFE * LIFE * params.switch_interval_s,
        params.workers * params.times * INCREMENT_S[BARE],
    )
    of = {form: bare_s * s / INCREMENT_S[BARE] for form, s in INCREMENT_S.items()}
    others_s = 1.2 * len(params.pythons) * (of[BARE] + of[CALL])
    one_round_s = of[BARE] + of[CALL] + of[LOCKED] / LOCKED_PART + others_s
    trials_s = 1.5 * bare_s * (1 + len(params.pythons))
    return 0.3 + 0.15 * len(params.pythons) + trials_s + one_round_s * (params.rounds + 0.1)


EXPERIMENT = x.Experiment(
    version=3,
    params=Params,
    tables={"races": Race, "moments": Moment},
    measure=measure,
    loop="jobs.py:bare",
    analyse=analyse,
    views=(
        x.Bars(
            "counts",
            "races",
            "form",
            "lost_fraction",
            detail="python",
            order=FORMS,
            limits=(x.Limit("all_but_one", "all_but_one_fraction", "x"),),
        ),
        x.Timeline(
            "lanes", "moments", "worker", "start_s", "end_s", group="act", order=(HOLDS, RAISES)
        ),
        x.Bars("price", "races", "form", "increment_s", detail="python", order=FORMS),
    ),
    values=x.values(
        "expected",
        "workers",
        "counters",
        "times",
        "lost_fraction_bare",
        "lost_fraction_read_call_write",
        "lost_fraction_elsewhere",
        "lost_most_fraction",
        x.Value("locked_slowdown", x.Part.CORES),
        "caught_s",
        "runs",
        "all_but_one_fraction",
    ),
    keys=(
        x.Key("lost_fraction_bare", "counts", (BARE,)),
        x.Key("lost_fraction_read_call_write", "counts", (CALL,)),
        x.Key("locked_slowdown", "price", (LOCKED,)),
    ),
    next=x.Next("false-sharing", {"switch_interval_s": 0.0001}),
    parts=(x.Part.CORES,),
    defaults=defaults,
    quick=x.change(pythons=(), rounds=5),
    smallest=x.change(workers=2, times=20_000, switch_interval_s=0.001, pythons=(), rounds=2),
    seconds=seconds,
    quiet_limit_s=120.0,  # much work can be asked for
    memory_bytes=lambda params: (len(params.pythons) + 1) * 60 * x.MIB,
)
