"""When does compiling pay, and what becomes of a network in a file?

Method: steps of a small network (used, not trained) are timed in four ways. They are eager,
scripted (TorchScript, which torch calls deprecated), compiled by `torch.compile` and, on CUDA, a
graph of the launches. Many steps run in a row, until all are done, in shuffled rounds; compared are
the medians. Each way also has to get ready: from empty caches, with one compiler at a time, its
modules already loaded. For n results a program waits for that and n steps. The time of the calls is
measured too. On a processor a network of the same layers, with next to no arithmetic, gives it. On
a GPU it follows from the busy time of an eager step with the queue held. Then the network is saved
and loaded in three forms.

Not shown: the gain of compiling in training, and the speed of the disk. Files of this size stay in
the memory of the system.

Seen on an H100 with slow calls: Triton compiles in 4 s and pays after 4840 steps, a graph is 8.6
times as fast; scripted and exported programs load to the GPU.
To be confirmed on a GPU: the other mode of `torch.compile`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

from experiments import api as x
from experiments.devices.assumed import network_flop_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, devices_of, on_first_device
from experiments.devices.timing import each_s, enough_in_a_row, taken, warm, whole_s

from .saving import KINDS, Files
from .ways import (
    COMPILED,
    EAGER,
    GRAPH,
    SCRIPT,
    WAYS,
    PreparedStep,
    compiled,
    eager,
    from_scratch,
    graph,
    network,
    scripted,
)

GPU = "gpu0"  # the only GPU of a run
BUSY = "busy"  # the GPU's own time
CALLS, LEAST = "calls", (2, 8)  # the same calls, for two inputs of eight numbers
STEPS = [n * 10**power for power in range(6) for n in (1, 2, 5)] + [10**6]
BUSY_CALLS = 5  # steps behind a hold: some hundred launches
FILE_ROUNDS = 3
FP32_BYTES = 4
COMPILE_S, RECOMPILE_S = 16.0, 5.0  # on two cores; of a GPU assumed, not measured
CALL_S = 1e-5  # of an operation, cautious
OPERATIONS = 11  # of a layer
SAMPLE_S = 0.002


class Params(x.Params):
    """The parameters; `width` numbers go through each of the layers, `batch` times."""

    device: str = x.param(CPU, choices=devices_of)
    width: int = x.param(64, minimum=8, maximum=8192, scale="log2")
    layers: int = x.param(8, minimum=1, maximum=64)
    batch: int = x.param(32, minimum=2, maximum=65536, scale="log2")
    compiles: bool = True
    mode: str = x.param("default", choices=("default", "reduce-overhead"))
    other_batches: bool = False
    rounds: int = x.param(10, minimum=1, maximum=50)


class Total(x.Row):
    """The time of `steps` steps from the beginning, preparation included."""

    way: str
    steps: int = x.column(scale="log10")
    repeat: int
    total_s: float = x.column(scale="log10")


class StepTime(x.Row):
    """One step among many in a row.

    "busy" is the GPU's own time for an eager one, "calls" a step with next to no arithmetic.
    """

    way: str
    repeat: int
    step_s: float


class Ready(x.Row):
    """The time that a way took to get ready, once."""

    way: str
    prepare_s: float


class Batch(x.Row):
    """The first compiled step with another batch size."""

    batch: int
    first_s: float


class Filed(x.Row):
    """A network saved, or loaded to a device; `done` is "save", "load_cpu" or "load_gpu0"."""

    kind: str
    done: str
    repeat: int
    took_s: float
    file_bytes: int


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield the preparation times, then steps in shuffled rounds, then the files."""
    device = Device(params.device, bench)
    torch = device.torch
    model = network(torch, params.width, params.layers).to(device.name)
    inputs = torch.randn(params.batch, params.width, device=device.name)
    with from_scratch(device) as folder:
        ways = {EAGER: eager(device, model, inputs)}
        if not device.is_gpu:
            tiny = network(torch, LEAST[1], params.layers)
            ways[CALLS] = eager(device, tiny, torch.randn(LEAST))
        warm(device, ways[EAGER].step)
        yield x.Progress(0.05)
        for way, found in _prepared(params, device, model, inputs):
            if found is not None:
                ways[way] = found
                yield Ready(way=way, prepare_s=found.prepare_s)
        yield x.Progress(0.5)
        yield from _steps(params, device, ways)
        if params.other_batches and COMPILED in ways:
            yield from _batches(params, device, ways[COMPILED].program)
        yield x.Progress(0.9)
        yield from _files(params, device, folder)


def _prepared(
    params: Params, device: Device, model: Any, inputs: Any
) -> Iterator[tuple[str, PreparedStep | None]]:
    yield SCRIPT, scripted(device, model, inputs)
    if params.compiles:
        yield COMPILED, compiled(device, model, inputs, params.mode)
    yield GRAPH, graph(device, model, inputs)


