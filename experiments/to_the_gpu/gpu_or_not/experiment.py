"""Is it worth a GPU? Four questions about work of your own sizes, answered and then tried.

Does it fit, does it branch, how much moves, is it supported?

Method: work of a kind and size that you choose is estimated and then done, on processor and GPU.
The copies there and back count apart. Without a GPU its part is estimated only, and only if you
type its numbers into the settings. They are its arithmetic, its memory, and the way there and back.
The rates of memory, arithmetic and the way on this machine are parameters, from earlier runs of
other experiments. A short sample stands in for a rate that no run has given yet. Short samples also
give the cost of a call, and of asking for a result. Each round has one estimate. On the processor
it adds the calls and the longer of memory and arithmetic. On a GPU it is the longest of the three,
as its calls are queued. With a decision after every step, each step adds a wait. The copies are
from and to ordinary memory. One kernel over the same numbers in two orders shows the cost of
branches in the data (`branching`).

Not shown: the time of a better program.

Seen on an H100: its own time was estimated 14 % too low; mixed branches took 1.7 times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from experiments import api as x
from experiments.devices.assumed import CPU_BYTES_PER_S, CPU_FLOP_PER_S
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, cores_of, devices_of, on_first_device
from experiments.devices.timing import warm, whole_s

from .branching import CPU_NUMBERS, GPU_NUMBERS, ORDERS, branching
from .known_speeds import Known, can_be_known, is_usual
from .speeds import Speeds, sampler
from .works import ELEMENT_BYTES, ELEMENTWISE, PRODUCT, WORKS, WorkStep

WHERE = ("cpu", "gpu", "copy")
ESTIMATED = {where: f"{where}_estimated" for where in WHERE}
PIECES = ("calls", "memory", "arithmetic", "asking", "there", "back")
PROBE_BYTES, QUICK_PROBE_BYTES = 64 * x.MIB, 16 * x.MIB
SAMPLES = 3


def _earned(earned: str) -> Any:
    return x.param(0.0, minimum=0.0, maximum=1e18, earned=earned)


class Params(x.Params):
    """The parameters: your data, the work on it, and how many steps before the result returns.

    A rate of 0 is unknown; that of arithmetic is of products in single precision.
    """

    device: str = x.param(CPU, choices=devices_of)
    work: str = x.param(PRODUCT, choices=WORKS)
    rows: int = x.param(2048, minimum=16, maximum=2**24, scale="log2")
    columns: int = x.param(1024, minimum=2, maximum=2**16, scale="log2")
    steps: int = x.param(10, minimum=1, maximum=100_000, scale="log10")
    asks: bool = False
    precision: str = x.param("fp32", choices=tuple(ELEMENT_BYTES))
    most_s: float = x.param(0.4, minimum=0.01, maximum=10.0)
    rounds: int = x.param(10, minimum=1, maximum=50)
    cpu_flop_per_s: float = _earned("crossover.cpu_peak_flop_per_s")
    cpu_bytes_per_s: float = _earned("stream.add_bytes_per_s")
    gpu_flop_per_s: float = _earned("crossover.gpu_peak_flop_per_s")
    gpu_bytes_per_s: float = _earned("roofline.peak_gpu0_bytes_per_s")
    to_gpu_bytes_per_s: float = _earned("pinned.pageable_to_gpu_bytes_per_s")
    from_gpu_bytes_per_s: float = _earned("pinned.pageable_from_gpu_bytes_per_s")


class Time(x.Row):
    """All steps on a device, or the copies: "cpu" is measured, "cpu_estimated" is not.

    Measured were the first `steps`; where that is not all, the time is for all of them.
    """

    kind: str
    repeat: int
    steps: int
    taken_s: float


class Piece(x.Row):
    """A part of an estimate."""

    where: str
    piece: str
    repeat: int
    piece_s: float


class Answer(x.Row):
    """Is the work supported on a device, and does it fit?"""

    where: str
    is_supported: bool
    needed_bytes: int
    free_bytes: int


class Branch(x.Row):
    """One kernel over numbers whose neighbours need the same work, or not ("mixed")."""

    order: str
    where: str
    repeat: int
    number_s: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield the answers, then in every round an estimate and the work itself, then branches."""
    work = _work(params)
    devices = {"cpu": Device(CPU, bench)}
    devices["cpu"].torch.set_num_threads(cores_of(bench.machine))
    if params.device != CPU:
        devices["gpu"] = Device(params.device, bench)
    able = {}
    for where, device in devices.items():
        answer = Answer(
            where=where,
            is_supported=work.is_supported(device),
            needed_bytes=work.needed_bytes,
            free_bytes=device.free_bytes(),
        )
        yield answer
        if answer.is_supported and answer.needed_bytes <= answer.free_bytes:
            able[where] = device
    elsewhere = None if "gpu" in devices else _known(params, "gpu").alone(work)
    conditions = Conditions(devices.get("gpu", devices["cpu"]))
    probe_bytes = QUICK_PROBE_BYTES if bench.quick else PROBE_BYTES
    samplers, trials = {}, {}
    for where, device in able.items():
        samplers[where] = _speeds(params, where, sampler(device, work, probe_bytes))
        yield x.Progress(0.05 if where == "cpu" else 0.1)
        # A single sample may be disturbed, and would wrongly rule out a trial for good.
        estimates_s = [_all_s(params, work, samplers[where]()) for _ in range(SAMPLES)]
        trials[where] = _trial(params, work, device, min(estimates_s) / params.steps)
        yield x.Progress(0.1 if where == "cpu" else 0.15)
    for turn, where in bench.interleave(list(able), params.rounds):
        speeds = samplers[where]()
        pieces = speeds.pieces(work, params.steps, asks=params.asks)
        yield from _estimate(where, pieces, turn.round, params.steps)
        there = speeds if where == "gpu" else elsewhere
        if there is not None:
            if there is elsewhere:
                pieces = there.pieces(work, params.steps, asks=params.asks)
                yield from _estimate("gpu", pieces, turn.round, params.steps)
            yield from _estimate("copy", there.copies(work), turn.round, params.steps)
        for name, (steps, taken_s) in trials[where]().items():
            yield Time(kind=name, repeat=turn.round, steps=steps, taken_s=taken_s)
        if where == "gpu":
            yield from conditions.rows(turn.round)
        yield x.Progress(0.15 + 0.8 * turn.fraction)
    yield from _branches(devices, params.rounds, bench)


