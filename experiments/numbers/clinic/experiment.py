"""What is wrong with these models, and what does mending them gain?

Method: short programs with planted faults, and the same mended; both are read from files, shown
line by line, and exactly these texts are run. First the checker walks through each model on the
processor. One step of training is tried, with all faults and with each of them alone. Then the
steps of three programs are timed on the device in shuffled rounds. The caller's clock counts until
all is done. On a GPU products and convolutions may use TF32. Last, the weather and flower programs
are trained anew for 60 steps. A program has learnt as much as its output explains of the
differences. Between stations that is R squared. Between kinds of flowers it is D. McFadden's
counterpart of it. That compares the loss with the loss of knowing only the count of each kind.
Source: D. McFadden, Conditional logit analysis of qualitative choice behavior (1974).

Not shown: how well the other models learn. Their targets are random.

Seen on an H100: multiples of 8 gain 1.5 times under TF32; a GRU with batch and time mixed up is not
clearly slower there.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from experiments import api as x
from experiments.devices.assumed import network_flop_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, devices_of, on_first_device
from experiments.devices.timing import each_s, enough_in_a_row, warm

from .checker import check, check_loader, stopped

NEXT_WORD, IMAGES, STATIONS = TIMED = "next_word", "images", "stations"
FLOWERS, LEAVES = "flowers", "leaves"
PLANTED = {
    NEXT_WORD: ("words_odd", "width_odd", "one_short"),
    IMAGES: ("no_comma", "whole_numbers", "channels", "flattened"),
    STATIONS: ("one_dimension", "batch_second", "no_activation"),
    FLOWERS: ("five_outputs", "sigmoid"),
    LEAVES: ("ragged", "loader_passed"),
}
VERSIONS = (x.BROKEN, x.MENDED)
LEARNERS = ((STATIONS, VERSIONS), (FLOWERS, (x.BROKEN, *PLANTED[FLOWERS], x.MENDED)))
TRAIN, STOPS_ALONE = "train()", "stops_alone"
ERRORS = (RuntimeError, IndexError, TypeError, ValueError)  # torch's, where something does not fit
LOOKING, LEARNING = 0.1, 0.1  # shares of the time: before the first step is timed, and at the end
LEARNING_STEPS = 60
MULTIPLE = 16  # of the number of words
WORDS, WIDTH, FP32_BYTES = 5008, 512, 4  # as in the mended piece, for the estimates
LOGITS = 4  # arrays of words × length that a step holds at once, about
CPU_LENGTH, GPU_LENGTH = 128, 16_384  # the latter assumed, not measured
CPU_LEARNING_S = 0.02  # a step of all programs that learn
CPU_OTHERS_S, GPU_OTHERS_S = 0.09, 0.01  # of one step of all other pieces, the latter assumed


def _piece(name: str) -> str:
    return Path(__file__).with_name("pieces").joinpath(f"{name}.py").read_text(encoding="utf-8")


def pieces() -> tuple[x.Piece, ...]:
    """Read the pieces from their files."""
    return tuple(
        x.Piece(
            key=key,
            broken=_piece(f"{key}_{x.BROKEN}"),
            mended=_piece(f"{key}_{x.MENDED}"),
            faults=faults,
        )
        for key, faults in PLANTED.items()
    )


PIECES = pieces()
BY_KEY = {each.key: each for each in PIECES}


class Params(x.Params):
    """The parameters; `length` is how many words the first piece reads at once."""

    device: str = x.param(CPU, choices=devices_of)
    length: int = x.param(CPU_LENGTH, minimum=64, maximum=65_536, scale="log2")
    rounds: int = x.param(15, minimum=1, maximum=99)


class Remarked(x.Row):
    """A remark of the checker, or PyTorch's own message, on a piece.

    One on a line is PyTorch's message if all other lines are mended.
    """

    piece: str
    version: str
    where: str
    kind: str
    detail: str


class TrainingStep(x.Row):
    """One step of training; `code` are piece and version in one."""

    code: str
    piece: str
    version: str
    repeat: int
    step_s: float


class Learnt(x.Row):
    """The share of the differences that a trained program explains.

    `version` is also a fault, if all others are mended.
    """

    code: str
    version: str
    steps: int
    learnt_fraction: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield the remarks on each piece, then a row for each piece that runs, and round."""
    device = Device(params.device, bench)
    if device.is_gpu:
        device.torch.set_float32_matmul_precision("high")
        device.torch.backends.cudnn.allow_tf32 = True
    arms: dict[tuple[str, str], Callable[[], object]] = {}
    settings = {"device": device.name, "length": _length(device, params.length)}
    codes = [(piece, version) for piece in PIECES for version in VERSIONS]
    for place, (piece, version) in enumerate(codes):
        bench.check_stop()
        remarks = list(_remarks(device.torch, piece, version, min(CPU_LENGTH, params.length)))
        yield from remarks
        if piece.key in TIMED and not any(each.where == TRAIN for each in remarks):
            arms[piece.key, version] = run_piece(device.torch, piece, version, **settings)["train"]
        yield x.Progress(LOOKING * ((place + 1) / len(codes)))
    with _quiet():
        warm(device, arms[NEXT_WORD, x.MENDED])
        counts = {arm: enough_in_a_row(device, train) for arm, train in arms.items()}
        conditions = Conditions(device)
        for turn, arm in bench.interleave(list(arms), params.rounds):
            step_s = each_s(device, arms[arm], counts[arm])
            piece_key, which = arm
            yield TrainingStep(
                code=f"{piece_key}_{which}",
                piece=piece_key,
                version=which,
                repeat=turn.round,
                step_s=step_s,
            )
            if arm == (NEXT_WORD, x.MENDED):
                yield from conditions.rows(turn.round)
            yield x.Progress(LOOKING + (1 - LOOKING - LEARNING) * turn.fraction)
    for key, versions in LEARNERS:
        known = (*VERSIONS, *BY_KEY[key].fault_lines().values())
        for version in (each for each in versions if each in known):
            yield learnt(device.torch, BY_KEY[key], version, bench, **settings)


