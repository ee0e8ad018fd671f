"""What does mixed precision gain, and what does it break?

Method: the same small network learns the same batches from the same weights in every precision. The
precisions are fp32, TF32 (for products and convolutions), autocast to bf16, and to fp16 with and
without a scaler. First each learns for itself, and its loss is read after every step; then steps
are timed by the caller's clock, several in a row until all is done. Networks from narrow to wide
take turns in shuffled rounds. An arm whose steps would take too long ends at a narrower network:
its time is projected from the width before. Before the timing come two recipes (`recipes`). The
narrowest network learns in fp16 with gradients clipped before, and after, the scaler has divided
them. One product is computed inside and outside of a nested region without autocast.

Not shown: how well a network is in the end, after hours; what fusing the small operations between
products would gain.

Seen on an H100: TF32 gains 5 times, fp16 and bf16 7 to 8 at a width of 4096, nothing up to 1024.
fp16 without a scaler learns nothing there too; the scaler's wait costs 15 % of a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from experiments import api as x
from experiments.devices.assumed import GPU_HALF_FLOP_PER_S, product_flop_per_s
from experiments.devices.ceilings import arithmetic_flop_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, devices_of, on_first_device
from experiments.devices.failures import device_problem
from experiments.devices.timing import each_s, whole_s
from experiments.tools.networks import CLASSES
from experiments.tools.precisions import BF16, FP16, FP32, HALVES, TF32, is_emulated

from .judging import (
    ENOUGH_STEPS,
    breaks_unscaled,
    final_loss,
    keeps_up,
    losses_of,
    pays_at_any_width,
)
from .recipes import CLIPS, MOST_STEPS, REGIONS, Clipped, Nested, clipped, nested
from .training import (
    ARMS,
    CLIP_SCALED,
    CLIP_UNSCALED,
    LEAST_WIDTH,
    MLP,
    MODELS,
    UNSCALED,
    Learner,
    Task,
    arms_of,
    batches_of,
)

NARROWER = 4  # times, from one network to the next
WIDTHS = 4
SAMPLE_S = 0.01
TRIES = 3  # something else may be running
CPU_HALF_FLOP_PER_S = 1.2e9  # emulated, to tell the time beforehand
CALLS_S = 2e-3  # of a step, whatever its width
SAMPLE_BYTE_S = 2.5e-9  # to draw the samples on one core of the processor
START_S = 1.5  # until a GPU takes work


class Params(x.Params):
    """The parameters; `learn_s` is the most time in which an arm may learn."""

    device: str = x.param(CPU, choices=devices_of)
    model: str = x.param(MLP, choices=MODELS)
    width: int = x.param(128, minimum=16, maximum=16384, scale="log2")
    batch: int = x.param(128, minimum=8, maximum=8192, scale="log2")
    channels_last: bool = False
    loss_weight: float = x.param(1e-6, minimum=1e-9, maximum=1.0, scale="log10")
    steps: int = x.param(100, minimum=ENOUGH_STEPS, maximum=10_000, scale="log10")
    learn_s: float = x.param(5.0, minimum=0.01, maximum=600.0)
    most_s: float = x.param(0.4, minimum=0.001, maximum=10.0)
    rounds: int = x.param(10, minimum=1, maximum=50)


class Loss(x.Row):
    """A step's loss, before it is weighted; a row only if it is a number."""

    arm: str
    step: int
    loss: float


class Diverged(x.Row):
    """The step at which an arm's loss became no number."""

    arm: str
    step: int


class Scale(x.Row):
    """The scaler of fp16 after `step` steps, 0 before the first: 2 to this power.

    Gradients beyond fp16 skip the step, and the scale falls.
    """

    step: int
    power: int
    is_skipped: bool


class Peak(x.Row):
    """The most memory that an arm held while it learned, without the data."""

    arm: str
    peak_bytes: int


class Speed(x.Row):
    """Steps in a row of the widest network."""

    arm: str
    repeat: int
    samples_per_s: float


class Width(x.Row):
    """The same of each network, narrow to wide."""

    arm: str
    width: int = x.column(scale="log2")
    repeat: int
    samples_per_s: float = x.column(scale="log10")


