"""Twice the workers, twice the speed? Each learns its share of a batch; then all average gradients.

Method: processes with a copy of the same network each, joined by torch.distributed: gloo between
processes of the processor, NCCL between GPUs, one machine or several (`across` says how). For one,
two, four and more workers, in shuffled rounds: one process alone, without any of this; the workers
with their gradients averaged; and the same without averaging (`no_sync`). The averaged step takes
longer than the slowest worker without averaging. The difference is the communication that shows;
the rest of it hid behind the backward pass. First, a few steps from the same weights: the mean of
the workers' losses must be the loss of one process with the whole batch. The sums of all messages
are checked too.
Source: Li et al., PyTorch Distributed, VLDB 2020; nccl-tests for the bandwidth of the bus.

Not shown: how a network learns with larger batches; what loading data would add.

To be confirmed on a GPU: all of it over NCCL, on one machine and on several. That is the time of
loading, rates, the wait of the slowest, and bus bandwidth within 5 % of nccl-tests. Open are also
how long a GPU process takes to end, and Lightning with GPUs (with gloo it has run).
"""

from __future__ import annotations

import importlib.util

from experiments import api as x
from experiments.devices.assumed import network_flop_per_s
from experiments.devices.conditions import Condition
from experiments.devices.device import CPU, cores_of, devices_of
from experiments.tools.group import together
from experiments.tools.member import BACKENDS, is_launched, local_size

from .all_reduce import Reduction, sizes
from .replicas import (
    ALONE,
    APART,
    AVERAGED,
    ENGINES,
    FP32_BYTES,
    LIGHTNING,
    TORCH,
    Loss,
    parameter_count,
)
from .training_turns import (
    EACH_FULL,
    IDEAL,
    PARTS,
    SHARED_OUT,
    SPLITS,
    Rate,
    StepPart,
    counts,
    own_batch,
    own_bytes,
    work,
)

TOLERANCE = 1e-4  # of a loss: sums in another order differ by less
WELL = 0.9  # of the ideal
MOST_WORKERS = 8  # unless told
WORKER_BYTES = 500 * x.MIB  # a process with torch, its compiler and a few threads
START_S, LIGHTNING_S = (
    3.8,
    4.0,
)  # to load torch in two processes on two cores; Lightning
CPU_REDUCED_BYTES_PER_S, GPU_REDUCED_BYTES_PER_S = 5e8, 5e9  # measured on two cores; assumed


class Params(x.Params):
    """The parameters; no threads: the cores are shared out evenly."""

    device: str = x.param(CPU, choices=lambda machine: kinds_of(machine))
    engine: str = x.param(TORCH, choices=ENGINES)
    most_workers: int = x.param(2, minimum=1, maximum=1024, scale="log2")
    threads: int = x.param(0, minimum=0, maximum=1024)
    split: str = x.param(SHARED_OUT, choices=SPLITS)
    batch: int = x.param(512, minimum=1, maximum=2**20, scale="log2")
    width: int = x.param(432, minimum=1, maximum=2**15)
    bucket_bytes: int = x.param(25 * x.MIB, minimum=1024, maximum=2**30, scale="log2")
    largest_bytes: int = x.param(64 * x.MIB, minimum=4096, maximum=2**32, scale="log2")
    steps: int = x.param(20, minimum=1, maximum=1000)
    sample_s: float = x.param(0.15, minimum=0.001, maximum=5.0, scale="log10")
    rounds: int = x.param(10, minimum=1, maximum=50)


