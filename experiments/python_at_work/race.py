"""Where did my increments go? Several threads raise one counter, and some of it is lost.

Method: several threads add 1 to the same counter again and again: in one line (bare), with a
function call between reading and writing, and under a lock. What is missing at the end was lost:
between a thread's read and its write another one wrote. Every run is a row, in shuffled rounds, in
a process of its own; the chosen other Pythons run the first two forms too. Once, two threads note
when they read and wrote what, until an update is found that undid others.
Source: the evaluation loop of CPython: since 3.10 it hands the lock over only where a function
begins and where a loop turns back.

What it cannot tell: that code which lost nothing is safe.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from experiments.bench import Bench
from experiments.declare import (
    Experiment,
    Finding,
    Measured,
    Part,
    Progress,
    Shelf,
    Tables,
    Value,
    column,
    param,
)
from experiments.python_at_work.gil_arms import OWN
from experiments.python_at_work.gil_threads import other_pythons
from experiments.python_at_work.interpreters import JOBS, Interpreter
from experiments.statistics import ratios, spread, spreads
from experiments.views import Bars, Limit, Timeline
from machine.model import Machine
from machine.pythons import find

BARE, CALL, LOCKED = FORMS = ("bare", "read_call_write", "locked")
HOLDS, RAISES = "holds", "raises"
TRACED, TRACES = 100_000, 5  # updates of each thread; tries to find one that undid others
INCREMENT_S = {BARE: 4e-8, CALL: 7e-8, LOCKED: 28e-8}  # on a usual machine
OTHERS = 2.5  # so many times as long in an old Python
NEARLY_WHOLE = 0.001  # of what one thread does
SOON = 0.8  # of the update caught: the other thread wrote its last clearly before it went on
SHORT = 0.9  # times the switch interval: clearly less than a turn with the lock
LONG = 1.3  # times the switch interval: more than the lock has then been waited for
HANDED_OVER_LAST = (3, 10)  # before it, also in the middle of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What may be turned."""

    workers: int = param(4, minimum=1, maximum=64)
    times: int = param(200_000, minimum=1000, maximum=10_000_000, scale="log10")
    pythons: tuple[str, ...] = param((), choices=other_pythons)
    switch_interval_s: float = param(0.005, unit="s", minimum=1e-5, maximum=0.5, scale="log10")
    rounds: int = param(20, minimum=1, maximum=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Where the counter ended, and the time that one increment took."""

    form: str = column()
    python: str = column()
    repeat: int = column()
    count: int = column()
    lost_fraction: float = column("fraction")
    increment_s: float = column("s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a thread did meanwhile: one holds an old value, the other raises the counter."""

    worker: int = column()
    act: str = column()
    start_s: float = column("s")
    end_s: float = column("s")
    value: int = column()


def measure(params: Params, bench: Bench) -> Measured:
    """Yield a row for each form, Python and round, and the moments of a lost update."""
    with contextlib.ExitStack() as stack:
        pythons = {OWN: _start(OWN, [sys.executable, "-P"], bench, stack)}
        for other in find():
            if other.name in params.pythons:
                command = [str(other.path), "-I", "-S"]
                pythons[other.name] = _start(other.name, command, bench, stack)

        def ask(python: str, form: str, times: int) -> dict[str, Any]:
            switch_s = params.switch_interval_s
            pythons[python].ask(form=form, workers=params.workers, times=times, switch_s=switch_s)
            return pythons[python].answer()

        arms = [(form, name) for name in pythons for form in FORMS if form != LOCKED or name == OWN]
        for form, name in arms:  # warmed up: specialised and the threads started once
            ask(name, form, params.times // 10)
        for _ in range(TRACES):
            found = ask(OWN, "trace", TRACED)
            if found["late"] is not None:
                yield from _moments(found)
                break
        expected = params.workers * params.times
        for turn, (form, name) in bench.interleave(arms, params.rounds):
            answer = ask(name, form, params.times)
            yield Race(
                form=form,
                python=name,
                repeat=turn.round,
                count=answer["count"],
                lost_fraction=1 - answer["count"] / expected,
                increment_s=answer["wall_s"] / expected,
            )
            yield Progress(turn.fraction)


def _start(name: str, command: list[str], bench: Bench, stack: contextlib.ExitStack) -> Interpreter:
    script = JOBS.with_name("race_jobs.py")
    python = Interpreter(name, command, bench.check_stop, script=script)
    stack.callback(python.close)
    return python


def _moments(found: dict[str, Any]) -> Iterator[Moment]:
    began_s = found["late"][0]
    for worker, act, (start_s, end_s, value) in (
        (found["worker"], HOLDS, found["late"]),
        (1 - found["worker"], RAISES, found["others"]),
    ):
        yield Moment(
            worker=worker, act=act, start_s=start_s - began_s, end_s=end_s - began_s, value=value
        )


def analyse(params: Params, tables: Tables, machine: Machine) -> Finding:
    """Say which forms lost increments in any run; that none did is said to be no promise."""
    lost: dict[tuple[str, str], list[float]] = {}
    # Rounds are shuffled: the first row may be that of another Python.
    own = next((r.python for r in tables["races"] if r.python not in params.pythons), OWN)
    for race in tables["races"]:
        lost.setdefault((race.form, race.python), []).append(race.lost_fraction)
    values: dict[str, float] = {
        "expected": params.workers * params.times,
        "workers": params.workers,
        "times": params.times,
    }
    bare, call = lost.get((BARE, own), []), lost.get((CALL, own), [])
    for name, losses in (("bare", bare), ("read_call_write", call)):
        if found := spread(losses):
            values[f"lost_fraction_{name}"] = found.median
    of = spreads((race.form, race.increment_s) for race in tables["races"] if race.python == own)
    both = {"locked_slowdown": (of[LOCKED], of[BARE])} if {LOCKED, BARE} <= of.keys() else {}
    slowdowns, unclear = ratios(both)
    values |= slowdowns
    limits = ["no_promise"] if bare and not any(bare) else []
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
        elif moment.end_s < SOON * values.get("caught_s", 0.0):  # what was caught comes first
            limits.append("other_was_over")
    elsewhere = [
        max(losses) for (form, name), losses in lost.items() if form == BARE and name != own
    ]
    if elsewhere and (LOCKED, own) in lost:
        limits.append("lock_here_only")
    if max(elsewhere, default=0) > 0:
        values["lost_fraction_elsewhere"] = max(elsewhere)
        limits.append("not_everywhere")
    if params.workers == 1 or not bare or not call:
        return Finding("nothing_to_compare", values, tuple(limits), unclear)
    values["runs"] = min(len(bare), len(call))
    values["lost_most_fraction"] = max(call)
    if any(bare):
        message = "both_lost" if any(call) else "bare_lost"
    else:
        message = "only_the_call_lost" if any(call) else "nothing_lost"
    return Finding(message, values, tuple(limits), unclear)


def _is_whole(shares: float) -> bool:
    """Was lost what a whole number of threads had done, but for a few increments?"""
    return round(shares) > 0 and abs(shares - round(shares)) < NEARLY_WHOLE


def defaults(_machine: Machine) -> Params:
    """Have four threads race, here and in those Pythons found that hand over elsewhere."""
    found = find()
    others = [python.name for python in found if python.free_threaded]
    others += [python.name for python in found if _version(python.version) < HANDED_OVER_LAST][:1]
    return Params(pythons=tuple(others[:2]))


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())


def quick(params: Params) -> Params:
    """Race four times over a shorter way."""
    return replace(params, times=max(1000, params.times // 2), rounds=4)


def seconds(params: Params) -> float:
    """Estimate from the time of an increment, in each form and Python."""
    own_s = sum(INCREMENT_S.values())
    other_s = OTHERS * (INCREMENT_S[BARE] + INCREMENT_S[CALL]) * len(params.pythons)
    one_round_s = params.workers * params.times * (own_s + other_s)
    return 0.3 + 0.15 * len(params.pythons) + one_round_s * (params.rounds + 0.1)


EXPERIMENT = Experiment(
    id="race",
    version=1,
    shelf=Shelf.PYTHON_AT_WORK,
    params=Params,
    tables={"races": Race, "moments": Moment},
    measure=measure,
    analyse=analyse,
    views=(
        Bars(
            key="counts",
            table="races",
            label="form",
            detail="python",
            value="count",
            order=FORMS,
            limits=(Limit("expected", "expected", "x"),),
        ),
        Timeline(
            key="lanes",
            table="moments",
            lane="worker",
            start="start_s",
            end="end_s",
            group="act",
            order=(HOLDS, RAISES),
        ),
        Bars(
            key="price",
            table="races",
            label="form",
            detail="python",
            value="increment_s",
            order=FORMS,
        ),
    ),
    values=(
        Value("expected", ""),
        Value("workers", ""),
        Value("times", ""),
        Value("lost_fraction_bare", "fraction"),
        Value("lost_fraction_read_call_write", "fraction"),
        Value("lost_fraction_elsewhere", "fraction"),
        Value("lost_most_fraction", "fraction"),
        Value("locked_slowdown", "ratio", Part.CORES),
        Value("caught_s", "s"),
        Value("runs", ""),
    ),
    parts=(Part.CORES,),
    defaults=defaults,
    quick=quick,
    seconds=seconds,
    quiet_limit_s=120.0,  # much work can be asked for
    memory_bytes=lambda params: (len(params.pythons) + 1) * 60 * 2**20,
)