def _branches(devices: dict[str, Device], rounds: int, bench: x.Bench) -> Iterator[Branch]:
    calls: dict[tuple[str, str], Callable[[], float]] = {}
    for where, device in devices.items():
        numbers = GPU_NUMBERS if device.is_gpu else CPU_NUMBERS
        room = device.free_bytes() // (4 * ELEMENT_BYTES["fp32"])
        found = branching(device, numbers) if numbers <= room else {}
        calls |= {(where, order): call for order, call in found.items()}
    for turn, (where, order) in bench.interleave(list(calls), rounds):
        number_s = calls[where, order]()
        yield Branch(order=order, where=where, repeat=turn.round, number_s=number_s)


def _work(params: Params) -> WorkStep:
    return WorkStep(params.work, params.rows, params.columns, params.precision)


def _known(params: Params, where: str) -> Known:
    if where == "cpu":
        return Known(params.cpu_flop_per_s, params.cpu_bytes_per_s)
    way = params.to_gpu_bytes_per_s, params.from_gpu_bytes_per_s
    return Known(params.gpu_flop_per_s, params.gpu_bytes_per_s, *way)


def _speeds(params: Params, where: str, sample: Callable[[], Speeds]) -> Callable[[], Speeds]:
    known, work = _known(params, where), _work(params)
    return lambda: known.instead(sample(), work)


def _all_s(params: Params, work: WorkStep, speeds: Speeds) -> float:
    return sum(speeds.pieces(work, params.steps, asks=params.asks).values())


def _estimate(
    where: str, pieces: dict[str, float], repeat: int, steps: int
) -> Iterator[Piece | Time]:
    for name, piece_s in pieces.items():
        yield Piece(
            where="cpu" if where == "cpu" else "gpu", piece=name, repeat=repeat, piece_s=piece_s
        )
    taken_s = sum(pieces.values())
    yield Time(kind=ESTIMATED[where], repeat=repeat, steps=steps, taken_s=taken_s)


