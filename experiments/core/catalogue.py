"""The experiments of some shelves, each imported when it is first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.core.declare import Experiment
from experiments.core.problems import Problem, UserError
from experiments.core.shelves import SHELVES, YOURS, Home, homes


class Catalogue:
    """Experiments by id, in teaching order."""

    def __init__(
        self, shelves: tuple[str, ...] = SHELVES, refused: Mapping[str, Problem] | None = None
    ) -> None:
        """Take the shelves; `refused` are experiments of the user's own that must not be loaded."""
        self._shelves = shelves
        self.look_again(refused or {})

    def look_again(self, refused: Mapping[str, Problem]) -> None:
        """Find the folders anew, and import the user's own experiments anew."""
        importlib.invalidate_caches()
        for module in [name for name in sys.modules if name.startswith(f"{YOURS}.")]:
            del sys.modules[module]
        self.refused = refused
        self.homes: Mapping[str, Home] = {
            name: home
            for name, home in homes(self._shelves).items()
            if home.shelf != YOURS or name not in refused
        }

    def ids(self) -> tuple[str, ...]:
        """Return every id, in teaching order."""
        return tuple(self.homes)

    def load(self, experiment_id: str) -> Experiment[Any]:
        """Return one experiment. Raises UserError that names the nearest id."""
        home = self.homes.get(experiment_id)
        if home is None:
            if experiment_id in self.refused:
                problem = self.refused[experiment_id]
                raise UserError(problem.key, **problem.values)
            near = self._near(experiment_id)
            if near:
                raise UserError("experiment_unknown_near", id=experiment_id, near=near[0])
            raise UserError("experiment_unknown", id=experiment_id)
        experiment: Experiment[Any] = importlib.import_module(home.module).EXPERIMENT
        return experiment

    def recording(self, experiment_id: str) -> Path | None:
        """Return the run that comes with an experiment, if there are both."""
        home = self.homes.get(experiment_id)
        return None if home is None else home.recording

    def _near(self, typed: str) -> list[str]:
        """Return the ids that may be meant: first what begins so, then what looks so."""
        import difflib

        begun = [each for each in self.homes if f"-{typed.lower()}" in f"-{each}"]
        begun.sort(key=lambda each: not each.startswith(typed.lower()))
        alike = difflib.get_close_matches(typed, self.homes, n=1, cutoff=0.4)
        return [*begun, *alike] if typed else []

    def __iter__(self) -> Iterator[Experiment[Any]]:
        return (self.load(experiment_id) for experiment_id in self.homes)
