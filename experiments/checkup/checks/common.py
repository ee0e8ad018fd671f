"""Shared by several checks: the parts, runs and samples that they look up in the evidence."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import fact, unrun, whole
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, rules
from experiments.core.judging.disturbed import counting
from experiments.devices.device import CPU, devices_of, gpu_of
from machine.bus.pcie import bytes_per_s
from machine.devices import Gpu

Samples = list[list[float]]  # of each run
Check = Callable[[Rule, Evidence], Iterable[Row]]
OfRuns = Callable[[Rule, Evidence, Sequence[Ran]], Iterable[Row]]
OfGpu = Callable[[Rule, Evidence, Gpu, str, Sequence[Ran]], Iterable[Row]]
ONE_WAY = "pinned_to_gpu", "pinned_from_gpu"
RATE, FLOPS, PER_S = "bytes/s", "flop/s", "per_s"


def part_of(evidence: Evidence, device: str) -> str:
    """Return the name of a device as rows have it: cpu, gpu0, gpu1."""
    gpu = gpu_of(evidence.machine, device)
    return CPU if gpu is None else f"gpu{gpu.index}"


def is_of_device(row: Row, evidence: Evidence, device: str) -> bool:
    """Is a row about this device? Those of no GPU belong to the runs on none."""
    part = row.part.partition(".")[0]
    is_of_gpu = part.startswith("gpu") and part != "gpus"
    return part == part_of(evidence, device) if is_of_gpu else device in ("", CPU)


def of_runs(part: str) -> Callable[[OfRuns], Check]:
    """Make a check of one that takes the runs that came to an end; without one the row says so."""

    def make(judge: OfRuns) -> Check:
        @functools.wraps(judge)
        def check(rule: Rule, evidence: Evidence) -> Iterator[Row]:
            row = unrun(rule, evidence, part)
            if row is not None:
                yield row
            else:
                yield from judge(rule, evidence, whole(evidence.of(rule.measure)))

        return check

    return make


def on_gpus(judge: OfGpu) -> Check:
    """Make a check of one of a GPU that PyTorch can use; where there is none, a row says so."""

    @functools.wraps(judge)
    def check(rule: Rule, evidence: Evidence) -> Iterator[Row]:
        devices = [device for device in devices_to_do(rule, evidence) if device not in ("", CPU)]
        for device in devices:
            part = part_of(evidence, device)
            gpu = gpu_of(evidence.machine, device)
            row = unrun(rule, evidence, part, device)
            if row is not None or gpu is None:
                yield row or fact(rule, Word.UNCHECKED, "not_run", part)
            else:
                runs = whole(evidence.of(rule.measure, device))
                yield from judge(rule, evidence, gpu, part, runs)
        if not devices:
            yield without_gpu(rule, evidence)

    return check


def devices_to_do(rule: Rule, evidence: Evidence) -> tuple[str, ...]:
    """Return the devices that a rule is about, also those that were not reached."""
    return tuple(dict.fromkeys((*evidence.devices(rule.measure), *devices_of(evidence.machine))))


def without_gpu(rule: Rule, evidence: Evidence) -> Row:
    """Return the row where no GPU can be measured: none is here, or PyTorch cannot use it."""
    if evidence.machine.gpus:
        return fact(rule, Word.UNCHECKED, "gpu_unusable", "gpus")
    return fact(rule, Word.ABSENT, "no_gpu", "gpus")


def by_round(
    runs: Iterable[Ran],
    table: str,
    value: Callable[[Any], float | None],
    choose: Callable[[Iterable[float]], float] = max,
) -> Samples:
    """Return one sample a round of each run: the chosen of the rows that `value` knows.

    Disturbed rows do not count.
    """
    found: Samples = []
    for run in runs:
        rounds: dict[int, list[float]] = defaultdict(list)
        for row in counting(run.tables[table]):
            known = value(row)
            if known is not None:
                rounds[row.repeat].append(known)
        found.append([choose(rounds[number]) for number in sorted(rounds)])
    return found


def pooled(samples: Samples) -> list[float]:
    """Return the samples of all runs."""
    return [sample for each in samples for sample in each]


def share_of(name: str, limit: float | None, reached: float) -> dict[str, float]:
    """Return a rate's limit and the share of it that was reached, nothing if it is unknown."""
    return {f"{name}_bytes_per_s": limit, f"{name}_fraction": reached / limit} if limit else {}


def has_lowered_limit(gpu: Gpu) -> bool:
    """Is the power limit of a GPU clearly below its maker's default?"""
    limit, usual = gpu.power_limit_watts, gpu.power_default_watts
    return bool(limit and usual and limit < rules().numbers.gpu_power_fraction * usual)


def seen_link(gpu: Gpu, runs: Sequence[Ran], best: int | None) -> tuple[int, int] | None:
    """Return generation and lanes of a GPU's link as they were seen while it copied.

    An idle link slows down to save power: what is below the `best` generation and slower than the
    copies were was seen between them, and does not count.
    """
    seen = [
        (sample.pcie_generation, sample.pcie_width)
        for run in runs
        for watched in run.watched
        for sample in watched.gpus
        if sample.index == gpu.index and sample.pcie_generation and sample.pcie_width
    ]
    fastest = max(
        (run.values.get(f"{way}_bytes_per_s", 0.0) for run in runs for way in ONE_WAY), default=0.0
    )
    if not seen:
        return None
    is_best = best is not None and max(seen)[0] >= best
    return max(seen) if is_best or fastest <= (bytes_per_s(*max(seen)) or 0.0) else None


def alike(evidence: Evidence, gpu: Gpu) -> list[Gpu]:
    """Return the other GPUs of the same model."""
    return [
        other
        for other in evidence.machine.gpus
        if other.index != gpu.index and other.name == gpu.name is not None
    ]


def of_others(
    rule: Rule, evidence: Evidence, gpu: Gpu, samples_of: Callable[[Iterable[Ran]], Samples]
) -> Samples:
    """Return the samples of the other GPUs of the same model."""
    others = {f"gpu{other.index}" for other in alike(evidence, gpu)}
    names = [name for name in devices_of(evidence.machine) if part_of(evidence, name) in others]
    return [each for name in names for each in samples_of(whole(evidence.of(rule.measure, name)))]
