"""How many workers does the training need? Loading and learning form a pipeline.

Method: torch's DataLoader decodes pictures with 0 to n worker processes and hands them to a small
network. A round has one new loader for each number of workers, which runs two epochs: one in which
the network learns, and one in which the batches are only taken. An epoch counts from when every
worker has delivered once. The time until the first batch is kept apart, with new workers and with
those that stayed. The network alone learns a batch that lies on the device already. A step ends
when the device has finished. Numbers are shuffled in each round; compared are the medians.
Source: the documentation of torch.utils.data.

Not shown: the time of a disk or a network; the pictures lie in memory, packed. If the system can
fork, workers come from a server that has loaded torch, and start sooner.

Seen on an H100 beside 16 cores: 16 workers, and still too few by 2.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from experiments import api as x
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import (
    CPU,
    Device,
    cores_of,
    default_device,
    devices_of,
    torch_threads,
)
from experiments.devices.timing import warm
from experiments.tools import training

LEARNING, LOADING = "learning", "loading_alone"
NEW, KEPT = "new_helpers", "kept_helpers"
WAITING, COMPUTING = "waiting", "computing"
MOST_WORKERS, GPU_MOST_WORKERS = 16, 32  # unless told; a fast GPU needs some 20 to be fed
LAPS = 8  # batches of each worker, at least
TOO_MUCH = 1.02
HARDLY = 0.1  # of a step: then the network is fed


class Params(x.Params):
    """The parameters; each pass of smoothing makes a picture costlier, `width` the network."""

    device: str = x.param(CPU, choices=devices_of)
    most_workers: int = x.param(2, minimum=1, maximum=256, scale="log2")
    passes: int = x.param(1, minimum=0, maximum=100)
    width: int = x.param(8, minimum=1, maximum=1024, scale="log2")
    batch: int = x.param(16, minimum=1, maximum=1024, scale="log2")
    batches: int = x.param(16, minimum=4, maximum=1024, scale="log2")
    pin_memory: bool = False
    rounds: int = x.param(4, minimum=1, maximum=50)


class Epoch(x.Row):
    """One epoch: `kind` is "learning" or "loading_alone"."""

    workers: int
    kind: str
    repeat: int
    samples_per_s: float


class Alone(x.Row):
    """The network with a batch that lies on its device."""

    repeat: int
    samples_per_s: float


class StepPart(x.Row):
    """The time that a step of the learning epoch spent: `part` is "waiting" or "computing"."""

    workers: int
    part: str
    repeat: int
    step_s: float


class Start(x.Row):
    """The time until an epoch's first batch, with new workers or with persistent ones."""

    workers: int
    helpers: str
    repeat: int
    first_batch_s: float


class Passed(x.Record, kw_only=False):
    """One epoch; the times of waiting and computing are those of one step."""

    samples_per_s: float
    first_batch_s: float
    waiting_s: float
    computing_s: float


