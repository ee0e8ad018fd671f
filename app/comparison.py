"""Do two runs of one experiment differ, beyond their noise?

The noise of a value is what it varies by from round to round: each round of a run is analysed
alone. A difference is claimed only where the two ranges do not touch. Where one parameter differs
it is the likely reason, and is named; where several do, nobody could tell which, so none is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from experiments.declare import Experiment
from experiments.engine import messages as wire
from experiments.engine.recording import Recording
from experiments.problems import Trouble
from experiments.statistics import Spread, spread
from experiments.words import Words

Verdict = Literal["higher", "lower", "same", "too_few"]
LEAST_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """One value of both runs; no verdict on facts, nor where several parameters differ."""

    name: str
    a: float
    b: float
    ratio: float | None  # b / a
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Compared:
    """What both runs found, and the parameters in which they differ (name to both values).

    `cut_short` are the letters of those that did not run to their end.
    """

    values: tuple[ComparedValue, ...]
    params: Mapping[str, tuple[Any, Any]]
    cut_short: str


def compare(experiment: Experiment[Any], a: Recording, b: Recording) -> Compared:
    """Compare two runs. Raises Trouble for other experiments or versions of it."""
    if a.started.experiment != b.started.experiment:
        raise Trouble("not_comparable_experiment", a=a.started.experiment, b=b.started.experiment)
    versions = a.started.experiment_version, b.started.experiment_version
    if versions[0] != versions[1]:
        raise Trouble("not_comparable_version", a=versions[0], b=versions[1])
    params = {
        name: (a.started.params.get(name), b.started.params.get(name))
        for name in sorted(a.started.params.keys() | b.started.params.keys())
        if a.started.params.get(name) != b.started.params.get(name)
    }
    found = [_values(experiment, run) for run in (a, b)]
    judged = len(params) < 2 and versions[0] == experiment.version  # older ones keep their finding
    noise = [_by_round(experiment, run) if judged else {} for run in (a, b)]
    values = tuple(
        ComparedValue(
            name,
            found[0][name],
            found[1][name],
            found[1][name] / found[0][name] if found[0][name] else None,
            _verdict(noise[0].get(name), noise[1].get(name)) if judged else None,
        )
        for name in found[0]
        if name in found[1]
    )
    ends = {"A": a.finished.outcome, "B": b.finished.outcome}
    cut_short = "".join(run for run, end in ends.items() if end is not wire.Outcome.COMPLETED)
    return Compared(values, params, cut_short)


def caution(words: Words, compared: Compared) -> str:
    """Return what is to be said of runs that were cut short, "" of those that were not."""
    if not compared.cut_short:
        return ""
    key = "terminal.both_cut_short" if len(compared.cut_short) == 2 else "terminal.one_cut_short"
    return words.say(key, {"run": compared.cut_short})


def _values(experiment: Experiment[Any], run: Recording) -> Mapping[str, float]:
    known = run.started.experiment_version == experiment.version
    finding = run.finding(experiment) if known else run.finished.finding
    return finding.values if finding else {}


def _by_round(experiment: Experiment[Any], run: Recording) -> dict[str, Spread]:
    """Return how each value varies over the rounds of a run."""
    rounds = {row.get("repeat") for rows in run.rows.values() for row in rows}
    samples: dict[str, list[float]] = {}
    for number in (each for each in rounds if isinstance(each, int)):
        finding = run.only_round(number).finding(experiment)
        for name, value in (finding.values if finding else {}).items():
            samples.setdefault(name, []).append(value)
    return {name: found for name, values in samples.items() if (found := spread(values))}


def _verdict(a: Spread | None, b: Spread | None) -> Verdict | None:
    if a and b and a.low == a.high == b.low == b.high:
        return None  # a fact, such as the size of a cache: nothing that was measured is so equal
    if a is None or b is None or min(a.count, b.count) < LEAST_ROUNDS:
        return "too_few"
    if not a.parts_from(b):
        return "same"
    return "higher" if b.median > a.median else "lower"
