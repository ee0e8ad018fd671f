"""Who waits for whom? A call of a GPU queues its work and comes back at once.

Method: k products of square matrices are called. The caller's clock is read when the last call has
come back, and when the device has finished. Then, behind as many products, each call that needs a
result is timed: it cannot come back before the device has finished. All in shuffled rounds. The
lanes come from marks in the device's queue, laid on the caller's clock where both met. The formula
t = t1 + n t2 + t3 is fitted to the queued work. t1 is the time of a call, t2 of a product, t3 until
the caller knows that all is done. The slope of the calls gives t1, the slope of the finished work
t2, and t3 is the rest. With a wait after each product, the same parts make n (t1 + t2 + t3).
Source of the formula: "Asynchronous Computation" in Dive into Deep Learning.

Not shown: waits inside libraries. On a processor there is no queue: a call comes back when its work
is done.

Seen on an H100: the lanes of caller and device fit on one clock.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from typing import Any

from experiments import api as x
from experiments.devices.assumed import product_flop_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, devices_of, on_first_device
from experiments.devices.timing import taken, warm
from experiments.tools.lanes import LaneSpan, slices

from .queue_formula import Formula, fitted

BLOCKERS = ("print", "item", "cpu", "numpy", "if", "nonzero", "synchronize")
FP32_BYTES = 4
SHOWN = 10  # products on the lanes
WAY = "products"
QUEUED, FINISHED, FORMULA, WAITED = KINDS = ("queued", "finished", "formula", "waited")


class Params(x.Params):
    """The parameters; `size` is the number of rows of the square matrices."""

    device: str = x.param(CPU, choices=devices_of)
    size: int = x.param(512, minimum=16, maximum=16384, scale="log2")
    most: int = x.param(64, minimum=2, maximum=4096, scale="log2")
    rounds: int = x.param(7, minimum=1, maximum=50)


class Calls(x.Row):
    """The time of some products: "queued" (all calls are back) or "finished".

    "waited" has a wait after each. "formula" is the fitted formula's time for "finished".
    """

    products: int = x.column(scale="log2")
    kind: str
    repeat: int
    until_s: float = x.column(scale="log10")


class Blocker(x.Row):
    """An operation that needs a result, called right after `most` products."""

    blocker: str
    repeat: int
    back_s: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield calls and blockers in shuffled rounds, then the lanes of a few products."""
    device = Device(params.device, bench)
    torch = device.torch
    a = torch.randn(params.size, params.size, device=device.name) / params.size**0.5
    out = torch.empty_like(a)

    def product() -> None:
        torch.mm(a, a, out=out)

    blockers = _blockers(device, out)
    warm(device, product)
    for block in blockers.values():  # each loads its kernel the first time
        block()
    conditions = Conditions(device)
    counts = sorted({2**n for n in range(params.most.bit_length())} | {params.most})
    arms: list[int | str] = [*counts, *blockers]
    rows: list[Calls] = []
    for turn, arm in bench.interleave(arms, params.rounds):
        if isinstance(arm, int):
            found = list(_called(device, product, arm, turn.round))
            rows += found
            yield from found
        else:
            yield _blocked(device, product, params.most, arm, blockers[arm], turn.round)
        if arm == counts[-1]:
            yield from conditions.rows(turn.round)
        yield x.Progress(0.95 * turn.fraction)
    if (formula := _formula(rows)) is not None and device.is_gpu:
        for count in counts:
            until_s = formula.finished_s(count)
            yield Calls(products=count, kind=FORMULA, repeat=0, until_s=until_s)
    alone_s = taken(device, product, SHOWN).device_s
    yield from slices(device, WAY, product, SHOWN, work_s=alone_s if device.is_gpu else None)


def _called(
    device: Device, product: Callable[[], None], count: int, repeat: int
) -> Iterator[Calls]:
    device.wait()
    start_s = device.bench.now_s()
    for _ in range(count):
        product()
    queued_s = device.bench.now_s() - start_s
    device.wait()
    finished_s = device.bench.now_s() - start_s
    for kind, until_s in ((QUEUED, queued_s), (FINISHED, finished_s)):
        yield Calls(products=count, kind=kind, repeat=repeat, until_s=until_s)
    if device.is_gpu:  # the processor waits anyway
        waited_s = _waited_s(device, product, count)
        yield Calls(products=count, kind=WAITED, repeat=repeat, until_s=waited_s)


def _waited_s(device: Device, product: Callable[[], None], count: int) -> float:
    device.bench.check_stop()
    start_s = device.bench.now_s()
    for _ in range(count):
        product()
        device.wait()
    return device.bench.now_s() - start_s


