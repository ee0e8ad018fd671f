"""Stage three, the processor's side: memory, every core, the disk."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from experiments.checkup.checks import clocks
from experiments.checkup.checks.common import FLOPS, RATE, by_round, of_runs, pooled, share_of
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import NOT_FINE, UNCONFIRMED, fact, timed
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source, rules
from experiments.core.judging.disturbed import counting, loss_of
from machine.bus.pcie import able, bytes_per_s, card_lanes, narrowed
from machine.devices import Disk, Link
from machine.model import Machine, is_virtual
from machine.parts import disk_facts, processor_facts

LAST_LEVEL, MANY = 3, 3  # of caches; cores of a die that are compared with each other


@of_runs("memory")
def memory_bandwidth(rule: Rule, evidence: Evidence, runs: Sequence[Ran]) -> Iterator[Row]:
    """Hold the best loop of STREAM in each round against what channels and dies carry."""
    samples = by_round(runs, "moves", lambda move: move.bytes_per_s)
    machine = evidence.machine
    peak, die_peak = machine.memory.peak_bytes_per_s, _of_dies(machine)
    if peak and die_peak:
        peak = min(peak, die_peak)
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


def _of_dies(machine: Machine) -> float | None:
    """Return what all dies with cores can read at once over their links to the memory."""
    facts = processor_facts(machine.cpu.model)
    if facts is None or facts.dies is None or facts.die_bytes_per_s is None:
        return None
    return facts.dies * facts.die_bytes_per_s * (machine.cpu.packages or 1)


@of_runs("cores")
def cores(rule: Rule, evidence: Evidence, runs: Sequence[Ran]) -> Iterator[Row]:
    """Hold the slowest core against the others of its like, and the best clock against its own."""
    groups = _groups(evidence.machine)
    rates: dict[tuple[Any, int], list[float]] = defaultdict(list)
    for run in runs:
        for each in counting(run.tables["rates"]):
            core = each.thread if each.core is None else each.core
            rates[groups.get(each.thread), core].append(each.flop_per_s)
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
    row = timed(
        rule,
        evidence,
        runs,
        [rates[slowest]],
        FLOPS,
        part="cores",
        expected={Source.CONSISTENCY: others[slowest]},
        beside=clocks.of_one(rule, evidence),
        values=values,
        is_shared=True,
    )
    yield clocks.named(row)


def _groups(machine: Machine) -> Mapping[int, object]:
    """Return what cores have in common that should be equally fast, by hardware thread.

    A die may have a larger cache and a lower clock than the next. One with few cores is no measure.
    """
    caches = {
        thread: cache.size_bytes
        for cache in machine.cpu.caches
        if cache.level == LAST_LEVEL
        for thread in cache.threads
    }
    threads = machine.cpu.threads_list
    sizes = Counter((each.kind, each.die) for each in threads)
    return {
        each.id: (
            each.kind,
            caches.get(each.id),
            each.die if sizes[each.kind, each.die] >= MANY else None,
        )
        for each in threads
    }


def _others(rates: Mapping[tuple[Any, int], Sequence[float]], of: tuple[Any, int]) -> list[float]:
    """Return the samples of the other cores of this one's group."""
    group, _ = of
    return [s for core, each in rates.items() if core != of and core[0] == group for s in each]


@of_runs("disk")
def disk(rule: Rule, evidence: Evidence, runs: Sequence[Ran]) -> Iterator[Row]:
    """Hold the fastest way of reading past the page cache against what the disk's maker promises.

    Makers promise it for many readers at once. If the model is unknown, only the speed of its link
    and the slowest of its kind are known. A result between the two gets no verdict.
    """
    samples = by_round(runs, "reads", lambda read: read.bytes_per_s)
    values = {name: value for run in runs for name, value in run.values.items()}
    values = {
        name: values[name]
        for name in ("random_4k_reads_per_s", "random_4k_latency_s", "link_bytes_per_s")
        if name in values
    }
    values["best_bytes_per_s"] = max(pooled(samples), default=0.0)
    names = {place.disk for run in runs for place in run.tables["places"]}
    found = [disk for disk in evidence.machine.storage if disk.name in names]
    # Turning platters and a host's file never come near the speed of their link.
    used = found[0] if len(found) == 1 and found[0].kind in ("nvme", "ssd") else None
    promised = _promised(evidence.machine, used) if used is not None else None
    ceiling = used.peak_bytes_per_s if used is not None else None
    row = partial(
        timed, rule, evidence, runs, samples, RATE, part="disk", values=values, is_shared=True
    )
    judged = row(expected={Source.CEILING: promised or ceiling})
    is_bare = not is_virtual(evidence.machine)  # a host gives out as much as was paid for
    if used is not None and is_bare and promised is None and judged.word is not Word.FINE:
        judged = _of_unknown_model(used, row)
    yield _in_its_slot(evidence.machine, used, judged)


def _promised(machine: Machine, disk: Disk) -> float | None:
    """Return what a disk's maker promises, at the generation of its slot; None if unknown."""
    facts, link = disk_facts(disk.model), _link(machine, disk)
    promised = facts.read_bytes_per_s if facts is not None else None
    if promised is None or facts is None or link is None:
        return promised
    lanes = link.card_width or facts.lanes
    return min(promised, bytes_per_s(able(link)[0], lanes) or promised)


def _of_unknown_model(disk: Disk, judge: Callable[..., Row]) -> Row:
    """Hold a disk against the slowest of its kind; one that does more may be slow all the same."""
    numbers = rules().numbers
    least = numbers.nvme_bytes_per_s if disk.kind == "nvme" else numbers.ssd_bytes_per_s
    row = judge(expected={Source.CEILING: least})
    if row.word is not Word.FINE:
        return row
    others = tuple(each for each in row.expected if each.source is not Source.CEILING)
    row = replace(row, expected=others)
    return row if others else replace(row, word=Word.UNCHECKED, reason="model_unknown")


def _in_its_slot(machine: Machine, disk: Disk | None, row: Row) -> Row:
    """Return the row of a disk with fewer lanes than it has, as the map marks it."""
    link = _link(machine, disk) if disk is not None else None
    is_measured = row.word in (*NOT_FINE, Word.FINE) and row.reason != UNCONFIRMED
    if disk is None or link is None or not is_measured or row.disturbance is not None:
        return row
    if narrowed(machine, disk.pci_address, link) is None:
        return row
    told = {"width": link.width, "card_width": card_lanes(link)}
    word = Word.LOOK if row.word is Word.FINE else row.word
    return replace(row, word=word, reason="few_lanes", values={**row.values, **told})


def _link(machine: Machine, disk: Disk) -> Link | None:
    return next((d.link for d in machine.pci if d.address == disk.pci_address), None)
