"""When does the call of a copy come back?

Method: one buffer is copied from and to pinned and pageable memory, blocking and not, in shuffled
rounds. The caller's clock is read when the call is back, and when the device has nothing left to
do. Then the run does, as fast as possible, two things that a program must not do. Right after the
call it reads the end of the data that comes from the GPU. Or it overwrites the end of the data that
goes there. It repeats both after waiting for an event. Copies begin at the front, so the end has
not arrived yet.

Not shown: that a read is safe. A program that is slow enough reads the right bytes.

Seen on an H100 over PCIe: both unsafe tries read or sent nothing but wrong bytes.
To be confirmed on a GPU: the same over NVLink-C2C and on AMD.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

from experiments import api as x
from experiments.devices.assumed import (
    PAGEABLE_BYTES_PER_S,
    PINNED_BYTES_PER_S,
    PINNING_BYTES_PER_S,
)
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, gpus_of, on_first_device
from experiments.devices.host_memory import PAGEABLE, PINNED, can_pin, host_memory, near
from experiments.devices.timing import warm, whole_s

DIRECTIONS = ("to_gpu", "from_gpu")
COMBINATIONS = (
    "pageable_blocking",
    "pageable_non_blocking",
    "pinned_blocking",
    "pinned_non_blocking",
)
UNTILS = {"back": "returned", "done": "finished"}
TRIES = ("read_at_once", "read_after_waiting", "changed_at_once", "changed_after_waiting")
TAIL_BYTES = 256 * x.KIB  # read or overwritten: takes far less time than a copy of many MiB
EARLY = 0.5  # of the whole time: a call that returns earlier did not wait for the copy


class Params(x.Params):
    """The parameters; `size_bytes` is copied each time."""

    device: str = x.param(CPU, choices=gpus_of)
    size_bytes: int = x.param(64 * x.MIB, minimum=x.KIB, maximum=4 * x.GIB, scale="log2")
    rounds: int = x.param(10, minimum=1, maximum=50)


class ToGpu(x.Row):
    """Time from the call until it is "back", or until the copy is "done"."""

    combination: str
    until: str
    repeat: int
    after_s: float


class FromGpu(ToGpu):
    """The same on the way back."""


class Try(x.Row):
    """The share of bytes, read or arrived, that differ from those sent."""

    tried: str
    memory: str
    repeat: int
    wrong_fraction: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield every combination and every try in shuffled rounds."""
    device = Device(params.device, bench)
    with near(device):
        size = device.fitting(params.size_bytes, lambda size: 2 * size, x.KIB)
        if size < params.size_bytes:
            yield x.Note("less_on_gpu", {"largest_bytes": size})
        kinds = (PAGEABLE, PINNED) if can_pin(device) else (PAGEABLE,)
        host = {kind: host_memory(device, size, kind) for kind in kinds}
        there = device.torch.empty(size, dtype=device.torch.uint8, device=device.name)
        arms = [
            (kind, call, direction)
            for kind, call, direction in product(kinds, ("blocking", "non_blocking"), DIRECTIONS)
        ]
        tries = list(product(kinds, TRIES))
        calls = {arm: _copy(there, host[arm[0]], *arm[1:]) for arm in arms}
        warm(device, calls[arms[0]])
        for call in calls.values():
            whole_s(device, call)
        for kind, tried in tries:
            _wrong(device, there, host[kind], tried, 1)
        conditions = Conditions(device)
        for turn, arm in bench.interleave([*arms, *tries], params.rounds):
            if arm in calls:
                yield from _timed(device, calls[arm], arm, turn.round)
            else:
                kind, tried = arm
                wrong = _wrong(device, there, host[kind], tried, 2 + turn.round)
                yield Try(tried=tried, memory=kind, repeat=turn.round, wrong_fraction=wrong)
            if arm == arms[-1]:
                yield from conditions.rows(turn.round)
            yield x.Progress(turn.fraction)


def _copy(there: Any, host: Any, call: str, direction: str) -> Callable[[], object]:
    target, source = (there, host) if direction == "to_gpu" else (host, there)
    return partial(target.copy_, source, non_blocking=call == "non_blocking")


def _timed(
    device: Device, call: Callable[[], object], arm: tuple[str, str, str], repeat: int
) -> Iterator[ToGpu]:
    device.wait()
    start_s = device.bench.now_s()
    call()
    returned_s = device.bench.now_s() - start_s
    device.wait()
    finished_s = device.bench.now_s() - start_s
    kind, how, direction = arm
    row = ToGpu if direction == "to_gpu" else FromGpu
    for until, after_s in zip(UNTILS, (returned_s, finished_s), strict=True):
        yield row(combination=f"{kind}_{how}", until=until, repeat=repeat, after_s=after_s)


