"""Does heavy maths cost anything, or does the memory hide it?

Method: an activation function is applied to every number of an array that no cache holds. The
results go into an existing array. Copying one array to the other gives the time of memory alone.
The same is done with few numbers, which stay in a cache. The backward pass gives the time of each
function's gradients. All functions are timed in shuffled rounds, on the GPU and on one core of the
processor beside it. The queue of a GPU is held, so calls do not count. Few numbers take hardly
longer than a kernel's start, so there twenty calls form one graph. Each function is compared with
copying and ReLU on the same device; compared are the medians.

Not shown: the time of a function without its call, which costs the processor some microseconds and
weighs on few numbers; the cost of a function that a compiler joins with the work before it
(`compile`). Its numbers then do not come from memory at all.

Seen on an H100: copy, ReLU and tanh are level at 2.7 ps a number; from half of its L2 1.6 ps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from experiments import api as x
from experiments.devices.ceilings import cache_bytes
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, default_device, devices_of
from experiments.devices.graphs import has_graphs, in_one_call
from experiments.devices.timing import Taken, enough, taken, warm

from .elementwise import (
    ARRAYS,
    COPY,
    FP32_BYTES,
    FUNCTIONS,
    GELU,
    RELU,
    SIGMOID,
    TANH,
    Arrays,
    count_in_cache,
)

GPU = "gpu0"  # the only GPU of a run
HEAVY = (TANH, SIGMOID, GELU)
LARGE, SMALL, BACK = "large", "small", "back"
UNKNOWN_CACHE_BYTES = 32 * x.MIB
SAMPLE_S = 2e-3
IN_A_GRAPH = 20  # calls over few numbers: one takes about as long as calling it
MUCH_FASTER = 2.0  # times: so much faster is GELU than tanh only where vectors compute it alone
HARDLY = 0.1  # longer than ReLU: within that a function counts as level with it
CPU_NUMBER_S = 2e-9  # of a function, cautious, to tell the time beforehand
GPU_NUMBER_S = 1e-11  # of a GPU assumed, not measured
FREE_SHARE = 0.4


class Params(x.Params):
    """The parameters; `numbers` are those of the large array."""

    device: str = x.param(CPU, choices=devices_of)
    numbers: int = x.param(16_000_000, minimum=10_000, maximum=4_000_000_000, scale="log10")
    rounds: int = x.param(10, minimum=1, maximum=50)


class Pass(x.Row):
    """One function over the large array, in one round; `device` is "cpu" or "gpu0".

    `what` are function and device in one; `over_copy` is the time against copying in this round.
    """

    function: str
    device: str
    what: str
    repeat: int
    numbers: int
    element_s: float = x.column(scale="log10")
    over_copy: float


class Cached(Pass):
    """The same over so few numbers that they stay in a cache."""


class Backward(Pass):
    """The function's gradient instead, over the large array."""


