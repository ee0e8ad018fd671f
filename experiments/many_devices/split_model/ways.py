"""One small network on several devices: split by data, by layers, by channels, or not at all.

The network is a row of square layers with ReLU between them. A step goes forward, compares with a
target, goes back and changes the weights. It is written out by hand to show what each device holds
and sends. From the same start all ways reach the same weights, but for rounding.

Data: every device has all layers and a share of the batch; the gradients are summed. Layers: each
device has some layers in a row, and hands on the results of each micro-batch. First all go forward,
then all go back (GPipe). Channels: each device has some rows of every layer's weights. The results
are gathered after every layer; the gradients on the way back are summed.
Source: Y. Huang et al., GPipe (2019); "Training on Multiple GPUs" in Dive into Deep Learning, which
calls them data parallelism, network partitioning and layerwise partitioning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from experiments import api as x
from experiments.tools.member import Member

ONE, DATA, LAYERS, CHANNELS = "one", "data", "layers", "channels"
WAYS = (ONE, DATA, LAYERS, CHANNELS)
SEED = 1
RATE = 0.05  # of learning
FP32_BYTES = 4


class Shape(x.Record):
    """The network's size, and the batch."""

    layers: int
    width: int
    batch: int

    def shared_by(self, size: int) -> Shape:
        """Return a shape for `size` members: at least a layer each, and whole channels."""
        width = max(size, self.width - self.width % size)
        return replace(self, layers=max(self.layers, size), width=width)


class Start:
    """The start of all ways: every layer's weights, a batch, and its targets."""

    def __init__(self, member: Member, shape: Shape) -> None:
        self.shape, torch = shape, member.torch
        numbers = torch.Generator().manual_seed(SEED)  # the same in every process

        def drawn(*size: int) -> Any:
            return torch.randn(*size, generator=numbers)

        scale = (2 / shape.width) ** 0.5
        self.weights = [drawn(shape.width, shape.width) * scale for _ in range(shape.layers)]
        self.given, self.wanted = (
            drawn(shape.batch, shape.width).to(member.device.name) for _ in range(2)
        )


class MemberStep:
    """One member's part of a step in one way; `busy` holds when it computed."""

    def __init__(self, member: Member, start: Start) -> None:
        self.member, self.shape, self.start = member, start.shape, start
        self.busy: list[x.Interval] = []
        self.given, self.wanted = start.given, start.wanted
        name = member.device.name
        self.weights = [self.own(n, each).to(name).clone() for n, each in self.layers()]
        self.gradients = [member.torch.zeros_like(each) for each in self.weights]

    def layers(self) -> list[tuple[int, Any]]:
        """Return this member's layers, whole or in part, with their numbers."""
        return list(enumerate(self.start.weights))

    def own(self, layer: int, weights: Any) -> Any:
        """Return this member's part of a layer's weights."""
        return weights

    def step(self) -> None:
        """Do one step of training."""
        kept = self.compute(self.forward, self.given)
        self.compute(self.backward, kept, self.error(kept[-1], self.wanted))
        self.compute(self.update)

    def compute(self, work: Callable[..., Any], *given: Any) -> Any:
        """Do some work and note when; a GPU is waited for, so that the end is known."""
        device = self.member.device
        start_s = device.bench.now_s()
        made = work(*given)
        device.wait()
        self.busy.append((start_s, device.bench.now_s()))
        return made

    def forward(self, given: Any) -> list[Any]:
        """Return each layer's input, and the last layer's output."""
        kept = [given]
        for place in range(len(self.weights)):
            kept.append(self.layer(place, kept[-1]))
        return kept

    def layer(self, place: int, given: Any) -> Any:
        """Return a layer's output; only the network's last layer has no ReLU."""
        made = given @ self.weights[place].T
        return made if self.is_last(place) else made.relu_()

    def is_last(self, place: int) -> bool:
        """Is this the last layer of the network?"""
        return self.layers()[place][0] == self.shape.layers - 1

    def error(self, made: Any, wanted: Any) -> Any:
        """Return the gradient of half the mean squared distance from the target."""
        return (made - wanted) / self.shape.batch

    def backward(self, kept: list[Any], error: Any) -> Any:
        """Add to the gradients of all layers here; return the gradient of the input."""
        for place in reversed(range(len(self.weights))):
            error = self.back(place, kept, error)
        return error

    def back(self, place: int, kept: list[Any], error: Any) -> Any:
        """Go back through one layer."""
        if not self.is_last(place):
            error = error * (kept[place + 1] > 0)
        self.gradients[place].addmm_(error.T, kept[place])
        is_first = self.layers()[place][0] == 0  # nobody needs the input's gradient
        return None if is_first else error @ self.weights[place]

    def update(self) -> None:
        """Change the weights, and clear the gradients."""
        for weights, gradients in zip(self.weights, self.gradients, strict=True):
            weights.sub_(gradients, alpha=RATE)
            gradients.zero_()

    def difference(self, right: list[Any]) -> float:
        """Return the distance from the right weights, against how far these have come."""
        torch, far, come = self.member.torch, 0.0, 0.0
        for weights, (layer, began) in zip(self.weights, self.layers(), strict=True):
            own = self.own(layer, right[layer])
            far = max(far, float(torch.max(torch.abs(weights.cpu() - own))))
            come = max(come, float(torch.max(torch.abs(own - self.own(layer, began)))))
        return far / come if come else 0.0

    def memory_bytes(self) -> int:
        """Return the bytes of weights, gradients and what the backward pass needs."""
        numbers: int = sum(2 * each.numel() for each in self.weights)
        return FP32_BYTES * (numbers + self.kept_numbers())

    def kept_numbers(self) -> int:
        """Return how many numbers the backward pass needs."""
        return self.shape.batch * self.shape.width * (len(self.weights) + 1)

    def moved_bytes(self) -> int:
        """Return what all members together send in a step."""
        return 0


