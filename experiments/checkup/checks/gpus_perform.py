"""Stage three, the GPUs: copies, memory, products, and each GPU with each."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from experiments.checkup.checks.common import (
    FLOPS,
    ONE_WAY,
    RATE,
    Samples,
    by_round,
    of_others,
    of_runs,
    on_gpus,
    part_of,
    pooled,
)
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import against, fact, timed
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source
from experiments.core.judging.disturbed import counting
from machine.devices import Gpu


def gpu_copy(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold copies of pinned memory, the slower direction, against the GPU's link."""

    def judge(gpu: Gpu, part: str, runs: Sequence[Ran]) -> Iterator[Row]:
        ways = {way: _largest(runs, way) for way in ONE_WAY}
        known = {way: pooled(each) for way, each in ways.items() if pooled(each)}
        if len(known) < len(ways):
            seen = {copy.way for run in runs for copy in run.tables["copies"]}
            if seen.isdisjoint(ways):
                yield fact(rule, Word.UNCHECKED, "no_pinned", part)
            else:
                yield timed(rule, evidence, runs, [], RATE, part=part)
            return
        slower = min(known, key=lambda way: statistics.median(known[way]))
        values = {f"{way}_bytes_per_s": statistics.median(known[way]) for way in known}
        link = runs[-1].values.get("link_bytes_per_s")
        if link:
            values |= {
                "link_bytes_per_s": link,
                "link_fraction": values[f"{slower}_bytes_per_s"] / link,
            }
        yield timed(
            rule,
            evidence,
            runs,
            ways[slower],
            RATE,
            part=part,
            expected=against(rule, Source.CEILING, known[slower], link, values),
            values=values,
            is_shared=gpu.virtualization == "vgpu",
        )

    return on_gpus(rule, evidence, judge)


def _largest(runs: Sequence[Ran], way: str) -> Samples:
    """Return the rates of copies of the largest size one way."""
    sizes = [copy.size_bytes for run in runs for copy in run.tables["copies"]]
    largest = max(sizes, default=0)
    return by_round(
        runs,
        "copies",
        lambda copy: copy.bytes_per_s if (copy.way, copy.size_bytes) == (way, largest) else None,
    )


def gpu_memory(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold the memory of each GPU against GPUs of the same model."""

    def samples_of(runs: Iterable[Ran]) -> Samples:
        return by_round(runs, "rates", lambda rate: rate.bytes_per_s)

    def judge(gpu: Gpu, part: str, runs: Sequence[Ran]) -> Iterator[Row]:
        samples = samples_of(runs)
        peaks = evidence.machine.peaks.get("gpus", {}).get(str(gpu.index), {})
        values = {"best_bytes_per_s": max(pooled(samples), default=0.0)}
        peak = peaks.get("memory", {}).get("bytes_per_s")
        if peak:
            values |= {"peak_bytes_per_s": peak}
            values["peak_fraction"] = values["best_bytes_per_s"] / peak
        others = pooled(of_others(rule, evidence, gpu, samples_of))
        yield timed(
            rule,
            evidence,
            runs,
            samples,
            RATE,
            part=part,
            expected=against(rule, Source.CONSISTENCY, pooled(samples), others, values),
            values=values,
            is_shared=gpu.virtualization == "vgpu",
        )

    return on_gpus(rule, evidence, judge)


def gpu_products(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold large products in each precision against GPUs of the same model."""

    def judge(gpu: Gpu, part: str, runs: Sequence[Ran]) -> Iterator[Row]:
        precisions = {peak.precision: None for run in runs for peak in run.tables["peaks"]}
        if not precisions:
            yield fact(rule, Word.UNCHECKED, "no_precision", part)
        for precision in precisions:
            samples_of = partial(_products, precision)
            samples = samples_of(runs)
            values = {
                "precision": precision,
                "median_flop_per_s": statistics.median(pooled(samples) or [0.0]),
            }
            others = pooled(of_others(rule, evidence, gpu, samples_of))
            yield timed(
                rule,
                evidence,
                runs,
                samples,
                FLOPS,
                part=f"{part}.{precision}",
                expected=against(rule, Source.CONSISTENCY, pooled(samples), others, values),
                values=values,
                is_shared=gpu.virtualization == "vgpu",
            )

    return on_gpus(rule, evidence, judge)


def _products(precision: str, runs: Iterable[Ran]) -> Samples:
    return by_round(
        runs, "peaks", lambda peak: peak.flop_per_s if peak.precision == precision else None
    )


def gpu_pairs(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold the slowest pair of GPUs against its link, and against pairs joined alike."""
    if len(evidence.machine.gpus) < 2:
        yield fact(rule, Word.ABSENT, "one_gpu")
        return
    yield from _pairs(rule, evidence)


@of_runs("pairs")
def _pairs(rule: Rule, evidence: Evidence, runs: Sequence[Ran]) -> Iterator[Row]:
    wrong = sum(run.values.get("wrong_pairs", 0) for run in runs)
    if wrong:
        yield fact(rule, Word.PROBLEM, "wrong_copies", "pairs", count=wrong)
        return
    rates: dict[tuple[str, str], list[float]] = defaultdict(list)
    paths: dict[tuple[str, str], str] = {}
    for run in runs:
        for copy in counting(run.tables["copies"]):
            rates[copy.source, copy.target].append(copy.bytes_per_s)
            paths[copy.source, copy.target] = copy.path
    if not rates:
        yield fact(rule, Word.UNCHECKED, "no_pair", "pairs")
        return
    worst, share, others = None, float("inf"), list[float]()
    for pair, samples in rates.items():
        same = [
            s for p, each in rates.items() if p != pair and paths[p] == paths[pair] for s in each
        ]
        this_share = statistics.median(samples) / statistics.median(same) if same else 1.0
        if this_share < share:
            worst, share, others = pair, this_share, same
    assert worst is not None
    a, b = (part_of(evidence, device) for device in worst)
    link = _pair_limit(evidence, a, b)
    values: dict[str, Any] = {
        "a": a,
        "b": b,
        "path": paths[worst],
        "pairs": len(rates),
        "median_bytes_per_s": statistics.median(rates[worst]),
    }
    if link:
        values |= {"link_bytes_per_s": link, "link_fraction": values["median_bytes_per_s"] / link}
    yield timed(
        rule,
        evidence,
        runs,
        [rates[worst]],
        RATE,
        part="pairs",
        expected=(
            *against(rule, Source.CEILING, rates[worst], link, values),
            *against(rule, Source.CONSISTENCY, rates[worst], others, values),
        ),
        values=values,
    )


def _pair_limit(evidence: Evidence, a: str, b: str) -> float | None:
    """Return the peak of all NVLinks between two GPUs, in one direction."""
    first, second = sorted(int(part.removeprefix("gpu")) for part in (a, b))
    peak = evidence.machine.peaks.get("nvlink", {}).get(f"{first}-{second}", {})
    return peak.get("bytes_per_s")
