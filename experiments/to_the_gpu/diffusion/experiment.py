"""Heat spreads over a plate: which engine computes it fastest, and what holds it back?

Method: each cell becomes the mean of itself and its four neighbours. NumPy and torch do that with
five operations over the whole plate, each into memory that is there already. A compiled loop does
it in one pass, on one core and on up to all. Engines and sizes are timed in shuffled rounds, many
steps at a time, with random cells; compared are the medians. Before, all of them compute the same
20 steps, which are held against NumPy in double precision. The rate of memory itself is measured
beside them, if the machine does not report it. The field that is drawn is computed at that moment.
Source: the diffusion of M. Gorelick and I. Ozsvald, High Performance Python (640 x 640).

Not shown: the real traffic. Each operation is counted as if it read and wrote its arrays once;
caches may save some of it, and a line is read before it is written.

Seen on an H100: five operations reach 54 % of its memory's rate, the compiled step 73 %; small
grids are bound by calls.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from experiments import api as x
from experiments.devices.ceilings import cache_bytes, memory_bytes_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, default_device, devices_of, torch_threads
from experiments.devices.failures import device_problem
from experiments.devices.timing import whole_s

from .solvers import (
    COMPILED,
    COMPILED_ONE,
    ENGINES,
    GPU_COMPILED,
    IN_ONE_PASS,
    MOVED,
    NUMPY,
    ON_GPU,
    PASSES,
    TORCH_CPU,
    TORCH_GPU,
    TORCH_ONE,
    Engines,
    Plate,
    as_picture,
    flower,
    random_field,
)

ITEM_BYTES = {"float32": 4, "float64": 8}
SMALLEST, USUAL, LEAST_LARGE = 160, 640, 2560  # cells to a side
GROWTH = 4
BEYOND_CACHE = 2  # times the last cache, for each of the two fields
SAMPLE_S = 0.02
CHECKED_STEPS = 20
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}  # the rounding of all the steps
PICTURE, FRAMES_PER_S, DRAWN_STEPS = 320, 30, 10
MOST_DRAWN = 60  # steps before a picture: with more it would fade at once
ONE_CORE, GPU = "cpu_one", "gpu"  # with all cores it is CPU
THROUGH = 3  # arrays that the memory loop moves: two are read, one is written
COMPILE_S = 12.0  # of torch on a GPU, for all sizes
CELLS_PER_S = {
    NUMPY: 3e8, TORCH_ONE: 3e8, TORCH_CPU: 5e8, COMPILED_ONE: 1e9, COMPILED: 1e9, TORCH_GPU: 1e10,
    GPU_COMPILED: 3e10,
}  # fmt: skip
FREE_SHARE = 0.4
TOO_MUCH = 1.02
FAILED = {COMPILED: "loop_failed", GPU_COMPILED: "gpu_compiler_failed"}  # the note that tells it
REASON_LETTERS = 200


class Params(x.Params):
    """The parameters; `large` is how many cells the largest plate has to a side."""

    device: str = x.param(CPU, choices=devices_of)
    large: int = x.param(5120, minimum=64, maximum=65536)
    dtype: str = x.param("float32", choices=("float32", "float64"))
    compiles: bool = True
    shown_s: float = x.param(2.0, minimum=0.0, maximum=600.0)
    rounds: int = x.param(10, minimum=1, maximum=50)


class Rate(x.Row):
    """One sample; `bytes_per_s` counts the arrays that the engine's operations touch."""

    side: int = x.column(scale="log2")
    engine: str
    repeat: int
    cells_per_s: float = x.column(scale="log10")
    bytes_per_s: float


class Through(x.Row):
    """The rate of one simple operation over the largest plate.

    `where` is "cpu", "cpu_one" with one thread, or "gpu".
    """

    where: str
    repeat: int
    bytes_per_s: float


class Check(x.Row):
    """The largest difference of an engine's cells from NumPy's in double precision."""

    engine: str
    difference: float


