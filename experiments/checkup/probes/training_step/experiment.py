"""How fast does a small network learn, and does it learn at all?

Method: a network of three convolutions learns one batch of made-up pictures again and again. Every
run begins with the same weights. Each class of pictures has a colour of its own under noise, so the
loss must fall. In each round some steps are timed together, until the device has finished. The
first steps only warm up. The loss of every step is kept.
Source: SuperBench compares machines by training steps of small models in the same way.

Not shown: how fast a large network learns, whose bottlenecks are others.
"""

from __future__ import annotations

import math
from typing import Any

from experiments import api as x
from experiments.devices.device import CPU, Device, cores_of, devices_of
from experiments.tools.training import CHANNELS, CLASSES, PIXELS, Training, memory_bytes, step_s

WARM_STEPS = 2
RATE = 0.1  # of learning: the loss halves within some dozens of steps
COLOUR = 2.0  # how strong against noise of 1
START_S = {True: 3.0, False: 0.3}  # until a GPU takes work, and the processor


class Params(x.Params):
    """The parameters; a GPU has a network and a batch of its own size."""

    device: str = x.param(CPU, choices=devices_of)
    width: int = x.param(16, minimum=2, maximum=1024, scale="log2")
    batch: int = x.param(16, minimum=2, maximum=8192, scale="log2")
    gpu_width: int = x.param(64, minimum=2, maximum=1024, scale="log2")
    gpu_batch: int = x.param(256, minimum=2, maximum=8192, scale="log2")
    steps: int = x.param(3, minimum=1, maximum=1000)
    rounds: int = x.param(10, minimum=1, maximum=100)


class Rate(x.Row):
    """One round: several steps, timed together."""

    repeat: int
    samples_per_s: float


class Loss(x.Row):
    """The loss before a step; None where it was no number."""

    step: int
    loss: float | None


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield the rate of each round, and at the end the loss of every step."""
    yield x.Progress(0.0)
    device = Device(params.device, bench)
    device.torch.set_num_threads(cores_of(bench.machine))
    width, batch = _size(params)
    training = Training(device, width, RATE)
    images, labels = _pictures(device, batch)
    losses: list[Any] = []

    def learn(steps: int) -> None:
        for _ in range(steps):
            bench.check_stop()
            losses.append(training.step(images, labels))

    learn(WARM_STEPS)
    for turn, _ in bench.interleave((None,), params.rounds):
        took_s = bench.time(lambda: learn(params.steps))
        yield Rate(repeat=turn.round, samples_per_s=params.steps * batch / took_s)
        yield x.Progress(turn.fraction)
    # After the rounds: a sample that was disturbed spoils no loss.
    for step, loss in enumerate(map(float, losses)):
        yield Loss(step=step, loss=loss if math.isfinite(loss) else None)


def _size(params: Params) -> tuple[int, int]:
    """Return width and batch on the device."""
    if params.device == CPU:
        return params.width, params.batch
    return params.gpu_width, params.gpu_batch


def _pictures(device: Device, count: int) -> tuple[Any, Any]:
    """Return pictures, the same ones each time, and their classes."""
    torch, side = device.torch, math.isqrt(PIXELS)
    chance = torch.Generator().manual_seed(x.SEED)
    labels = torch.arange(count) % CLASSES
    colours = COLOUR * torch.randn(CLASSES, CHANNELS, 1, 1, generator=chance)
    images = torch.randn(count, CHANNELS, side, side, generator=chance) + colours[labels]
    return images.to(device.name), labels.to(device.name)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Take the median rate, and look whether the loss fell."""
    losses = [row.loss for row in sorted(tables["losses"], key=lambda row: row.step)]
    rates = x.spread(row.samples_per_s for row in tables["rates"])
    values: dict[str, float] = {}
    limits = ["small_network"]
    if rates is not None:
        values["samples_per_s"] = rates.median
        values["spread_fraction"] = (rates.high - rates.low) / rates.median
    numbers = [loss for loss in losses if loss is not None]
    if len(numbers) < len(losses):
        return x.Finding("no_number", values, tuple(limits))
    if len(numbers) < 2 or rates is None:
        return x.Finding("nothing_measured", values, tuple(limits))
    values |= {"first_loss": numbers[0], "last_loss": numbers[-1]}
    values["fallen_fraction"] = 1 - numbers[-1] / numbers[0] if numbers[0] else 0.0
    if rates.count < x.ENOUGH:
        return x.Finding(x.TOO_FEW, values, tuple(limits))
    message = "learns" if numbers[-1] < numbers[0] else "does_not_learn"
    return x.Finding(message, values, tuple(limits))


def seconds(params: Params) -> float:
    """Estimate by assumed rates, on the processor that of one core."""
    steps = WARM_STEPS + params.steps * params.rounds
    return START_S[params.device != CPU] + steps * step_s(params.device, *_size(params))


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"rates": Rate, "losses": Loss},
    measure=measure,
    analyse=analyse,
    views=(
        x.Lines("losses", "losses", x.Axis("step"), x.Axis("loss")),
        x.Lines("rates", "rates", x.Axis("repeat"), x.Axis("samples_per_s")),
    ),
    values=x.values(
        "samples_per_s",
        "spread_fraction",
        "first_loss",
        "last_loss",
        "fallen_fraction",
    ),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("torch",),
    defaults=lambda _machine: Params(),
    quick=x.change(rounds=5),
    smallest=x.change(width=4, batch=4, gpu_width=4, gpu_batch=4, steps=1, rounds=3),
    budget=x.Budget(
        full={"rounds": 3}, quick={"steps": 2, "rounds": 3, "batch": 4, "gpu_batch": 4}
    ),
    seconds=seconds,
    memory_bytes=lambda params: memory_bytes(params.device, *_size(params), 0),
)