def counts(params: Params) -> list[int]:
    """Return the numbers of workers: none, powers of two, and the most."""
    powers = [2**bits for bits in range(params.most_workers.bit_length())]
    return sorted({0, *powers, params.most_workers})


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield the network alone and each number of workers, in shuffled rounds."""
    training.check_shared_memory(params.batch, params.most_workers)  # before minutes have passed
    device = Device(params.device, bench)
    # The workers need the other cores.
    with torch_threads(device.torch, 1), training.worker_context() as context:
        learner = training.Training(device, params.width)
        here = learner.batch(params.batch)
        warm(device, lambda: learner.step(*here))
        # The server loads torch with its first worker.
        for _ in _epochs(device, context, params, 1, learner):
            pass
        yield x.Progress(0.1)
        conditions = Conditions(device)
        arms = [None, *counts(params)]
        for turn, workers in bench.interleave(arms, params.rounds):
            if workers is None:
                alone_s = bench.time(lambda: _repeated(learner, here, params.batches))
                samples = params.batches * params.batch
                yield Alone(repeat=turn.round, samples_per_s=samples / alone_s)
                yield from conditions.rows(turn.round)
            else:
                yield from _rows(device, context, params, workers, learner, turn.round)
            yield x.Progress(0.1 + 0.9 * turn.fraction)


def _repeated(learner: training.Training, batch: tuple[Any, Any], count: int) -> None:
    for _ in range(count):
        learner.step(*batch)


def _rows(
    device: Device,
    context: Any,
    params: Params,
    workers: int,
    learner: training.Training,
    repeat: int,
) -> Iterator[Epoch | StepPart | Start]:
    for kind, passed in _epochs(device, context, params, workers, learner):
        yield Epoch(workers=workers, kind=kind, repeat=repeat, samples_per_s=passed.samples_per_s)
        if kind == LEARNING:
            steps = ((WAITING, passed.waiting_s), (COMPUTING, passed.computing_s))
            for part, step_s in steps:
                yield StepPart(workers=workers, part=part, repeat=repeat, step_s=step_s)
        if workers:
            helpers = NEW if kind == LEARNING else KEPT
            first_s = passed.first_batch_s
            yield Start(workers=workers, helpers=helpers, repeat=repeat, first_batch_s=first_s)


def _epochs(
    device: Device, context: Any, params: Params, workers: int, learner: training.Training
) -> Iterator[tuple[str, Passed]]:
    """Yield one epoch in which the network learns, and one that only takes the batches."""
    with training.loader(
        device,
        context,
        batches=_batches(params, workers),
        batch=params.batch,
        passes=params.passes,
        workers=workers,
        pin=params.pin_memory,
    ) as loader:
        for kind, learns in ((LEARNING, learner.step), (LOADING, None)):
            yield kind, _passed(device.bench, loader, learns, params.batch, max(1, workers))


def _batches(params: Params, workers: int) -> int:
    return max(params.batches, LAPS * workers)


def _passed(bench: x.Bench, loader: Any, learn: Any, batch: int, uncounted: int) -> Passed:
    """Pass one epoch; the first batches do not count: all workers made theirs at once."""
    waiting_s = computing_s = first_batch_s = 0.0
    start_s = done_s = begun_s = bench.now_s()
    batches = iter(loader)
    for number in itertools.count():
        bench.check_stop()
        found = next(batches, None)
        there_s = bench.now_s()
        if found is None:
            break
        first_batch_s = first_batch_s or there_s - start_s
        if learn is not None:
            learn(*found)
        last_s, done_s = done_s, bench.now_s()
        if number < uncounted:
            begun_s = done_s
        else:
            waiting_s += there_s - last_s
            computing_s += done_s - there_s
    counted = len(loader) - uncounted
    return Passed(
        counted * batch / (done_s - begun_s),
        first_batch_s,
        waiting_s / counted,
        computing_s / counted,
    )


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Find the fewest workers with which learning is fastest, and what then limits it."""
    of = x.spreads_of(
        tables["epochs"], "samples_per_s", "kind", "workers", busy_cores=lambda way: -1 - way[1]
    )
    learning = {workers: found for (kind, workers), found in of.items() if kind == LEARNING}
    alone = x.spreads((LEARNING, row.samples_per_s, row.repeat) for row in tables["alone"]).get(
        LEARNING
    )
    values: dict[str, float] = {}
    limits = x.Limits(["cores_are_shared"] if params.device == CPU else [])
    limits.add("memory_not_pinned", params.device != CPU and not params.pin_memory)
    if alone is not None:
        values["model_alone_samples_per_s"] = alone.median
    if (LOADING, 1) in of:
        values["one_worker_samples_per_s"] = of[LOADING, 1].median
        if alone is not None:
            values["needed_workers"] = alone.median / of[LOADING, 1].median
    if 0 in learning:
        values["zero_workers_samples_per_s"] = learning[0].median
    if alone is None or 0 not in learning or len(learning) < 2:
        return x.Finding("in_part", values, tuple(limits))
    fastest = max(learning.values(), key=lambda found: found.median)
    judged = x.family(
        {n: (found, fastest) for n, found in learning.items() if found is not fastest},
        x.Spread.against,
    )
    slower = {
        n for n, each in judged.items() if each.outcome is x.Outcome.DIFFERS and not each.is_above
    }
    fewest = min(learning.keys() - slower)
    best, most = learning[fewest], max(learning)
    values |= {"best_workers": fewest, "best_samples_per_s": best.median, "most_workers": most}
    starts = x.spreads_of(tables["starts"], "first_batch_s", "helpers", workers=fewest)
    values |= {f"{name}_s": found.median for name, found in starts.items()}
    compared, unclear = x.ratios({"best_over_zero": (best, learning[0])})
    values |= compared
    if fewest in judged and judged[fewest].outcome is x.Outcome.UNKNOWN:
        unclear += ("best_workers",)
    if most > fewest and learning[most].is_below(best):
        values["most_workers_samples_per_s"] = learning[most].median
        limits.append("slower_with_more")
    limits.add("above_the_limit", alone.is_below(best) and best.median > TOO_MUCH * alone.median)
    if x.too_few(learning.values()):
        return x.Finding(x.TOO_FEW, values, tuple(limits), unclear)
    if fewest == 0:
        others = ((learning[0], found) for n, found in learning.items() if n)
        if (unsure := x.unsure(*others)) is not None:
            return x.Finding(unsure, values, tuple(limits), unclear)
        return x.Finding("no_helper_needed", values, tuple(limits), unclear)
    waiting = _waiting_fraction(tables, fewest)
    values["waiting_fraction"] = waiting
    if "best_workers" in unclear:
        return x.Finding("cannot_tell_how_many", values, tuple(limits), unclear)
    message = "model_is_fed" if waiting <= HARDLY else "loading_holds_back"
    return x.Finding(message, values, tuple(limits), unclear)


