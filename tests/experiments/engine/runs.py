"""Starts a misbehaving experiment, and sees that nothing of it is left."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from experiments.core.declare import Experiment
from experiments.engine import messages
from experiments.engine.jobs import Engine, Run
from machine.system.kill import KILL
from tests.experiments.engine.misbehaving.misbehave.experiment import EXPERIMENT, Params

SHELVES = ("tests.experiments.engine.misbehaving",)

Events = list[messages.Event]


def start(engine: Engine, how: str = "behaves", /, *, impatient: bool = False, **more: Any) -> Run:
    """Start the experiment that misbehaves in the way of `how`."""
    limit_s = 0.5 if impatient else 60.0
    wishes = {name: more.pop(name) for name in ("keep", "hold") if name in more}
    return engine.start(misbehave(quiet_limit_s=limit_s), params(how, **more), **wishes)


def misbehave(**changes: Any) -> Experiment[Params]:
    """Return the declaration of the experiment that misbehaves, with these changes."""
    return msgspec.structs.replace(EXPERIMENT, **changes)


def called(name: str) -> Experiment[Params]:
    """Return the same as it would be in a folder of another name."""
    module = {"__module__": f"shelf.{name}.experiment"}
    return misbehave(params=type("Params", (Params,), module))


def params(how: str, **more: Any) -> dict[str, Any]:
    """Return its parameters as they go over the wire."""
    return msgspec.to_builtins(Params(how=how, **more))


def hear(run: Run, at_first: Mapping[type, Callable[[], object]] | None = None) -> Events:
    """Read a run to its end, and act at the first event of some types; check what always holds."""
    acts = dict(at_first or {})
    events = []
    for event in run.events():
        events.append(event)
        acts.pop(type(event), lambda: None)()
    assert [type(event) for event in events].index(messages.Finished) == len(events) - 1
    assert [row.n for row in rows(events)] == list(range(len(rows(events))))
    return events


def rows(events: Events) -> list[messages.Row]:
    """Return the rows among the events."""
    return [event for event in events if isinstance(event, messages.Row)]


def ending(events: Events) -> tuple[messages.Outcome, str | None]:
    """Return how a run ended, and the key of the sentence that says why."""
    finished = events[-1]
    assert isinstance(finished, messages.Finished)
    return finished.outcome, finished.problem.key if finished.problem else None


def guardian_of(run: Run) -> int:
    """Return the process id of the guardian of a run."""
    return run._worker._process.pid  # noqa: SLF001  (what it started is the subject)


def kill(*pids: int) -> None:
    """Kill processes in the same instant: none of them sees the end of another."""
    if sys.platform == "win32":
        raise NotImplementedError
    for number in (signal.SIGSTOP, KILL):
        for pid in pids:
            signal_to(pid, number)


def signal_to(pid: int, number: int) -> None:
    """Send a signal to a process that may have gone."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def as_nobody(question: Callable[[], bool]) -> bool:
    """Ask in a process of a user without rights."""
    if sys.platform == "win32":
        raise NotImplementedError
    if (pid := os.fork()) == 0:
        answer = False
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            answer = question()
        finally:  # whatever was raised: only one process goes on
            os._exit(0 if answer else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