def kinds_of(machine: x.Machine) -> tuple[str, ...]:
    """Return the kinds of devices with two or more, and the processor.

    Among several machines, each may have one.
    """
    kinds, least = [name.partition(":")[0] for name in devices_of(machine)], 1 + (not is_launched())
    several = dict.fromkeys(k for k in kinds if kinds.count(k) >= least and k in BACKENDS)
    return (*(kind for kind in several if kind != CPU), CPU)


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield what the first worker measures. Raises UserError without Lightning."""
    if params.engine == LIGHTNING and importlib.util.find_spec("lightning") is None:
        raise x.UserError("needs_lightning")
    threads = params.threads or max(1, cores_of(bench.machine) // local_size(params.most_workers))
    yield x.Progress(0.0)
    yield from together(
        bench, work, params, size=params.most_workers, device=params.device, threads=threads
    )


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the most workers with one process alone, and account for the rest."""
    of = x.spreads_of(
        tables["rates"],
        "samples_per_s",
        "run",
        "workers",
        busy_cores=lambda way: -1 if way[0] == IDEAL else -way[1],  # the ideal is one process's
    )
    most = max((n for run, n in of if run == AVERAGED), default=0)
    values: dict[str, float] = {"parameters": parameter_count(params.width)}
    limits = _limits(params, tables, machine, most)
    if (differs := loss_difference(tables)) is not None:
        values["loss_difference_fraction"] = differs
    values |= _reductions(params, tables)
    one, best = of.get((ALONE, 1)), of.get((AVERAGED, most))
    if one is not None:
        values["one_worker_samples_per_s"] = one.median
    if (AVERAGED, 1) in of:
        values["wrapped_one_samples_per_s"] = of[AVERAGED, 1].median
    if one is None or best is None or most < 2:
        return x.Finding("in_part", values, tuple(limits))
    averaged = {n: found for (run, n), found in of.items() if run == AVERAGED}
    fastest = max(averaged, key=lambda n: averaged[n].median)
    compared, unclear = x.ratios({"workers_speedup": (best, one)})
    if x.standing(averaged, fastest) is x.Outcome.UNKNOWN:
        unclear += ("best_workers",)
    values |= compared | {
        "most_workers": most,
        "most_workers_samples_per_s": best.median,
        "best_workers": fastest,
        "best_samples_per_s": of[AVERAGED, fastest].median,
        "efficiency": best.median / (most * one.median),
    }
    for part in PARTS:
        found = x.spread(r.step_s for r in tables["shares"] if (r.workers, r.part) == (most, part))
        if found is not None:
            values[f"{part}_s"] = found.median
    if differs is not None and differs > TOLERANCE:
        return x.Finding("losses_differ", values, tuple(limits), unclear)
    if x.too_few((one, best)):
        return x.Finding(x.TOO_FEW, values, tuple(limits), unclear)
    ideal = of.get((IDEAL, most))
    if ideal is not None and ideal.is_below(best):
        limits = ["above_ideal", *limits]
    if one.is_below(best):
        message = "scales_well" if values["efficiency"] >= WELL else "scales_partly"
        return x.Finding(message, values, tuple(limits), unclear)
    message = "more_is_slower" if best.is_below(one) else "as_fast_as_one"
    if x.unsure((best, one)):
        is_short = ideal is not None and best.is_below(ideal) and values["efficiency"] < WELL
        message = "falls_short_unclear" if is_short else x.CANNOT_TELL
    return x.Finding(message, values, tuple(limits), unclear)


def _limits(params: Params, tables: x.Tables, machine: x.Machine, most: int) -> list[str]:
    is_one = max((row.machines for row in tables["rates"]), default=1) == 1
    limits = x.Limits()
    is_on_one_processor = params.device == CPU and is_one
    if is_on_one_processor and max(1, params.threads) * most > cores_of(machine):
        limits.append("more_threads_than_cores")
    limits.append("batch_grows" if params.split == EACH_FULL else "shares_shrink")
    limits.add("workers_share_memory", is_on_one_processor)
    limits.append("several_machines" if is_one else "over_machines")
    return limits


def loss_difference(tables: x.Tables) -> float | None:
    """Return the largest relative difference of the workers' loss from one process's."""
    of = {(row.workers, row.step, row.run): row.loss for row in tables["losses"]}
    pairs = [
        (loss, of[n, step, ALONE])
        for (n, step, run), loss in of.items()
        if run == AVERAGED and n > 1 and (n, step, ALONE) in of
    ]
    return max((abs(loss / alone - 1) for loss, alone in pairs if alone), default=None)


def _reductions(params: Params, tables: x.Tables) -> dict[str, float]:
    gradients = FP32_BYTES * parameter_count(params.width)
    values: dict[str, float] = {"gradients_bytes": gradients}
    rates = [row.bus_bytes_per_s for row in tables["reductions"]]
    if rates:
        values["allreduce_bytes_per_s"] = max(rates)
    took = x.spread(row.reduce_s for row in tables["reductions"] if row.message_bytes == gradients)
    if took is not None:
        values["gradients_allreduce_s"] = took.median
    return values