def _wrong(device: Device, there: Any, host: Any, tried: str, number: int) -> float:
    """Return the share of wrong bytes among the last ones; `number` marks this copy's data."""
    tail = slice(-min(TAIL_BYTES, len(host)), None)
    sent, other = number % 100, 100 + number % 100
    waits = tried.endswith("after_waiting")
    if tried.startswith("read"):
        there.fill_(sent)
        host.fill_(other)
        device.wait()
        host.copy_(there, non_blocking=True)
        if waits:
            device.mark().wait()
        found = host[tail].clone()  # with the checksum of what has arrived by now
        device.wait()
    else:
        there.fill_(other)
        host.fill_(sent)
        device.wait()
        there.copy_(host, non_blocking=True)
        if waits:
            device.mark().wait()
        host[tail].fill_(other)
        device.wait()
        found = there[tail].cpu()
    return int((found != sent).sum()) / len(found)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Name the calls that return before the copy is done, and the effect on the data."""
    of: dict[tuple[str, str, str], x.Spread] = {}
    for direction in DIRECTIONS:
        rows = tables[direction]
        for key, found in x.spreads_of(rows, "after_s", "combination", "until").items():
            of[(*key, direction)] = found
    values = {f"{how}_{to}_{UNTILS[until]}_s": s.median for (how, until, to), s in of.items()}
    wrong = x.spreads_of(tables["tries"], "wrong_fraction", "memory", "tried")
    values |= {f"{kind}_{tried}_wrong_fraction": s.median for (kind, tried), s in wrong.items()}
    limits = ["slow_is_not_safe"]
    if any(found.high > 0 for (_, tried), found in wrong.items() if tried.endswith("waiting")):
        limits.append("wrong_after_waiting")
    timed = {(how, to) for how, until, to in of if until == "done"}
    if {how for how, _ in timed} and not any(how.startswith(PINNED) for how, _ in timed):
        limits.append("cannot_pin")
    pairs = {
        (how, to): (of[how, "back", to], of[how, "done", to])
        for how, to in timed
        if (how, "back", to) in of
    }
    judged = x.family(pairs, x.Spread.against)
    early = {
        call
        for call, (back, done) in pairs.items()
        if judged[call].outcome is x.Outcome.DIFFERS and back.median < EARLY * done.median
    }
    pinned = {("pinned_non_blocking", direction) for direction in DIRECTIONS}
    if not pinned <= timed or not set(product((PINNED,), TRIES)) <= wrong.keys():
        return x.Finding("in_part", values, tuple(limits))
    unknown = (pairs[call] for call in pinned - early if call in pairs)
    if (unsure := x.unsure(*unknown)) is not None:
        return x.Finding(unsure, values, tuple(limits))
    if early != pinned:
        return x.Finding("early_elsewhere" if early else "waits", values, tuple(limits))
    to_gpu = of["pinned_non_blocking", "done", "to_gpu"].median
    values["finished_over_returned"] = to_gpu / values["pinned_non_blocking_to_gpu_returned_s"]
    is_unsafe = {
        tried: wrong[PINNED, tried].median > wrong[PINNED, later].high
        for tried, later in (TRIES[:2], TRIES[2:])
    }
    if all(is_unsafe.values()):
        return x.Finding("early_and_unsafe", values, tuple(limits))
    message = "early_and_read_unsafe" if is_unsafe["read_at_once"] else "early_by_luck"
    return x.Finding(message, values, tuple(limits))


def seconds(params: Params) -> float:
    """Estimate from the bytes that are copied and filled."""
    copies_s = 4 / PINNED_BYTES_PER_S + 4 / PAGEABLE_BYTES_PER_S
    tries_s = 4 / PINNED_BYTES_PER_S + 4 / PAGEABLE_BYTES_PER_S + 8 / PINNING_BYTES_PER_S / 2
    turn_s = params.size_bytes * (copies_s + tries_s) + 0.05
    begin_s = 1.0 + memory_bytes(params) / PINNING_BYTES_PER_S
    return begin_s + (params.rounds + 1) * turn_s


def memory_bytes(params: Params) -> int:
    """Return the bytes of one pinned and one pageable buffer."""
    return 2 * params.size_bytes


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"to_gpu": ToGpu, "from_gpu": FromGpu, "tries": Try, "conditions": Condition},
    measure=measure,
    loop="experiment.py:_timed",
    analyse=analyse,
    views=(
        *(
            x.Bars(
                direction, direction, "combination", "after_s", detail="until", order=COMBINATIONS
            )
            for direction in DIRECTIONS
        ),
        x.Bars("tries", "tries", "tried", "wrong_fraction", detail="memory", order=TRIES),
    ),
    values=x.values(
        *(
            x.Value(f"{how}_{direction}_{until}_s", x.Part.PCIE if until == "finished" else None)
            for how, direction, until in product(COMBINATIONS, DIRECTIONS, UNTILS.values())
        ),
        *(f"{kind}_{tried}_wrong_fraction" for kind, tried in product((PINNED, PAGEABLE), TRIES)),
        "finished_over_returned",
    ),
    keys=(
        x.Key("pinned_non_blocking_to_gpu_returned_s", "to_gpu", ("pinned_non_blocking",)),
        x.Key("pinned_non_blocking_to_gpu_finished_s", "to_gpu", ("pinned_non_blocking",)),
        x.Key("pinned_read_at_once_wrong_fraction", "tries", ("read_at_once",)),
    ),
    next=x.Next("streams", {"size_bytes": x.GIB}),
    parts=(x.Part.PCIE, x.Part.MEMORY, x.Part.GPU),
    needs=(x.Need.GPU,),
    imports=("torch",),
    defaults=on_first_device(Params),
    quick=x.change(rounds=5, at_most={"size_bytes": 32 * x.MIB}),
    smallest=x.change(size_bytes=x.MIB, rounds=2),
    seconds=seconds,
    memory_bytes=memory_bytes,
)
