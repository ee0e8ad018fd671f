"""Compares two runs of one experiment, and judges the differences.

The noise of a value is its variation from round to round: each round of a run is analysed alone.
There are three outcomes: a value differs, is the same within 5 %, or is unclear. A value without
rounds, such as a fact or a result of all rounds together, gets neither verdict nor ratio. A value
that was unclear within a run stays unclear here. One differing parameter is named as the likely
reason; several leave the reason open.

Two runs whose rounds alternated are compared round by round, so what disturbed a round cancels out;
one of them may be of a copy of the other's experiment. The values that are read first are one
family, all others another: together they raise a false alarm as seldom as one value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Literal

from app.report import number, setting
from experiments.core.declare import Experiment, specs
from experiments.core.judging.comparing import (
    ENOUGH,
    Outcome,
    Ratio,
    beside_load,
    family,
    held,
    paired,
    unpaired,
)
from experiments.core.judging.statistics import Spread, spreads
from experiments.core.judging.trust import taken_fraction
from experiments.core.parameters import to_text
from experiments.core.problems import UserError
from experiments.core.units import SWITCH, show, unit_of
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.recording import ALTERED, Recording

Verdict = Literal["higher", "lower", "same", "unclear", "too_few", "elsewhere"]
NEAR = 2.0  # within this factor, both runs found the value in the same place
MEANS: Mapping[Verdict | None, str] = {
    "same": "terminal.same_means",
    "unclear": "terminal.unclear_means",
    "too_few": "terminal.too_few_means",
    "elsewhere": "terminal.elsewhere_means",
    None: "terminal.unjudged_means",
}
NO_ROUND = -1
first, second = itemgetter(0), itemgetter(1)


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """One value of two runs, None for a run that lacks it.

    There is no verdict if several parameters differ. There is neither ratio nor verdict for a value
    without rounds, a switch, or a value of one run alone. `unclear` has the finding, by letter, of
    each run in which the value is an unclear difference: nothing is divided by that.
    """

    name: str
    a: float | None
    b: float | None
    ratio: float | None  # b / a
    verdict: Verdict | None
    unclear: Mapping[str, messages.FindingSent] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compared:
    """The values in declared order, and the parameters that differ (name to both values).

    There are no values if the runs have none in common. `cut_short` are the letters of the runs
    that did not complete, `altered` of those whose files were changed since; `disturbed` has, by
    letter, the share of the processors that others took: no difference is claimed that this makes.
    """

    values: tuple[ComparedValue, ...]
    params: Mapping[str, tuple[Any, Any]]
    cut_short: str
    disturbed: Mapping[str, float]
    altered: str = ""


def compare(experiment: Experiment[Any], a: Recording, b: Recording) -> Compared:
    """Compare two runs. Raises UserError for other experiments or versions of it.

    Of a pair `experiment` is the original, which `a` ran; its `analyse` reads the rows of both.
    """
    is_pair = are_pair(a.started, b.started)
    if a.started.experiment != b.started.experiment and not is_pair:
        raise UserError("not_comparable_experiment", a=a.started.experiment, b=b.started.experiment)
    versions = a.started.experiment_version, b.started.experiment_version
    if versions[0] != versions[1]:
        raise UserError("not_comparable_version", a=versions[0], b=versions[1])
    params = {
        name: (a.started.params.get(name), b.started.params.get(name))
        for name in sorted(a.started.params.keys() | b.started.params.keys())
        if a.started.params.get(name) != b.started.params.get(name)
    }
    taken = {run: taken_fraction(recording.told) for run, recording in (("A", a), ("B", b))}
    findings = {"A": _finding(experiment, a), "B": _finding(experiment, b)}
    found = [finding.values if finding else {} for finding in findings.values()]
    is_known = versions[0] == experiment.version  # older ones keep their finding
    noise = _noise(experiment, a, b) if is_known else {}
    in_pairs = _by_pairs(experiment, a, b) if is_known and is_pair else {}
    switches = {value.name for value in experiment.values if value.unit == SWITCH}
    declared = [value.name for value in experiment.values]
    names = (*declared, *found[0], *found[1]) if found[0].keys() & found[1].keys() else ()
    values = []
    for name in dict.fromkeys(names):
        one, other = (values_of.get(name) for values_of in found)
        unclear_in = {run: of for run, of in findings.items() if of and name in of.unclear}
        ratio, verdict = None, None
        if one is not None and other is not None and name not in switches:
            has_ratio = one and not unclear_in and (name in noise or not is_known)
            ratio = other / one if has_ratio else None
            is_judged = name in noise and len(params) < 2
            with beside_load(1 / (1 - max(taken.values()))):
                judged = in_pairs.get(name) or (_verdict(*noise[name]) if is_judged else None)
            verdict = _agreed(judged, one, other) if judged is not None and is_judged else None
        if len(unclear_in) == 2 and verdict in ("higher", "lower"):
            verdict = "unclear"
        if one is not None or other is not None:
            values.append(ComparedValue(name, one, other, ratio, verdict, unclear_in))
    values = list(of_one_mind(in_one_place(experiment, found[0], found[1], values)))
    ends = {"A": a.finished.outcome, "B": b.finished.outcome}
    disturbed = {run: fraction for run, fraction in taken.items() if fraction}
    cut_short = "".join(run for run, end in ends.items() if end is not messages.Outcome.COMPLETED)
    altered = "".join(run for run, of in (("A", a), ("B", b)) if ALTERED in of.notes)
    return Compared(tuple(values), params, cut_short, disturbed, altered)


def cautions(words: Words, experiment: Experiment[Any], compared: Compared) -> Iterator[str]:
    """Yield a caution for each run that is not whole, and for differing settings."""
    if cut_short := compared.cut_short:
        key = "terminal.both_cut_short" if len(cut_short) == 2 else "terminal.one_cut_short"
        yield words.say(key, {"run": cut_short})
    for run in compared.altered:
        yield words.say("terminal.one_altered", {"run": run})
    for run, others_fraction in compared.disturbed.items():
        values = {"run": run, "others_fraction": others_fraction}
        yield words.say("terminal.one_disturbed", values)
    if compared.params:
        names = ", ".join(_differing(words, experiment, compared.params))
        yield words.say("terminal.params_differ", {"names": names, "count": len(compared.params)})


def cells(words: Words, experiment: Experiment[Any], value: ComparedValue) -> tuple[str, str, str]:
    """Return A, B and B / A in words, "" where there is none."""
    units = {value.name: value.unit for value in experiment.values}
    unit = units.get(value.name, unit_of(value.name))
    a, b = (
        "" if of is None else number(words, value.name, of, unit, value.unclear.get(run))
        for run, of in (("A", value.a), ("B", value.b))
    )
    return a, b, "" if value.ratio is None else show(value.ratio, "ratio")


def footnotes(words: Words, compared: Compared) -> list[str]:
    """Return the meaning of each verdict that occurs."""
    verdicts = {value.verdict for value in compared.values}
    if not verdicts - {None}:
        return []
    return [words.say(key) for verdict, key in MEANS.items() if verdict in verdicts]


def _differing(
    words: Words, experiment: Experiment[Any], params: Mapping[str, tuple[Any, Any]]
) -> Iterator[str]:
    """Yield each parameter with both values; one of an older version under its raw name."""
    for name, pair in params.items():
        if name in specs(experiment.params):
            (called, a), (_, b) = (setting(words, experiment, name, value) for value in pair)
        else:
            called, a, b = name, *map(to_text, pair)
        yield words.say("terminal.differs", {"name": called, "a": a, "b": b})


def _finding(experiment: Experiment[Any], run: Recording) -> messages.FindingSent | None:
    known = run.started.experiment_version == experiment.version
    return run.finding(experiment) if known else run.finished.finding


def _noise(
    experiment: Experiment[Any], a: Recording, b: Recording
) -> dict[str, tuple[Spread, Spread]]:
    """Return the spread of each value that has rounds in both runs."""
    of_a, of_b = (_by_round(experiment, run) for run in (a, b))
    both = {name: (of_a[name], of_b[name]) for name in of_a if name in of_b}
    return {  # measured values are never that equal
        name: (one, other)
        for name, (one, other) in both.items()
        if not one.low == one.high == other.low == other.high
    }


def _told(experiment: Experiment[Any], run: Recording, number: int) -> Mapping[str, float]:
    finding = run.only_round(number).finding(experiment)
    return finding.values if finding else {}


def _rounds(run: Recording) -> set[int]:
    found = {row.row.get("repeat") for rows in run.rows.values() for row in rows}
    return {each for each in found if isinstance(each, int)}


def _by_round(experiment: Experiment[Any], run: Recording) -> dict[str, Spread]:
    """Return the spread of each value over the rounds; values that need no round are left out."""
    found = spreads(
        pair for number in _rounds(run) for pair in _told(experiment, run, number).items()
    )
    once = _told(experiment, run, NO_ROUND)
    return {
        name: each for name, each in found.items() if not each.low == each.high == once.get(name)
    }


def are_pair(a: messages.Started, b: messages.Started) -> bool:
    """Did the rounds of two runs alternate?"""
    return bool(a.pair) and a.pair == b.pair


def _by_pairs(experiment: Experiment[Any], a: Recording, b: Recording) -> dict[str, Verdict]:
    """Return the verdict of each value by the rounds that both runs have."""
    samples: dict[str, list[tuple[float, float]]] = {}
    for place in sorted(_rounds(a) & _rounds(b)):
        one, other = (_told(experiment, run, place) for run in (a, b))
        for name in one.keys() & other.keys():
            samples.setdefault(name, []).append((other[name], one[name]))
    pairs = {name: ([*map(first, each)], [*map(second, each)]) for name, each in samples.items()}
    keys = {key.value for key in experiment.keys}
    read_first = {name: pair for name, pair in pairs.items() if name in keys}
    rest = {name: pair for name, pair in pairs.items() if name not in keys}
    found = family(read_first, paired) | family(rest, paired)
    return {name: _in_a_word(each) for name, each in found.items()}


def _verdict(a: Spread, b: Spread) -> Verdict:
    return _in_a_word(held(unpaired(b.samples, a.samples)))


def _in_a_word(found: Ratio) -> Verdict:
    if found.count < ENOUGH:
        return "too_few"
    match found.outcome:
        case Outcome.SAME:
            return "same"
        case Outcome.UNKNOWN:
            return "unclear"
    return "higher" if found.is_above else "lower"


def in_one_place(
    experiment: Experiment[Any],
    a: Mapping[str, float],
    b: Mapping[str, float],
    values: Sequence[ComparedValue],
) -> Iterator[ComparedValue]:
    """Withdraw the verdict of values that the runs found at sizes far apart."""
    within = {value.name: value.within for value in experiment.values if value.within}
    for value in values:
        one, other = (found.get(within.get(value.name, "")) for found in (a, b))
        is_near = one == other or (one and other and max(one, other) <= NEAR * min(one, other))
        if value.verdict is not None and not is_near:
            value = replace(value, ratio=None, verdict="elsewhere")
        yield value


def of_one_mind(values: Iterable[ComparedValue]) -> Iterator[ComparedValue]:
    """Claim no difference of cycles unless their time or the clock of the core differs."""
    values = list(values)
    claimed = {value.name for value in values if value.verdict in ("higher", "lower")}
    names = {value.name for value in values}
    for value in values:
        time = value.name.removesuffix("_cycles") + "_s"
        is_counted = value.name.endswith("_cycles") and time in names
        if is_counted and value.name in claimed and not claimed & {time, "core_hz"}:
            value = replace(value, verdict="unclear")
        yield value


def _agreed(verdict: Verdict, a: float, b: float) -> Verdict:
    """Return the verdict of the rounds if the values of the whole runs agree, else "unclear".

    A single round may read its value elsewhere, for example at the end of another cache.
    """
    told = {"higher": b > a, "lower": b < a}
    return verdict if told.get(verdict, True) else "unclear"
