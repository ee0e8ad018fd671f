"""Where does the time of a training step go: data, host, copies, kernels, or idle?

Method: steps of a small network are recorded by torch's profiler, and every moment of them is given
to one part. With a GPU the parts are its computing, its copying alone, and otherwise the host's
waiting or work. A moment when both wait is idle. On the processor the parts are loading, operators,
and the Python between them. As many steps without the profiler show how much longer recording made
them.
Source: the documentation of torch.profiler; the parts follow Holistic Trace Analysis.

Not shown: which parts could hide behind another part; try it with workers. Recording makes the
host's part longer. The other threads of the host are not looked at.

Seen on an H100: the trace names kernels and copies as expected.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments import api as x
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, devices_of, on_first_device, torch_threads
from experiments.tools import training

from . import profiling
from .profiling import STEP, WAITING, divided, has_device, marked

PARTS = ("waiting", "host", "compute", "idle", "copy")  # each name in one place of both: one colour
KINDS = ("waiting", "step", "operator", "call", "copy", "kernel")
ON_DEVICE = ("copy", "kernel")
SHOWN = 3  # steps on the lanes
MOST_SLICES = 1000  # of each kind
SLOWER = 1.5  # times: how much longer steps are when they are recorded


class Params(x.Params):
    """The parameters; each pass of smoothing makes a picture costlier, `width` the network."""

    device: str = x.param(CPU, choices=devices_of)
    workers: int = x.param(0, minimum=0, maximum=256)
    passes: int = x.param(1, minimum=0, maximum=100)
    width: int = x.param(8, minimum=1, maximum=1024, scale="log2")
    batch: int = x.param(16, minimum=1, maximum=1024, scale="log2")
    steps: int = x.param(8, minimum=3, maximum=100)
    pin_memory: bool = False
    rounds: int = x.param(7, minimum=1, maximum=50)
    folder: str = x.param("", is_folder=True)


class PartTime(x.Row):
    """One part of a round's steps: the time that each step spent on it."""

    part: str
    repeat: int
    part_s: float


class WholeStep(x.Row):
    """A step of a round, recorded or not."""

    is_recorded: bool
    repeat: int
    step_s: float


class EventSpan(x.Row):
    """When events of a kind were going on, in the first steps of the last round.

    `lane` is "host" or "device".
    """

    kind: str
    lane: str
    start_s: float
    end_s: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield the parts of the steps, round by round, then the lanes of a few steps."""
    device = Device(params.device, bench)
    # The workers need the other cores.
    with torch_threads(device.torch, 1), training.worker_context(params.workers > 0) as context:
        learner = training.Training(device, params.width)
        conditions = Conditions(device)
        with training.loader(
            device,
            context,
            batches=params.steps + 1,
            batch=params.batch,
            passes=params.passes,
            workers=params.workers,
            pin=params.pin_memory,
        ) as loader:
            profiling.traced(device, lambda: _steps(bench, loader, learner))  # load everything
            yield x.Progress(0.1)
            trace: dict[str, Any] = {}
            for turn, is_recorded in bench.interleave([False, True], params.rounds):
                step_s = 0.0

                def work() -> None:
                    nonlocal step_s
                    step_s = _steps(bench, loader, learner)

                if is_recorded:
                    trace = profiling.traced(device, work)
                    yield from _shares(trace, device, params.steps, turn.round)
                else:
                    work()
                yield WholeStep(is_recorded=is_recorded, repeat=turn.round, step_s=step_s)
                yield from conditions.rows(turn.round) if is_recorded else ()
                yield x.Progress(0.1 + 0.9 * turn.fraction)
    yield from _lanes(trace)
    if params.folder:
        yield x.Note("trace_saved", {"name": _saved(trace, params.folder)})


def _steps(bench: x.Bench, loader: Any, learner: training.Training) -> float:
    """Learn all batches but the first, which starts the epoch; return a step's time."""
    batches = iter(loader)
    learner.step(*next(batches))
    start_s, count = bench.now_s(), len(loader) - 1
    for _ in range(count):
        bench.check_stop()
        with marked(WAITING):
            batch = next(batches)
        with marked(STEP):
            learner.step(*batch)
    took_s = bench.now_s() - start_s
    assert next(batches, None) is None  # or persistent workers would not begin again
    return took_s / count


def _shares(trace: dict[str, Any], device: Device, steps: int, repeat: int) -> Iterator[PartTime]:
    found = profiling.spans(trace)
    if device.is_gpu and not has_device(found):
        return
    for part, when in divided(found, on_gpu=device.is_gpu).items():
        yield PartTime(part=part, repeat=repeat, part_s=x.length_s(when) / steps)