class ByData(MemberStep):
    """All layers, and a share of the batch."""

    def __init__(self, member: Member, start: Start) -> None:
        super().__init__(member, start)
        self.given = self.given.tensor_split(member.size)[member.rank]
        self.wanted = self.wanted.tensor_split(member.size)[member.rank]

    def step(self) -> None:
        """Do one step; the gradients of all members are added up before the weights change."""
        kept = self.compute(self.forward, self.given)
        self.compute(self.backward, kept, self.error(kept[-1], self.wanted))
        for gradients in self.gradients:
            self.member.dist.all_reduce(gradients)
        self.compute(self.update)

    def kept_numbers(self) -> int:
        """Return how many numbers are kept: those of its samples."""
        return len(self.given) * self.shape.width * (len(self.weights) + 1)

    def moved_bytes(self) -> int:
        """Return what adding up all gradients sends, each member 2 (n - 1) / n of them (a ring)."""
        numbers: int = sum(each.numel() for each in self.gradients)
        return 2 * (self.member.size - 1) * numbers * FP32_BYTES


class ByLayers(MemberStep):
    """Some layers in a row; the batch comes in micro-batches."""

    def __init__(self, member: Member, start: Start, micro_batches: int) -> None:
        ends = [start.shape.layers * n // member.size for n in (member.rank, member.rank + 1)]
        self._places = range(*ends)
        super().__init__(member, start)
        self._rank, self._end = member.rank, member.size - 1
        self.micro_batches = micro_batches
        self._parts = list(
            zip(
                self.given.tensor_split(micro_batches),
                self.wanted.tensor_split(micro_batches),
                strict=True,
            )
        )

    def layers(self) -> list[tuple[int, Any]]:
        """Return the layers of this stage."""
        return [(place, self.start.weights[place]) for place in self._places]

    def step(self) -> None:
        """Do one step: all micro-batches forward, then all of them back."""
        dist, sent, kept = self.member.dist, list[Any](), list[list[Any]]()
        for given, _ in self._parts:
            if self._rank > 0:
                given = self.member.torch.empty_like(given)
                dist.recv(given, self._rank - 1)
            kept.append(self.compute(self.forward, given))
            if self._rank < self._end:
                sent.append(dist.isend(kept[-1][-1], self._rank + 1))
        for (_, wanted), made in zip(self._parts, kept, strict=True):
            error = self.member.torch.empty_like(wanted)
            if self._rank < self._end:
                dist.recv(error, self._rank + 1)
            back = self.compute(self._last_back, made, error, wanted)
            if self._rank > 0:
                sent.append(dist.isend(back, self._rank - 1))
        self.compute(self.update)
        for each in sent:
            each.wait()

    def _last_back(self, kept: list[Any], error: Any, wanted: Any) -> Any:
        if self._rank == self._end:
            error = self.error(kept[-1], wanted)
        return self.backward(kept, error)

    def moved_bytes(self) -> int:
        """Return what all stages hand on: the whole batch, forward and back."""
        return 2 * self._end * self.shape.batch * self.shape.width * FP32_BYTES


class ByChannels(MemberStep):
    """Some rows of every layer's weights, and the whole batch."""

    def own(self, layer: int, weights: Any) -> Any:
        """Return the rows of this member."""
        return weights.tensor_split(self.member.size)[self.member.rank]

    def step(self) -> None:
        """Do one step; all members meet after every layer, in both directions."""
        kept = self.forward(self.given)
        self.backward(kept, self.compute(self.error, kept[-1], self.wanted))
        self.compute(self.update)

    def layer(self, place: int, given: Any) -> Any:
        """Return what a layer makes, with the channels of all members."""
        made = self.compute(super().layer, place, given)
        size = self.member.size
        parts = [self.member.torch.empty_like(made) for _ in range(size)]
        self.member.dist.all_gather(parts, made)
        return self.compute(self.member.torch.cat, parts, 1)

    def back(self, place: int, kept: list[Any], error: Any) -> Any:
        """Go back through one layer with the own channels; what goes on back is added up."""
        error, made = (self._columns(each) for each in (error, kept[place + 1]))
        own = self.compute(super().back, place, [*kept[: place + 1], made], error)
        if own is not None:
            self.member.dist.all_reduce(own)
        return own

    def _columns(self, numbers: Any) -> Any:
        return numbers.tensor_split(self.member.size, dim=1)[self.member.rank]

    def moved_bytes(self) -> int:
        """Return what gathering and adding up send, as rings do it."""
        batch_bytes = self.shape.batch * self.shape.width * FP32_BYTES
        meetings = self.shape.layers + 2 * (self.shape.layers - 1)
        return (self.member.size - 1) * batch_bytes * meetings
