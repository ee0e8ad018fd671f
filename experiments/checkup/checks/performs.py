"""Stage three: does it perform, does it compute right?"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from experiments.checkup.checks.common import (
    Samples,
    alike,
    by_round,
    on_gpus,
    part_of,
    pooled,
)
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import against, fact, timed, unrun, whole
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source
from experiments.core.disturbed import counting
from experiments.devices.device import CPU, devices_of
from machine.devices import Gpu

RATE, FLOPS, PER_S = "bytes/s", "flop/s", "per_s"
_TO_GPU, _FROM_GPU = "pinned_to_gpu", "pinned_from_gpu"


def memory_bandwidth(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold the best loop of STREAM in each round against the channels as they are set."""
    row = unrun(rule, evidence, "memory")
    if row is not None:
        yield row
        return
    runs = whole(evidence.of(rule.measure))
    samples = by_round(runs, "moves", lambda move: move.bytes_per_s)
    peak = evidence.machine.memory.peak_bytes_per_s
    values = {"best_bytes_per_s": max(pooled(samples), default=0.0)}
    if peak:
        values |= {"peak_bytes_per_s": peak, "peak_fraction": values["best_bytes_per_s"] / peak}
    yield timed(
        rule,
        evidence,
        runs,
        samples,
        RATE,
        part="memory",
        expected=against(rule, Source.CEILING, pooled(samples), peak, values),
        values=values,
        is_shared=True,
    )