def _trial(
    params: Params, work: WorkStep, device: Device, step_s: float
) -> Callable[[], dict[str, tuple[int, float]]]:
    """Return a call that does the work once, as far as time allows, and returns its time."""
    if step_s > params.most_s:  # not even one step
        return dict
    steps = max(1, min(params.steps, int(params.most_s / step_s)))
    inputs = work.inputs(device)
    step, out = work.step(device, inputs)
    first = out.view(-1).narrow(0, 0, 1)

    def all_steps() -> None:
        for _ in range(steps):
            step()
            if params.asks:
                first.item()

    here = [each.to(CPU) for each in inputs]
    result = here[0].clone()

    def there() -> None:
        for target, source in zip(inputs, here, strict=True):
            target.copy_(source)

    def trial() -> dict[str, tuple[int, float]]:
        taken_s = whole_s(device, all_steps) * params.steps / steps
        if not device.is_gpu:
            return {"cpu": (steps, taken_s)}
        copy_s = whole_s(device, there) + whole_s(device, lambda: result.copy_(out))
        return {"gpu": (steps, taken_s), "copy": (steps, copy_s)}

    warm(device, step)
    trial()
    return trial


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Answer the four questions, and compare the estimate with the measured time."""
    work, has_gpu = _work(params), params.device != CPU
    answers = {row.where: row for row in tables["answers"]}
    values: dict[str, float] = {
        "steps": params.steps,
        "needed_bytes": work.needed_bytes,
        "moved_bytes": work.bytes_there + work.bytes_back,
    }
    if "gpu" in answers:
        values["free_bytes"] = answers["gpu"].free_bytes
    of = x.spreads_of(tables["times"], "taken_s", "kind")
    pairs = {}
    for where, estimated in ESTIMATED.items():
        if where in of:
            values[f"{where}_s"] = of[where].median
        if estimated in of:
            values[f"estimated_{where}_s"] = of[estimated].median
        if where in of and estimated in of:
            pairs[f"{where}_estimated_over_measured"] = of[estimated], of[where]
    branches = x.spreads_of(tables["branches"], "number_s", "where", "order")
    for where in ("cpu", "gpu"):
        alike, mixed = (branches.get((where, order)) for order in ORDERS)
        if alike is not None and mixed is not None:
            pairs[f"{where}_mixed_over_alike"] = mixed, alike
    compared, unclear = x.ratios(pairs)
    values |= compared
    limits = x.Limits()
    if not has_gpu:
        if _known(params, "gpu").alone(work) is not None:
            limits.append("gpu_as_given")
        elif can_be_known(work):
            limits += ["gpu_unknown", "way_unknown"]
        else:
            limits.append("needs_gpu")
    limits.add("measured_in_part", any(row.steps < params.steps for row in tables["times"]))
    tried = WHERE if has_gpu else ("cpu",)
    if any(ESTIMATED[where] in of and where not in of for where in tried):
        limits.append("too_long_to_try")
    if "gpu_mixed_over_alike" in values:
        limits.append("a_warp_goes_in_step")
    elif "cpu_mixed_over_alike" in values:
        limits.append("cores_branch_alone")
    limits.add("ordinary_memory", has_gpu and of)
    limits += ["beyond_the_caches", *_sampled(params)]
    return x.Finding(_message(params, tables, of), values, tuple(limits), unclear)


def _sampled(params: Params) -> list[str]:
    """Name what had to be sampled, and the experiment that measures it."""
    has_gpu, is_product = params.device != CPU, is_usual(_work(params))
    cpu, gpu = _known(params, "cpu"), _known(params, "gpu")
    limits = {
        "memory_sampled": not cpu.bytes_per_s,
        "arithmetic_sampled": is_product and not cpu.flop_per_s,
        "gpu_arithmetic_sampled": has_gpu and is_product and not gpu.flop_per_s,
        "gpu_memory_sampled": has_gpu and not gpu.bytes_per_s,
        "way_sampled": has_gpu and not (gpu.there_bytes_per_s and gpu.back_bytes_per_s),
    }
    if all(limits.values()):
        limits = {"all_sampled": True}
    limits |= {"own_arithmetic_sampled": not is_product and params.work != ELEMENTWISE}
    return [limit for limit, holds in limits.items() if holds]


def _message(params: Params, tables: x.Tables, of: dict[str, x.Spread]) -> str:
    answers = {row.where: row for row in tables["answers"]}
    last = answers.get("gpu" if params.device != CPU else "cpu")
    if last is None:
        return "in_part"
    if not last.is_supported:
        return "not_supported"
    if last.needed_bytes > last.free_bytes:
        return "does_not_fit"
    if "cpu" not in of:
        return "cpu_estimated" if ESTIMATED["cpu"] in of else "in_part"
    if params.device == CPU:
        return _without_gpu(params, tables, of)
    with_copies = _with_copies(tables, "gpu", "copy")
    if "gpu" not in of or with_copies is None:
        return "in_part"
    pairs = (with_copies, of["cpu"]), (of["gpu"], of["cpu"])
    there, alone = _slower(pairs)
    if there is False:
        return "worth_it"
    if alone:
        return "stay"
    return x.unsure(*pairs) or ("worth_it_there" if alone is False else "no_winner")


def _without_gpu(params: Params, tables: x.Tables, of: dict[str, x.Spread]) -> str:
    """Answer with the numbers given for a GPU, or say that they are missing."""
    cpu, gpu = of["cpu"], of.get(ESTIMATED["gpu"])
    with_copies = _with_copies(tables, ESTIMATED["gpu"], ESTIMATED["copy"])
    if gpu is None or with_copies is None:
        return "cpu_alone" if can_be_known(_work(params)) else "cpu_alone_at_this"
    pairs = (with_copies, cpu), (gpu, cpu)
    there, alone = _slower(pairs)
    if there is False:
        return "would_be_worth_it"
    if alone:
        return "would_stay"
    return x.unsure(*pairs) or (
        "would_be_worth_it_there" if alone is False else "would_be_no_winner"
    )


def _slower(pairs: Sequence[tuple[x.Spread, x.Spread]]) -> list[bool | None]:
    """Return for each pair whether the first takes longer; None where that is not clear."""
    judged = x.family(dict(enumerate(pairs)), x.Spread.against).values()
    return [each.is_above if each.outcome is x.Outcome.DIFFERS else None for each in judged]


def _with_copies(tables: x.Tables, gpu: str, copy: str) -> x.Spread | None:
    """Return the sum of the GPU's time and its copies, round by round."""
    copies_s = {row.repeat: row.taken_s for row in tables["times"] if row.kind == copy}
    both = x.spreads(
        (gpu, row.taken_s + copies_s[row.repeat], row.repeat)
        for row in tables["times"]
        if row.kind == gpu and row.repeat in copies_s
    )
    return both.get(gpu)


