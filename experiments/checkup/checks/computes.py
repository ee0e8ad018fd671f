"""The checks of stage three for right answers: products, memory patterns, a training step."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from typing import Any

from experiments.checkup.checks.common import (
    PER_S,
    Samples,
    by_round,
    devices_to_do,
    of_others,
    part_of,
    pooled,
)
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import fact, timed, unrun, whole
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source
from experiments.devices.device import CPU, gpu_of


def identical(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Count elements of repeated products that differ from the first one's: none may."""
    for device in devices_to_do(rule, evidence):
        part = part_of(evidence, device)
        repeats = _rows(rule, evidence, device, "repeats")
        wrong = [each for each in repeats if each.differing_elements]
        counted = {
            "products": sum(each.products for each in repeats),
            "differing": sum(each.differing_elements for each in wrong),
        }
        threads = ", ".join(dict.fromkeys(str(w.thread) for w in wrong if w.thread is not None))
        if wrong:
            reason = "differ_on" if threads else "differ"
            yield fact(rule, Word.PROBLEM, reason, part, threads=threads, **counted)
        elif (row := unrun(rule, evidence, part, device)) is not None:
            yield row
        elif not repeats:
            yield fact(rule, Word.UNCHECKED, "none_compared", part)
        else:
            yield fact(rule, Word.FINE, "none_differ", part, **counted)


def patterns(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Count words of memory that were read back otherwise than written: none may."""
    for device in devices_to_do(rule, evidence):
        part = "memory" if device == CPU else part_of(evidence, device)
        passes = _rows(rule, evidence, device, "passes")
        sizes = {each.region: each.checked_bytes for each in passes}
        wrong = sum(each.wrong_words for each in passes)
        values = {"wrong": wrong, "tested_bytes": sum(sizes.values()), "passes": len(passes)}
        if wrong:
            yield fact(rule, Word.PROBLEM, "wrong", part, **values)
        elif (row := unrun(rule, evidence, part, device)) is not None:
            yield row
        elif not passes:
            yield fact(rule, Word.UNCHECKED, "none_written", part)
        else:
            yield fact(rule, Word.FINE, "none_wrong", part, **values)


def _rows(rule: Rule, evidence: Evidence, device: str, table: str) -> list[Any]:
    """Return the rows of all runs, also of those cut short: one wrong bit in them is enough."""
    return [row for run in evidence.of(rule.measure, device) for row in run.tables[table]]


def training(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Take real training steps: the loss must fall, the rate is held against GPUs of the model."""
    for device in devices_to_do(rule, evidence):
        part = part_of(evidence, device)
        row = unrun(rule, evidence, part, device)
        if row is not None:
            yield row
            continue
        runs = whole(evidence.of(rule.measure, device))
        samples = _rates(runs)
        values = {"median_samples_per_s": statistics.median(pooled(samples) or [0.0])}
        reason = next(filter(None, map(_not_learned, runs)), None)
        if reason is not None:
            yield fact(rule, Word.PROBLEM, reason, part, **values)
            continue
        gpu = gpu_of(evidence.machine, device)
        others = of_others(rule, evidence, gpu, _rates) if gpu is not None else []
        yield timed(
            rule,
            evidence,
            runs,
            samples,
            PER_S,
            part=part,
            expected={Source.CONSISTENCY: pooled(others)},
            values=values,
            is_shared=device == CPU,
        )


def _not_learned(run: Ran) -> str | None:
    """Return the reason of a row where the loss did not fall, None where it did."""
    losses = [each.loss for each in sorted(run.tables["losses"], key=lambda each: each.step)]
    if None in losses:
        return "no_number"
    return "loss_rises" if losses and losses[-1] >= losses[0] else None


def _rates(runs: Iterable[Ran]) -> Samples:
    return by_round(runs, "rates", lambda rate: rate.samples_per_s)
