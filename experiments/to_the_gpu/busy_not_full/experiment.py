"""Is a GPU that is busy all the time also full? Utilisation, power and work of three loads.

Method: three loads run, each for a while in shuffled rounds. They are many tiny kernels, a copy
within the GPU's memory, and a large matrix product in half precision. 2000 tiny kernels form one
graph, because Python would call them more slowly than the GPU runs them. The queue is never empty
meanwhile. Before it runs empty at the end, the driver is asked for utilisation and power. The work
is the amount that the device completed between two marks, as a share of the device's limit. If the
limit is unknown, it is a share of the best rate here.

Not shown: which units were busy. Utilisation is the share of the time in which at least one kernel
ran, whatever it did; that is how the drivers define it.

Seen on an H100: tiny kernels at 100 % and 134 W. Products reach the limit of 700 W, and the GPU
lowers its clock from 1980 to 1350 MHz.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from experiments import api as x
from experiments.devices.ceilings import arithmetic_flop_per_s, memory_bytes_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, gpus_of, on_first_device
from experiments.devices.graphs import has_graphs, in_one_call
from experiments.devices.timing import enough, taken, warm
from machine.live.gpu_samples import GpuSample

TINY, COPY, PRODUCT = "tiny", "copy", "product"
LOADS = (TINY, COPY, PRODUCT)
BUSY, WORK, POWER = "busy", "work", "power"
SEEN = tuple(f"{load}_{kind}" for load in LOADS for kind in (BUSY, POWER, WORK))
PRECISION = "fp16"
BATCH_S = 0.02
BEHIND = 3  # batches are under way while the driver is asked, which may take 40 ms
KERNELS = 2000  # tiny ones in one call
FULL_LOAD_S = 1.0  # drivers report utilisation and power with up to this delay
NEARLY_ALL = 0.9
POWER_CAP = "power_cap"  # why a driver says that it holds the clock back
TOO_MUCH = 1.02  # of a theoretical limit: then something is wrong


class Params(x.Params):
    """The parameters; the copy moves `copy_bytes`, or a quarter of what is free."""

    device: str = x.param(CPU, choices=gpus_of)
    size: int = x.param(8192, minimum=16, maximum=32768, scale="log2")
    copy_bytes: int = x.param(512 * x.MIB, minimum=x.MIB // 16, maximum=8 * x.GIB, scale="log2")
    load_s: float = x.param(1.5, minimum=0.002, maximum=60.0)
    rounds: int = x.param(5, minimum=1, maximum=50)


class Seen(x.Row):
    """A share of the possible, such as "tiny_busy": of time, power limit or best work."""

    seen: str
    repeat: int
    share_fraction: float


class Power(x.Row):
    """The GPU's power at the end of a load; "idle" is before the first."""

    load: str
    repeat: int
    power_watts: float


class Done(x.Row):
    """The work that the device completed under a load."""

    load: str
    repeat: int
    calls_per_s: float = x.column(scale="log10")
    flop_per_s: float
    bytes_per_s: float


class Load(x.Record, kw_only=False):
    """Repeated work: what one kernel computes or moves, and how much a second is full."""

    call: Callable[[], object]
    flop: float
    moved_bytes: float
    count: int  # calls in a batch
    best_per_s: float  # kernels
    kernels: int = 1  # of a call

    def done(self, name: str, repeat: int, calls_per_s: float) -> Done:
        """Return the row of `calls_per_s` kernels a second."""
        return Done(
            load=name,
            repeat=repeat,
            calls_per_s=calls_per_s,
            flop_per_s=calls_per_s * self.flop,
            bytes_per_s=calls_per_s * self.moved_bytes,
        )


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield the drivers' view and the work done under each load, in shuffled rounds."""
    device = Device(params.device, bench)
    conditions = Conditions(device)
    idle = conditions.look()
    loads = _loads(params, device)
    yield x.Progress(0.05)
    if idle is not None and idle.power_watts is not None:
        yield Power(load="idle", repeat=0, power_watts=idle.power_watts)
    for turn, name in bench.interleave(LOADS, params.rounds):
        load = loads[name]
        calls_per_s, now = _under(device, load, params.load_s, conditions)
        yield load.done(name, turn.round, calls_per_s)
        for kind, share in ((WORK, calls_per_s / load.best_per_s), *_told(now)):
            yield Seen(seen=f"{name}_{kind}", repeat=turn.round, share_fraction=share)
        if now is not None and now.power_watts is not None:
            yield Power(load=name, repeat=turn.round, power_watts=now.power_watts)
        if name == PRODUCT:
            yield from conditions.rows(turn.round)
        yield x.Progress(0.05 + 0.95 * turn.fraction)


def _told(now: GpuSample | None) -> Iterator[tuple[str, float]]:
    if now is not None and now.busy is not None:
        yield BUSY, now.busy
    if now is not None and now.power_watts is not None and now.power_limit_watts:
        yield POWER, now.power_watts / now.power_limit_watts


