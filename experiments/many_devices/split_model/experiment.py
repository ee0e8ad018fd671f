"""Layers, channels or data: how do several devices share one network, and what does each way cost?

Method: the same steps of training are done in four ways (`split_ways`). One device works alone, or
several share the data, the layers or the channels of the network. Without several GPUs the devices
are processes of the processor, each with `threads` threads, which talk over gloo; one device alone
is one of these processes. All begin a step together, in shuffled rounds; the step lasts until the
last has done its part. The times of computing are on the clock that all processes of one machine
share. Across machines each process counts from its own start. Before that, all ways do a few steps
from the same start, and come to the same weights. Memory and traffic are counted from the sizes of
what is kept and sent.
Source of the bubble, (p - 1) / (m + p - 1) of p stages and m micro-batches: Y. Huang et al., GPipe.

Not shown: the gain of hiding the exchange behind the arithmetic (see `data-parallel`); how other
networks divide. Convolutions send less for each weight.

To be confirmed on a GPU: all of it over NCCL. That is: sending and receiving between stages does
not lock up, the cost of the waits after each part, equal weights.
"""

from __future__ import annotations

from experiments import api as x
from experiments.devices.assumed import network_flop_per_s
from experiments.devices.device import CPU, cores_of, default_device, devices_of, gpus_of
from experiments.tools.group import together

from .steps import EXPECTED, MEASURED, Bubble, Busy, Check, Plan, Size, StepTime, bubble, work
from .ways import CHANNELS, DATA, FP32_BYTES, LAYERS, ONE, WAYS, Shape

ALIKE = 1e-3  # of the weights' progress: sums in another order differ by less
START_S = 3.0  # assumed, not measured


class Params(x.Params):
    """The parameters; `threads` is how many each process computes with on the processor."""

    device: str = x.param(CPU, choices=devices_of)
    devices: int = x.param(2, minimum=2, maximum=16)
    layers: int = x.param(4, minimum=2, maximum=64)
    width: int = x.param(512, minimum=16, maximum=8192, scale="log2")
    batch: int = x.param(1024, minimum=16, maximum=16384, scale="log2")
    micro_batches: int = x.param(4, minimum=1, maximum=64, scale="log2")
    threads: int = x.param(1, minimum=1, maximum=256)
    rounds: int = x.param(10, minimum=1, maximum=50)


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield the rows of all members: checks and sizes, then steps in shuffled rounds."""
    kind = params.device.partition(":")[0]
    size = params.devices
    if kind != CPU:
        size = min(size, sum(name.startswith(kind) for name in gpus_of(bench.machine)))
        if size < 2:
            raise x.UserError("needs_two_gpus")
    plan = Plan(
        shape=Shape(layers=params.layers, width=params.width, batch=params.batch),
        micro_batches=tuple(micro_batches_of(params, quick=bench.quick)),
        chosen=chosen(params),
        rounds=params.rounds,
        needed_bytes=_bytes(params),
    )
    yield from together(bench, work, plan, size=size, device=kind, threads=params.threads)


def micro_batches_of(params: Params, *, quick: bool = False) -> list[int]:
    """Return the numbers of micro-batches to try: 1, 2, 4 up to twice the chosen one."""
    if quick:
        return sorted({1, chosen(params)})
    most = min(2 * params.micro_batches, params.batch)
    return sorted({*(2**n for n in range(7) if 2**n <= most), chosen(params)})


def chosen(params: Params) -> int:
    """Return the micro-batches of the way that is compared with the others."""
    return min(params.micro_batches, params.batch)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the ways with one device alone: time, memory and traffic."""
    steps = x.spreads_of(tables["steps"], "step_s", "way")
    idle = x.spreads((row.way, 1 - row.busy_fraction, row.repeat) for row in tables["steps"])
    values = {f"{way}_step_s": found.median for way, found in steps.items()}
    for row in tables["sizes"]:
        values[f"{row.way}_memory_bytes"] = row.memory_bytes
        if row.way != ONE:
            values[f"{row.way}_moved_bytes"] = row.moved_bytes
    limits = x.Limits()
    size = len({row.device for row in tables["checks"]})
    if params.device == CPU:
        limits.append("devices_are_processes")
        values["threads_each"] = params.threads
        limits.add("more_threads_than_cores", params.devices * params.threads > cores_of(machine))
    if LAYERS in idle:
        values["bubble_fraction"] = idle[LAYERS].median
        values["expected_bubble_fraction"] = bubble(max(size, 2), chosen(params))
    if size:
        values["devices"] = size
    if any(row.way == DATA for row in tables["sizes"]):
        limits += ["data_has_all_weights", "counted_not_measured"]
    apart = max((row.difference_fraction for row in tables["checks"]), default=None)
    if apart is not None:
        values["difference_fraction"] = apart
        if apart > ALIKE:
            return x.Finding("other_results", values, tuple(limits))
    if not set(WAYS) <= steps.keys() or len(tables["sizes"]) < len(WAYS):
        return x.Finding("in_part", values, tuple(limits))
    shared = (DATA, LAYERS, CHANNELS)
    pairs = {f"{way}_speedup": (steps[ONE], steps[way]) for way in shared}
    found, unclear = x.ratios(pairs)
    over_one = x.family(pairs, x.Spread.against).values()
    faster = [r for r in over_one if r.outcome is x.Outcome.DIFFERS and r.is_above]
    if x.too_few(steps[way] for way in WAYS):
        message = x.TOO_FEW
    elif len(faster) == len(shared):
        message = "all_are_faster"
    elif faster:
        message = "some_unclear" if unclear else "some_are_faster"
    else:
        message = x.CANNOT_TELL if unclear else "none_is_faster"
    return x.Finding(message, values | found, tuple(limits), unclear)


