"""Is a convolution faster if the numbers of its pictures lie in another order?

Method: a small residual network and two single convolutions, of 3 and of many channels, compute the
same random pictures forward. In torch's default layout one channel follows the other in memory. In
`channels_last` all channels of a pixel lie side by side, also for the weights. Every precision of
the device is timed in shuffled rounds, with TF32 switched for products and convolutions. A GPU's
queue is held, so its own time counts. Both layouts of a precision get as many pictures, fewer where
they take long. A gain is the ratio within a round. It is claimed if the rates of the two layouts
part, or the gains of the rounds from 1. The results of both are compared, and the order is read off
the strides.

Not shown: the gain of training, which moves gradients too; the loss of a layer that does not know
the order and must rearrange; the gain of searching for the best algorithm. Here torch takes the
library's first choice.

Seen on an H100: 1.44 times in fp16, 0.86 times in fp32; results differ by 0.12 % at most.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from experiments import api as x
from experiments.devices.assumed import network_flop_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, devices_of, on_first_device
from experiments.devices.failures import device_problem
from experiments.devices.timing import enough, taken, warm, whole_s
from experiments.tools.networks import COLOURS, convolution, resnet, resnet_flop
from experiments.tools.precisions import (
    BF16,
    EPSILON,
    FP32,
    HALVES,
    PRECISIONS,
    TF32,
    choose,
    has_tf32,
    is_emulated,
    kind_of,
)

CONTIGUOUS, CHANNELS_LAST = LAYOUTS = ("contiguous", "channels_last")
NETWORK, FIRST, INNER = WORKS = ("network", "first", "inner")
CHANNEL_NAMES = ("red", "green", "blue")
DRAWN = 4  # rows and columns of the picture whose order is drawn
FP32_BYTES = 4
SAMPLE_S = 5e-3
TRIES = 3
ALIVE = 8  # at most, arrays as large as all channels of all pictures


class Params(x.Params):
    """The parameters; pictures are square and have `side` rows."""

    device: str = x.param(CPU, choices=devices_of)
    images: int = x.param(32, minimum=1, maximum=4096, scale="log2")
    channels: int = x.param(64, minimum=8, maximum=1024, scale="log2")
    side: int = x.param(16, minimum=8, maximum=256, scale="log2")
    most_s: float = x.param(0.4, minimum=0.001, maximum=5.0)
    rounds: int = x.param(10, minimum=1, maximum=50)


class Pass(x.Row):
    """The network over `images` pictures, forward."""

    precision: str
    layout: str
    repeat: int
    images: int
    images_per_s: float


class Gain(x.Row):
    """The factor by which channels last raises the images a second, in one round."""

    precision: str
    work: str
    repeat: int
    gain: float


class Result(x.Row):
    """The distance between the two layouts' results, as a share of the largest."""

    precision: str
    difference_fraction: float


class Place(x.Row):
    """The place in memory of a number in an image's first row, counted in numbers."""

    line: str
    pixel: int
    place: int


Call = Callable[[], Any]


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield passes of each precision and layout, and the gain between the two in their turn."""
    device = Device(params.device, bench)
    yield from _places(device)
    conditions = Conditions(device)
    calls: dict[tuple[str, str, str], Call] = {}
    images: dict[str, int] = {}
    for place, precision in enumerate(_precisions(device)):
        choose(device, precision)
        try:
            images[precision], found = prepare(params, device, precision)
        except (TypeError, RuntimeError) as error:
            if device_problem(error) is not None:
                raise
            yield x.Note("precision_left_out", {"precision": precision})
            continue
        if not found:
            yield x.Note("precision_too_slow", {"precision": precision, "most_s": params.most_s})
            continue
        calls |= {(precision, *which): call for which, call in found.items()}
        yield _compared(precision, *(found[layout, NETWORK]() for layout in LAYOUTS))
        yield x.Progress(0.1 * (place + 1) / len(PRECISIONS))
    counts = {}
    for arm, call in calls.items():
        choose(device, arm[0])
        counts[arm] = enough(device, call, SAMPLE_S)
    pairs = list(dict.fromkeys((precision, work) for precision, _, work in calls))
    for turn, (precision, work) in bench.interleave(pairs, params.rounds):
        choose(device, precision)
        rates = {}
        for layout in LAYOUTS if turn.round % 2 else LAYOUTS[::-1]:  # neither is always first
            arm = precision, layout, work
            rates[layout] = images[precision] / taken(device, calls[arm], counts[arm]).device_s
        for layout, rate in rates.items() if work == NETWORK else ():
            yield Pass(
                precision=precision,
                layout=layout,
                repeat=turn.round,
                images=images[precision],
                images_per_s=rate,
            )
        gain = rates[CHANNELS_LAST] / rates[CONTIGUOUS]
        yield Gain(precision=precision, work=work, repeat=turn.round, gain=gain)
        if (precision, work) == pairs[0]:
            yield from conditions.rows(turn.round)
        yield x.Progress(0.1 + 0.9 * turn.fraction)


def _places(device: Device) -> Iterator[Place]:
    """Yield the places of a small image's numbers, as the strides give them."""
    torch = device.torch
    for layout in LAYOUTS:
        picture = torch.empty(1, COLOURS, DRAWN, DRAWN, memory_format=_format(torch, layout))
        _, by_channel, _, by_column = picture.stride()
        for channel, name in enumerate(CHANNEL_NAMES):
            for at in range(DRAWN):
                place = channel * by_channel + at * by_column
                yield Place(line=f"{layout}_{name}", pixel=at, place=place)