def _steps(params: Params, device: Device, ways: Mapping[str, PreparedStep]) -> x.Measured:
    counts = {way: enough_in_a_row(device, each.step) for way, each in ways.items()}
    conditions = Conditions(device)
    for turn, way in device.bench.interleave(list(ways), params.rounds):
        step_s = each_s(device, ways[way].step, counts[way])
        if way == CALLS:
            yield StepTime(way=way, repeat=turn.round, step_s=step_s)
            continue
        yield from rows_of_step(way, turn.round, step_s, ways[way].prepare_s)
        if way == EAGER and device.is_gpu:
            busy = taken(device, ways[EAGER].step, BUSY_CALLS)
            if busy.is_clean:
                yield from rows_of_step(BUSY, turn.round, busy.device_s, 0.0)
            yield from conditions.rows(turn.round)
        yield x.Progress(0.5 + 0.4 * turn.fraction)


def rows_of_step(
    way: str, repeat: int, step_s: float, prepare_s: float
) -> Iterator[StepTime | Total]:
    """Yield the time of a step, and the total of preparing and each number of steps."""
    yield StepTime(way=way, repeat=repeat, step_s=step_s)
    for steps in STEPS:
        total_s = prepare_s + steps * step_s
        yield Total(way=way, steps=steps, repeat=repeat, total_s=total_s)


def _batches(params: Params, device: Device, program: Callable[[Any], object]) -> Iterator[Batch]:
    """Yield the first step with two other batch sizes: the second needs no new compilation."""
    for batch in (params.batch + 1, params.batch + 2):
        inputs = device.torch.randn(batch, params.width, device=device.name)
        first_s = whole_s(device, lambda given=inputs: program(given))  # type: ignore[misc]
        yield Batch(batch=batch, first_s=first_s)


