"""The questions of a round, read from questions.toml."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import field

from experiments.core.declare import Experiment
from experiments.core.parameters import from_json, to_json
from experiments.core.units import unit_of
from machine.convert import convert
from machine.model import Machine
from machine.record import Record


class Question(Record, forbid_unknown_fields=True):
    """One question. questions.toml explains the fields."""

    id: str
    experiment: str
    value: str
    lesson: str
    set: Mapping[str, Any] = field(default_factory=dict)
    usual: tuple[str, ...] = ()
    vote: tuple[float, ...] = ()

    @property
    def unit(self) -> str:
        """The SI unit of the answer."""
        return unit_of(self.value)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest guess, in the unit of the answer."""
        return _file().ranges[self.unit]

    def as_time(self, answer: float) -> float:
        """Return the seconds of one operation; of a rate, those of one addition or one byte."""
        return answer if self.unit == "s" else 1 / answer

    def params(self, experiment: Experiment[Any], machine: Machine) -> Any:
        """Return the parameters of the shortest run that measures the answer on a machine.

        Raises UserError for a setting that does not fit the experiment.
        """
        quick = experiment.params_for(machine, quick=True)
        usual = {name: getattr(quick, name) for name in self.usual}
        short = msgspec.structs.replace(experiment.smallest(quick), **usual)
        return from_json(experiment.params, {**to_json(short), **self.set}, machine)


class _File(Record, forbid_unknown_fields=True):
    """The content of questions.toml."""

    ranges: Mapping[str, tuple[float, float]]
    question: tuple[Question, ...]


@functools.cache
def _file() -> _File:
    text = Path(__file__).with_name("questions.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text), _File)


def named(name: str) -> Question | None:
    """Return the question with this id, None where there is none."""
    return next((each for each in questions() if each.id == name), None)


def questions() -> tuple[Question, ...]:
    """Return the questions in the order in which they are asked."""
    return _file().question
