"""Stage three, the GPUs: copies, memory, products, and each GPU with each."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from experiments.checkup.checks.common import (
    FLOPS,
    ONE_WAY,
    RATE,
    Samples,
    by_round,
    has_lowered_limit,
    of_others,
    of_runs,
    on_gpus,
    part_of,
    pooled,
    seen_link,
    share_of,
)
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import UNCONFIRMED, fact, timed
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source, rules
from experiments.core.judging.disturbed import counting
from machine.bus.pcie import able, bytes_per_s, link_of
from machine.devices import Gpu, Peak
from machine.gpus.rates import ORDINARY
from machine.parts import gpu_facts

POWER_CAP = "power_cap"  # in the driver's reasons for a GPU's clock


@on_gpus
def gpu_copy(
    rule: Rule, evidence: Evidence, gpu: Gpu, part: str, runs: Sequence[Ran]
) -> Iterator[Row]:
    """Hold copies of pinned memory, the slower direction, against the GPU's link as it is used.

    A link slower than card and slot allow is the subject of the link's own row.
    """
    ways = {way: _largest(runs, way) for way in ONE_WAY}
    known = {way: pooled(each) for way, each in ways.items() if pooled(each)}
    if len(known) < len(ways):
        measured = {copy.way for run in runs for copy in run.tables["copies"]}
        if measured.isdisjoint(ways):
            yield fact(rule, Word.UNCHECKED, "no_pinned", part)
        else:
            yield timed(rule, evidence, runs, [], RATE, part=part)
        return
    slower = min(known, key=lambda way: statistics.median(known[way]))
    values = {f"{way}_bytes_per_s": statistics.median(known[way]) for way in known}
    link = runs[-1].values.get("link_bytes_per_s")
    own = link_of(evidence.machine, gpu)
    seen = seen_link(gpu, runs, able(own)[0] if own else None)
    if link and seen is not None:
        link = min(link, bytes_per_s(*seen) or link)
    values |= share_of("link", link, values[f"{slower}_bytes_per_s"])
    yield timed(
        rule,
        evidence,
        runs,
        ways[slower],
        RATE,
        part=part,
        expected={Source.CEILING: link},
        values=values,
        is_shared=gpu.virtualization == "vgpu",
    )


def _largest(runs: Sequence[Ran], way: str) -> Samples:
    """Return the rates of copies of the largest size one way."""
    sizes = [copy.size_bytes for run in runs for copy in run.tables["copies"]]
    largest = max(sizes, default=0)
    return by_round(
        runs,
        "copies",
        lambda copy: copy.bytes_per_s if (copy.way, copy.size_bytes) == (way, largest) else None,
    )


@on_gpus
def gpu_memory(
    rule: Rule, evidence: Evidence, gpu: Gpu, part: str, runs: Sequence[Ran]
) -> Iterator[Row]:
    """Hold the memory of each GPU against its ceiling, and against GPUs of the same model."""
    samples = _of_memory(runs)
    facts, usual = gpu_facts(gpu.name), rules().numbers.gpu_memory_fraction
    reached = facts.memory_fraction if facts else None
    best = max(pooled(samples), default=0.0)
    peak = _peaks(evidence, gpu).get("memory", {}).get("bytes_per_s")
    yield timed(
        rule,
        evidence,
        runs,
        samples,
        RATE,
        part=part,
        expected={
            Source.CEILING: _reachable(peak, reached, usual),
            Source.CONSISTENCY: pooled(of_others(rule, evidence, gpu, _of_memory)),
        },
        values={"best_bytes_per_s": best, **share_of("peak", peak, best)},
        is_shared=gpu.virtualization == "vgpu",
    )


def _peaks(evidence: Evidence, gpu: Gpu) -> Mapping[str, Peak]:
    return evidence.machine.peaks.get("gpus", {}).get(str(gpu.index), {})


def _reachable(peak: float | None, reached: float | None, usual: float) -> float | None:
    """Return a ceiling, less where such a GPU is known to reach less of it than a usual one."""
    return peak * min(1.0, (reached or usual) / usual) if peak else None


def _of_memory(runs: Iterable[Ran]) -> Samples:
    return by_round(runs, "rates", lambda rate: rate.bytes_per_s)


@on_gpus
def gpu_products(
    rule: Rule, evidence: Evidence, gpu: Gpu, part: str, runs: Sequence[Ran]
) -> Iterator[Row]:
    """Hold large products in each precision against their ceilings, and against such GPUs."""
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
        row = timed(
            rule,
            evidence,
            runs,
            samples,
            FLOPS,
            part=f"{part}.{precision}",
            expected={
                Source.CEILING: _arithmetic(evidence, gpu, precision),
                Source.CONSISTENCY: pooled(of_others(rule, evidence, gpu, samples_of)),
            },
            values=values,
            is_shared=gpu.virtualization == "vgpu",
        )
        yield _at_its_limit(gpu, runs, row)


def _arithmetic(evidence: Evidence, gpu: Gpu, precision: str) -> float | None:
    """Return the ceiling of the fastest units for a precision."""
    peaks, facts = _peaks(evidence, gpu), gpu_facts(gpu.name)
    known = [peaks.get(name, {}).get("flop_per_s") for name in (precision, f"{precision}_tensor")]
    peak = max(filter(None, known), default=None)
    usual = rules().numbers.gpu_product_fraction
    reached = facts.product_fraction if facts and precision not in ORDINARY else None
    return _reachable(peak, reached, usual)


def _at_its_limit(gpu: Gpu, runs: Iterable[Ran], row: Row) -> Row:
    """Return the row of a small GPU that its own power limit holds back, as its maker meant it.

    The ceiling is computed for the highest clock, which a GPU of few watts never has in large
    products. Drivers report no watts for some laptop GPUs; these count as small.
    """
    watts = gpu.power_default_watts or gpu.power_limit_watts or 0.0
    is_small = watts <= rules().numbers.small_gpu_watts and not has_lowered_limit(gpu)
    held = [look.held_back for run in runs for look in run.tables["conditions"]]
    is_capped = 2 * sum(POWER_CAP in each for each in held) > len(held)
    only_ceiling = all(e.source is Source.CEILING for e in row.expected if e.word is row.word)
    is_low = row.word is Word.LOOK and row.reason != UNCONFIRMED and only_ceiling
    if not (is_low and is_capped and is_small):
        return row
    return replace(row, word=Word.FINE, reason="power_limit")


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
    values |= share_of("link", link, values["median_bytes_per_s"])
    yield timed(
        rule,
        evidence,
        runs,
        [rates[worst]],
        RATE,
        part="pairs",
        expected={Source.CEILING: link, Source.CONSISTENCY: others},
        values=values,
    )


def _pair_limit(evidence: Evidence, a: str, b: str) -> float | None:
    """Return the peak of all NVLinks between two GPUs, in one direction."""
    first, second = sorted(int(part.removeprefix("gpu")) for part in (a, b))
    peak = evidence.machine.peaks.get("nvlink", {}).get(f"{first}-{second}", {})
    return peak.get("bytes_per_s")