class Drawn(x.Row):
    """A picture, and how many steps precede it."""

    picture: int
    steps: int
    at_s: float


def sides(large: int) -> list[int]:
    """Return the sizes, smallest first."""
    return sorted({*(side for side in x.ladder(SMALLEST, large, GROWTH) if side < large), large})


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield checks and pictures, then every engine at every size, in shuffled rounds."""
    device = Device(params.device, bench)
    threads = max(1, x.physical_cores(bench.machine) or len(x.usable_threads(bench.machine)))
    engines = Engines(device, threads, compiles=params.compiles)
    with torch_threads(device.torch):
        yield from _checked(params, device, engines)
        yield x.Progress(0.05)
        yield from _drawn(params, device, engines)
        plates = _plates(params, device, engines)
        conditions = Conditions(device)
        laps = {}
        for number, (arm, plate) in enumerate(plates.items()):
            laps[arm] = _laps(device, plate)
            yield x.Progress(0.1 + 0.2 * number / len(plates))
        for turn, (engine, side) in bench.interleave(list(plates), params.rounds):
            plate, steps = plates[engine, side], laps[engine, side]
            cells_per_s = side**2 * steps / _advanced_s(device, plate, steps)
            yield _sampled(engine, side, turn.round, cells_per_s, ITEM_BYTES[params.dtype])
            if (engine, side) == (TORCH_GPU, params.large):
                yield from conditions.rows(turn.round)
            yield x.Progress(0.3 + 0.7 * turn.fraction)


def _sampled(
    engine: str, side: int, repeat: int, cells_per_s: float, item_bytes: int
) -> Rate | Through:
    bytes_per_s = cells_per_s * MOVED.get(engine, THROUGH) * item_bytes
    if engine not in MOVED:
        return Through(where=engine, repeat=repeat, bytes_per_s=bytes_per_s)
    return Rate(
        side=side,
        engine=engine,
        repeat=repeat,
        cells_per_s=cells_per_s,
        bytes_per_s=bytes_per_s,
    )


def _checked(params: Params, device: Device, engines: Engines) -> Iterator[Check | x.Note]:
    """Compare all engines with NumPy; leave out those that cannot be compiled."""
    import numpy as np

    side = min(USUAL, params.large)
    start = random_field(side, params.dtype)
    exact = engines.plate(NUMPY, start.astype("float64"), start.astype("float64"))
    exact.advance(CHECKED_STEPS)
    for engine in [name for name in engines.names if name != COMPILED_ONE]:  # the same loop
        try:
            plate = engines.plate(engine, start.copy(), start.copy())
            plate.advance(CHECKED_STEPS)
        except Exception as error:  # the compilers, and numba's import, fail in many ways
            if engine not in FAILED or device_problem(error) is not None:
                raise
            engines.leave_out(engine)
            reason = f"{type(error).__name__}: {error}".split("\n", 1)[0][:REASON_LETTERS]
            yield x.Note(FAILED[engine], {"reason": reason})
            continue
        found = plate.now.cpu().numpy() if device.torch.is_tensor(plate.now) else plate.now
        yield Check(engine=engine, difference=float(np.abs(found - exact.now).max()))


def _drawn(params: Params, device: Device, engines: Engines) -> Iterator[x.Frame | Drawn]:
    """Yield the field as it spreads, 30 times a second."""
    field = flower(USUAL, params.dtype)
    plate = engines.plate(engines.fastest(), field, field.copy())
    start_s, steps, number = device.bench.now_s(), 0, 0
    while number < params.shown_s * FRAMES_PER_S:
        device.bench.check_stop()
        while device.bench.now_s() - start_s < number / FRAMES_PER_S:
            if steps < number * MOST_DRAWN:
                plate.advance(DRAWN_STEPS)
                device.wait()
                steps += DRAWN_STEPS
        yield x.Frame("drawn", (PICTURE, PICTURE), as_picture(device, plate, PICTURE))
        yield Drawn(picture=number, steps=steps, at_s=device.bench.now_s() - start_s)
        number += 1


def _plates(params: Params, device: Device, engines: Engines) -> dict[tuple[str, int], Plate]:
    """Return a plate for each engine and size; those of the processor share their memory."""
    found: dict[tuple[str, int], Plate] = {}
    torch, free_bytes = device.torch, device.free_bytes()

    def through(now: Any, then: Any, steps: int) -> None:
        for _ in range(steps):
            torch.maximum(now, then, out=then)

    for side in sides(params.large):
        field = random_field(side, params.dtype)
        fields = field, field.copy()
        for name in engines.names:
            if name not in ON_GPU:
                found[name, side] = engines.plate(name, *fields)
        plate = found[TORCH_CPU, side]
        if side == params.large:
            found[CPU, side] = dataclasses.replace(plate, run=through)
            found[ONE_CORE, side] = dataclasses.replace(plate, run=through, threads=1)
        free_bytes -= 2 * fields[0].nbytes
        if TORCH_GPU not in engines.names or free_bytes < 0:
            continue
        there = plate.now.to(device.name), plate.then.to(device.name)
        for name in ON_GPU:
            if name in engines.names:
                found[name, side] = engines.moved(name, *there)
        if side == params.large:
            found[GPU, side] = dataclasses.replace(found[TORCH_GPU, side], run=through)
    return found


def _laps(device: Device, plate: Plate) -> int:
    """Return how many steps make a sample; the first warm up."""
    steps, took_s = 1, _advanced_s(device, plate, 1)
    while took_s < SAMPLE_S / 2:
        steps = int(steps * min(10.0, 1.2 * SAMPLE_S / took_s)) + 1
        took_s = _advanced_s(device, plate, steps)
    return steps


def _advanced_s(device: Device, plate: Plate, steps: int) -> float:
    """Return the time of some steps, after one that brings the plate into the caches."""
    device.torch.set_num_threads(plate.threads)
    plate.advance(1)
    return whole_s(device, lambda: plate.advance(steps))


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the engines on the largest plate with each other and with their memory."""
    of = x.spreads_of(tables["rates"], "cells_per_s", "engine", "side")
    usual = {engine: found for (engine, side), found in of.items() if side == USUAL}
    large = {engine: found for (engine, side), found in of.items() if side == params.large}
    values = {f"{engine}_cells_per_s": found.median for engine, found in usual.items()}
    values |= {f"{engine}_large_cells_per_s": found.median for engine, found in large.items()}
    values |= _memory(params, tables, machine)
    limits = x.Limits()
    differences = [row.difference for row in tables["checks"]]
    if differences:
        values["largest_difference"] = max(differences)
        limits.add("engines_differ", max(differences) > TOLERANCE[params.dtype])
    if _is_in_cache(params, machine):
        limits.append("partly_in_cache")
    elif _exceeds(params, large, values):
        limits.append("above_the_limit")
    measured = {engine for engine, _ in of}
    if params.device != CPU and measured:
        limits.add("large_not_on_gpu", TORCH_GPU not in large)
        limits.add("not_compiled_on_gpu", GPU_COMPILED not in measured)
    limits.add("not_compiled", measured and COMPILED not in measured)
    limits.add("gpu_not_measured", params.device == CPU)
    limits.append("traffic_is_counted")
    if tables["drawn"] and tables["drawn"][-1].at_s > 0:
        values["pictures_per_s"] = tables["drawn"][-1].picture / tables["drawn"][-1].at_s
    if not {NUMPY, TORCH_CPU} <= large.keys():
        return x.Finding("in_part", values, tuple(limits))
    pairs = {"torch_over_numpy": (large[TORCH_CPU], large[NUMPY])}
    if COMPILED in large:
        pairs["compiled_over_numpy"] = (large[COMPILED], large[NUMPY])
    if COMPILED_ONE in large:
        pairs["compiled_one_over_numpy"] = (large[COMPILED_ONE], large[NUMPY])
    if TORCH_GPU in large:
        pairs["gpu_over_cpu"] = (large[TORCH_GPU], large[TORCH_CPU])
    compared, unclear = x.ratios(pairs)
    values |= compared
    message = _message(large, is_in_cache="partly_in_cache" in limits)
    return x.Finding(message, values, tuple(limits), unclear)


