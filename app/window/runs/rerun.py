"""Runs again what was run before, here or elsewhere, and says first what will differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from app.report import problem_text, setting
from app.runs.library import is_made_on, machine_name
from app.window.core.session import Session
from app.window.core.target import EXPERIMENTS, Then
from experiments.core.declare import Experiment, specs
from experiments.core.needs import missing_need
from experiments.core.parameters import check_memory, from_json
from experiments.core.problems import UserError
from experiments.core.words import Words
from experiments.engine.environment import environment
from experiments.engine.messages import Started
from experiments.engine.recording import read
from machine.memory.host import available_bytes
from machine.model import Machine, usable_threads
from widgets.sheets.question import Answer, ask

AT_ONCE = ("threads", "workers", "most_workers")  # parameters that say how many run at a time
VERSION_LIMIT = 40  # letters: a foreign file may say anything
ALWAYS = ("python",)  # versions that change results in every experiment


@dataclass(frozen=True, slots=True)
class Look:
    """The reason why a run cannot be repeated here, "" if none; and what will differ."""

    experiment: str
    hindrance: str = ""
    differs: tuple[str, ...] = ()


class Again:
    """Starts runs with the settings of others; questions lie over the window of `parent`."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        self._session, self._parent = session, parent

    def run(self, path: Path, *, compares: bool = False) -> None:
        """Run with the settings of the run in `path`; afterwards compare the two if it `compares`.

        Asks first where something will differ, and says what cannot be here.
        """
        session = self._session
        then: Then = "compare" if compares else "measure"

        def take(found: Look) -> None:
            if found.hindrance or found.differs:
                self._ask(path, found, then)
            else:
                session.go(EXPERIMENTS, experiment=found.experiment, run=path, then=then)

        machine, catalogue, words = session.machine, session.catalogue, session.words
        session.background.do_soon(lambda: look(path, catalogue, words, machine), take)

    def _ask(self, path: Path, found: Look, then: Then) -> None:
        say, session = self._session.words.say, self._session
        leave = Answer("leave", say("again.leave"))
        show = Answer("show", say("again.show"))
        if found.hindrance:
            question, explained, answers = say("again.cannot"), found.hindrance, [show, leave]
        else:
            question, explained = say("again.question"), "\n".join(found.differs)
            answers = [Answer("run", say("again.run"), "main"), show, leave]
        asked = ask(self._parent.window(), session.look, question, explained, answers)

        def act(answer: str, _remember: bool) -> None:
            if answer != "leave":
                wanted: Then = then if answer == "run" else ""
                session.go(EXPERIMENTS, experiment=found.experiment, run=path, then=wanted)

        asked.answered.connect(act)


def look(path: Path, catalogue: Any, words: Words, machine: Machine | None) -> Look:
    """Read a run file, and hold its settings against this machine. Raises UserError."""
    started = read(path).started
    experiment = catalogue.load(started.experiment)
    try:
        params = from_json(experiment.params, started.params, machine)
        if machine is not None and (need := missing_need(experiment, machine)) is not None:
            raise UserError(f"needs_{need}")
        check_memory(experiment, params, available_bytes())
    except UserError as trouble:  # said before anything is opened
        return Look(experiment.id, problem_text(words, trouble.problem, experiment.id))
    return Look(experiment.id, differs=tuple(_differs(words, experiment, started, machine)))


def _differs(
    words: Words, experiment: Experiment[Any], started: Started, machine: Machine | None
) -> Iterator[str]:
    """Yield what will differ from then, a sentence each."""
    if started.experiment_version != experiment.version:
        yield words.say("again.other_version")
    if machine is not None:
        yield from _of_machine(words, experiment, started, machine)
    now, then = environment(), started.environment
    versions = [(name, then.get(name), now.get(name)) for name in ALWAYS]
    libraries, here = _mapping(then.get("libraries")), _mapping(now.get("libraries"))
    versions += [(name, libraries.get(name), here.get(name)) for name in experiment.imports]
    for name, before, after in versions:
        if before and after and before != after:
            values = {"name": name, "before": str(before)[:VERSION_LIMIT], "after": after}
            yield words.say("again.other_library", values)


def _of_machine(
    words: Words, experiment: Experiment[Any], started: Started, machine: Machine
) -> Iterator[str]:
    if not is_made_on(machine, started):
        values = {"then": machine_name(started), "here": str(machine.cpu.model or "?")}
        yield words.say("again.other_machine", values)
    here, there = len(usable_threads(machine)), _threads(started)
    known = specs(experiment.params)
    for name in AT_ONCE:
        wanted = started.params.get(name)
        if name in known and isinstance(wanted, int) and here < wanted <= there:
            called, value = setting(words, experiment, name, wanted)
            yield words.say("again.more_threads", {"name": called, "value": value, "count": here})


def _threads(started: Started) -> int:
    """Return how many hardware threads the machine of a run had, 0 if that is unknown."""
    threads = _mapping(started.machine.get("cpu")).get("threads_list")
    return len(threads) if isinstance(threads, list) else 0


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
