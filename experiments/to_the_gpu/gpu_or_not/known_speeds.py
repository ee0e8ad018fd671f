"""Speeds of a device that are known beforehand, from other experiments or from the user."""

from __future__ import annotations

from msgspec.structs import replace

from machine.record import Record

from .speeds import Speeds
from .works import ELEMENTWISE, PRODUCT, WorkStep

CALL_S, ASK_S = 5e-6, 2e-5  # of a GPU that is not here: assumed, not measured


class Known(Record, kw_only=False):
    """Rates of a device and of its copies; 0 is unknown, `flop_per_s` is of fp32 products."""

    flop_per_s: float
    bytes_per_s: float
    there_bytes_per_s: float = 0.0
    back_bytes_per_s: float = 0.0

    def instead(self, sampled: Speeds, work: WorkStep) -> Speeds:
        """Return the sampled speeds, replaced by those that are known."""
        flop_per_s = self.flop_per_s if is_usual(work) else 0.0
        return replace(
            sampled,
            bytes_per_s=self.bytes_per_s or sampled.bytes_per_s,
            operations_per_s=flop_per_s or sampled.operations_per_s,
            there_bytes_per_s=self.there_bytes_per_s or sampled.there_bytes_per_s,
            back_bytes_per_s=self.back_bytes_per_s or sampled.back_bytes_per_s,
        )

    def alone(self, work: WorkStep) -> Speeds | None:
        """Return an absent GPU's speeds; None unless all that matters is known."""
        needed = [self.bytes_per_s, self.there_bytes_per_s, self.back_bytes_per_s]
        if is_usual(work):
            needed.append(self.flop_per_s)
        if not can_be_known(work) or not all(needed):
            return None
        return self.instead(Speeds(True, CALL_S, ASK_S, self.bytes_per_s, None), work)


def can_be_known(work: WorkStep) -> bool:
    """Are there numbers for the time on a GPU that is not here?"""
    return is_usual(work) or work.kind == ELEMENTWISE


def is_usual(work: WorkStep) -> bool:
    """Do other experiments measure this work's arithmetic?"""
    return work.kind == PRODUCT and work.precision == "fp32"