def _message(large: Mapping[str, x.Spread], *, is_in_cache: bool) -> str:
    """Return the message about the largest plate; a plate in a cache does not wait for memory."""
    if TORCH_GPU in large:
        pair = large[TORCH_CPU], large[TORCH_GPU]
        if not pair[0].is_below(pair[1]):
            return x.unsure(pair) or "gpu_is_not_faster"
        return x.unsure(pair) or ("gpu_is_faster_in_caches" if is_in_cache else "gpu_is_faster")
    operations = [found for engine, found in large.items() if engine not in IN_ONE_PASS]
    if set(IN_ONE_PASS) <= large.keys():
        pairs = dict(enumerate((found, large[COMPILED]) for found in operations))
        pairs[len(pairs)] = large[NUMPY], large[COMPILED_ONE]
        judged = x.family(pairs, x.Spread.against).values()
        if all(each.outcome is x.Outcome.DIFFERS and not each.is_above for each in judged):
            return "compiled_is_faster"
    return "engines_compared"


def _memory(params: Params, tables: x.Tables, machine: x.Machine) -> dict[str, float]:
    """Return each memory's rate, as rated or as measured, and the cells it allows."""
    values: dict[str, float] = {}
    best: dict[bool, float] = {}
    for row in tables["through"]:  # of the processor, with one core or all
        is_gpu = row.where == GPU
        best[is_gpu] = max(row.bytes_per_s, best.get(is_gpu, 0.0))
    if len(best) == 2:
        values["gpu_memory_over_memory"] = best[True] / best[False]
    places = [(CPU, "memory")]
    if params.device != CPU:
        places.append((params.device, "gpu_memory"))
    for device, name in places:
        rate = memory_bytes_per_s(machine, device) or best.get(device != CPU)
        if rate is not None:
            item_bytes = ITEM_BYTES[params.dtype]
            values[f"{name}_bytes_per_s"] = rate
            values[f"{name}_once_cells_per_s"] = rate / (MOVED[COMPILED] * item_bytes)
            values[f"{name}_passes_cells_per_s"] = rate / (PASSES * item_bytes)
    return values


