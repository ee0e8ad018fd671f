"""Which experiments are there? Each shelf is a package that lists its modules in teaching order."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterator
from typing import Any

from experiments.declare import Experiment
from experiments.problems import Trouble

SHELVES = (
    "experiments.python_at_work",
    "experiments.memory",
    "experiments.to_the_gpu",
    "experiments.numbers",
    "experiments.many_devices",
)


class Catalogue:
    """The experiments of some shelves; a module is imported when it is first asked for."""

    def __init__(self, shelves: tuple[str, ...] = SHELVES) -> None:
        self._modules = {
            name.replace("_", "-"): f"{shelf}.{name}"
            for shelf in shelves
            for name in importlib.import_module(shelf).EXPERIMENTS
        }

    def ids(self) -> tuple[str, ...]:
        """Return every id, in teaching order."""
        return tuple(self._modules)

    def load(self, experiment_id: str) -> Experiment[Any]:
        """Return one experiment. Raises Trouble that names the nearest id."""
        try:
            module = self._modules[experiment_id]
        except KeyError:
            near = self._near(experiment_id)
            if near:
                raise Trouble("experiment_unknown_near", id=experiment_id, near=near[0]) from None
            raise Trouble("experiment_unknown", id=experiment_id) from None
        experiment: Experiment[Any] = importlib.import_module(module).EXPERIMENT
        return experiment

    def _near(self, typed: str) -> list[str]:
        """Return what may be meant, the likeliest first: what begins so, then what looks so."""
        begun = [each for each in self._modules if f"-{typed.lower()}" in f"-{each}"]
        begun.sort(key=lambda each: not each.startswith(typed.lower()))
        alike = difflib.get_close_matches(typed, self._modules, n=1, cutoff=0.4)
        return [*begun, *alike] if typed else []

    def __iter__(self) -> Iterator[Experiment[Any]]:
        return (self.load(experiment_id) for experiment_id in self._modules)
