"""A kept checkup held against another order: nothing is measured again."""

from __future__ import annotations

from msgspec.structs import replace

from experiments.checkup.checks import rows_of
from experiments.checkup.evidence import Evidence
from experiments.checkup.order import RULE, Order, is_of_order
from experiments.checkup.result import Result
from experiments.checkup.rules import rules
from machine.model import BadMachine, from_json

BY_ORDER = (RULE,)  # the rules that ask for machine, order and baseline alone


def with_order(result: Result, order: Order | None, baseline: Result | None) -> Result:
    """Return the checkup with the rows that an order decides judged anew.

    `baseline` counts where the checkup was held against it.
    """
    if order is None and not any(map(is_of_order, result.rows)):
        return result
    try:
        machine = from_json(result.machine)
    except BadMachine:  # of a stranger's file
        return result
    of_then = baseline if baseline is not None and baseline.id == result.baseline else None
    evidence = Evidence(machine=machine, order=order, baseline=of_then)
    judged = [
        row for rule in rules().rule if rule.id in BY_ORDER for row in rows_of(rule, evidence)
    ]
    kept = [row for row in result.rows if row.rule not in BY_ORDER]
    return replace(result, rows=(*judged, *kept))
