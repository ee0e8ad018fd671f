"""The judge: samples against expectations, in one of the five words.

A result is fine if its whole interval lies above the line `ok`. It is a problem if the whole
interval lies below `floor`. Anything between is worth a look. An interval from below the line up to
the expected value gives no verdict: the samples scatter too much. It is the interval of the usual
sample over the expected one (core/comparing.py), from round to round. More rounds make it narrower,
so a machine's noise does not change the word from one checkup to the next. The samples of a
bandwidth are the best of each round. If several expectations are known, the worst word counts.

A low result is no verdict if other programs, a battery or a power saver may have caused it. A row
that they may have slowed down keeps that as its reason. It then serves as no baseline and no
reference. A guest shares some parts with neighbours that come and go unseen, so these are judged
more mildly. They are worth a look if two runs are far too slow, and otherwise get no verdict.
Sources: Hodges and Lehmann, 1963; NVIDIA's DCGM diagnostics.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.result import DISTURBED, Expected, Row, Word
from experiments.checkup.rules import Rule, Source
from experiments.core.judging.comparing import ENOUGH, paired, unpaired
from experiments.core.judging.statistics import spread
from experiments.core.judging.trust import taken_fraction
from machine.model import is_guest

LEVEL = 0.1  # one interval in twenty lies too high; red takes a second run, and a distance
STEADY_FRACTION = 0.035  # of the mean: a larger standard deviation is measured again
CONFIRMED = 2  # runs of a slow result
UNCONFIRMED, GUEST = "unconfirmed", "guest"
Expectation = float | Sequence[float] | None
BY_SEVERITY = (Word.FINE, Word.LOOK, Word.PROBLEM)
NOT_FINE = (Word.LOOK, Word.PROBLEM)


def is_steady(samples: Sequence[float]) -> bool:
    """Are these samples enough, and close enough together?"""
    if len(samples) < ENOUGH:
        return False
    mean = statistics.fmean(samples)
    return mean > 0 and statistics.stdev(samples) <= STEADY_FRACTION * mean


def against(
    rule: Rule,
    source: Source,
    samples: Sequence[float],
    expected: Expectation,
    values: Mapping[str, Any] | None = None,
    unit: str = "",
) -> Iterable[Expected]:
    """Yield what the samples are worth against an expectation, nothing if either is unknown.

    `expected` is a number, or the samples of something that should be alike. More is better. `unit`
    is given only if it differs from the row's.
    """
    limits = rule.limits.get(source)
    of = (expected,) if isinstance(expected, int | float) else tuple(expected or ())
    if limits is None or not samples or not of or min(of) <= 0:  # 0 comes from a damaged file
        return
    value = float(statistics.median(of))
    low, high = _interval(samples, of)
    word = Word.LOOK
    if low >= limits.ok:
        word = Word.FINE
    elif high < limits.floor:
        word = Word.PROBLEM
    yield Expected(
        source=source,
        value=value,
        unit=unit,
        ok=limits.ok,
        floor=limits.floor,
        low=low,
        high=high,
        word=word,
        values=dict(values or {}),
    )


def _interval(samples: Sequence[float], of: Sequence[float]) -> tuple[float, float]:
    """Return the interval of samples over one number, or over other samples."""
    if len(samples) < ENOUGH or 1 < len(of) < ENOUGH or min(samples) <= 0:
        return min(samples) / max(of), max(samples) / min(of)
    if len(of) == 1:
        found = paired(samples, [of[0]] * len(samples), level=LEVEL)
    else:
        found = unpaired(samples, of, level=LEVEL)
    return found.low, found.high


def timed(
    rule: Rule,
    evidence: Evidence,
    runs: Sequence[Ran],
    samples: Sequence[Sequence[float]],
    unit: str,
    *,
    part: str = "",
    expected: Mapping[Source, Expectation] | None = None,
    beside: Iterable[Expected] = (),
    values: Mapping[str, Any] | None = None,
    is_shared: bool = False,
    is_confirmed: bool = False,
) -> Row:
    """Return the row of something that was timed; `samples` are those of each run.

    `beside` was judged already, of something else that was measured. `is_shared`: a guest may get
    less of it than the machine has. A slow result is a problem only where a second run confirmed
    it, or where `is_confirmed` by itself.
    """
    pooled = tuple(sample for each in samples for sample in each)
    excuse = excuse_of(evidence, runs, part)
    if not pooled:
        reason, told = excuse or ("no_samples", {})
        return fact(rule, Word.UNCHECKED, reason, part, **told)
    held: list[Expected] = []
    for source, of in (expected or {}).items():
        held += against(rule, source, pooled, of, values)
    earlier = evidence.earlier(rule, part)
    if earlier is not None and earlier.unit == unit:
        held += against(rule, Source.BASELINE, pooled, earlier.samples)
    held += against(rule, Source.REFERENCE, pooled, evidence.elsewhere(rule, part))
    held += beside
    found: dict[str, Any] = {"spread_fraction": _spread_fraction(pooled), **(values or {})}
    word = max((each.word for each in held), key=BY_SEVERITY.index, default=Word.UNCHECKED)
    reason = "measured" if held else "no_expectation"
    if excuse is not None:
        found |= {DISTURBED: excuse[0], **excuse[1]}
    if excuse is not None and not (word in NOT_FINE and _stands(held, word, runs)):
        word, reason = word if word is Word.FINE else Word.UNCHECKED, excuse[0]
    elif word is Word.LOOK and all(_tells_nothing(each) for each in held if each.word is word):
        word, reason = Word.UNCHECKED, "scatters"
    elif word is Word.LOOK and is_shared and is_guest(evidence.machine):
        word, reason = Word.UNCHECKED, GUEST
    elif word is Word.LOOK:
        is_low = any(_is_below(each) for each in held if each.word is Word.LOOK)
        reason = "below" if is_low else "between"
    elif word is Word.PROBLEM:
        word, reason = _of_low(evidence, runs, is_shared=is_shared, is_confirmed=is_confirmed)
    return _row(
        rule,
        word,
        reason,
        part=part,
        values=found,
        samples=pooled,
        unit=unit,
        expected=tuple(held),
        runs=len(runs),
    )


def fact(rule: Rule, word: Word, reason: str, part: str = "", /, **values: Any) -> Row:
    """Return the row of something that is so or not."""
    return _row(rule, word, reason, part=part, values=values)


def unrun(rule: Rule, evidence: Evidence, part: str, device: str = "") -> Row | None:
    """Return the row of a rule whose measurement did not come to its end; None if it did."""
    runs = evidence.of(rule.measure, device)
    if any(run.is_whole for run in runs):
        return None
    problem = evidence.refused.get((rule.measure, device))
    outcome = "not_run"
    if runs:
        problem = runs[-1].finished.problem or problem
        outcome = str(runs[-1].finished.outcome)
    if problem is not None and problem.key.startswith("needs_"):
        return fact(rule, Word.ABSENT, "needs", part, problem=problem.key)
    known = {"problem": problem.key, **problem.values} if problem is not None else {}
    return fact(rule, Word.UNCHECKED, outcome, part, **known)


def whole(runs: Iterable[Ran]) -> list[Ran]:
    """Return the runs that came to their end."""
    return [run for run in runs if run.is_whole]


def _stands(held: Iterable[Expected], word: Word, runs: Iterable[Ran]) -> bool:
    """Is a result so low that the load of other programs alone cannot have made it?"""
    taken = max((taken_fraction(run.notes) for run in runs), default=0.0)
    low = [(each.high, each.floor if word is Word.PROBLEM else each.ok) for each in held]
    is_beyond = (high is not None and line and high / (1 - taken) < line for high, line in low)
    return bool(taken) and any(is_beyond)


def excuse_of(
    evidence: Evidence, runs: Iterable[Ran], part: str
) -> tuple[str, Mapping[str, Any]] | None:
    """Return what may have slowed a part down, as a reason and its values; None if nothing did."""
    note = next((note for run in runs if (note := run.disturbance)), None)
    if note is not None:
        return note.key, note.values
    around = evidence.surroundings
    if around is None:
        return None
    shared = [f"gpu{gpu.index}" for gpu in around.gpus if gpu.compute_processes]
    if part.partition(".")[0] in shared or (part == "pairs" and shared):
        return "gpu_is_shared", {}
    if around.on_battery:
        return "on_battery", {}
    if around.power_saver:
        return "power_saver", {"settings": ", ".join(around.power_saver_by)}
    return None


def _of_low(
    evidence: Evidence, runs: Sequence[Ran], *, is_shared: bool, is_confirmed: bool
) -> tuple[Word, str]:
    if len(runs) < CONFIRMED and not is_confirmed:
        return Word.LOOK, UNCONFIRMED
    if is_shared and is_guest(evidence.machine):  # neighbours stay for as long as a run takes
        return (Word.LOOK if len(runs) >= CONFIRMED else Word.UNCHECKED), GUEST
    return Word.PROBLEM, "low"


def _tells_nothing(expected: Expected) -> bool:
    """Does the interval reach what is expected, so that it may or may not be lower?"""
    return expected.high is not None and expected.high >= 1.0


def _is_below(expected: Expected) -> bool:
    """Is the whole interval below the line, so that it is no matter of noise?"""
    return expected.high is not None and expected.ok is not None and expected.high < expected.ok


def _spread_fraction(samples: Sequence[float]) -> float:
    of = spread(samples)
    return (of.high - of.low) / of.median if of is not None and of.median else 0.0


def _row(rule: Rule, word: Word, reason: str, **more: Any) -> Row:
    return Row(
        rule=rule.id, version=rule.version, stage=rule.stage, word=word, reason=reason, **more
    )