def _formula(rows: Sequence[Calls]) -> Formula | None:
    of = x.medians(((row.kind, row.products), row.until_s) for row in rows)
    queued, finished = (
        {count: until_s for (each, count), until_s in of.items() if each == kind}
        for kind in (QUEUED, FINISHED)
    )
    return fitted(queued, finished)


def _blocked(
    device: Device,
    product: Callable[[], None],
    count: int,
    name: str,
    block: Callable[[], object],
    repeat: int,
) -> Blocker:
    device.wait()
    start_s = device.bench.now_s()
    for _ in range(count):
        product()
    block()
    return Blocker(blocker=name, repeat=repeat, back_s=device.bench.now_s() - start_s)


def _blockers(device: Device, out: Any) -> dict[str, Callable[[], object]]:
    """Return the usual operations that need a result; each looks at one number, or a corner."""
    corner = out[:2, :2]

    def show() -> None:
        with redirect_stdout(io.StringIO()):  # the terminal's own time does not count
            print(corner[0, 0])  # noqa: T201

    calls: tuple[Callable[[], object], ...] = (
        show,
        lambda: corner[0, 0].item(),
        lambda: corner.cpu(),
        lambda: corner.cpu().numpy(),
        lambda: bool(corner[0, 0] > 0),
        lambda: corner.nonzero(),
        device.wait,
    )
    return dict(zip(BLOCKERS, calls, strict=True))


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the caller's time with the device's, and name the blockers."""
    calls = x.spreads_of(tables["calls"], "until_s", "kind", products=_most(tables))
    blocked = x.spreads_of(tables["blockers"], "back_s", "blocker")
    values = {f"{name}_s": calls[name].median for name in calls}
    values |= {f"{name}_s": found.median for name, found in blocked.items()}
    if "queued" not in calls or "finished" not in calls:
        return x.Finding("in_part", values)
    if params.device == CPU:
        limits = ["queue_needs_gpu"]
        return x.Finding("no_queue", values, tuple(limits))
    if (unsure := x.unsure((calls["queued"], calls["finished"]))) is not None:
        return x.Finding(unsure, values)
    if not calls["queued"].is_below(calls["finished"]):
        return x.Finding("caller_is_slower", values)
    formula = _formula(tables["calls"])
    if formula is not None:
        values |= {
            "call_s": formula.call_s,
            "product_s": formula.work_s,
            "answer_s": formula.answer_s,
            "formula_s": formula.finished_s(_most(tables)),
        }
    values["finished_over_queued"] = calls["finished"].median / calls["queued"].median
    return x.Finding("comes_back_early", values)


def _most(tables: x.Tables) -> int:
    return max((row.products for row in tables["calls"]), default=0)


def seconds(params: Params) -> float:
    """Estimate from the arithmetic, at a cautious rate."""
    rate = product_flop_per_s(params.device)
    product_s = 2 * params.size**3 / rate + 1e-5
    products = params.rounds * params.most * (2 + len(BLOCKERS)) + SHOWN
    if params.device != CPU:
        products += params.rounds * 2 * params.most  # each waited for
    return 1.0 + products * product_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"calls": Calls, "blockers": Blocker, "lanes": LaneSpan, "conditions": Condition},
    measure=measure,
    loop="experiment.py:_called",
    analyse=analyse,
    views=(
        x.Lines(
            "queue", "calls", x.Axis("products"), x.Axis("until_s"), series="kind", order=KINDS
        ),
        x.Timeline(
            "lanes", "lanes", "lane", "start_s", "end_s", group="way", detail="lane", order=(WAY,)
        ),
        x.Bars("blockers", "blockers", "blocker", "back_s", order=BLOCKERS),
    ),
    values=x.values(
        x.Value("queued_s", x.Part.CORES),
        x.Value("finished_s", x.Part.GPU),
        "finished_over_queued",
        "call_s",
        "product_s",
        "answer_s",
        "formula_s",
        "waited_s",
        *(f"{name}_s" for name in BLOCKERS),
    ),
    keys=(
        x.Key("queued_s", "queue", ("queued",)),
        x.Key("finished_s", "queue", ("finished",)),
        x.Key("item_s", "blockers", ("item",)),
    ),
    next=x.Next("many-small", {"size": 128}),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("torch",),
    defaults=on_first_device(Params, size=2048),  # products that outlast many calls
    quick=x.change(rounds=5, at_most={"most": 16}),
    budget=x.Budget(quick={"size": 64}, quick_s=3.5),
    seconds=seconds,
    memory_bytes=lambda params: 3 * FP32_BYTES * params.size**2,  # one while the first is made
)