def learnt(torch: Any, piece: x.Piece, version: str, bench: x.Bench, **settings: Any) -> Learnt:
    """Train a program anew, and return what it has learnt; 0 is no better than the average."""
    names = run_piece(torch, piece, version, **settings)
    with _quiet():
        for _ in range(LEARNING_STEPS):
            bench.check_stop()
            names["train"]()
    with torch.no_grad():
        output, targets = names["model"](names["inputs"]), names["targets"]
        if targets.is_floating_point():
            off = output.flatten() - targets.flatten()
            unexplained = off.square().mean() / targets.var(correction=0)
        else:
            shares = targets.bincount() / len(targets)
            loss = torch.nn.functional.cross_entropy(output, targets)
            unexplained = loss / -shares.xlogy(shares).sum()
    return Learnt(
        code=f"{piece.key}_{version}",
        version=version,
        steps=LEARNING_STEPS,
        learnt_fraction=max(0.0, 1 - unexplained.item()),
    )


def run_piece(torch: Any, piece: x.Piece, version: str, **settings: Any) -> dict[str, Any]:
    """Run a piece's text as it is shown, with these settings; return all names it defines.

    `version` may also be a fault: then all others are mended.
    """
    text = piece.text(version)  # mended, unless it is broken
    if version in piece.faults:
        (line,) = (number for number, fault in piece.fault_lines().items() if fault == version)
        lines = text.splitlines()
        lines[line - 1] = piece.broken.splitlines()[line - 1]
        text = "\n".join(lines)
    torch.manual_seed(1)
    exec(compile(text, f"{piece.key}_{version}.py", "exec"), settings)
    return settings