def widths(params: Params) -> list[int]:
    """Return the networks' widths, the widest last."""
    found = {params.width // NARROWER**n for n in range(WIDTHS)}
    return sorted({params.width} | {each for each in found if each >= LEAST_WIDTH[params.model]})


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield losses step by step, arm by arm, and then the speeds of shuffled rounds."""
    device = Device(params.device, bench)
    width = device.fitting(
        params.width, lambda w: _needed_bytes(replace(params, width=w)), LEAST_WIDTH[params.model]
    )
    params = replace(params, width=width)
    tasks = [Task(params.model, width, params.batch) for width in widths(params)]
    data = {task: batches_of(device, task, params.channels_last) for task in tasks}

    def learner(arm: str, task: Task) -> Learner:
        made = Learner(device, arm, task, data[task], params.loss_weight)
        made.choose()
        return made

    learners: dict[tuple[str, Task], Learner] = {}
    arms = arms_of(device)
    for place, arm in enumerate(arms):
        yield x.Progress(0.6 * place / len(arms))
        most_s = math.inf if arm == FP32 else params.most_s  # the baseline of the others
        try:
            in_time = list(tasks_in_time(most_s, device, partial(learner, arm), tasks))
        except (TypeError, RuntimeError) as error:
            if device_problem(error) is not None:
                raise
            yield x.Note("precision_left_out", {"precision": arm})
            continue
        learners |= {(arm, task): learner(arm, task) for task in in_time if task is not tasks[-1]}
        if tasks[-1] not in in_time:
            yield x.Note("precision_too_slow", {"precision": arm, "most_s": params.most_s})
            continue
        held_bytes = _held_bytes(device)
        learners[arm, tasks[-1]] = learner(arm, tasks[-1])
        yield from learn_arm(params, device, arm, learners[arm, tasks[-1]])
        if device.has_streams:
            most_bytes = device.backend.max_memory_allocated(device.index)
            yield Peak(arm=arm, peak_bytes=max(0, most_bytes - held_bytes))
    if (FP16, tasks[0]) in learners:
        for clip in CLIPS:
            given = device, FP16, tasks[0], data[tasks[0]], params.loss_weight
            own = Learner(*given, clip=clip)
            own.choose()
            yield from clipped(own, clip, params.steps, bench)
        yield from nested(device)
    yield from _timing(params, device, learners)


def _needed_bytes(params: Params) -> int:
    """Return the bytes of all networks, as every arm must learn with the same."""
    tasks = [Task(params.model, width, params.batch) for width in widths(params)]
    return sum(task.data_bytes + len(ARMS) * task.learner_bytes for task in tasks)


def _held_bytes(device: Device) -> int:
    """Return the bytes that are held already, and watch for more from here on."""
    if not device.has_streams:
        return 0
    device.backend.reset_peak_memory_stats(device.index)
    return int(device.backend.memory_allocated(device.index))


def tasks_in_time(
    most_s: float, device: Device, learner: Callable[[Task], Learner], tasks: Sequence[Task]
) -> Iterator[Task]:
    """Yield the tasks whose steps are short enough, narrow to wide; each is then warm."""
    projected_s = 0.0
    for task in tasks:
        if projected_s > most_s:
            return
        step = learner(task).step
        step_s = min(whole_s(device, step) for _ in range(TRIES))
        if step_s > most_s:
            return
        yield task
        # With four times the width, products take sixteen times as long, calls as long as before.
        projected_s = NARROWER * step_s


def learn_arm(params: Params, device: Device, arm: str, learner: Learner) -> x.Measured:
    """Yield one arm's losses until it has had its steps, or its time."""
    begin_s, power = device.bench.now_s(), learner.power()
    if arm == FP16:
        yield Scale(step=0, power=power, is_skipped=False)
    for step in range(params.steps):
        device.bench.check_stop()
        loss = float(learner.step().item())
        if not math.isfinite(loss):
            yield Diverged(arm=arm, step=step)
            return
        yield Loss(arm=arm, step=step, loss=loss)
        if arm == FP16:
            before, power = power, learner.power()
            yield Scale(step=step + 1, power=power, is_skipped=power < before)
        if device.bench.now_s() - begin_s > params.learn_s:
            return


def _timing(
    params: Params, device: Device, learners: Mapping[tuple[str, Task], Learner]
) -> x.Measured:
    """Yield the speeds of all that learn, each warmed up first."""
    conditions = Conditions(device)
    counts = {}
    for key, learner in learners.items():
        learner.choose()
        counts[key] = device.bench.repeat_for(
            partial(each_s, device, learner.step), at_least_s=SAMPLE_S, start=1
        )
    number = 0
    for turn, (arm, task) in device.bench.interleave(list(learners), params.rounds):
        if turn.round != number:
            yield from conditions.rows(number)
            number = turn.round
        learner = learners[arm, task]
        learner.choose()
        step_s = each_s(device, learner.step, counts[arm, task])
        rate = task.batch / step_s
        if task.width == params.width:
            yield Speed(arm=arm, repeat=turn.round, samples_per_s=rate)
        yield Width(arm=arm, width=task.width, repeat=turn.round, samples_per_s=rate)
        yield x.Progress(0.6 + 0.4 * turn.fraction)
    yield from conditions.rows(number)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the speeds with single precision, and how far the losses fell."""
    rates = x.spreads_of(tables["speeds"], "samples_per_s", "arm")
    values = {f"{arm}_samples_per_s": found.median for arm, found in rates.items()}
    values |= {f"{row.arm}_peak_bytes": row.peak_bytes for row in tables["peaks"]}
    values |= {"guessing_loss": math.log(CLASSES)} if tables["losses"] else {}
    losses = losses_of(tables)
    values |= {f"{arm}_final_loss": final_loss(line) for arm, line in losses.items()}
    if tables["scales"]:
        values["loss_scale_final"] = 2.0 ** tables["scales"][-1].power
        values["skipped_steps"] = sum(row.is_skipped for row in tables["scales"])
    values |= {
        f"nested_{row.region}_error_fraction": row.error_fraction for row in tables["nested"]
    }
    clips = x.collected(tables["clipped"], "loss", "clip")
    values |= {f"clip_{clip}_final_loss": final_loss(line) for clip, line in clips.items()}
    limits = x.Limits(f"{each}_is_emulated" for each in _emulated(params, tables, machine))
    if rates:
        limits += [f"{each}_not_measured" for each in HALVES if each not in rates]
    right_and_wrong = {FP32: clips.get(CLIP_UNSCALED, []), UNSCALED: clips.get(CLIP_SCALED, [])}
    limits.add("clip_after_unscaling", keeps_up(right_and_wrong, UNSCALED) is False)
    pays = pays_at_any_width(tables)
    if pays:
        limits.append("pays_at_some_width")
    elif pays is False:
        limits.append("pays_at_no_width")
    breaks = breaks_unscaled(tables)
    if breaks is None and tables["losses"]:
        limits.append("learning_not_judged")
    elif breaks is False:
        limits.append("unscaled_holds")
    limits.add("bf16_needs_none", breaks and keeps_up(losses, BF16))
    if any(len(line) < len(losses.get(FP32, ())) for line in losses.values()):
        limits.append("learned_shorter")
    limits.add("matrix_units_need_gpu", params.device == CPU)
    limits.append("gain_grows_with_width")
    limits.add("loss_counts_little", params.loss_weight < 1)
    limits.append("scale_grows_sooner")
    learned = {row.arm for row in tables["losses"]}
    limits.add("tf32_left_out", TF32 not in learned and learned - {FP32})
    limits.add("memory_needs_gpu", params.device == CPU)
    shorter = [arm for arm in (TF32, FP16, BF16) if arm in rates]
    if FP32 not in rates or not shorter:
        return x.Finding("in_part", values, tuple(limits))
    over_plain = x.family({arm: (rates[arm], rates[FP32]) for arm in shorter}, x.Spread.against)
    gain = [a for a, r in over_plain.items() if r.outcome is x.Outcome.DIFFERS and r.is_above]
    best = max(gain or shorter, key=lambda arm: rates[arm].median)
    outcome = over_plain[best].outcome
    values["speedup_best"] = rates[best].median / rates[FP32].median
    unclear = ("speedup_best",) if outcome is x.Outcome.UNKNOWN else ()
    units = {arm: arithmetic_flop_per_s(machine, params.device, arm) for arm in (FP32, *shorter)}
    plain = units[FP32]
    known = [rate for arm, rate in units.items() if arm != FP32 and rate is not None]
    if plain and known:
        values["hardware_samples_per_s"] = values["fp32_samples_per_s"] * max(known) / plain
    if x.too_few((rates[best], rates[FP32])):
        message = x.TOO_FEW
    elif not gain and any(r.outcome is x.Outcome.UNKNOWN for r in over_plain.values()):
        message = "unclear_and_breaks" if breaks else x.CANNOT_TELL
    elif outcome is x.Outcome.SAME:
        message = "no_gain_and_breaks" if breaks else "no_gain"
    elif gain:
        message = "faster_and_breaks" if breaks else "faster"
    else:
        message = "slower_and_breaks" if breaks else "slower"
    return x.Finding(message, values, tuple(limits), unclear)


def _emulated(params: Params, tables: x.Tables, machine: x.Machine) -> list[str]:
    """Return the precisions that were computed without instructions for them."""
    seen = {row.arm for row in tables["widths"]}
    return [each for each in HALVES if each in seen and is_emulated(machine, params.device, each)]


def quick(params: Params) -> Params:
    """Take fewer steps and rounds, and a narrower network if single precision is too slow."""
    reduced = replace(
        params,
        steps=min(params.steps, 30),
        learn_s=min(params.learn_s, 0.8),
        most_s=min(params.most_s, 0.1),
        rounds=5,
    )
    if params.device == CPU:  # without instructions for it, half precision is slow
        reduced = replace(reduced, width=min(params.width, 64))
    return x.shrink(reduced, seconds, 4.0, width=LEAST_WIDTH[params.model])


def seconds(params: Params) -> float:
    """Estimate from the arithmetic, at cautious rates; slow arms end by their time."""
    is_cpu = params.device == CPU
    plain = product_flop_per_s(params.device)
    shorter = CPU_HALF_FLOP_PER_S if is_cpu else GPU_HALF_FLOP_PER_S
    total_s = (0.3 if is_cpu else START_S) + 2 * min(params.steps, MOST_STEPS) * CALLS_S
    for width in widths(params):
        task = Task(params.model, width, params.batch)
        flop = task.step_flop
        total_s += SAMPLE_BYTE_S * task.data_bytes
        for rate in (plain, *(len(ARMS) - 1 - is_cpu) * (shorter,)):
            step_s = min(params.most_s, CALLS_S + flop / rate)
            total_s += TRIES * step_s + (params.rounds + 1) * max(SAMPLE_S, step_s)
            if width == params.width:
                total_s += min(params.learn_s, params.steps * step_s)
    return total_s


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={
        "losses": Loss,
        "diverged": Diverged,
        "scales": Scale,
        "peaks": Peak,
        "speeds": Speed,
        "widths": Width,
        "clipped": Clipped,
        "nested": Nested,
        "conditions": Condition,
    },
    measure=measure,
    loop="training.py:Learner.step",
    analyse=analyse,
    views=(
        x.Bars(
            "speeds",
            "speeds",
            "arm",
            "samples_per_s",
            order=ARMS,
            limits=(
                x.Limit("fp32", "fp32_samples_per_s", "x"),
                x.Limit("hardware", "hardware_samples_per_s", "x"),
            ),
        ),
        x.Lines(
            "losses",
            "losses",
            x.Axis("step"),
            x.Axis("loss"),
            series="arm",
            order=ARMS,
            limits=(x.Limit("guessing", "guessing_loss"),),
        ),
        x.Lines(
            "widths", "widths", x.Axis("width"), x.Axis("samples_per_s"), series="arm", order=ARMS
        ),
        x.Lines("scales", "scales", x.Axis("step"), x.Axis("power")),
        x.Bars("peaks", "peaks", "arm", "peak_bytes", order=ARMS),
        x.Lines(
            "clipped",
            "clipped",
            x.Axis("step"),
            x.Axis("loss"),
            series="clip",
            order=CLIPS,
            limits=(x.Limit("guessing", "guessing_loss"),),
        ),
        x.Bars("nested", "nested", "region", "error_fraction", order=REGIONS),
    ),
    values=x.values(
        *(x.Value(f"{arm}_samples_per_s", x.Part.GPU) for arm in ARMS),
        *(x.Value(f"{arm}_peak_bytes", x.Part.GPU) for arm in ARMS),
        *(f"{arm}_final_loss" for arm in ARMS),
        "speedup_best",
        "loss_scale_final",
        "skipped_steps",
        *(f"clip_{clip}_final_loss" for clip in CLIPS),
        *(f"nested_{region}_error_fraction" for region in REGIONS),
        "guessing_loss",
        "hardware_samples_per_s",
    ),
    keys=(
        x.Key("fp32_samples_per_s", "speeds", ("fp32",)),
        x.Key("fp16_samples_per_s", "speeds", ("fp16",)),
        x.Key("fp16_unscaled_final_loss", "losses", ("fp16_unscaled",)),
    ),
    next=x.Next("alignment", {"loss_weight": 1.0}),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("torch", "torch._dynamo"),  # the compiler, which torch's optimisers load
    defaults=on_first_device(Params, width=4096, batch=4096, steps=200, learn_s=4.0),
    quick=quick,
    smallest=x.change(width=16, batch=8, steps=10, rounds=2),
    seconds=seconds,
    memory_bytes=lambda params: _needed_bytes(params) if params.device == CPU else 0,
)
