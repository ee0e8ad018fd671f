"""What does it cost to look at a result after every step?

Method: a step multiplies a matrix by itself and takes the norm of the product, as a model would its
loss. Steps follow each other without a look at results; with the norm read (`.item()`) after every
k-th; and with the norms added up on the device, read once at the end. Small and large matrices, in
shuffled rounds, by the caller's clock until the device has finished. Nothing is printed: a terminal
has no part in it.
Source: an exercise of the chapter on asynchronous computation of "Dive into Deep Learning". 1000
products of 100 x 100 matrices have their norms logged one at a time, or kept on the GPU.

Not shown: the loss of a real training step; it lies between the two sizes. On a processor no work
is queued: a read is a call there, and waits for nothing.

Seen on an H100: calls are slow (9 µs), so small steps are bound by the processor. Adding up is one
call more, and costs as much as reading.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from experiments import api as x
from experiments.devices.assumed import product_flop_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, default_device, devices_of
from experiments.devices.timing import MOST_QUEUED, taken, warm, whole_s
from experiments.tools.lanes import LaneSpan, slices

FP32_BYTES = 4
SMALL, LARGE = "small", "large"
NEVER, KEPT, EACH = "never", "kept", "each"
FEWER = 10  # times fewer large steps than small ones
SHOWN = 10  # steps on the lanes
STEP_S = 5e-5  # cautious, to tell the time beforehand


class Params(x.Params):
    """The parameters; `small` and `large` are rows of square matrices."""

    device: str = x.param(CPU, choices=devices_of)
    small: int = x.param(100, minimum=2, maximum=4096)
    large: int = x.param(2048, minimum=16, maximum=16384, scale="log2")
    steps: int = x.param(1000, minimum=10, maximum=100_000, scale="log10")
    rounds: int = x.param(11, minimum=1, maximum=50)


class StepTime(x.Row):
    """Steps without a look ("never"), norms "kept" on the device, or a look at "each" step."""

    matrices: str
    way: str
    repeat: int
    step_s: float


class Log(x.Row):
    """The rate of steps when the norm of each `every`-th is read."""

    every: int = x.column(scale="log10")
    matrices: str
    repeat: int
    steps_per_s: float = x.column(scale="log10")


class Model:
    """Matrices of one size, and their work."""

    def __init__(self, device: Device, size: int, steps: int) -> None:
        self.device, self.steps, torch = device, steps, device.torch
        self._product = torch.mm
        self._matrix = torch.randn(size, size, device=device.name) / size**0.5
        self._out = torch.empty_like(self._matrix)
        self.norm = self._total = torch.zeros((), device=device.name)

    def step(self) -> None:
        """Multiply, and take the norm."""
        self._product(self._matrix, self._matrix, out=self._out)
        self.norm = self._out.norm()

    def read(self) -> float:
        """Bring the newest norm to the caller, which has to wait for it."""
        return float(self.norm.item())

    def keep(self) -> None:
        """Add the newest norm to the others, on its device."""
        self._total = self._total + self.norm

    def run(self, every: int) -> None:
        """Make all steps; read the norm each time that `every` steps are done, 0 for never."""
        for done in range(1, self.steps + 1):
            self.step()
            if every and done % every == 0:
                self.read()

    def run_kept(self) -> float:
        """Make all steps; add the norms up on the device, and read the sum."""
        for _ in range(self.steps):
            self.step()
            self.keep()
        return float(self._total.item())


def steps_of(params: Params) -> dict[str, int]:
    """Return how many steps a run of small and of large matrices has."""
    return {SMALL: params.steps, LARGE: max(1, params.steps // FEWER)}


def distances(steps: int) -> list[int]:
    """Return after how many steps the norm is read: 1, 2, 5, 10, ..."""
    found = (n * 10**power for power in itertools.count() for n in (1, 2, 5))
    return list(itertools.takewhile(lambda every: every <= steps, found))


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield each way of looking in shuffled rounds, then the lanes of a few small steps."""
    device = Device(params.device, bench)
    steps = steps_of(params)
    models = {
        SMALL: Model(device, params.small, steps[SMALL]),
        LARGE: Model(device, params.large, steps[LARGE]),
    }
    for model in models.values():
        warm(device, model.step)
        for once in (model.read, model.keep):
            whole_s(device, once)
    conditions = Conditions(device)
    arms: list[tuple[str, str | int]] = []
    for matrices, model in models.items():
        arms += [(matrices, NEVER), (matrices, KEPT)]
        arms += [(matrices, every) for every in distances(model.steps)]
    for turn, (matrices, arm) in bench.interleave(arms, params.rounds):
        yield from _run(models[matrices], matrices, arm, turn.round)
        if (matrices, arm) == (LARGE, NEVER):
            yield from conditions.rows(turn.round)
        yield x.Progress(0.98 * turn.fraction)
    yield from _lanes(models[SMALL])


def _run(model: Model, matrices: str, arm: str | int, repeat: int) -> Iterator[StepTime | Log]:
    every = arm if isinstance(arm, int) else 0
    work = model.run_kept if arm == KEPT else lambda: model.run(every)
    step_s = whole_s(model.device, work) / model.steps
    if every:
        yield Log(every=every, matrices=matrices, repeat=repeat, steps_per_s=1 / step_s)
    if every <= 1:
        way = EACH if every else str(arm)
        yield StepTime(matrices=matrices, way=way, repeat=repeat, step_s=step_s)