def _remarks(torch: Any, piece: x.Piece, version: str, length: int) -> Iterator[Remarked]:
    """Yield the checker's remarks, and where training stops. Always on the processor.

    There an error is just an error; on a GPU a wrong target would end the whole process.
    """
    settings = {"device": CPU, "length": length}
    names = run_piece(torch, piece, version, **settings)
    fed, error = _tried(names)
    found = []
    if loader := names.get("loader"):
        found = check_loader(loader)
        _, names["targets"] = next(iter(loader))
    if fed is not None:  # a copy may stop before
        found += check(names["model"], fed, names["targets"])
    if error is not None:
        found.append(stopped(TRAIN, error))
    for line, fault in piece.fault_lines().items() if version == x.BROKEN else ():
        _, error = _tried(run_piece(torch, piece, fault, **settings))
        if error is not None:
            found.append(replace(stopped(f"line {line}", error), kind=STOPS_ALONE))
    for each in found:
        yield Remarked(
            piece=piece.key,
            version=version,
            where=each.where,
            kind=each.kind,
            detail=each.detail,
        )


def _tried(names: Mapping[str, Any]) -> tuple[Any, Exception | None]:
    """Train once; return what the model was first given, None for nothing, and what stopped it."""
    given: list[Any] = []
    hook = names["model"].register_forward_pre_hook(lambda _, fed: given.append(fed[0]))
    stopped_by = None
    try:
        with _quiet():
            names["train"]()
    except ERRORS as error:
        stopped_by = error
    finally:
        hook.remove()
    return given[0] if given else None, stopped_by


