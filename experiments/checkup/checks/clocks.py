"""The clocks that were seen while cores worked, beside those that the processor should have.

If the whole processor is held back, all its cores are slow alike, even at a load's best moment. A
guest sees neither its own clocks nor those of its host.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from msgspec.structs import replace

from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.judge import NOT_FINE, against
from experiments.checkup.result import Expected, Row
from experiments.checkup.rules import Rule, Source, rules
from experiments.core.judging.comparing import ENOUGH
from machine.live.sampler import Sample
from machine.model import Machine, is_virtual
from machine.parts import processor_facts

LOOKS = 5  # at clocks: with fewer, a core at work may have been missed
AT_WORK = 0.9  # of the time, so that a core's clock is that of its work
BEST = 3  # of the looks at a load one in three counts, the fastest
HZ, SLOW_CLOCK = "hz", "slow_clock"


def of_one(rule: Rule, evidence: Evidence) -> Sequence[Expected]:
    """Judge the highest clock that any core had at any look, by that which the system promises."""
    highest = evidence.machine.cpu.clock.max_hz
    looks = [
        max(known)
        for runs in evidence.runs.values()
        for run in runs
        for sample in run.watched
        if (known := [thread.hz for thread in sample.threads if thread.hz])
    ]
    if len(looks) < LOOKS or is_virtual(evidence.machine):
        return ()
    return tuple(against(rule, Source.CEILING, [max(looks)], highest, unit=HZ))


def of_all(rule: Rule, evidence: Evidence, run: Ran) -> Sequence[Expected]:
    """Judge the clock of all cores at work, in the best third of a load, by the usual one."""
    looks = sorted(filter(None, (_of_fast_cores(evidence.machine, each) for each in run.watched)))
    if len(looks) < LOOKS or is_virtual(evidence.machine):
        return ()
    best = looks[-max(ENOUGH, len(looks) // BEST) :]
    return tuple(against(rule, Source.CEILING, best, _usual_hz(evidence), unit=HZ))


def named(row: Row) -> Row:
    """Return a row that a clock decides, with that as its reason."""
    worst = [each for each in row.expected if each.word is row.word]
    if row.word not in NOT_FINE or not worst or any(each.unit != HZ for each in worst):
        return row
    share = worst[0].high or 0.0
    told = {"clock_hz": share * (worst[0].value or 0.0), "clock_fraction": share}
    return replace(row, reason=SLOW_CLOCK, values={**row.values, **told})


def _of_fast_cores(machine: Machine, sample: Sample) -> float | None:
    """Return the clock of the performance cores that are at work, None where too few are."""
    kinds = {thread.id: thread.kind for thread in machine.cpu.threads_list}
    fast = [each for each in sample.threads if kinds.get(each.id) in (None, "performance")]
    known = [each.hz for each in fast if each.hz and (each.busy or 0.0) >= AT_WORK]
    return statistics.median(known) if 2 * len(known) > len(fast) else None


def _usual_hz(evidence: Evidence) -> float | None:
    """Return the usual clock of all cores at once, from the table of parts.

    Otherwise it is a share of the highest clock of one.
    """
    machine, numbers = evidence.machine, rules().numbers
    facts = processor_facts(machine.cpu.model)
    if facts is not None and facts.all_core_hz is not None:
        return facts.all_core_hz
    around, highest = evidence.surroundings, machine.cpu.clock.max_hz
    has_battery = around is None or around.battery_fraction is not None
    channels = (facts.channels if facts else None) or math.inf
    is_desktop = not has_battery and channels <= numbers.desktop_channels
    is_desktop = is_desktop and (machine.cpu.cores or 0) <= numbers.desktop_cores
    share = numbers.desktop_clock_fraction if is_desktop else numbers.least_clock_fraction
    return highest * share if highest else None