def _waiting_fraction(tables: x.Tables, workers: int) -> float:
    """Return the share of the learning steps in which the network waited for its batch."""
    steps = [row for row in tables["steps"] if row.workers == workers]
    whole_s: float = sum(row.step_s for row in steps)
    waiting_s: float = sum(row.step_s for row in steps if row.part == WAITING)
    return waiting_s / whole_s if whole_s else 0.0


def defaults(machine: x.Machine) -> Params:
    """Use up to one worker a core, for a GPU one a thread and a network that keeps it busy."""
    device = default_device(machine)
    cores = cores_of(machine)
    params = Params(device=device, most_workers=min(cores, MOST_WORKERS))
    if device != CPU:
        most = min(len(x.usable_threads(machine)) or cores, GPU_MOST_WORKERS)
        params = replace(params, most_workers=most, width=64, batch=32, pin_memory=True)
    return params


def seconds(params: Params) -> float:
    """Estimate from a step's arithmetic, and from an image's cost on a few cores."""
    step_s = training.step_s(params.device, params.width, params.batch)
    load_s = training.image_s(params.passes) * params.batch
    round_s = step_s * params.batches
    for workers in counts(params):
        alone_s = load_s / max(1, workers)
        both_s = max(alone_s, step_s) if workers else alone_s + step_s
        round_s += _batches(params, workers) * (alone_s + both_s)
        round_s += training.WORKER_S + 0.01 * workers
    return training.SERVER_S + params.rounds * round_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={
        "epochs": Epoch,
        "alone": Alone,
        "steps": StepPart,
        "starts": Start,
        "conditions": Condition,
    },
    measure=measure,
    loop="experiment.py:_passed",
    analyse=analyse,
    views=(
        x.Lines(
            "rates",
            "epochs",
            x.Axis("workers"),
            x.Axis("samples_per_s"),
            series="kind",
            order=(LEARNING, LOADING),
            limits=(
                x.Limit("model_alone", "model_alone_samples_per_s"),
                x.Limit("enough", "needed_workers", "x"),
            ),
        ),
        x.Bars("steps", "steps", "part", "step_s", detail="workers", order=(WAITING, COMPUTING)),
        x.Bars("starts", "starts", "helpers", "first_batch_s", detail="workers", order=(NEW, KEPT)),
    ),
    values=x.values(
        "best_workers",
        x.Value("best_samples_per_s", x.Part.GPU),
        "model_alone_samples_per_s",
        "zero_workers_samples_per_s",
        x.Value("one_worker_samples_per_s", x.Part.CORES),
        "needed_workers",
        "best_over_zero",
        "waiting_fraction",
        "most_workers",
        "most_workers_samples_per_s",
        "new_helpers_s",
        "kept_helpers_s",
    ),
    keys=(
        x.Key("best_workers", "rates", at="best_workers"),
        x.Key("best_samples_per_s", "rates", ("learning",), at="best_workers"),
        x.Key("needed_workers", "rates", at="needed_workers"),
    ),
    next=x.Next("bottleneck", {"passes": 4}),
    parts=(x.Part.CORES, x.Part.MEMORY, x.Part.PCIE, x.Part.GPU),
    imports=("torch", "torch.utils.data", "numpy"),
    defaults=defaults,
    quick=x.change(
        width=lambda width: max(1, width // 2),
        rounds=5,
        at_most={"most_workers": 2, "batch": 4, "batches": 8},
    ),
    smallest=x.change(most_workers=1, batch=2, batches=4, rounds=2),
    quiet_limit_s=120.0,  # each worker loads torch first, where processes are not forked
    budget=x.Budget(full={"rounds": 5, "batch": 1}, quick={"rounds": 4, "batch": 1}),
    seconds=seconds,
    memory_bytes=lambda params: training.memory_bytes(
        params.device, params.width, params.batch, params.most_workers
    ),
)