def _loads(params: Params, device: Device) -> dict[str, Load]:
    """Return the three loads, warm, each with the device's best rate for it."""
    torch = device.torch
    number = torch.zeros(1, device=device.name)
    factor = torch.randn(params.size, params.size, device=device.name, dtype=torch.float16)
    product = torch.empty_like(factor)
    copy_bytes = min(params.copy_bytes, device.free_bytes() // 4)
    source = torch.randn(copy_bytes // 4, device=device.name)
    target = torch.empty_like(source)
    machine = device.bench.machine
    flop_limit = arithmetic_flop_per_s(machine, device.name, PRECISION)
    bytes_limit = memory_bytes_per_s(machine, device.name)

    def load(
        call: Callable[[], object], flop: float, moved_bytes: float, most: float, kernels: int = 1
    ) -> Load:
        count = enough(device, call, BATCH_S)
        best = most or kernels / taken(device, call, count).device_s
        return Load(call, flop, moved_bytes, count, best, kernels)

    flop, moved_bytes = 2.0 * params.size**3, 2.0 * copy_bytes
    multiply = functools.partial(torch.mm, factor, factor, out=product)
    warm(device, multiply)
    found = {
        PRODUCT: load(multiply, flop, 0.0, (flop_limit or 0.0) / flop),
        COPY: load(
            lambda: target.copy_(source), 0.0, moved_bytes, (bytes_limit or 0.0) / moved_bytes
        ),
    }
    full_flop_per_s = found[PRODUCT].best_per_s * flop
    tiny = in_one_call(device, lambda: number.add_(1), KERNELS)
    return found | {TINY: load(tiny, 1.0, 8.0, full_flop_per_s, KERNELS)}


def _under(
    device: Device, load: Load, at_least_s: float, conditions: Conditions
) -> tuple[float, GpuSample | None]:
    """Return kernels a second, and the driver's answers while the last were under way."""
    start_s, start = device.bench.now_s(), device.mark()
    marks, calls = [start], 0
    while device.bench.now_s() - start_s < at_least_s:
        device.bench.check_stop()
        for _ in range(load.count):
            load.call()
        calls += load.count
        marks.append(device.mark())
        if len(marks) > BEHIND:  # the others wait behind the running one
            marks.pop(0).wait()
    now = conditions.look()
    marks[-1].wait()
    return calls * load.kernels / marks[-1].since(start), now


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare what the driver reports for each load with the work it did."""
    limits = x.Limits()
    limits.add("short_loads", params.load_s < FULL_LOAD_S)
    limits.add("tiny_called_one_by_one", not has_graphs(params.device))
    shares = x.spreads_of(tables["seen"], "share_fraction", "seen")
    power = x.spreads_of(tables["power"], "power_watts", "load")
    values = {f"{seen}_fraction": found.median for seen, found in shares.items()}
    values |= {f"{load}_power_watts": found.median for load, found in power.items()}
    values |= _rates(tables)
    flop_limit = arithmetic_flop_per_s(machine, params.device, PRECISION)
    bytes_limit = memory_bytes_per_s(machine, params.device)
    limits.add("share_of_the_best_seen", flop_limit is None or bytes_limit is None)
    for name, limit in (("product_flop_per_s", flop_limit), ("copy_bytes_per_s", bytes_limit)):
        if limit and values.get(name, 0.0) > TOO_MUCH * limit and "above_the_limit" not in limits:
            limits.append("above_the_limit")
    held_back = [POWER_CAP in row.held_back for row in tables["conditions"]]
    if 2 * sum(held_back) > len(held_back):  # after most rounds of products
        limits.append("power_is_the_limit")
    limits.append("counts_any_kernel")
    return x.Finding(_message(shares, power), values, tuple(limits))


def _message(shares: dict[str, x.Spread], power: dict[str, x.Spread]) -> str:
    busy = [shares[name].median for load in LOADS if (name := f"{load}_{BUSY}") in shares]
    if len(busy) < len(LOADS):
        return "nobody_tells"
    if min(busy) < NEARLY_ALL:
        return "not_always_busy"
    if not {TINY, PRODUCT} <= power.keys():
        return "busy_alike"
    pair = power[TINY], power[PRODUCT]
    return x.unsure(pair) or ("busy_but_not_full" if pair[0].is_below(pair[1]) else "busy_alike")


def _rates(tables: x.Tables) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, load, of in (
        ("tiny_calls_per_s", TINY, "calls_per_s"),
        ("copy_bytes_per_s", COPY, "bytes_per_s"),
        ("product_flop_per_s", PRODUCT, "flop_per_s"),
    ):
        if load in (best := x.best_of(tables["done"], of, "load", choose=max)):
            found[name] = best[load]
    return found


def seconds(params: Params) -> float:
    """Count the loads, and the warm-up."""
    return 0.9 + params.rounds * len(LOADS) * (params.load_s + 0.05)


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"seen": Seen, "power": Power, "done": Done, "conditions": Condition},
    measure=measure,
    loop="experiment.py:_under",
    analyse=analyse,
    views=(
        x.Bars("seen", "seen", "seen", "share_fraction", order=SEEN),
        x.Bars(
            "power",
            "power",
            "load",
            "power_watts",
            order=("idle", *LOADS),
            limits=(x.Limit("idle", "idle_power_watts", "x"),),
        ),
    ),
    values=x.values(
        *(f"{seen}_fraction" for seen in SEEN),
        *(f"{load}_power_watts" for load in ("idle", *LOADS)),
        "tiny_calls_per_s",
        x.Value("copy_bytes_per_s", x.Part.GPU),
        x.Value("product_flop_per_s", x.Part.GPU),
    ),
    keys=(
        x.Key("tiny_busy_fraction", "seen", ("tiny_busy",)),
        x.Key("tiny_power_watts", "power", ("tiny",)),
        x.Key("product_power_watts", "power", ("product",)),
    ),
    next=x.Next("many-small", {"load_s": 3.0}),
    parts=(x.Part.GPU,),
    needs=(x.Need.GPU,),
    imports=("torch",),
    defaults=on_first_device(Params),
    quick=x.change(rounds=5, at_most={"load_s": 0.22}),
    smallest=x.change(size=16, copy_bytes=64 * x.KIB, load_s=0.002, rounds=2),
    seconds=seconds,
    memory_bytes=lambda params: 0,
)