def _is_in_cache(params: Params, machine: x.Machine) -> bool:
    """May caches hold part of the largest plate? Then memory does not limit it."""
    field_bytes = params.large**2 * ITEM_BYTES[params.dtype]
    known = [cache_bytes(machine, device) for device in {CPU, params.device}]
    return any(not each or field_bytes < BEYOND_CACHE * each for each in known)


def _exceeds(params: Params, large: Mapping[str, x.Spread], values: Mapping[str, float]) -> bool:
    """Is an engine faster than its memory allows?"""
    for engine, found in large.items():
        rate = values.get("gpu_memory_bytes_per_s" if engine in ON_GPU else "memory_bytes_per_s")
        moved = found.median * MOVED[engine] * ITEM_BYTES[params.dtype]
        if rate is not None and moved > TOO_MUCH * rate:
            return True
    return False


def defaults(machine: x.Machine) -> Params:
    """Take a plate that no cache holds, within the free memory and half a minute."""
    device = default_device(machine)
    known = max(cache_bytes(machine, each) or 0 for each in (CPU, device))
    params = Params(device=device, large=LEAST_LARGE)
    while params.large**2 * ITEM_BYTES[params.dtype] < BEYOND_CACHE * known:
        wider = replace(params, large=2 * params.large)
        wanted_bytes = memory_bytes(wider)
        is_too_much = x.fits(wanted_bytes, FREE_SHARE) < wanted_bytes
        if is_too_much or seconds(replace(wider, rounds=5)) > x.Budget().full_s:
            break
        params = wider
    return params


