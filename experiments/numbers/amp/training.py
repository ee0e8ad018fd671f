"""Learners in mixed precision: one for each way of training a network.

Weights stay in single precision; autocast computes products and convolutions in half of it.
Gradients are then half as wide too, and the smallest become zero in fp16. A scaler multiplies the
loss before the backward pass and divides the gradients after it. If one is no number any more, it
skips the step and halves its scale. The loss may have a small weight, like one of many terms, and
steps are longer to match: single precision does not notice.
Source: torch's recipes of `torch.amp`; P. Micikevicius et al., Mixed precision training, 2017
(https://arxiv.org/abs/1710.03740).
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from experiments.devices.device import Device
from experiments.tools.networks import CLASSES, COLOURS, LAYERS, mlp, mlp_flop, resnet, resnet_flop
from experiments.tools.precisions import BF16, FP16, FP32, TF32, choose, has_tf32, kind_of
from machine.record import Record

UNSCALED = "fp16_unscaled"
ARMS = (FP32, TF32, FP16, UNSCALED, BF16)
MLP, RESNET = MODELS = ("mlp", "resnet")
FP32_BYTES = 4
BATCHES = 8  # different ones, repeated
SIDE, TILE = 16, 4  # rows of a picture, and of the pattern that fills it
CHANNEL_SHARE = 16  # the residual network has so many times fewer channels than the other is wide
LEAST_CHANNELS = 8
LEAST_WIDTH = {MLP: 8, RESNET: CHANNEL_SHARE * LEAST_CHANNELS}
SIGNAL = 8.0  # the distance between classes, in units of the noise
RATE, MOMENTUM = 0.1, 0.9  # of learning
# The scale starts a little too high for the largest gradients, and is doubled after so many good
# steps, so that a short run skips some; torch starts at 2**16 and waits for 2000 steps.
START_POWER, GROWTH_STEPS = 21, 20
SEED = 5
CLIP_UNSCALED, CLIP_SCALED = "unscaled_first", "still_scaled"
LARGEST_NORM = 1.0  # of all gradients, for a loss of weight 1
ALIVE = 12  # at most, arrays of all samples as wide as a layer


def precision_of(arm: str) -> str:
    """Return the precision that an arm computes in."""
    return FP16 if arm == UNSCALED else arm


def arms_of(device: Device) -> list[str]:
    """Return the device's arms; TF32 only if it has units of its own."""
    return [arm for arm in ARMS if arm != TF32 or has_tf32(device)]


class Task(Record, kw_only=False):
    """The task to learn: `batch` samples at once, by a network of one `width`."""

    model: str
    width: int
    batch: int

    @property
    def channels(self) -> int:
        """The number of channels of the residual network."""
        return max(LEAST_CHANNELS, self.width // CHANNEL_SHARE)

    @property
    def step_flop(self) -> float:
        """The operations of a step: forward, and twice as many backward."""
        flop = mlp_flop(self.width) if self.model == MLP else resnet_flop(self.channels, SIDE)
        return 3 * self.batch * flop

    @property
    def data_bytes(self) -> int:
        """The bytes of all batches."""
        sample = self.width if self.model == MLP else COLOURS * SIDE**2
        return BATCHES * self.batch * sample * FP32_BYTES

    @property
    def learner_bytes(self) -> int:
        """One learning network's bytes: three times its weights, and what its layers keep."""
        if self.model == MLP:
            return FP32_BYTES * (3 * LAYERS * self.width**2 + ALIVE * self.batch * self.width)
        return FP32_BYTES * 2 * ALIVE * self.batch * self.channels * SIDE**2


def batches_of(device: Device, task: Task, channels_last: bool) -> list[tuple[Any, Any]]:
    """Return samples with their classes on the device: each is its class's pattern plus noise."""
    torch = device.torch
    torch.manual_seed(SEED)
    if task.model == MLP:
        patterns = torch.randn(CLASSES, task.width) * (SIGNAL / math.sqrt(2 * task.width))
    else:
        tiles = torch.randn(CLASSES, COLOURS, TILE, TILE)
        patterns = tiles.repeat(1, 1, SIDE // TILE, SIDE // TILE) * (SIGNAL / TILE**2)
    found = []
    for _ in range(BATCHES):
        classes = torch.randint(0, CLASSES, (task.batch,))
        samples = patterns[classes] + torch.randn(task.batch, *patterns.shape[1:])
        if channels_last and task.model == RESNET:
            samples = samples.contiguous(memory_format=torch.channels_last)
        found.append((samples.to(device.name), classes.to(device.name)))
    return found


class Learner:
    """A network that learns in one way; all start from the same weights and see the same data."""

    def __init__(
        self,
        device: Device,
        arm: str,
        task: Task,
        batches: list[tuple[Any, Any]],
        weight: float,
        clip: str | None = None,
    ) -> None:
        torch = device.torch
        self._device, self._arm, self._weight, self._clip = device, arm, weight, clip
        self._batches = itertools.cycle(batches)
        torch.manual_seed(SEED)
        make, width = (mlp, task.width) if task.model == MLP else (resnet, task.channels)
        self._net = make(torch, width).to(device.name)
        samples, _ = batches[0]
        if samples.dim() == 4 and not samples.is_contiguous():
            self._net = self._net.to(memory_format=torch.channels_last)
        self._optimiser = torch.optim.SGD(
            self._net.parameters(), lr=RATE / weight, momentum=MOMENTUM
        )
        self._scaler = torch.amp.GradScaler(
            device.kind,
            init_scale=2.0 ** round(START_POWER - math.log2(weight)),
            growth_interval=GROWTH_STEPS,
            enabled=arm == FP16,
        )

    def choose(self) -> None:
        """Set the switches of its precision, before its steps."""
        choose(self._device, precision_of(self._arm))

    def step(self) -> Any:
        """Learn one batch and return the loss, still on the device."""
        torch, kind = self._device.torch, kind_of(self._device.torch, precision_of(self._arm))
        samples, classes = next(self._batches)
        is_half = kind != torch.float32
        half = kind if is_half else torch.bfloat16
        with torch.autocast(self._device.kind, dtype=half, enabled=is_half):
            loss = torch.nn.functional.cross_entropy(self._net(samples), classes)
        self._scaler.scale(loss * self._weight).backward()
        self._clip_gradients()
        self._scaler.step(self._optimiser)
        self._scaler.update()
        self._optimiser.zero_grad(set_to_none=True)
        return loss.detach()

    def _clip_gradients(self) -> None:
        if self._clip is None:
            return
        if self._clip == CLIP_UNSCALED:
            self._scaler.unscale_(self._optimiser)
        most = LARGEST_NORM * self._weight
        self._device.torch.nn.utils.clip_grad_norm_(self._net.parameters(), most)

    def power(self) -> int:
        """Return the base-2 exponent of the loss scale, 0 without a scaler. Waits."""
        return math.frexp(self._scaler.get_scale())[1] - 1
