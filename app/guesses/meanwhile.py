"""Measures the answer of a question in a thread of its own, while a person thinks.

The run is the shortest that measures the answer. It takes its turn behind other measurements, is
stopped when the person answers, and is not kept.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor

from app.guesses.truths import measured
from experiments.core.catalogue import Catalogue
from experiments.core.needs import check_needs
from experiments.core.parameters import check_memory, to_json
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.jobs import Engine, Run
from experiments.presentation.guesses.questions import Question
from experiments.presentation.guesses.quick_round import Truth
from machine.memory.host import available_bytes
from machine.model import Machine

log = logging.getLogger(__name__)

LONGEST_S = 2.0  # from its start to its end


class Meanwhile:
    """At most one measurement at a time. Use it from one thread."""

    def __init__(
        self, catalogue: Catalogue, machine: Machine, *, engine: Engine | None = None
    ) -> None:
        self._catalogue, self._machine = catalogue, machine
        self._engine = engine or Engine()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="meanwhile")
        self._asked: _Asked | None = None

    def begin(self, question: Question) -> None:
        """Measure the answer of a question; returns at once."""
        self.end()
        asked = _Asked(question)
        asked.found = self._thread.submit(self._measured, asked)
        self._asked = asked

    @property
    def found(self) -> Truth | None:
        """The value that is measured to its end by now, else None."""
        future = self._asked.found if self._asked is not None else None
        return future.result() if future is not None and future.done() else None

    def end(self) -> Truth | None:
        """Stop; return what was measured to its end. Returns at once."""
        found = self.found
        if self._asked is not None:
            self._asked.stop()
            self._asked = None
        return found

    def close(self) -> None:
        """End the measurement and every process; returns when they are gone."""
        self.end()
        self._thread.shutdown(wait=True)
        self._engine.close()

    def _measured(self, asked: _Asked) -> Truth | None:
        """Called in the thread. After an error the recording answers the question."""
        try:
            return self._run(asked)
        except (UserError, OSError, messages.BadMessage):
            log.info("%s is not measured", asked.question.id, exc_info=True)
            return None

    def _run(self, asked: _Asked) -> Truth | None:
        question = asked.question
        experiment = self._catalogue.load(question.experiment)
        check_needs(experiment, self._machine)
        params = question.params(experiment, self._machine)
        check_memory(experiment, params, available_bytes())
        if experiment.seconds(params) > LONGEST_S or asked.is_stopped:
            return None
        run = self._engine.start(experiment, to_json(params), quick=True)
        asked.runs(run)
        started, notes = None, list[messages.Note]()
        timer = threading.Timer(LONGEST_S, run.stop)
        try:
            for event in run.events():
                if isinstance(event, messages.Started):
                    started = event
                    timer.start()
                elif isinstance(event, messages.Note):
                    notes.append(event)
                elif isinstance(event, messages.Finished) and started is not None:
                    return measured(question, started, event, notes)
        finally:
            timer.cancel()
        return None


class _Asked:
    """One question, and the run that answers it; `stop` may come before there is a run."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.found: Future[Truth | None] | None = None
        self.is_stopped = False
        self._run: Run | None = None

    def runs(self, run: Run) -> None:
        """Take the run; it is stopped at once where that was asked for meanwhile."""
        self._run = run
        if self.is_stopped:
            run.stop()

    def stop(self) -> None:
        """Stop the run that there is, or will be."""
        self.is_stopped = True
        if (run := self._run) is not None:
            run.stop()
