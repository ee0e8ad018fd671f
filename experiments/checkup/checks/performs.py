"""Stage three, the processor's side: memory, every core, the disk."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.checkup.checks.common import FLOPS, RATE, by_round, of_runs, pooled, share_of
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import fact, timed
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source
from experiments.core.judging.disturbed import counting, loss_of


@of_runs("memory")
def memory_bandwidth(rule: Rule, evidence: Evidence, runs: Sequence[Ran]) -> Iterator[Row]:
    """Hold the best loop of STREAM in each round against the channels as they are set."""
    samples = by_round(runs, "moves", lambda move: move.bytes_per_s)
    peak = evidence.machine.memory.peak_bytes_per_s
    best = max(pooled(samples), default=0.0)
    yield timed(
        rule,
        evidence,
        runs,
        samples,
        RATE,
        part="memory",
        expected={Source.CEILING: peak},
        values={"best_bytes_per_s": best, **share_of("peak", peak, best)},
        is_shared=True,
    )


@of_runs("cores")
def cores(rule: Rule, evidence: Evidence, runs: Sequence[Ran]) -> Iterator[Row]:
    """Hold the slowest core against the others of its kind."""
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
    if not shares and any(loss_of(each) for run in runs for each in run.tables["rates"]):
        yield timed(rule, evidence, runs, [], FLOPS, part="cores")
        return
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
        expected={Source.CONSISTENCY: others[slowest]},
        values=values,
        is_shared=True,
    )


def _others(rates: Mapping[tuple[Any, int], Sequence[float]], of: tuple[Any, int]) -> list[float]:
    """Return the samples of the other cores of this one's kind."""
    kind, _ = of
    return [s for core, each in rates.items() if core != of and core[0] == kind for s in each]


@of_runs("disk")
def disk(rule: Rule, evidence: Evidence, runs: Sequence[Ran]) -> Iterator[Row]:
    """Hold sequential reads past the page cache against the disk's link."""
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
    names = {place.disk for run in runs for place in run.tables["places"]}
    kinds = {disk.kind for disk in evidence.machine.storage if disk.name in names}
    # Turning platters and a host's file never come near the speed of their link.
    link = values.get("link_bytes_per_s") if kinds <= {"nvme", "ssd"} else None
    yield timed(
        rule,
        evidence,
        runs,
        samples,
        RATE,
        part="disk",
        expected={Source.CEILING: link},
        values=values,
        is_shared=True,
    )