def seconds(params: Params) -> float:
    """Estimate: samples, and trials of the longest length, at a cautious rate."""
    work = _work(params)
    step_s = max(work.operations / CPU_FLOP_PER_S, work.needed_bytes / CPU_BYTES_PER_S)
    devices = 1 if params.device == CPU else 2
    trial_s = min(params.most_s, params.steps * step_s) + 0.05
    return (
        0.9 * devices
        + 4e-9 * params.rows * params.columns
        + (params.rounds + 2) * devices * (trial_s + 0.02)
    )


EXPERIMENT = x.Experiment(
    version=3,
    params=Params,
    tables={
        "times": Time,
        "pieces": Piece,
        "answers": Answer,
        "branches": Branch,
        "conditions": Condition,
    },
    measure=measure,
    loop="experiment.py:_trial.all_steps",
    analyse=analyse,
    views=(
        x.Bars(
            "times",
            "times",
            "kind",
            "taken_s",
            order=tuple(kind for where in WHERE for kind in (ESTIMATED[where], where)),
        ),
        x.Bars("pieces", "pieces", "piece", "piece_s", detail="where", order=PIECES),
        x.Bars("branches", "branches", "order", "number_s", detail="where", order=ORDERS),
    ),
    values=x.values(
        x.Value("cpu_s", x.Part.CORES),
        x.Value("gpu_s", x.Part.GPU),
        x.Value("copy_s", x.Part.PCIE),
        *(f"estimated_{where}_s" for where in WHERE),
        *(f"{where}_estimated_over_measured" for where in WHERE),
        *(f"{where}_mixed_over_alike" for where in ("cpu", "gpu")),
        "steps",
        "needed_bytes",
        "moved_bytes",
        "free_bytes",
    ),
    keys=(
        x.Key("cpu_s", "times", ("cpu",)),
        x.Key("gpu_s", "times", ("gpu",)),
        x.Key("estimated_gpu_s", "times", ("gpu_estimated",)),
    ),
    next=x.Next(
        "crossover",
        {
            "gpu_flop_per_s": 20e12,
            "gpu_bytes_per_s": 500e9,
            "to_gpu_bytes_per_s": 12e9,
            "from_gpu_bytes_per_s": 12e9,
        },
    ),
    parts=(x.Part.CORES, x.Part.PCIE, x.Part.GPU),
    imports=("torch",),
    defaults=on_first_device(Params),
    quick=x.change(rounds=5, at_most={"most_s": 0.15}),
    smallest=x.change(rows=32, columns=16, steps=3, rounds=2),
    budget=x.Budget(quick={"rows": 64}, quick_s=4.0),
    seconds=seconds,
    memory_bytes=lambda params: 3 * (_work(params).needed_bytes + PROBE_BYTES),
)
