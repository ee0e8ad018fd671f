"""Stage four: does it stay as fast, and what holds it back?"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence

from experiments.checkup.checks.common import part_of
from experiments.checkup.evidence import Evidence
from experiments.checkup.judge import against, fact, timed, unrun, whole
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source
from experiments.devices.device import CPU
from machine.live.gpu_samples import GpuSample
from machine.live.sampler import Sample

WINDOW_S, LEAST_ROWS = 10.0, 9
MOST_WINDOWS = 6  # of more, the best is the best by chance
# Heat, power supply or the board slow the GPU down; the hardware says so itself.
HARDWARE = frozenset({"hardware_slowdown", "hardware_thermal", "power_brake"})


def sustained(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold the last part of the load against the best part of it, for each device."""
    row = unrun(rule, evidence, "")
    if row is not None:
        yield row
        return
    run = whole(evidence.of(rule.measure))[-1]
    if run.values.get("stopped_by_heat"):
        values = {"hottest_celsius": run.values.get("hottest_celsius", 0.0)}
        yield fact(rule, Word.LOOK, "stopped_by_heat", **values)
    work: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each in run.tables["work"]:
        work[each.device].append((each.t_s, each.flop_per_s))
    for device, seen in work.items():
        part = part_of(evidence, device)
        last, best, width_s = _last_and_best(seen)
        if not best:
            yield fact(rule, Word.UNCHECKED, "too_short", part)
            continue
        values = {
            "last_fraction": statistics.median(last) / statistics.median(best),
            "window_duration": width_s,
            "load_duration": seen[-1][0],
        }
        if "hottest_celsius" in run.values:
            values["hottest_celsius"] = run.values["hottest_celsius"]
        yield timed(
            rule,
            evidence,
            [run],
            [last],
            "flop/s",
            part=part,
            expected=against(rule, Source.CONSISTENCY, last, best, values),
            values=values,
            is_shared=True,
            is_confirmed=True,  # it lasts long, and is a confirmation of itself
        )
    if not work:
        yield fact(rule, Word.UNCHECKED, "too_short")


def _last_and_best(
    seen: list[tuple[float, float]],
) -> tuple[list[float], list[float], float]:
    """Return the rates of the last window, those of the best one, and their width in seconds.

    A window is ten seconds; a third of a load that is shorter than three, a sixth of a long one.
    The last window may be the best.
    """
    end_s = seen[-1][0] if seen else 0.0
    width_s = min(max(WINDOW_S, end_s / MOST_WINDOWS), end_s / 3)
    if len(seen) < LEAST_ROWS or width_s <= 0:
        return [], [], 0.0
    windows: dict[int, list[float]] = defaultdict(list)
    for t_s, rate in seen:
        windows[int((end_s - t_s) / width_s)].append(rate)
    full = [rates for rates in windows.values() if 2 * len(rates) >= len(windows[0])]
    return windows[0], max(full, key=statistics.median), width_s


def throttling(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Tell why clocks were lower during the load; idle and the power limit may be."""
    row = unrun(rule, evidence, "")
    if row is not None:
        yield row
        return
    watched = [each for run in whole(evidence.of(rule.measure)) for each in run.watched]
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
