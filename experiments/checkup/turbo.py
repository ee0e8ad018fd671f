"""Reads how long a processor may exceed its lasting power limit, and that limit.

Intel's processors may take their second power limit (PL2) for a while, then only the first (PL1).
The kernel reports both limits and the time. AMD's laptop processors do the same, but report
nothing. A lower speed after that time is by design. Source: Intel, Power Limits in its data sheets,
volume 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.checkup.rules import rules
from machine.condition import PowerLimit
from machine.live.surroundings import Surroundings
from machine.model import Machine
from machine.parts import processor_facts

LONG, SHORT = "long_term", "short_term"


def turbo_s(machine: Machine, around: Surroundings | None = None) -> float:
    """Return the seconds after which the processor keeps to its lasting limit; 0 for no turbo.

    If the system reports no limits, two kinds of machine are taken to have a turbo: those with a
    battery, and those whose processor has one by its data sheet.
    """
    longest = max((limit.window_s or 0.0 for limit in _lasting(machine)), default=0.0)
    if machine.cpu.power_limits:
        return longest
    facts = processor_facts(machine.cpu.model)
    pl1, pl2 = (facts.pl1_watts, facts.pl2_watts) if facts else (None, None)
    has_battery = around is not None and around.battery_fraction is not None
    is_made_so = pl1 is not None and pl2 is not None and pl1 < pl2
    return rules().numbers.turbo_s if has_battery or is_made_so else 0.0


def lasting_watts(machine: Machine) -> float | None:
    """Return the power that all packages may take for good, None if unknown."""
    watts = [limit.watts for limit in _lasting(machine) if limit.watts]
    return sum(watts) or None


def lowered_watts(machine: Machine) -> tuple[float, float] | None:
    """Return the lasting limit and what the processors are made for, where it is far lower."""
    limits = [limit for limit in machine.cpu.power_limits if limit.name == LONG and limit.watts]
    facts = processor_facts(machine.cpu.model)
    if not limits or facts is None or facts.pl1_watts is None:
        return None
    found = sum(limit.watts or 0.0 for limit in limits), facts.pl1_watts * len(limits)
    return found if found[0] < rules().numbers.power_fraction * found[1] else None


def _lasting(machine: Machine) -> Sequence[PowerLimit]:
    """Return the lasting limit of each package that may take more for a while."""
    limits = machine.cpu.power_limits
    above = {limit.package: limit.watts or 0.0 for limit in limits if limit.name == SHORT}
    return [
        limit
        for limit in limits
        if limit.name == LONG
        and (limit.package not in above or (limit.watts or 0.0) < above[limit.package])
    ]