def seconds(params: Params) -> float:
    """Estimate from cautious rates of the engines, and from the time to compile."""
    total_s = 0.8 + params.shown_s
    on_gpu = params.device != CPU
    if on_gpu and params.compiles:
        total_s += COMPILE_S
    for side in sides(params.large):
        cells = side**2
        total_s += cells * 1e-8  # to fill
        for engine, rate in CELLS_PER_S.items():
            if engine in ON_GPU and not on_gpu:
                continue
            step_s = cells / rate
            total_s += params.rounds * (step_s + max(SAMPLE_S, step_s))
            total_s += 2 * step_s + 2 * min(SAMPLE_S, 10 * step_s)
    return total_s


def memory_bytes(params: Params) -> int:
    """Return the bytes of two fields of each size, and the smaller one's pictures."""
    cells = sum(side**2 for side in sides(params.large)) + 4 * USUAL**2
    return 2 * cells * ITEM_BYTES[params.dtype]


EXPERIMENT = x.Experiment(
    params=Params,
    tables={
        "rates": Rate,
        "through": Through,
        "checks": Check,
        "drawn": Drawn,
        "conditions": Condition,
    },
    measure=measure,
    loop="kernels.py:spread_rows",
    analyse=analyse,
    views=(
        x.Lines(
            "rates",
            "rates",
            x.Axis("side"),
            x.Axis("cells_per_s"),
            series="engine",
            order=ENGINES,
            limits=(
                x.Limit("once", "memory_once_cells_per_s"),
                x.Limit("passes", "memory_passes_cells_per_s"),
                x.Limit("gpu_once", "gpu_memory_once_cells_per_s"),
                x.Limit("gpu_passes", "gpu_memory_passes_cells_per_s"),
            ),
        ),
        x.Lines(
            "traffic",
            "rates",
            x.Axis("side"),
            x.Axis("bytes_per_s"),
            series="engine",
            order=ENGINES,
            limits=(
                x.Limit("memory", "memory_bytes_per_s"),
                x.Limit("gpu_memory", "gpu_memory_bytes_per_s"),
            ),
        ),
        x.Field("field", "drawn"),
    ),
    values=x.values(
        *(f"{engine}_cells_per_s" for engine in ENGINES),
        *(
            x.Value(
                f"{engine}_large_cells_per_s",
                {TORCH_CPU: x.Part.CORES, TORCH_GPU: x.Part.GPU}.get(engine),
            )
            for engine in ENGINES
        ),
        "torch_over_numpy",
        "compiled_over_numpy",
        "compiled_one_over_numpy",
        "gpu_over_cpu",
        "gpu_memory_over_memory",
        "memory_bytes_per_s",
        "memory_once_cells_per_s",
        "memory_passes_cells_per_s",
        "gpu_memory_bytes_per_s",
        "gpu_memory_once_cells_per_s",
        "gpu_memory_passes_cells_per_s",
        "largest_difference",
        "pictures_per_s",
    ),
    keys=(
        x.Key("numpy_large_cells_per_s", "rates", ("numpy",)),
        x.Key("compiled_large_cells_per_s", "rates", ("compiled",)),
        x.Key("torch_gpu_large_cells_per_s", "rates", ("torch_gpu",)),
    ),
    next=x.Next("stream", {"large": 640}),
    parts=(x.Part.MEMORY, x.Part.CORES, x.Part.GPU),
    imports=("torch", "numpy", "numba"),
    can_do_without=("numba",),
    defaults=defaults,
    quick=x.change(  # nothing that torch must compile first
        compiles=False, rounds=5, at_most={"large": LEAST_LARGE, "shown_s": 0.5}
    ),
    smallest=x.change(large=64, shown_s=0.1, rounds=2),
    budget=x.Budget(full={"rounds": 5, "large": USUAL}, quick={"large": USUAL}),
    seconds=seconds,
    memory_bytes=memory_bytes,
    quiet_limit_s=60.0,  # torch reports nothing while it compiles for a GPU
)
