"""The checks of stage four: the end of a long load against its best, and what slowed it down."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from experiments.checkup.checks import clocks
from experiments.checkup.checks.common import has_lowered_limit, part_of
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import against, excuse_of, fact, timed, unrun
from experiments.checkup.probes.sustained.experiment import windows
from experiments.checkup.result import Row, Word
from experiments.checkup.rules import Rule, Source, rules
from experiments.checkup.turbo import lasting_watts, lowered_watts, turbo_s
from experiments.core.judging.comparing import ENOUGH
from experiments.devices.device import CPU, gpu_of
from experiments.engine import messages
from machine.devices import Gpu
from machine.live.gpu_samples import GpuSample
from machine.live.heat import HeatSample
from machine.live.sampler import Sample

# Heat, power supply or the board slow the GPU down; the hardware says so itself.
HARDWARE = frozenset({"hardware_slowdown", "hardware_thermal", "power_brake"})
BEGINS_S = 3.0  # from the first look until all cores are at work: what they need is loaded


def sustained(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Hold the last part of the load against the best part of it, for each device.

    Of a processor with a turbo that is over, only what comes after it counts.
    """
    runs, unmeasured = _loads(rule, evidence)
    if unmeasured is not None:
        yield unmeasured
        return
    run = runs[-1]
    if run.values.get("stopped_by_heat"):
        values = {"hottest_celsius": run.values.get("hottest_celsius", 0.0)}
        yield fact(rule, Word.LOOK, "stopped_by_heat", **values)
    silence = next((note for note in run.notes if note.key == "stopped_by_silence"), None)
    if silence is not None:
        yield fact(rule, Word.LOOK, silence.key, sensor=silence.values.get("sensor", ""))
    rates = windows(run.tables["work"])
    for device, of_device in rates.items():
        yield _of_device(rule, evidence, run, device, of_device)
    if not rates:
        yield fact(rule, Word.UNCHECKED, "too_short")


def _loads(rule: Rule, evidence: Evidence) -> tuple[Sequence[Ran], Row | None]:
    """Return the usable loads, also those that their user stopped; or why there is none.

    That row is None where there is a load.
    """
    stopped = messages.Outcome.STOPPED
    runs = [
        run
        for run in evidence.of(rule.measure)
        if run.is_whole or (run.finished.outcome is stopped and windows(run.tables["work"]))
    ]
    return runs, None if runs else unrun(rule, evidence, "")


def _of_device(
    rule: Rule, evidence: Evidence, run: Ran, device: str, rates: Sequence[Sequence[float]]
) -> Row:
    part, gpu = part_of(evidence, device), gpu_of(evidence.machine, device)
    rows = [row for row in run.tables["work"] if row.device == device]
    values = {"load_duration": max(row.t_s for row in rows)}
    if len(rates[-1]) < ENOUGH:
        return fact(rule, Word.UNCHECKED, "too_short", part)
    in_turbo = None
    turbo = turbo_s(evidence.machine, evidence.surroundings) if device == CPU else 0.0
    if turbo and _falls(rule, rates) and excuse_of(evidence, [run], part) is None:
        in_turbo, values["turbo_duration"] = _best(rates), turbo
        rates = windows([row for row in rows if row.t_s > turbo]).get(device, [])
        if not rates or len(rates[-1]) < ENOUGH:
            return fact(rule, Word.UNCHECKED, "within_turbo", part, **values)
    last, best = rates[-1], _best(rates)  # which may be the last
    values["last_fraction"] = statistics.median(last) / statistics.median(best)
    values["window_duration"] = values["load_duration"] * len(last) / len(rows)
    if (hottest := _hottest(run, device)) is not None:
        values["hottest_celsius"] = hottest
    row = timed(
        rule,
        evidence,
        [run],
        [last],
        "flop/s",
        part=part,
        expected={Source.CONSISTENCY: best},
        beside=clocks.of_all(rule, evidence, run) if device == CPU else (),
        values=values,
        is_shared=gpu is None or gpu.virtualization == "vgpu",
        is_confirmed=True,  # it lasts long, and is a confirmation of itself
    )
    if row.reason != "measured":
        return _of_low_limit(evidence, clocks.named(row))
    if in_turbo is not None:
        share = statistics.median(last) / statistics.median(in_turbo)
        return _settled(evidence, run, row, share)
    return row if run.is_whole else replace(row, reason="until_stopped")


def _settled(evidence: Evidence, run: Ran, row: Row, share: float) -> Row:
    """Return the row of a processor that does a share of its turbo, and stays there."""
    watts = lasting_watts(evidence.machine)
    word, reason = Word.FINE, "after_turbo" if watts is None else "power_limit"
    if _is_held_back_after(evidence, run, row.values["turbo_duration"]):
        word, reason = Word.LOOK, "held_back"
    told = {"settled_fraction": share, **({} if watts is None else {"limit_watts": watts})}
    return replace(row, word=word, reason=reason, values={**row.values, **told})


