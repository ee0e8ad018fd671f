"""Verdicts on training with fewer bits: whether an arm learns as fp32 does, and gains speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from experiments import api as x
from experiments.tools.precisions import FP16, FP32

from .training import UNSCALED

ENOUGH_STEPS = 10  # needed to judge whether an arm learns
LAST = 5  # losses, whose median is the final loss
LEARNED = 0.1  # of the first loss: fp32 must have fallen by as much
KEEPS_UP = 0.5  # of what fp32 has learned: an arm that learns less is broken


def pays_at_any_width(tables: x.Tables) -> bool | None:
    """Were fewer bits faster at any width? None if too little was measured, or it is unclear."""
    rates = x.spreads_of(tables["widths"], "samples_per_s", "width", "arm")
    enough = {key: found for key, found in rates.items() if found.count >= x.ENOUGH}
    pairs = {
        (width, arm): (found, enough[width, FP32])
        for (width, arm), found in enough.items()
        if arm not in (FP32, UNSCALED) and (width, FP32) in enough
    }
    compared = x.family(pairs, x.Spread.against).values()
    if any(each.outcome is x.Outcome.DIFFERS and each.is_above for each in compared):
        return True
    is_known = compared and all(each.outcome is not x.Outcome.UNKNOWN for each in compared)
    return False if is_known else None


def losses_of(tables: x.Tables) -> dict[str, list[float]]:
    """Return the losses of each arm, step by step."""
    return x.collected(tables["losses"], "loss", "arm")


def final_loss(losses: Sequence[float]) -> float:
    """Return the final loss, the median of the last few."""
    return median(losses[-LAST:])


def breaks_unscaled(tables: x.Tables) -> bool | None:
    """Does fp16 fail to learn only without a scaler? None if that is not known.

    A loss that is no number counts as failing.
    """
    losses = losses_of(tables)
    kept_up = {arm: keeps_up(losses, arm) for arm in (FP16, UNSCALED)}
    if any(row.arm == UNSCALED for row in tables["diverged"]):
        kept_up[UNSCALED] = False
    if not kept_up[FP16] or kept_up[UNSCALED] is None:
        return None
    return not kept_up[UNSCALED]


def keeps_up(losses: Mapping[str, Sequence[float]], arm: str) -> bool | None:
    """Does an arm learn what fp32 does, in the steps that both made? None if not known."""
    plain, other = losses.get(FP32, ()), losses.get(arm, ())
    steps = min(len(plain), len(other))
    if steps < ENOUGH_STEPS:
        return None
    fallen, its = (line[0] - final_loss(line[:steps]) for line in (plain, other))
    return None if fallen < LEARNED * plain[0] else its >= KEEPS_UP * fallen
