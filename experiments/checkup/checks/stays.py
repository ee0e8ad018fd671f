"""Stage four: does it stay as fast, and what holds it back?"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator

from experiments.checkup.checks.common import part_of
from experiments.checkup.evidence import Evidence
from experiments.checkup.judge import against, fact, timed, unrun, whole
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source

WINDOW_S = 10.0


def sustained(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold the last ten seconds of the load against the best ten, for each device."""
    row = unrun(rule, evidence, "")
    if row is not None:
        yield row
        return
    runs = whole(evidence.of(rule.measure))
    work: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each in runs[-1].tables["windows"]:
        work[each.device].append((each.t_s, each.per_s))
    for device, seen in work.items():
        part = part_of(evidence, device)
        last, best = _last_and_best(seen)
        if not best:
            yield fact(rule, Word.UNCHECKED, "too_short", part)
            continue
        values = {
            "last_fraction": statistics.median(last) / statistics.median(best),
            "load_duration": seen[-1][0],
        }
        for name in ("highest_celsius",):
            if name in runs[-1].values:
                values[name] = runs[-1].values[name]
        expected = against(rule, Source.CONSISTENCY, last, best, values)
        yield timed(
            rule,
            evidence,
            runs[-1:],
            [last],
            "per_s",
            part=part,
            expected=expected,
            values=values,
            is_shared=True,
            is_confirmed=True,  # it lasts long, and is a confirmation of itself
        )
    if not work:
        yield fact(rule, Word.UNCHECKED, "too_short")


def _last_and_best(seen: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Return the rates of the last window, and those of the window with the highest median.

    A short load has windows of a third of its length. The first window may be the best.
    """
    if len(seen) < 6:
        return [], []
    end_s = seen[-1][0]
    width_s = min(WINDOW_S, end_s / 3)
    windows: dict[int, list[float]] = defaultdict(list)
    for t_s, per_s in seen:
        windows[int((end_s - t_s) / width_s)].append(per_s)
    full = {place: rates for place, rates in windows.items() if len(rates) >= len(windows[0]) / 2}
    return windows[0], max(full.values(), key=statistics.median)


def throttling(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Tell why clocks were lower during the load: heat and power brakes are to be looked at."""
    row = unrun(rule, evidence, "")
    if row is not None:
        yield row
        return
    runs = whole(evidence.of(rule.measure))
    reasons = [
        reason
        for run in runs
        for sample in run.watched
        for gpu in sample.gpus
        for reason in gpu.clock_reasons or ()
    ]
    yield from _of_gpus(rule, evidence, {r.key: r.severity for r in reasons})


def _of_gpus(rule: Rule, evidence: Evidence, reasons: dict[str, str]) -> Iterator[Row]:
    raise NotImplementedError