def _lanes(model: Model) -> Iterator[LaneSpan]:
    own = taken(model.device, model.step, MOST_QUEUED // 2)  # two calls each
    work_s = own.device_s if model.device.is_gpu and own.is_clean else None
    yield from slices(model.device, NEVER, model.step, SHOWN, work_s=work_s)
    yield from slices(model.device, EACH, model.step, SHOWN, work_s=work_s, read=model.read)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare steps with a look at the result with steps without."""
    took = x.spreads_of(tables["ways"], "step_s", "matrices", "way")
    values: dict[str, Any] = {
        f"{matrices}_{way}_step_s": found.median for (matrices, way), found in took.items()
    }
    for matrices in (SMALL, LARGE):
        if (matrices, NEVER) in took:
            values[f"{matrices}_steps_per_s"] = 1 / took[matrices, NEVER].median
    if (SMALL, KEPT) in took:
        values["kept_steps_per_s"] = 1 / took[SMALL, KEPT].median
    limits = ["queue_needs_gpu"] if params.device == CPU else []
    if len(took) < len((SMALL, LARGE)) * len((NEVER, KEPT, EACH)):
        return x.Finding("in_part", values, tuple(limits))
    compared, unclear = x.ratios(
        {
            "every_step_slowdown": (took[SMALL, EACH], took[SMALL, NEVER]),
            "on_device_slowdown": (took[SMALL, KEPT], took[SMALL, NEVER]),
            "large_every_step_slowdown": (took[LARGE, EACH], took[LARGE, NEVER]),
            "large_on_device_slowdown": (took[LARGE, KEPT], took[LARGE, NEVER]),
        },
        verdict=("every_step_slowdown",),
    )
    values |= compared
    if params.device != CPU and not took[SMALL, KEPT].is_below(took[SMALL, EACH]):
        limits.append("adding_up_is_a_call")
    small, large = ((took[size, NEVER], took[size, EACH]) for size in (SMALL, LARGE))
    if (unsure := x.unsure(small)) is not None:
        return x.Finding(unsure, values, tuple(limits), unclear)
    if params.device == CPU:
        is_slower = small[0].is_below(small[1])
        message = "reading_is_a_call" if is_slower else "nothing_to_wait_for"
        return x.Finding(message, values, tuple(limits), unclear)
    if not small[0].is_below(small[1]):
        return x.Finding("no_price", values, tuple(limits), unclear)
    if large[0].is_below(large[1]):
        return x.Finding("both_pay", values, tuple(limits), unclear)
    message = "small_pays" if x.unsure(large) is None else "small_pays_at_least"
    return x.Finding(message, values, tuple(limits), unclear)


def defaults(machine: x.Machine) -> Params:
    """Take the exercise, and matrices that far outlast a call."""
    device = default_device(machine)
    return Params(device=device, large=256 if device == CPU else 2048)


def seconds(params: Params) -> float:
    """Estimate from calls and arithmetic, at cautious rates."""
    rate = product_flop_per_s(params.device)
    sizes = {SMALL: params.small, LARGE: params.large}
    rounds_s = sum(
        (2 + len(distances(steps))) * steps * (STEP_S + 2 * sizes[matrices] ** 3 / rate)
        for matrices, steps in steps_of(params).items()
    )
    return 1.5 + params.rounds * rounds_s


def memory_bytes(params: Params) -> int:
    """Return the bytes of two matrices of each size, and of one while they are made."""
    return 3 * FP32_BYTES * (params.small**2 + params.large**2) if params.device == CPU else 0


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"ways": StepTime, "logs": Log, "lanes": LaneSpan, "conditions": Condition},
    measure=measure,
    loop="experiment.py:Model.run",
    analyse=analyse,
    views=(
        x.Lines(
            "every",
            "logs",
            x.Axis("every"),
            x.Axis("steps_per_s"),
            series="matrices",
            order=(SMALL, LARGE),
            limits=(
                x.Limit("small", "small_steps_per_s"),
                x.Limit("kept", "kept_steps_per_s"),
                x.Limit("large", "large_steps_per_s"),
            ),
        ),
        x.Timeline(
            "lanes",
            "lanes",
            "lane",
            "start_s",
            "end_s",
            group="way",
            detail="lane",
            order=(NEVER, EACH),
        ),
    ),
    values=x.values(
        "every_step_slowdown",
        "on_device_slowdown",
        "large_every_step_slowdown",
        "large_on_device_slowdown",
        *(
            x.Value(f"{matrices}_{way}_step_s", x.Part.GPU if way == NEVER else None)
            for matrices in (SMALL, LARGE)
            for way in (NEVER, EACH, KEPT)
        ),
        "small_steps_per_s",
        "large_steps_per_s",
        "kept_steps_per_s",
    ),
    keys=(
        x.Key("small_never_step_s", "lanes", ("never",)),
        x.Key("small_each_step_s", "lanes", ("each",)),
        x.Key("large_every_step_slowdown", "every", ("large",)),
    ),
    next=x.Next("async", {"large": 512}),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("torch",),
    defaults=defaults,
    quick=x.change(rounds=5, at_most={"steps": 100}),
    smallest=x.change(large=128, steps=20, rounds=2),
    budget=x.Budget(quick={"large": 64}, quick_s=3.5),
    seconds=seconds,
    memory_bytes=memory_bytes,
)