KINDS: Mapping[str, type[Pass]] = {LARGE: Pass, SMALL: Cached, BACK: Backward}


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each device, array, function and round.

    All functions of an array are timed in one turn, as each is compared with copying there.
    """
    device = Device(params.device, bench)
    devices = {CPU: Device(CPU, bench)} | ({GPU: device} if device.is_gpu else {})
    arrays = dict(_arrays(params, devices))
    yield x.Progress(0.05)
    works = {
        (where, size, function): work
        for (where, size), each in arrays.items()
        for function, work in (each.backward() if size == BACK else each.forward()).items()
    }
    for where, each in devices.items():
        warm(each, works[where, LARGE, COPY])
    for arm, work in works.items():
        if _laps(arm[1], devices[arm[0]]) > 1:
            works[arm] = in_one_call(devices[arm[0]], work, IN_A_GRAPH)
    counts = {}
    for number, (arm, work) in enumerate(works.items()):
        counts[arm] = enough(devices[arm[0]], work, SAMPLE_S)
        yield x.Progress(0.05 + 0.15 * number / len(works))
    conditions = Conditions(device)
    for turn, (where, size) in bench.interleave(list(arrays), params.rounds):
        found = {}
        for place in range(len(FUNCTIONS)):  # none is always first
            function = FUNCTIONS[(turn.round + place) % len(FUNCTIONS)]
            arm = where, size, function
            found[function] = taken(devices[where], works[arm], counts[arm])
        yield from _rows(found, where, size, turn.round, arrays[where, size].count, devices[where])
        if (where, size) == (GPU if device.is_gpu else CPU, LARGE):
            yield from conditions.rows(turn.round)
        yield x.Progress(0.2 + 0.8 * turn.fraction)


def _laps(size: str, device: Device) -> int:
    """Return how often one call goes over the numbers."""
    return IN_A_GRAPH if size == SMALL and has_graphs(device.name) else 1


def _arrays(
    params: Params, devices: Mapping[str, Device]
) -> Iterator[tuple[tuple[str, str], Arrays]]:
    for where, device in devices.items():
        numbers = min(params.numbers, device.free_bytes() // (ARRAYS * FP32_BYTES))
        large = Arrays.on(device, numbers)
        few = min(numbers, count_in_cache(device))
        yield (where, LARGE), large
        yield (where, BACK), large
        if few:
            yield (where, SMALL), large.first(few)


def _rows(
    found: Mapping[str, Taken],
    where: str,
    size: str,
    repeat: int,
    numbers: int,
    device: Device,
) -> Iterator[Pass]:
    """Yield a turn's rows; those of few numbers only if the device did not wait for its calls."""
    copied = found[COPY]
    for function, each in found.items():
        if size == SMALL and not (each.is_clean and copied.is_clean):
            continue
        yield KINDS[size](
            function=function,
            device=where,
            what=f"{function}_{where}",
            repeat=repeat,
            numbers=numbers,
            element_s=each.device_s / (numbers * _laps(size, device)),
            over_copy=each.device_s / copied.device_s,
        )


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the functions with ReLU, from memory and from a cache."""
    large = x.spreads_of(tables["passes"], "element_s", "device", "function")
    small = x.spreads_of(tables["cached"], "element_s", "device", "function")
    back = x.spreads_of(tables["backward"], "element_s", "device", "function")
    limits = x.Limits()
    where_known = {where for where, _ in large}
    limits.add("cache_not_measured", where_known - {where for where, _ in small})
    counts = {row.device: row.numbers for row in tables["passes"]}
    fewer = {row.device for row in tables["cached"] if row.numbers < counts.get(row.device, 0)}
    both = small.keys() & large.keys()
    fills = {where: _fills(where, count, params, machine) for where, count in counts.items()}
    held = {where for where, fill in fills.items() if fill is not None and fill < x.BEYOND_CACHE}
    limits.add("partly_in_cache", not held and None in fills.values())
    limits.add("cores_in_cache", held == {CPU} and params.device != CPU)
    if any(small[arm].median > large[arm].median for arm in both if arm[0] in fewer):
        limits.append("calls_in_cache")
    limits.append("one_function_at_a_time")
    limits.add("gpu_not_measured", params.device == CPU)
    limits.add("gradients_read_more", back)
    values = {f"{function}_{where}_s": s.median for (where, function), s in large.items()}
    values |= {f"{function}_cached_{where}_s": s.median for (where, function), s in small.items()}
    values |= {f"{function}_backward_{where}_s": s.median for (where, function), s in back.items()}
    if large:
        values["copy_over_copy"] = 1.0
    pairs = {}
    for kind, of in (("", large), ("_cached", small)):
        for where in where_known:
            if {(where, RELU), (where, TANH)} <= of.keys():
                name = f"tanh_over_relu{kind}_{where}"
                pairs[name] = of[where, TANH], of[where, RELU]
    compared, unclear = x.ratios(pairs)
    values |= compared
    wanted = {CPU, GPU} if params.device != CPU else {CPU}
    if {(where, function) for where in wanted for function in FUNCTIONS} - large.keys():
        return x.Finding("in_part", values, tuple(limits), unclear)
    message = _message(params, large)
    if held and message != x.TOO_FEW:
        message = _message_of_held(params, large, held)
    return x.Finding(message, values, tuple(limits), unclear)


def _is_tanh_slow(tanh: x.Spread, gelu: x.Spread) -> bool:
    """Does tanh take far longer than GELU, which computes more?"""
    return gelu.is_below(tanh) and MUCH_FASTER * gelu.median <= tanh.median


def _message(params: Params, of: Mapping[tuple[str, str], x.Spread]) -> str:
    """Return the message; a function costs something if it is clearly, not hardly, above ReLU."""
    if x.too_few(found for (_, function), found in of.items() if function in (RELU, *HEAVY)):
        return x.TOO_FEW
    on_cpu, on_gpu = (_costs(of, each) for each in (CPU, CPU if params.device == CPU else GPU))
    if on_gpu is None or (on_cpu is None and not on_gpu):
        return x.CANNOT_TELL
    if params.device == CPU:
        if on_cpu and _is_tanh_slow(of[CPU, TANH], of[CPU, GELU]):
            return "tanh_not_vectorised"
        return "cpu_computes" if on_cpu else "cpu_level"
    if on_gpu:
        return "gpu_computes"
    return "gpu_level_cpu_computes" if on_cpu else "both_level"


def _message_of_held(params: Params, of: Mapping[tuple[str, str], x.Spread], held: Set[str]) -> str:
    """Return the message where caches hold the array of some; the GPU's own counts without it."""
    if params.device == CPU:
        return "cpu_in_cache"
    if GPU in held or (on_gpu := _costs(of, GPU)) is None:
        return "gpu_in_cache" if GPU in held else x.CANNOT_TELL
    return "gpu_computes" if on_gpu else "gpu_level"


