"""What of a device's speed is known before, from other experiments or because somebody says so?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .speeds import Speeds
from .works import ELEMENTWISE, PRODUCT, WorkStep

CALL_S, ASK_S = 5e-6, 2e-5  # of a GPU that is not here: assumed, not measured


@dataclass(frozen=True, slots=True)
class Known:
    """Rates of a device, and of the way to it; 0 is not known, `flop_per_s` is of fp32 products."""

    flop_per_s: float
    bytes_per_s: float
    there_bytes_per_s: float = 0.0
    back_bytes_per_s: float = 0.0

    def instead(self, sampled: Speeds, work: WorkStep) -> Speeds:
        """Return the speeds that were sampled, with what is known in their place."""
        flop_per_s = self.flop_per_s if is_usual(work) else 0.0
        return replace(
            sampled,
            bytes_per_s=self.bytes_per_s or sampled.bytes_per_s,
            operations_per_s=flop_per_s or sampled.operations_per_s,
            there_bytes_per_s=self.there_bytes_per_s or sampled.there_bytes_per_s,
            back_bytes_per_s=self.back_bytes_per_s or sampled.back_bytes_per_s,
        )

    def alone(self, work: WorkStep) -> Speeds | None:
        """Return the speeds of a GPU that is not here; None unless all that matters is known."""
        needed = [self.bytes_per_s, self.there_bytes_per_s, self.back_bytes_per_s]
        if is_usual(work):
            needed.append(self.flop_per_s)
        if not can_be_known(work) or not all(needed):
            return None
        return self.instead(Speeds(True, CALL_S, ASK_S, self.bytes_per_s, None), work)


def can_be_known(work: WorkStep) -> bool:
    """Are there numbers that tell how long it takes on a GPU that is not here?"""
    return is_usual(work) or work.kind == ELEMENTWISE


def is_usual(work: WorkStep) -> bool:
    """Is it the work whose arithmetic other experiments measure?"""
    return work.kind == PRODUCT and work.precision == "fp32"
