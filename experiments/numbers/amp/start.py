"""Write the loss scaler. Here fp16 learns without one, so its smallest gradients become zero.

Multiply the loss before the backward pass, and divide the gradients before the step. Skip a step
whose gradients are no numbers, and try a smaller factor then. `torch.amp.GradScaler` does all that.
"""

from __future__ import annotations

from typing import Any

from experiments.numbers.amp import training
from experiments.numbers.amp.training import (
    ARMS,
    CLIP_SCALED,
    CLIP_UNSCALED,
    LEAST_WIDTH,
    MLP,
    MODELS,
    UNSCALED,
    Task,
    arms_of,
    batches_of,
    precision_of,
)
from experiments.tools.precisions import FP16, kind_of

__all__ = [
    "ARMS",
    "CLIP_SCALED",
    "CLIP_UNSCALED",
    "LEAST_WIDTH",
    "MLP",
    "MODELS",
    "UNSCALED",
    "Learner",
    "Task",
    "arms_of",
    "batches_of",
]


class Learner(training.Learner):
    """A network that learns in one way; in fp16 by the loop that is to be completed."""

    # Yours to change: this is what is measured
    def step(self) -> Any:
        """Learn one batch and return the loss, still on the device."""
        if self._arm != FP16:
            return super().step()
        torch, kind = self._device.torch, kind_of(self._device.torch, precision_of(self._arm))
        samples, classes = next(self._batches)
        with torch.autocast(self._device.kind, dtype=kind):
            loss = torch.nn.functional.cross_entropy(self._net(samples), classes)
        (loss * self._weight).backward()
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        return loss.detach()