def defaults(machine: x.Machine) -> Params:
    """Take one worker a core, or all GPUs; a GPU gets a network that keeps it busy."""
    kind = kinds_of(machine)[0]
    if kind != CPU:
        gpus = sum(name.startswith(kind) for name in devices_of(machine))
        return Params(
            device=kind,
            most_workers=gpus,
            batch=4096,
            width=4096,
            largest_bytes=1024 * x.MIB,
            steps=10,
        )
    wanted = min(cores_of(machine), MOST_WORKERS)
    most = max(2, x.fits(wanted * WORKER_BYTES, 0.5) // WORKER_BYTES)
    return Params(most_workers=most)


def seconds(params: Params) -> float:
    """Estimate: loading torch in each process, the compared steps, and samples of each kind."""
    rate = network_flop_per_s(params.device)
    if params.device == CPU:
        rate *= max(1, params.threads)
    compared_s = samples_s = 0.0
    for n in counts(params.most_workers):
        own_s = 1e-3 + 6 * parameter_count(params.width) * own_batch(params, n) / rate
        compared_s += params.steps * (n + 1) * own_s
        samples_s += 2 * 1.1 * max(params.sample_s, own_s)
    if params.most_workers > 1:
        on_cpu = params.device == CPU
        reduced_per_s = CPU_REDUCED_BYTES_PER_S if on_cpu else GPU_REDUCED_BYTES_PER_S
        for size in sizes(params.largest_bytes):
            samples_s += max(1.1 * params.sample_s / 3, size / reduced_per_s)
    start_s = START_S + (LIGHTNING_S if params.engine == LIGHTNING else 0.0)
    return start_s + compared_s + (params.rounds + 2) * samples_s


def memory_bytes(params: Params) -> int:
    """Return the bytes of the processes, and on the processor of networks and messages."""
    own = own_bytes(params, params.most_workers) if params.device == CPU else 0
    return params.most_workers * (WORKER_BYTES + own)


EXPERIMENT = x.Experiment(
    params=Params,
    tables={
        "rates": Rate,
        "shares": StepPart,
        "losses": Loss,
        "reductions": Reduction,
        "conditions": Condition,
    },
    measure=measure,
    loop="replicas.py:Replica.step",
    analyse=analyse,
    views=(
        x.Lines(
            "rates",
            "rates",
            x.Axis("workers"),
            x.Axis("samples_per_s"),
            series="run",
            order=(AVERAGED, APART, ALONE, IDEAL),
        ),
        x.Lines(
            "reductions",
            "reductions",
            x.Axis("message_bytes"),
            x.Axis("reduce_s"),
            limits=(x.Limit("gradients", "gradients_bytes", "x"),),
        ),
        x.Bars("shares", "shares", "part", "step_s", detail="workers", order=PARTS),
        x.Lines(
            "losses",
            "losses",
            x.Axis("step"),
            x.Axis("loss"),
            series="run",
            order=(ALONE, AVERAGED),
        ),
    ),
    values=x.values(
        "one_worker_samples_per_s",
        "best_workers",
        "best_samples_per_s",
        "efficiency",
        "workers_speedup",
        "allreduce_bytes_per_s",
        "wrapped_one_samples_per_s",
        "most_workers",
        "most_workers_samples_per_s",
        "compute_s",
        "communication_s",
        "idle_s",
        "loss_difference_fraction",
        "parameters",
        "gradients_bytes",
        "gradients_allreduce_s",
    ),
    keys=(
        x.Key("one_worker_samples_per_s", "rates", ("alone",)),
        x.Key("most_workers_samples_per_s", "rates", ("averaged",), at="most_workers"),
        x.Key("communication_s", "shares", ("communication",)),
    ),
    next=x.Next("split-model", {"split": EACH_FULL}),
    parts=(x.Part.CORES, x.Part.MEMORY, x.Part.GPU, x.Part.NVLINK),
    needs=(x.Need.TORCH,),
    defaults=defaults,
    quick=x.change(
        batch=lambda batch: max(1, batch // 4),
        rounds=3,
        at_most={"most_workers": 2, "largest_bytes": x.MIB, "steps": 5, "sample_s": 0.01},
    ),
    smallest=x.change(
        threads=1, batch=16, width=32, largest_bytes=16 * x.KIB, sample_s=0.001, rounds=2
    ),
    budget=x.Budget(full={"rounds": 3, "largest_bytes": x.MIB}, quick={"largest_bytes": x.MIB}),
    seconds=seconds,
    memory_bytes=memory_bytes,
    can_wait=False,  # its members count the turns
    quiet_limit_s=60.0,  # until many processes have loaded torch
)
