"""The checks of stage four: the end of a long load against its best, and what slowed it down."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from experiments.checkup.checks.common import of_runs, part_of
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import fact, timed
from experiments.checkup.probes.sustained.experiment import windows
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source
from experiments.core.judging.comparing import ENOUGH
from experiments.devices.device import CPU, gpu_of
from machine.live.gpu_samples import GpuSample
from machine.live.sampler import Sample

# Heat, power supply or the board slow the GPU down; the hardware says so itself.
HARDWARE = frozenset({"hardware_slowdown", "hardware_thermal", "power_brake"})


@of_runs("")
def sustained(rule: Rule, evidence: Evidence, runs: Sequence[Ran]) -> Iterator[Row]:
    """Hold the last part of the load against the best part of it, for each device."""
    run = runs[-1]
    if run.values.get("stopped_by_heat"):
        values = {"hottest_celsius": run.values.get("hottest_celsius", 0.0)}
        yield fact(rule, Word.LOOK, "stopped_by_heat", **values)
    silence = next((note for note in run.notes if note.key == "stopped_by_silence"), None)
    if silence is not None:
        yield fact(rule, Word.LOOK, silence.key, sensor=silence.values.get("sensor", ""))
    rows = run.tables["work"]
    for device, rates in windows(rows).items():
        part, last = part_of(evidence, device), rates[-1]
        gpu = gpu_of(evidence.machine, device)
        best = max(rates, key=statistics.median)  # which may be the last
        if len(last) < ENOUGH:
            yield fact(rule, Word.UNCHECKED, "too_short", part)
            continue
        times = [row.t_s for row in rows if row.device == device]
        values = {
            "last_fraction": statistics.median(last) / statistics.median(best),
            "window_duration": max(times) * len(last) / len(times),
            "load_duration": max(times),
        }
        if (hottest := _hottest(run, device)) is not None:
            values["hottest_celsius"] = hottest
        yield timed(
            rule,
            evidence,
            [run],
            [last],
            "flop/s",
            part=part,
            expected={Source.CONSISTENCY: best},
            values=values,
            is_shared=gpu is None or gpu.virtualization == "vgpu",
            is_confirmed=True,  # it lasts long, and is a confirmation of itself
        )
    if not windows(rows):
        yield fact(rule, Word.UNCHECKED, "too_short")


def _hottest(run: Ran, device: str) -> float | None:
    """Return the highest that a sensor of this device told; None where it has none."""
    gpus = {row.device for row in run.tables["work"]} - {CPU}  # whose sensors have their names
    told = [
        row.celsius
        for row in run.tables["heat"]
        if (row.sensor not in gpus if device == CPU else row.sensor == device)
    ]
    return max(told, default=None)


@of_runs("")
def throttling(rule: Rule, evidence: Evidence, runs: Sequence[Ran]) -> Iterator[Row]:
    """Tell why clocks were lower during the load; idle and the power limit may be."""
    watched = [each for run in runs for each in run.watched]
    yield _of_processor(rule, watched)
    for gpu in evidence.machine.gpus:
        samples = [s for each in watched for s in each.gpus if s.index == gpu.index]
        yield _of_gpu(rule, samples, f"gpu{gpu.index}")


def _of_processor(rule: Rule, watched: Sequence[Sample]) -> Row:
    """Judge the counters of heat: how often a core or a package was slowed down meanwhile."""
    heat = [sample.heat for sample in watched if sample.heat is not None]
    counts = [  # they grow from the first look of all
        (each.throttled_cores or 0) + (each.throttled_packages or 0)
        for each in heat
        if (each.throttled_cores, each.throttled_packages) != (None, None)
    ]
    if len(counts) < 2:
        return fact(rule, Word.UNCHECKED, "not_told", CPU)
    if counts[-1] > counts[0]:
        return fact(rule, Word.LOOK, "heat", CPU, count=counts[-1] - counts[0])
    return fact(rule, Word.FINE, "none", CPU)


def _of_gpu(rule: Rule, samples: Sequence[GpuSample], part: str) -> Row:
    told = [sample.clock_reasons for sample in samples if sample.clock_reasons is not None]
    keys = {reason.key.rpartition(".")[2] for reasons in told for reason in reasons}
    if not told:
        return fact(rule, Word.UNCHECKED, "not_told", part)
    if keys & HARDWARE:
        return fact(rule, Word.PROBLEM, "hardware", part, keys=", ".join(sorted(keys & HARDWARE)))
    if "software_thermal" in keys:
        return fact(rule, Word.LOOK, "thermal_software", part)
    if keys == {"idle"}:
        return fact(rule, Word.UNCHECKED, "was_idle", part)
    return fact(rule, Word.FINE, "power_cap" if "power_cap" in keys else "none", part)