def _format(torch: Any, layout: str) -> Any:
    return torch.channels_last if layout == CHANNELS_LAST else torch.contiguous_format


def _precisions(device: Device) -> Sequence[str]:
    """Return the measured precisions; processors support fp16 worse than bf16."""
    if not device.is_gpu:
        return FP32, BF16
    return [each for each in PRECISIONS if each != TF32 or has_tf32(device)]


def prepare(
    params: Params, device: Device, precision: str
) -> tuple[int, Mapping[tuple[str, str], Call]]:
    """Return a number of images and all works with them, warm; none if one image takes too long.

    The number doubles from one, as long as the slowest work allows it.
    """
    most = max(1, min(params.images, device.free_bytes() // (ALIVE * _image_bytes(params))))
    images = 1
    calls = layout_calls(params, device, precision, images)
    for call in calls.values():
        warm(device, call)
    while True:
        slowest_s = max(_least_s(device, call) for call in calls.values())
        if images == 1 and slowest_s > params.most_s and precision != FP32:
            return images, {}
        if 2 * images > most or 2 * slowest_s > params.most_s:
            return images, calls
        images *= 2
        calls = layout_calls(params, device, precision, images)


def _least_s(device: Device, call: Call) -> float:
    """Return the least time of a few calls; something else may be running meanwhile."""
    return min(whole_s(device, call) for _ in range(TRIES))


def layout_calls(
    params: Params, device: Device, precision: str, images: int
) -> dict[tuple[str, str], Call]:
    """Return each work in both layouts, with the same weights and images."""
    torch, channels = device.torch, params.channels
    torch.manual_seed(7)
    nets = {
        NETWORK: (COLOURS, resnet(torch, channels)),
        FIRST: (COLOURS, convolution(torch, COLOURS, channels)),
        INNER: (channels, convolution(torch, channels, channels)),
    }
    calls: dict[tuple[str, str], Call] = {}
    for work, (before, net) in nets.items():
        pictures = torch.randn(images, before, params.side, params.side)
        for layout in LAYOUTS:
            there = {"dtype": kind_of(torch, precision), "memory_format": _format(torch, layout)}
            mine = copy.deepcopy(net).eval().to(device.name, **there)
            calls[layout, work] = functools.partial(
                run_forward, torch, mine, pictures.to(device.name, **there)
            )
    return calls


def run_forward(torch: Any, net: Any, pictures: Any) -> Any:
    """Return the network's output, without gradients."""
    with torch.no_grad():
        return net(pictures)


def _compared(precision: str, one: Any, other: Any) -> Result:
    one, other = one.double().cpu(), other.double().cpu()
    largest = float(one.abs().max()) or 1.0
    return Result(
        precision=precision, difference_fraction=float((one - other).abs().max()) / largest
    )


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Name the precisions in which the layout decides, and compare the results."""
    rates = x.spreads_of(tables["passes"], "images_per_s", "precision", "layout")
    values = {
        f"{layout}_{precision}_images_per_s": found.median
        for (precision, layout), found in rates.items()
    }
    pairs = {
        f"gain_{precision}": (rates[precision, CONTIGUOUS], rates[precision, CHANNELS_LAST])
        for precision in PRECISIONS
        if all((precision, layout) in rates for layout in LAYOUTS)
    }
    emulated = [
        precision
        for precision in HALVES
        if (precision, CHANNELS_LAST) in rates and is_emulated(machine, params.device, precision)
    ]
    limits = x.Limits(f"{precision}_is_emulated" for precision in emulated)
    if params.device == CPU and tables["results"] and (BF16, CONTIGUOUS) not in rates:
        limits.append("half_not_measured")
    limits.add("matrix_units_need_gpu", params.device == CPU)
    limits.append("forward_only")
    apart = [row.difference_fraction for row in tables["results"]]
    if apart:
        values["difference_fraction"] = max(apart)
    if not pairs:
        return x.Finding("in_part", values, tuple(limits))
    last_over_first = {name: (last, first) for name, (first, last) in pairs.items()}
    compared, unclear = x.ratios(last_over_first)
    gains = x.spreads(
        (f"gain_{row.precision}", row.gain, row.repeat)
        for row in tables["gains"]
        if row.work == NETWORK
    )
    compared |= {name: gain.median for name, gain in gains.items() if name in compared}
    # What is emulated says nothing of the order that a device likes.
    judged = last_over_first.keys() - {f"gain_{precision}" for precision in emulated}
    clear = {name: gain for name, gain in compared.items() if name in judged - {*unclear}}
    values |= compared | {"default_layout_gain": 1.0}
    if clear:
        values |= {"greatest_gain": max(clear.values()), "least_gain": min(clear.values())}
        values["default_order_gain"] = 1 / values["least_gain"]
    message = _message({name: last_over_first[name] for name in last_over_first if name in judged})
    if message == "the_same":
        message = x.unsure(*(pairs[name] for name in pairs if name in judged)) or "the_same"
    if any(row.difference_fraction > allowed_fraction(row.precision) for row in tables["results"]):
        message = "results_differ"
    return x.Finding(message, values, tuple(limits), unclear)


def _message(last_over_first: Mapping[str, tuple[x.Spread, x.Spread]]) -> str:
    """Return what is clear of the precisions in which the layouts differ, if any do."""
    over = x.family(last_over_first, x.Spread.against)
    differ = {name for name, each in over.items() if each.outcome is x.Outcome.DIFFERS}
    faster = {name for name in differ if over[name].is_above}
    if not differ:
        return "the_same"
    if not faster:
        return "slower"
    if len(faster) < len(differ):
        return "mixed"
    return "half_only" if faster <= {f"gain_{each}" for each in HALVES} else "faster"


def allowed_fraction(precision: str) -> float:
    """Return the allowed distance of equal results: half of the digits may be lost."""
    return math.sqrt(EPSILON[precision])


def _image_bytes(params: Params) -> int:
    return FP32_BYTES * params.channels * params.side**2


def seconds(params: Params) -> float:
    """Estimate from the arithmetic, at cautious rates; slow precisions may take `most_s`."""
    is_cpu = params.device == CPU
    flop = resnet_flop(params.channels, params.side)
    pass_s = min(params.most_s, params.images * flop / network_flop_per_s(params.device))
    precisions_s = 1.5 * (pass_s + params.most_s) if is_cpu else 6 * pass_s
    return 0.5 + (0.0 if is_cpu else 2.5) + (params.rounds + 2) * 2 * precisions_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={
        "passes": Pass,
        "gains": Gain,
        "results": Result,
        "places": Place,
        "conditions": Condition,
    },
    measure=measure,
    loop="experiment.py:run_forward",
    analyse=analyse,
    views=(
        x.Bars(
            "images",
            "passes",
            "precision",
            "images_per_s",
            detail="layout",
            order=(*PRECISIONS, *LAYOUTS),
            limits=(x.Limit("fp32_default", "contiguous_fp32_images_per_s", "x"),),
        ),
        x.Bars(
            "gains",
            "gains",
            "precision",
            "gain",
            detail="work",
            order=PRECISIONS,
            limits=(x.Limit("default", "default_layout_gain", "x"),),
        ),
        x.Heatmap("places", "places", "line", "pixel", "place"),
    ),
    values=x.values(
        *(
            x.Value(f"{layout}_{precision}_images_per_s", x.Part.GPU)
            for precision in PRECISIONS
            for layout in LAYOUTS
        ),
        *(f"gain_{precision}" for precision in PRECISIONS),
        "greatest_gain",
        "least_gain",
        "default_order_gain",
        "default_layout_gain",
        "difference_fraction",
    ),
    keys=(
        x.Key("gain_fp32", "gains", ("fp32",)),
        x.Key("gain_fp16", "gains", ("fp16",)),
        x.Key("gain_bf16", "gains", ("bf16",)),
    ),
    next=x.Next("amp", {"channels": 8}),
    parts=(x.Part.CORES, x.Part.MEMORY, x.Part.GPU),
    imports=("torch",),
    defaults=on_first_device(Params, images=128, side=64),  # to keep it busy
    quick=x.change(rounds=5, at_most={"most_s": 0.1}),
    smallest=x.change(images=2, channels=8, side=8, rounds=2),
    budget=x.Budget(quick={"side": 8}, quick_s=4.0),
    seconds=seconds,
    memory_bytes=lambda params: (
        ALIVE * params.images * _image_bytes(params) if params.device == CPU else 0
    ),
)