def _length(device: Device, wanted: int) -> int:
    """Return how many words are read: as many as memory allows, and no odd number."""
    room = device.free_bytes() // (FP32_BYTES * WORDS * LOGITS)
    return max(1, min(wanted, room) // MULTIPLE) * MULTIPLE


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep torch's own warnings of the faults off the log, where they would confuse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare a step of each broken piece that runs with one of the mended piece."""
    of = x.spreads_of(tables["steps"], "step_s", "piece", "version")
    limits = ["learning_of_weather_alone", "checker_sees_shapes"]
    limits.append("processor_cares_little" if params.device == CPU else "tf32_is_on")
    checked = checked_pieces(tables)  # older recordings have fewer
    values: dict[str, float] = {"faults_total": sum(len(PLANTED[key]) for key in checked)}
    if tables["steps"]:  # then every piece was checked
        told = [row.version for row in tables["remarks"] if row.kind != STOPS_ALONE]
        values |= {f"remarks_{version}": told.count(version) for version in VERSIONS}
        alone = len(tables["remarks"]) - len(told)
        values |= {"faults_that_stop": alone} if alone else {}
    values |= {
        f"learnt_{row.code.removeprefix(f'{STATIONS}_')}_fraction": row.learnt_fraction
        for row in tables.get("learnt", ())
    }
    names = {
        (NEXT_WORD, x.BROKEN): "broken_step_s",
        (NEXT_WORD, x.MENDED): "mended_step_s",
        (STATIONS, x.BROKEN): "broken_step_stations_s",
        (STATIONS, x.MENDED): "mended_step_stations_s",
        (IMAGES, x.MENDED): "mended_step_images_s",
    }
    values |= {name: of[arm].median for arm, name in names.items() if arm in of}
    if not names.keys() <= of.keys():
        return x.Finding("in_part", values, tuple(limits))
    shapes, feed = ((of[piece, x.BROKEN], of[piece, x.MENDED]) for piece in (NEXT_WORD, STATIONS))
    compared, unclear = x.ratios({"shapes_gain": shapes, "feed_gain": feed})
    return x.Finding(_message(shapes, feed), values | compared, tuple(limits), unclear)


def checked_pieces(tables: x.Tables) -> set[str]:
    """Return the programs that a run has checked or timed."""
    return {row.piece for name in ("remarks", "steps") for row in tables[name]}


def _message(shapes: tuple[x.Spread, x.Spread], feed: tuple[x.Spread, x.Spread]) -> str:
    """Return which of the two mended pieces is clearly faster than its broken one."""
    (odd, even), (wrong, right) = shapes, feed
    if x.too_few((*shapes, *feed)):
        return x.TOO_FEW
    of_shapes, of_feed = x.family(
        {"shapes": (odd, even), "feed": (wrong, right)}, x.Spread.against
    ).values()
    feed_gains, shapes_gain, shapes_cost = (
        each.outcome is x.Outcome.DIFFERS and each.is_above is is_above
        for each, is_above in ((of_feed, True), (of_shapes, True), (of_shapes, False))
    )
    if feed_gains and (shapes_gain or shapes_cost):
        return "both_gain" if shapes_gain else "feed_gains_shapes_cost"
    if feed_gains:
        is_same = of_shapes.outcome is x.Outcome.SAME
        return "feed_gains" if is_same else "feed_gains_shapes_unclear"
    if shapes_gain:
        return "shapes_gain"
    return x.unsure(shapes, feed) or "nothing_gained"


def quick(params: Params) -> Params:
    """Take a few rounds; a processor then reads few words."""
    length = min(params.length, CPU_LENGTH) if params.device == CPU else params.length
    return replace(params, rounds=min(params.rounds, 5), length=length)


def seconds(params: Params) -> float:
    """Estimate from the arithmetic of the first piece, at cautious rates."""
    is_cpu = params.device == CPU
    flop = 6 * params.length * WORDS * WIDTH  # forward, and twice that backward
    round_s = 2 * flop / network_flop_per_s(params.device) + (
        CPU_OTHERS_S if is_cpu else GPU_OTHERS_S
    )
    learning_s = LEARNING_STEPS * (CPU_LEARNING_S if is_cpu else GPU_OTHERS_S)
    return 1.2 + (params.rounds + 2) * round_s + learning_s


def memory_bytes(params: Params) -> int:
    """Return the bytes of weights and gradients, and of the first piece's outputs."""
    weights = 2 * 2 * 2 * WORDS * WIDTH  # both versions, with gradients, of two layers
    longest = params.length if params.device == CPU else MULTIPLE
    return FP32_BYTES * (weights + LOGITS * longest * WORDS)


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"remarks": Remarked, "steps": TrainingStep, "learnt": Learnt, "conditions": Condition},
    measure=measure,
    loop="pieces/images_broken.py:train",
    analyse=analyse,
    views=(
        x.Code(
            key="pieces",
            table="remarks",
            pieces=PIECES,
            piece="piece",
            version="version",
            about=("where", "kind", "detail"),
        ),
        x.Bars("steps", "steps", "code", "step_s"),
        x.Bars(
            "learnt",
            "learnt",
            "code",
            "learnt_fraction",
            order=tuple(f"{key}_{version}" for key, versions in LEARNERS for version in versions),
        ),
    ),
    values=x.values(
        "faults_total",
        "remarks_broken",
        "remarks_mended",
        "broken_step_s",
        "mended_step_s",
        "shapes_gain",
        "broken_step_stations_s",
        "mended_step_stations_s",
        "feed_gain",
        "mended_step_images_s",
        "faults_that_stop",
        *(f"learnt_{version}_fraction" for version in VERSIONS),
        *(f"learnt_{FLOWERS}_{version}_fraction" for version in dict(LEARNERS)[FLOWERS]),
    ),
    keys=(
        x.Key("feed_gain", "steps", ("stations_broken", "stations_mended")),
        x.Key("shapes_gain", "steps", ("next_word_broken", "next_word_mended")),
        x.Key("mended_step_images_s", "steps", ("images_mended",)),
    ),
    next=x.Next("alignment", {"length": 1024}),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("torch",),
    defaults=on_first_device(Params, length=GPU_LENGTH),  # to keep it busy
    quick=quick,
    smallest=x.change(length=64, rounds=2),
    seconds=seconds,
    memory_bytes=memory_bytes,
)