def defaults(machine: x.Machine) -> Params:
    """Take all GPUs, four at most; with fewer than two, two processes that share the cores."""
    first = default_device(machine)
    kind = first.partition(":")[0]
    gpus = sum(name.startswith(kind) for name in gpus_of(machine)) if kind in ("cuda", "xpu") else 0
    if gpus < 2:
        return Params(threads=min(8, max(1, cores_of(machine) // 2)))
    return Params(device=first, devices=min(4, gpus), layers=8, width=2048, batch=4096)


def seconds(params: Params) -> float:
    """Estimate from the arithmetic of all ways, and from starting the processes."""
    step_flop = 6 * params.batch * params.width**2 * params.layers
    rate = network_flop_per_s(params.device)
    arms = 3 + len(micro_batches_of(params))
    return START_S + (params.rounds + 2) * arms * (step_flop / rate / 2 + 0.002)


def memory_bytes(params: Params) -> int:
    """Return the bytes of all processes on the processor; with GPUs only the common start."""
    held = _bytes(params) if params.device == CPU else FP32_BYTES * params.layers * params.width**2
    return params.devices * held


def _bytes(params: Params) -> int:
    """Return a member's most bytes: the start, each way's weights, and what one way keeps."""
    arms = 3 + len(micro_batches_of(params))
    kept = params.batch * params.width * (params.layers + 4)
    return FP32_BYTES * ((2 * arms + 2) * params.layers * params.width**2 + kept)


EXPERIMENT = x.Experiment(
    params=Params,
    tables={
        "lanes": Busy,
        "steps": StepTime,
        "sizes": Size,
        "bubbles": Bubble,
        "checks": Check,
    },
    measure=measure,
    loop="ways.py:MemberStep.step",
    analyse=analyse,
    views=(
        x.Timeline("lanes", "lanes", "device", "start_s", "end_s", group="way", order=WAYS),
        x.Bars(
            "steps",
            "steps",
            "way",
            "step_s",
            order=WAYS,
            limits=(x.Limit("one_device", "one_step_s", "x"),),
        ),
        x.Bars(
            "memory",
            "sizes",
            "way",
            "memory_bytes",
            order=WAYS,
            limits=(x.Limit("one_device", "one_memory_bytes", "x"),),
        ),
        x.Bars("moved", "sizes", "way", "moved_bytes", order=WAYS),
        x.Lines(
            "bubbles",
            "bubbles",
            x.Axis("micro_batches"),
            x.Axis("idle_fraction"),
            series="kind",
            order=(MEASURED, EXPECTED),
        ),
    ),
    values=x.values(
        *(f"{way}_step_s" for way in WAYS),
        *(f"{way}_memory_bytes" for way in WAYS),
        *(f"{way}_moved_bytes" for way in (DATA, LAYERS, CHANNELS)),
        *(f"{way}_speedup" for way in (DATA, LAYERS, CHANNELS)),
        "bubble_fraction",
        "expected_bubble_fraction",
        "difference_fraction",
        "devices",
        "threads_each",
    ),
    keys=(
        x.Key("data_step_s", "steps", ("data",)),
        x.Key("layers_step_s", "steps", ("layers",)),
        x.Key("channels_step_s", "steps", ("channels",)),
    ),
    next=x.Next("data-parallel", {"micro_batches": 16}),
    parts=(x.Part.CORES, x.Part.GPU, x.Part.NVLINK),
    imports=("torch",),
    defaults=defaults,
    quick=x.change(rounds=3, at_most={"batch": 256, "width": 1024}),
    smallest=x.change(layers=3, width=65, batch=33, rounds=2),
    seconds=seconds,
    memory_bytes=memory_bytes,
    can_wait=False,  # its members count the turns
    quiet_limit_s=120.0,  # the processes load torch first
)