def cores(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold the slowest core against the others of its kind."""
    row = unrun(rule, evidence, "cores")
    if row is not None:
        yield row
        return
    runs = whole(evidence.of(rule.measure))
    kinds = {thread.id: thread.kind for thread in evidence.machine.cpu.threads_list}
    rates: dict[tuple[Any, int], list[float]] = defaultdict(list)
    for run in runs:
        for each in counting(run.tables["rates"]):
            core = each.thread if each.core is None else each.core
            rates[kinds.get(each.thread), core].append(each.flop_per_s)
    others = {core: _others(rates, core) for core in rates}
    shares = {
        core: statistics.median(rates[core]) / statistics.median(of)
        for core, of in others.items()
        if of
    }
    if not shares:
        yield fact(rule, Word.ABSENT, "one_core", "cores")
        return
    slowest = min(shares, key=shares.__getitem__)
    values = {
        "core": slowest[1],
        "cores": len(rates),
        "slowest_fraction": shares[slowest],
        "slowest_flop_per_s": statistics.median(rates[slowest]),
        "others_flop_per_s": statistics.median(others[slowest]),
    }
    yield timed(
        rule,
        evidence,
        runs,
        [rates[slowest]],
        FLOPS,
        part="cores",
        expected=against(rule, Source.CONSISTENCY, rates[slowest], others[slowest], values),
        values=values,
        is_shared=True,
    )


def _others(rates: Mapping[tuple[Any, int], Sequence[float]], of: tuple[Any, int]) -> list[float]:
    """Return the samples of the other cores of this one's kind."""
    kind, _ = of
    return [s for core, each in rates.items() if core != of and core[0] == kind for s in each]


def disk(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold sequential reads past the page cache against the disk's link."""
    row = unrun(rule, evidence, "disk")
    if row is not None:
        yield row
        return
    runs = whole(evidence.of(rule.measure))
    samples = by_round(
        runs, "reads", lambda read: read.bytes_per_s if read.way == "sequential" else None
    )
    values = {name: value for run in runs for name, value in run.values.items()}
    best = max(pooled(samples), default=0.0)
    values = {
        name: values[name]
        for name in ("random_4k_reads_per_s", "random_4k_latency_s", "link_bytes_per_s")
        if name in values
    }
    values["best_bytes_per_s"] = best
    link = values.get("link_bytes_per_s")
    yield timed(
        rule,
        evidence,
        runs,
        samples,
        RATE,
        part="disk",
        expected=against(rule, Source.CEILING, pooled(samples), link, values),
        values=values,
        is_shared=True,
    )


def gpu_copy(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold copies of pinned memory, the slower direction, against the GPU's link."""

    def judge(gpu: Gpu, part: str, runs: Sequence[Ran]) -> Iterator[Row]:
        ways = {way: _largest(runs, way) for way in (_TO_GPU, _FROM_GPU)}
        known = {way: pooled(each) for way, each in ways.items() if pooled(each)}
        if not known:
            yield fact(rule, Word.UNCHECKED, "no_pinned", part)
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
        others = pooled(_of_others(rule, evidence, gpu, samples_of))
        yield timed(
            rule,
            evidence,
            runs,
            samples,
            RATE,
            part=part,
            expected=against(rule, Source.CONSISTENCY, pooled(samples), others, values),
            values=values,
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
            others = pooled(_of_others(rule, evidence, gpu, samples_of))
            yield timed(
                rule,
                evidence,
                runs,
                samples,
                FLOPS,
                part=f"{part}.{precision}",
                expected=against(rule, Source.CONSISTENCY, pooled(samples), others, values),
                values=values,
            )

    return on_gpus(rule, evidence, judge)


def _products(precision: str, runs: Iterable[Ran]) -> Samples:
    return by_round(
        runs, "peaks", lambda peak: peak.flop_per_s if peak.precision == precision else None
    )


def _of_others(
    rule: Rule, evidence: Evidence, gpu: Gpu, samples_of: Callable[[Iterable[Ran]], Samples]
) -> Samples:
    """Return the samples of the other GPUs of the same model."""
    others = {f"gpu{other.index}" for other in alike(evidence, gpu)}
    names = [name for name in devices_of(evidence.machine) if part_of(evidence, name) in others]
    return [each for name in names for each in samples_of(whole(evidence.of(rule.measure, name)))]


def gpu_pairs(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold the slowest pair of GPUs against its link, and against pairs joined alike."""
    if len(evidence.machine.gpus) < 2:
        yield fact(rule, Word.ABSENT, "one_gpu")
        return
    row = unrun(rule, evidence, "pairs")
    if row is not None:
        yield row
        return
    runs = whole(evidence.of(rule.measure))
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
        of_others = statistics.median(samples) / statistics.median(same) if same else 1.0
        if of_others < share:
            worst, share, others = pair, of_others, same
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


def identical(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Count elements of repeated products that differ from the first one's: none may."""
    for device in evidence.devices(rule.measure):
        part = part_of(evidence, device)
        row = unrun(rule, evidence, part, device)
        if row is not None:
            yield row
            continue
        rows = [
            each for run in whole(evidence.of(rule.measure, device)) for each in _products_of(run)
        ]
        wrong = [each for each in rows if each.differing]
        counted = {"products": len(rows), "differing": len(wrong)}
        if not rows:
            yield fact(rule, Word.UNCHECKED, "none_compared", part)
        elif wrong:
            yield fact(rule, Word.PROBLEM, "differ", part, where=wrong[0].where, **counted)
        else:
            yield fact(rule, Word.FINE, "none_differ", part, **counted)


def _products_of(run: Ran) -> Sequence[Any]:
    return run.tables["products"]


def patterns(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Count words of memory that were read back otherwise than written: none may."""
    for device in evidence.devices(rule.measure):
        part = "memory" if device == CPU else part_of(evidence, device)
        row = unrun(rule, evidence, part, device)
        if row is not None:
            yield row
            continue
        runs = whole(evidence.of(rule.measure, device))
        passes = [each for run in runs for each in run.tables["passes"]]
        wrong = sum(each.wrong_words for each in passes)
        largest = max((each.region_bytes for each in passes), default=0)
        word, reason = (Word.PROBLEM, "wrong") if wrong else (Word.FINE, "none_wrong")
        if not passes:
            word, reason = Word.UNCHECKED, "none_written"
        values = {"wrong": wrong, "tested_bytes": largest, "passes": len(passes)}
        yield fact(rule, word, reason, part, **values)


def training(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Take one real training step: its loss must fall, its rate is held against the baseline."""
    for device in evidence.devices(rule.measure):
        part = part_of(evidence, device)
        row = unrun(rule, evidence, part, device)
        if row is not None:
            yield row
            continue
        runs = whole(evidence.of(rule.measure, device))
        samples = by_round(runs, "steps", lambda step: step.samples_per_s)
        first, last = (runs[-1].values.get(f"{name}_loss") for name in ("first", "last"))
        values = {
            "median_samples_per_s": statistics.median(pooled(samples) or [0.0]),
            "first_loss": first,
            "last_loss": last,
        }
        if first is None or last is None or not last < first:
            yield fact(rule, Word.PROBLEM, "loss_rises", part, **values)
            continue
        gpu = next((g for g in evidence.machine.gpus if f"gpu{g.index}" == part), None)
        others = _of_others(rule, evidence, gpu, _step_rates) if gpu is not None else []
        expected = against(rule, Source.CONSISTENCY, pooled(samples), pooled(others), values)
        yield timed(
            rule,
            evidence,
            runs,
            samples,
            PER_S,
            part=part,
            expected=expected,
            values=values,
            is_shared=device == CPU,
        )


def _step_rates(runs: Iterable[Ran]) -> Samples:
    return by_round(runs, "steps", lambda step: step.samples_per_s)