def _of_low_limit(evidence: Evidence, row: Row) -> Row:
    """Return the row of a slow clock; a lowered power limit becomes its reason."""
    lowered = lowered_watts(evidence.machine)
    if lowered is None or row.reason != clocks.SLOW_CLOCK:
        return row
    told = {"limit_watts": lowered[0], "usual_watts": lowered[1]}
    return replace(row, reason="low_limit", values={**row.values, **told})


def _best(rates: Sequence[Sequence[float]]) -> Sequence[float]:
    return max(rates, key=statistics.median)


def _falls(rule: Rule, rates: Sequence[Sequence[float]]) -> bool:
    """Is the last part of a load not clearly as fast as the best part of it?"""
    found = against(rule, Source.CONSISTENCY, rates[-1], _best(rates))
    return any(each.word is not Word.FINE for each in found)


def _is_held_back_after(evidence: Evidence, run: Ran, turbo: float) -> bool:
    """Does something else than its power limit hold the processor back, once its turbo is over?

    Heat does where it was counted, and something does where much less power is taken.
    """
    looks = [each.heat for each in _after(run.watched, turbo) if each.heat is not None]
    counts = _throttled(looks)
    if len(counts) > 1 and counts[-1] > counts[0]:
        return True
    watts = [each.watts for each in looks if each.watts is not None]
    limit = lasting_watts(evidence.machine)
    share = rules().numbers.power_fraction
    return bool(watts and limit) and statistics.median(watts) < share * (limit or 0.0)


def _after(watched: Sequence[Sample], turbo: float) -> Sequence[Sample]:
    """Return the samples after `turbo` seconds of load; it takes a moment to begin."""
    return [each for each in watched if each.t_s - watched[0].t_s >= turbo + BEGINS_S]


def _throttled(heat: Sequence[HeatSample]) -> Sequence[int]:
    """Return how often heat had slowed cores and packages at each look, from the first of all."""
    return [
        (each.throttled_cores or 0) + (each.throttled_packages or 0)
        for each in heat
        if (each.throttled_cores, each.throttled_packages) != (None, None)
    ]


def _hottest(run: Ran, device: str) -> float | None:
    """Return the highest temperature of this device's sensors; None where it has none."""
    gpus = {row.device for row in run.tables["work"]} - {CPU}  # whose sensors have their names
    told = [
        row.celsius
        for row in run.tables["heat"]
        if (row.sensor not in gpus if device == CPU else row.sensor == device)
    ]
    return max(told, default=None)


def throttling(rule: Rule, evidence: Evidence) -> Iterator[Row]:
    """Yield why clocks were lower during the load; idle and the power limit are allowed."""
    runs, unmeasured = _loads(rule, evidence)
    if unmeasured is not None:
        yield unmeasured
        return
    watched = [each for run in runs for each in run.watched]
    yield _of_processor(rule, evidence, watched)
    for gpu in evidence.machine.gpus:
        samples = [s for each in watched for s in each.gpus if s.index == gpu.index]
        yield _of_gpu(rule, gpu, samples)


def _of_processor(rule: Rule, evidence: Evidence, watched: Sequence[Sample]) -> Row:
    """Judge the counters of heat: how often a core or a package was slowed down meanwhile.

    In its turbo a processor may reach its limit of heat, and is made to.
    """
    counts = _throttled([sample.heat for sample in watched if sample.heat is not None])
    if len(counts) < 2:
        return fact(rule, Word.UNCHECKED, "not_told", CPU)
    turbo = turbo_s(evidence.machine, evidence.surroundings)
    late = _throttled([each.heat for each in _after(watched, turbo) if each.heat is not None])
    if turbo and len(late) > 1 and late[-1] == late[0] and counts[-1] > counts[0]:
        return fact(rule, Word.FINE, "heat_in_turbo", CPU, turbo_duration=turbo)
    if counts[-1] > counts[0]:
        return fact(rule, Word.LOOK, "heat", CPU, count=counts[-1] - counts[0])
    return fact(rule, Word.FINE, "none", CPU)


def _of_gpu(rule: Rule, gpu: Gpu, samples: Sequence[GpuSample]) -> Row:
    part = f"gpu{gpu.index}"
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
    if "power_cap" in keys and has_lowered_limit(gpu):
        watts = {"limit_watts": gpu.power_limit_watts, "usual_watts": gpu.power_default_watts}
        return fact(rule, Word.LOOK, "limit_lowered", part, **watts)
    return fact(rule, Word.FINE, "power_cap" if "power_cap" in keys else "none", part)
