"""The experiments of some shelves, each imported when it is first asked for."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.core.declare import Experiment
from experiments.core.problems import Problem, UserError
from experiments.core.shelves import SHELVES, YOURS, Home, homes, id_of

if TYPE_CHECKING:
    from experiments.core.teaching.lessons import Taught

Refuse = Callable[[Mapping[str, Home]], Mapping[str, Problem]]


class Catalogue:
    """Experiments by id, in teaching order; of two with one id ours counts."""

    def __init__(self, shelves: tuple[str, ...] = SHELVES, refuse: Refuse = lambda own: {}) -> None:
        """Take the shelves.

        `refuse` says which of the user's own experiments must not be loaded, and why. That may take
        long, so it is asked only once one of them, or all experiments, are wanted.
        """
        self._ours = homes(tuple(shelf for shelf in shelves if shelf != YOURS))
        self.own: Mapping[str, Home] = homes((YOURS,)) if YOURS in shelves else {}
        self._refuse = refuse
        self._examined: dict[str, Problem | None] = {}
        self._lessons: dict[str, Taught | None] = {}

    @property
    def refused(self) -> Mapping[str, Problem]:
        """The user's own experiments that must not be loaded, each with what is wrong."""
        self._examine(self.own)
        return {name: problem for name, problem in self._examined.items() if problem}

    @functools.cached_property
    def homes(self) -> Mapping[str, Home]:
        """Every experiment that can be loaded."""
        good = {name: home for name, home in self.own.items() if name not in self.refused}
        return {**self._ours, **{n: home for n, home in good.items() if n not in self._ours}}

    def look_again(self, own: Mapping[str, Home], refused: Mapping[str, Problem]) -> None:
        """Take the user's own experiments as they are now; they are imported anew."""
        importlib.invalidate_caches()
        for module in [name for name in sys.modules if name.startswith(f"{YOURS}.")]:
            del sys.modules[module]
        self.own, self._examined = own, {name: refused.get(name) for name in own}
        self.__dict__.pop("homes", None)

    def ids(self) -> tuple[str, ...]:
        """Return every id, in teaching order."""
        return tuple(self.homes)

    def load(self, experiment_id: str) -> Experiment[Any]:
        """Return one experiment. Raises UserError that names the nearest id."""
        home = self._home(experiment_id)
        if home is None:
            if problem := self._problem(experiment_id):
                raise UserError(problem.key, **problem.values)
            near = self._near(experiment_id)
            if near:
                raise UserError("experiment_unknown_near", id=experiment_id, near=near[0])
            raise UserError("experiment_unknown", id=experiment_id)
        # What a file of the user's own prints while it is loaded would stand in the middle of JSON.
        quiet = contextlib.redirect_stdout(io.StringIO())
        with quiet if home.shelf == YOURS else contextlib.nullcontext():
            experiment: Experiment[Any] = importlib.import_module(home.module).EXPERIMENT
        return experiment

    def _home(self, experiment_id: str) -> Home | None:
        if experiment_id in self._ours:
            return self._ours[experiment_id]
        return None if self._problem(experiment_id) else self.own.get(experiment_id)

    def _problem(self, experiment_id: str) -> Problem | None:
        """Return what is wrong with one of the user's own."""
        self._examine([experiment_id] if experiment_id in self.own else [])
        return self._examined.get(experiment_id)

    def _examine(self, names: Iterable[str]) -> None:
        """Examine those of the user's own that were not yet; any may take long."""
        if new := {name: self.own[name] for name in names if name not in self._examined}:
            found = self._refuse(new)
            self._examined |= {name: found.get(name) for name in new}

    def recording(self, experiment_id: str) -> Path | None:
        """Return the run that comes with an experiment, if there are both."""
        home = self._home(experiment_id)
        return None if home is None else home.recording

    def shelf(self, experiment: Experiment[Any]) -> str:
        """Return the name of the shelf that an experiment stands on: a follow-up's is its lesson's.

        Its folder may lie on another one.
        """
        home = self._home(experiment.id)
        lesson = self._home(home.follows) if home is not None and home.follows else None
        return experiment.shelf if lesson is None else id_of(lesson.shelf.rpartition(".")[2])

    def follow_ups(self, experiment_id: str) -> tuple[str, ...]:
        """Return the follow-ups of a lesson, in order."""
        return tuple(name for name, home in self.homes.items() if home.follows == experiment_id)

    def lesson(self, experiment: Experiment[Any]) -> Taught | None:
        """Return the lesson of an experiment; None for a reason that `lacks_lesson` gives.

        Raises UserError where it cannot be read.
        """
        home = self._home(experiment.id)
        if home is None or self.lacks_lesson(experiment) is not None:
            return None
        # With its many types: not at the start.
        from experiments.core.teaching.lessons import taught

        if experiment.id not in self._lessons:  # those of the program stay as they are
            self._lessons[experiment.id] = taught(experiment, home)
        return self._lessons[experiment.id]

    def lacks_lesson(self, experiment: Experiment[Any]) -> Problem | None:
        """Return why an experiment has no lesson, None if it has one.

        A lesson executes code, which may never end: the user's own runs only in the worker.
        """
        home = self._home(experiment.id)
        if home is not None and home.follows:
            return Problem("lesson_follows", {"id": experiment.id, "lesson": home.follows})
        if home is not None and home.is_tool:
            return Problem("lesson_of_tool", {"id": experiment.id})
        if home is None or not home.has_lesson:
            return Problem("lesson_unwritten", {"id": experiment.id})
        return Problem("lesson_of_own", {"id": experiment.id}) if experiment.is_own else None

    def _near(self, typed: str) -> list[str]:
        """Return the ids that may be meant: first what begins so, then what looks so."""
        import difflib

        begun = [each for each in self.homes if f"-{typed.lower()}" in f"-{each}"]
        begun.sort(key=lambda each: not each.startswith(typed.lower()))
        alike = difflib.get_close_matches(typed, self.homes, n=1, cutoff=0.4)
        return [*begun, *alike] if typed else []

    def __iter__(self) -> Iterator[Experiment[Any]]:
        return (self.load(experiment_id) for experiment_id in self.homes)