def _files(params: Params, device: Device, folder: str) -> x.Measured:
    torch = device.torch
    inputs = torch.randn(params.batch, params.width)
    files = Files(torch, lambda: network(torch, params.width, params.layers), inputs, folder)
    places = {"load_cpu": Device(CPU, device.bench)}
    if device.is_gpu:
        places[f"load_{GPU}"] = device
    works: dict[tuple[str, str], Callable[[], object]] = {}
    for kind in files.kinds:
        files.save(kind)
        works[kind, "save"] = lambda kind=kind: files.save(kind)  # type: ignore[misc]
        for done, place in places.items():
            works[kind, done] = files.loader(kind, place)
            works[kind, done]()
    rounds = min(FILE_ROUNDS, params.rounds)
    for turn, (kind, done) in device.bench.interleave(list(works), rounds):
        took_s = whole_s(device, works[kind, done])
        size = files.path(kind).stat().st_size
        yield Filed(kind=kind, done=done, repeat=turn.round, took_s=took_s, file_bytes=size)
        yield x.Progress(0.9 + 0.1 * turn.fraction)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the ways, and find after how many steps the preparation has paid."""
    of = x.spreads_of(tables["steps"], "step_s", "way")
    prepare_s = {row.way: row.prepare_s for row in tables["ready"]}
    limits = x.Limits()
    values = {f"{way}_step_s": of[way].median for way in WAYS if way in of}
    names = {SCRIPT: "script_s", COMPILED: "compile_s", GRAPH: "capture_s"}
    values |= {names[way]: found_s for way, found_s in prepare_s.items()}
    pairs = {f"{way}_speedup": (of[EAGER], of[way]) for way in names if {way, EAGER} <= of.keys()}
    if CALLS in of:
        values["calls_s"] = of[CALLS].median
    compared, unclear = x.ratios(pairs)
    values |= compared
    faster = _faster(of)
    for way in faster:
        if way in prepare_s:
            steps = prepare_s[way] / (of[EAGER].median - of[way].median)
            prefix = "" if way == COMPILED else f"{way}_"
            values[f"{prefix}break_even_steps"] = math.ceil(float(f"{max(1.0, steps):.3g}"))
    if COMPILED not in of and of:
        limits.append("no_compiler" if params.compiles else "compiling_left_out")
    limits.add("not_scripted", SCRIPT not in of and of)
    limits.append("used_not_trained")
    if params.device == CPU:
        limits.append("graphs_need_gpu")
    elif BUSY in of and EAGER in of:
        values["busy_s"] = of[BUSY].median
        values["busy_fraction"] = min(1.0, of[BUSY].median / of[EAGER].median)
        limits.add("graph_starts_faster", GRAPH in of and of[GRAPH].is_below(of[BUSY]))
    elif of:
        limits.append("busy_not_told")
    batches = [row.first_s for row in tables["batches"]]
    values |= dict(zip(("recompile_s", "third_batch_s"), batches, strict=False))
    values |= _file_values(tables)
    limits.add("files_from_memory", tables["files"])
    if EAGER not in of or not {SCRIPT, COMPILED, GRAPH} & of.keys():
        return x.Finding("in_part", values, tuple(limits), unclear)
    return x.Finding(_message(of, faster), values, tuple(limits), unclear)


def _faster(of: Mapping[str, x.Spread]) -> set[str]:
    """Return the ways whose steps are clearly faster."""
    pairs = {
        way: (of[way], of[EAGER]) for way in (SCRIPT, COMPILED, GRAPH) if {EAGER, way} <= of.keys()
    }
    judged = x.family(pairs, x.Spread.against)
    return {w for w, r in judged.items() if r.outcome is x.Outcome.DIFFERS and not r.is_above}


def _message(of: Mapping[str, x.Spread], faster: Set[str]) -> str:
    """Return the message; a way pays only if its steps are clearly faster."""
    if x.too_few(found for way, found in of.items() if way in (EAGER, SCRIPT, COMPILED, GRAPH)):
        return x.TOO_FEW
    if GRAPH in faster:
        if COMPILED not in of:
            return "graph_pays"
        if COMPILED in faster:
            return "both_pay"
        is_unsure = x.unsure((of[COMPILED], of[EAGER]))
        return "graph_pays_compiled_unclear" if is_unsure else "graph_pays_compiled_does_not"
    way = COMPILED if COMPILED in of else SCRIPT
    if way in faster:
        return "compiled_pays" if way == COMPILED else "script_is_faster"
    others = [of[each] for each in (SCRIPT, COMPILED, GRAPH) if each in of]
    if way == COMPILED:
        others = [of[COMPILED]]
    unsure = x.unsure(*((other, of[EAGER]) for other in others))
    return unsure or ("compiled_does_not_pay" if way == COMPILED else "not_compiled")


def _file_values(tables: x.Tables) -> dict[str, float]:
    values: dict[str, float] = {row.kind + "_bytes": row.file_bytes for row in tables["files"]}
    took = x.spreads_of(tables["files"], "took_s", "kind", "done")
    return values | {f"{kind}_{done}_s": found.median for (kind, done), found in took.items()}


def seconds(params: Params) -> float:
    """Estimate from cautious rates, and from the time to compile."""
    rate = network_flop_per_s(params.device)
    flop = 2 * params.width**2 * params.batch + OPERATIONS * params.width * params.batch
    step_s = params.layers * (OPERATIONS * CALL_S + flop / rate)
    total_s = 3.0 + (params.rounds + 4) * (len(WAYS) + 1) * max(SAMPLE_S, step_s)
    if params.compiles:
        total_s += COMPILE_S + (2 * RECOMPILE_S if params.other_batches else 0.0)
    return total_s


def memory_bytes(params: Params) -> int:
    """Return the bytes of some copies of the network, and of its inputs."""
    numbers = 8 * params.layers * params.width**2 + 16 * params.width * params.batch
    return FP32_BYTES * numbers


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={
        "totals": Total,
        "steps": StepTime,
        "ready": Ready,
        "batches": Batch,
        "files": Filed,
        "conditions": Condition,
    },
    measure=measure,
    loop="ways.py:network.Layer.forward",
    analyse=analyse,
    views=(
        x.Lines(
            "totals",
            "totals",
            x.Axis("steps"),
            x.Axis("total_s"),
            series="way",
            order=(*WAYS, BUSY),
            limits=(x.Limit("break_even", "break_even_steps", "x"),),
        ),
        x.Bars(
            "steps",
            "steps",
            "way",
            "step_s",
            order=(*WAYS, CALLS, BUSY),
            limits=(x.Limit("busy", "busy_s", "x"),),
        ),
        x.Bars(
            "files",
            "files",
            "kind",
            "took_s",
            detail="done",
            order=(*KINDS, "save", "load_cpu", f"load_{GPU}"),
        ),
    ),
    values=x.values(
        *(f"{way}_step_s" for way in WAYS),
        "compile_s",
        "break_even_steps",
        *(
            value
            for way, name in ((SCRIPT, "script_s"), (GRAPH, "capture_s"))
            for value in (name, f"{way}_break_even_steps")
        ),
        *(f"{way}_speedup" for way in WAYS[1:]),
        x.Value("calls_s", x.Part.CORES),
        x.Value("busy_s", x.Part.GPU),
        x.Value("busy_fraction", x.Part.GPU),
        "recompile_s",
        "third_batch_s",
        *(
            value
            for kind in KINDS
            for value in (
                f"{kind}_bytes",
                *(f"{kind}_{done}_s" for done in ("save", "load_cpu", f"load_{GPU}")),
            )
        ),
    ),
    keys=(
        x.Key("eager_step_s", "steps", ("eager",)),
        x.Key("compiled_step_s", "steps", ("compiled",)),
        x.Key("break_even_steps", "totals", ("compiled",), at="break_even_steps"),
    ),
    next=x.Next("many-small", {"width": 1024}),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("torch", "torch._dynamo"),
    defaults=on_first_device(Params, width=256, batch=64),  # it still waits for calls
    quick=x.change(compiles=False, other_batches=False, rounds=5),  # compiling takes long
    smallest=x.change(width=8, layers=2, batch=2, rounds=2),
    seconds=seconds,
    memory_bytes=memory_bytes,
    quiet_limit_s=120.0,  # torch reports nothing while it compiles
)