def _costs(of: Mapping[tuple[str, str], x.Spread], where: str) -> bool | None:
    """Does a function take longer than ReLU, or is all the same within 10 %? None: unknown."""
    pairs = {each: (of[where, each], of[where, RELU]) for each in HEAVY}
    found = x.family(pairs, x.Spread.against, within=HARDLY).values()
    if any(each.outcome is x.Outcome.DIFFERS and each.is_above for each in found):
        return True
    return None if any(each.outcome is x.Outcome.UNKNOWN for each in found) else False


def _fills(where: str, numbers: int, params: Params, machine: x.Machine) -> float | None:
    """Return how often the two arrays fill the last cache; None where that is unknown."""
    held_bytes = cache_bytes(machine, CPU if where == CPU else params.device)
    return 2 * FP32_BYTES * numbers / held_bytes if held_bytes else None


def defaults(machine: x.Machine) -> Params:
    """Take more numbers than a cache holds, within the free memory and half a minute."""
    device = default_device(machine)
    held_bytes = max(cache_bytes(machine, each) or UNKNOWN_CACHE_BYTES for each in (CPU, device))
    numbers = x.BEYOND_CACHE * held_bytes // (2 * FP32_BYTES)
    number_bytes = ARRAYS * FP32_BYTES
    numbers = x.fits(numbers * number_bytes, FREE_SHARE) // number_bytes
    return Params(device=device, numbers=numbers)


def seconds(params: Params) -> float:
    """Estimate from the numbers, at cautious rates."""
    passes = 2 * len(FUNCTIONS) * (params.rounds + 4)
    number_s = CPU_NUMBER_S if params.device == CPU else CPU_NUMBER_S + GPU_NUMBER_S
    samples_s = 3 * passes * SAMPLE_S * (1 if params.device == CPU else 3)
    return 0.5 + params.numbers * (20e-9 + passes * number_s) + samples_s


def _functions(table: str, key: str) -> x.Bars:
    return x.Bars(
        key=key,
        table=table,
        label="function",
        value="over_copy",
        detail="device",
        order=FUNCTIONS,
        ratio=x.Ratio("element_s", COPY),  # of the times that are shown, so that they divide
        limits=(x.Limit("copying", "copy_over_copy", "x"),),
    )


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"passes": Pass, "cached": Cached, "backward": Backward, "conditions": Condition},
    measure=measure,
    loop="elementwise.py:Arrays.forward",
    analyse=analyse,
    views=(
        _functions("passes", "large"),
        _functions("cached", "small"),
        x.Ruler(
            "elements",
            "passes",
            "what",
            "element_s",
            statistic="median",
            limits=(x.Limit("copying_cpu", "copy_cpu_s"), x.Limit("copying_gpu", f"copy_{GPU}_s")),
        ),
        _functions("backward", "back"),
    ),
    values=x.values(
        *(
            x.Value(f"{function}{kind}_{where}_s", part if not kind else None)
            for where, part in ((CPU, x.Part.CORES), (GPU, x.Part.GPU))
            for kind in ("", "_cached", "_backward")
            for function in FUNCTIONS
        ),
        *(f"tanh_over_relu{kind}_{where}" for where in (CPU, GPU) for kind in ("", "_cached")),
        "copy_over_copy",
    ),
    keys=(
        x.Key("relu_cpu_s", "elements", ("relu_cpu",)),
        x.Key("tanh_cpu_s", "elements", ("tanh_cpu",)),
        x.Key("tanh_gpu0_s", "elements", ("tanh_gpu0",)),
    ),
    next=x.Next("compile", {"numbers": 100_000}),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("torch",),
    defaults=defaults,
    quick=x.change(rounds=5),
    smallest=x.change(numbers=20_000, rounds=2),
    budget=x.Budget(
        full={"rounds": 3, "numbers": 1_000_000},
        quick={"numbers": 1_000_000},
        full_s=25.0,
        quick_s=3.5,
    ),
    seconds=seconds,
    memory_bytes=lambda params: ARRAYS * FP32_BYTES * params.numbers,
)