def _lanes(trace: dict[str, Any]) -> Iterator[EventSpan]:
    of = profiling.lanes(profiling.spans(trace))
    waits, ends = of.get("waiting", []), of.get("step", [])
    if not waits or len(ends) < SHOWN:
        return
    start_s, end_s = waits[0][0], ends[SHOWN - 1][1]
    for kind in KINDS:
        lane = "device" if kind in ON_DEVICE else "host"
        for begun_s, done_s in x.in_both(of.get(kind, []), [(start_s, end_s)])[:MOST_SLICES]:
            yield EventSpan(kind=kind, lane=lane, start_s=begun_s - start_s, end_s=done_s - start_s)


def _saved(trace: dict[str, Any], folder: str) -> str:
    try:
        return profiling.save(trace, Path(folder), "coreopsis-bottleneck")
    except OSError as error:
        raise x.UserError("trace_not_saved", reason=error.strerror or str(error)) from None


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Name the largest part, if it clearly is."""
    of = x.spreads_of(tables["shares"], "part_s", "part")
    wholes = x.spreads_of(tables["wholes"], "step_s", "is_recorded")
    values: dict[str, float] = {}
    limits = x.Limits(["copies_need_gpu"] if params.device == CPU else [])
    if False in wholes:
        values["step_s"] = wholes[False].median
    if True in wholes and False in wholes:
        values["recorded_over_step"] = wholes[True].median / wholes[False].median
        if values["recorded_over_step"] > SLOWER and wholes[False].is_below(wholes[True]):
            limits.append("recording_costs")
    limits.add("kernels_not_told", params.device != CPU and tables["wholes"] and not of)
    total_s = sum(found.median for found in of.values())
    if not total_s:
        return x.Finding("in_part", values, tuple(limits))
    values |= {f"{part}_fraction": of[part].median / total_s for part in PARTS if part in of}
    return x.Finding(_message(of), values, tuple(limits))


def _message(of: dict[str, x.Spread]) -> str:
    """Return the message about the largest part, if there is one."""
    largest = max(of, key=lambda part: of[part].median)
    others = [found for part, found in of.items() if part != largest]
    if (unsure := x.unsure(*((other, of[largest]) for other in others))) is not None:
        return unsure
    if any(other.is_as(of[largest]) for other in others):
        return "no_part_stands_out"
    match largest:
        case "waiting":
            return "waits_for_data"
        case "host":
            return "host_holds_back"
        case "copy":
            return "copies_hold_back"
        case "idle":
            return "mostly_idle"
    return "computes"


def seconds(params: Params) -> float:
    """Estimate from a step's arithmetic and an image's cost."""
    load_s = training.image_s(params.passes) * params.batch / max(1, params.workers)
    step_s = training.step_s(params.device, params.width, params.batch)
    start_s = training.SERVER_S if params.workers else 0.0
    epoch_s = (params.steps + 1) * (load_s + step_s)
    first_s = 1.0 if params.device == CPU else 3.0  # of the profiler
    return start_s + first_s + (2 * params.rounds + 1) * epoch_s + 0.1 * params.rounds


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"shares": PartTime, "wholes": WholeStep, "slices": EventSpan, "conditions": Condition},
    measure=measure,
    loop="experiment.py:_steps",
    analyse=analyse,
    views=(
        x.Bars("parts", "shares", "part", "part_s", order=PARTS),
        x.Timeline("lanes", "slices", "lane", "start_s", "end_s", group="kind", order=KINDS),
    ),
    values=x.values(
        "waiting_fraction",
        x.Value("host_fraction", x.Part.CORES),
        x.Value("copy_fraction", x.Part.PCIE),
        x.Value("compute_fraction", x.Part.GPU),
        "idle_fraction",
        "step_s",
        "recorded_over_step",
    ),
    keys=(
        x.Key("compute_fraction", "parts", ("compute",)),
        x.Key("waiting_fraction", "parts", ("waiting",)),
        x.Key("host_fraction", "parts", ("host",)),
    ),
    next=x.Next("dataloader", {"workers": 2}),
    parts=(x.Part.CORES, x.Part.PCIE, x.Part.GPU),
    imports=("torch", "torch.profiler", "torch.utils.data", "numpy"),
    defaults=on_first_device(Params, width=128, batch=32, pin_memory=True),
    # Workers would have to start first.
    quick=x.change(steps=4, rounds=5, workers=0, at_most={"batch": 8}),
    smallest=x.change(batch=2, steps=3, rounds=2),
    budget=x.Budget(quick={"batch": 1}, quick_s=4.0),
    seconds=seconds,
    memory_bytes=lambda params: training.memory_bytes(
        params.device, params.width, params.batch, params.workers
    ),
)
