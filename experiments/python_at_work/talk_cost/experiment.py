"""What does it cost to hand something over? To a thread, and to a process in three ways.

Method: a message goes to a waiting thread or process, which checks its length and end and answers
with a word. A sample is a batch of such round trips. Through shared memory the sender writes the
message, signals through a pipe, and the receiver uses it in place. A plain copy of the same bytes
is the line that no way of copying can be better than. Sizes and ways are shuffled in each round;
compared are the medians. The parts of a large message through a pipe are timed alone. Then possible
causes of its time are removed, one after another. The other end reads into memory that it keeps.
The pipe is made to hold 16 times as much, so that it stops the sender 16 times less often. The
system counts how often this end waits.
Source: the documentation of multiprocessing (queues, pipes, shared memory); Linux, pipe(7).

Not shown: the gain of sending many messages at once, before the first is answered.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from experiments import api as x
from experiments.tools.batches import batch
from experiments.tools.interpreters import own

SMALLEST_BYTES = 64
STEP = 4  # from one size to the next
WAYS = ("thread_queue", "pipe", "process_queue", "shared_memory")
COPY = "copy"
IN_A_ROW = ("serialise", "through_pipe", "rebuild")  # the wake-up is in the second
PIPE, KEPT, WIDE = SPARED = ("through_pipe", "into_kept_memory", "through_wide_pipe")
PARTS = ("serialise", *SPARED, "rebuild", "wake")
WAITED = ("thread_queue", *SPARED, "shared_memory")  # of which waits are shown
APART = 0.2  # of the whole: its parts' sum may differ by as much without a remark
UNEVEN = 1.5  # times: then one answer clearly comes later than another
COPIES = 10  # of the largest message that the ends may hold together
FREE_SHARE = 0.25


class Params(x.Params):
    """The parameters; messages are 64 bytes times powers of four."""

    largest_bytes: int = x.param(16 * x.MIB, minimum=x.KIB, maximum=256 * x.MIB, scale="log2")
    payload: str = x.param("bytes", choices=("bytes", "array", "list"))
    sample_s: float = x.param(0.01, minimum=0.001, maximum=1.0, scale="log10")
    rounds: int = x.param(11, minimum=1, maximum=50)


class Talk(x.Row):
    """The mean of a batch of round trips with one size of message."""

    method: str
    message_bytes: int = x.column(scale="log2")
    repeat: int
    round_trip_s: float = x.column(scale="log10")


class PartTime(x.Row):
    """One part of sending the largest message through a pipe, timed alone."""

    part: str
    repeat: int
    part_s: float


class Wait(x.Row):
    """The mean number of waits of this end in one largest message, over a batch."""

    handed: str
    repeat: int
    waits: float


class PipeSize(x.Row):
    """The bytes that a pipe holds at once."""

    part: str
    holds_bytes: int


def sizes(params: Params) -> list[int]:
    """Return the sizes of messages, smallest first."""
    return x.ladder(SMALLEST_BYTES, params.largest_bytes, STEP)


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each way, size and round, and for each part and round."""
    from experiments.tools import talk_jobs

    with contextlib.closing(own(talk_jobs, bench.check_stop)) as python:
        largest_bytes = max(sizes(params))
        pipes = python.do(arm="start", largest_bytes=largest_bytes)["pipes"]
        for part, holds_bytes in pipes.items():
            yield PipeSize(part=part, holds_bytes=holds_bytes)
        parts = [part for part in PARTS if part not in (KEPT, WIDE) or part in pipes]
        talk = partial(python.do, arm="talk", payload=params.payload)
        arms = [(method, size) for method in (*WAYS, COPY) for size in sizes(params)]
        arms += [(part, largest_bytes) for part in parts]
        counts: dict[tuple[str, int], int] = {}
        for turn, (method, size_bytes) in bench.interleave(arms, params.rounds):
            once = partial(talk, method=method, bytes=size_bytes)
            if (method, size_bytes) not in counts:
                taken_s = partial(_taken_s, once)
                counts[method, size_bytes] = batch(taken_s, params.sample_s)
            count = counts[method, size_bytes]
            done = once(count=count)
            each_s = done["taken_s"] / count
            if method in PARTS:
                yield PartTime(part=method, repeat=turn.round, part_s=each_s)
            else:
                yield Talk(
                    method=method,
                    message_bytes=size_bytes,
                    repeat=turn.round,
                    round_trip_s=each_s,
                )
            if method in WAITED and size_bytes == largest_bytes and done["waits"] is not None:
                yield Wait(handed=method, repeat=turn.round, waits=done["waits"])
            yield x.Progress(turn.fraction)


def _taken_s(once: Callable[..., dict[str, float]], count: int) -> float:
    return once(count=count)["taken_s"]


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the ways at the largest message: a thread with every process."""
    of = x.spreads_of(tables["talks"], "round_trip_s", "method", "message_bytes")
    small_bytes, large_bytes = min(sizes(params)), max(sizes(params))
    values: dict[str, float] = {"small_bytes": small_bytes, "large_bytes": large_bytes}
    for method in (*WAYS, COPY):
        if (method, small_bytes) in of and method != COPY:
            values[f"{method}_small_s"] = of[method, small_bytes].median
        if (method, large_bytes) in of:
            large_s = of[method, large_bytes].median
            values |= {
                f"{method}_large_s": large_s,
                f"{method}_large_bytes_per_s": large_bytes / large_s,
            }
    for part, found in x.spreads_of(tables["steps"], "part_s", "part").items():
        values[f"{part}_s"] = found.median
    for usual, spared in pairwise(SPARED):
        if values.keys() >= {f"{usual}_s", f"{spared}_s"}:
            values[f"{spared}_gain"] = values[f"{usual}_s"] / values[f"{spared}_s"]
    for way, found in x.spreads_of(tables["waits"], "waits", "handed").items():
        values[f"{way}_waits"] = found.median
    values |= {f"{row.part}_holds_bytes": row.holds_bytes for row in tables["pipes"]}
    limits = x.Limits()
    medians_s = {way: [of[key].median for key in sorted(of) if key[0] == way] for way in WAYS}
    sooner = any(a > UNEVEN * b for some_s in medians_s.values() for a, b in pairwise(some_s))
    by_reference = medians_s["thread_queue"]
    later = bool(by_reference) and max(by_reference) > UNEVEN * min(by_reference)
    if sooner or later or values.get("wake_s", 0.0) > values.get("pipe_small_s", math.inf):
        limits.append("wakes_uneven")
    shared, copied = of.get(("shared_memory", large_bytes)), of.get((COPY, large_bytes))
    limits.add("shared_as_copied", shared and copied and copied.is_no_lower(shared))
    parts_s = sum(values.get(f"{part}_s", math.nan) for part in IN_A_ROW)
    whole_s = values.get("pipe_large_s", math.nan)
    if abs(parts_s - whole_s) > APART * whole_s:  # nothing is said of unknown values
        limits.append("parts_do_not_add_up")
    limits.add("virtual_machine", x.is_virtual(machine))
    limits.append("one_at_a_time")
    at_large = {way: of[way, large_bytes] for way in WAYS if (way, large_bytes) in of}
    if not values.keys() >= {f"{way}_{s}_s" for way in WAYS for s in ("small", "large")}:
        return x.Finding("nothing_to_compare", values, tuple(limits))
    thread = at_large.pop("thread_queue")
    pairs = [(thread, found) for found in at_large.values()]
    wins = all(one.is_below(other) for one, other in pairs)
    message = x.unsure(*pairs) or ("threads_pass_a_reference" if wins else "a_process_keeps_up")
    return x.Finding(message, values, tuple(limits))


def seconds(params: Params) -> float:
    """Estimate: a sample for each way and size, or one message if that takes longer."""
    slow_s = 4e-9 * sum(sizes(params)) * (20 if params.payload == "list" else 1)
    samples = (len(WAYS) + 1) * len(sizes(params)) + len(PARTS)
    return 0.4 + (params.rounds + 2) * (samples * 1.1 * params.sample_s + 5 * slow_s)


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"talks": Talk, "steps": PartTime, "waits": Wait, "pipes": PipeSize},
    measure=measure,
    loop="tools/talk_jobs.py:talk",
    analyse=analyse,
    views=(
        x.Lines(
            "round_trip",
            "talks",
            x.Axis("message_bytes"),
            x.Axis("round_trip_s"),
            series="method",
            order=(*WAYS[:-1], COPY, WAYS[-1]),  # each has the colour that it has below
        ),
        x.Bars(
            "parts",
            "steps",
            "part",
            "part_s",
            order=PARTS,
            limits=(x.Limit("whole", "pipe_large_s", "x"),),
        ),
        x.Bars("waits", "waits", "handed", "waits", order=WAITED),
    ),
    values=x.values(
        *(x.Value(f"{way}_small_s", x.Part.CORES) for way in WAYS),
        *(f"{way}_large_s" for way in WAYS),
        *(f"{way}_large_bytes_per_s" for way in WAYS),
        "copy_large_s",
        "copy_large_bytes_per_s",
        *(f"{part}_s" for part in PARTS),
        *(f"{part}_gain" for part in (KEPT, WIDE)),
        *(f"{way}_waits" for way in WAITED),
        *(f"{part}_holds_bytes" for part in (KEPT, WIDE)),
        "small_bytes",
        "large_bytes",
    ),
    uses=(x.Use.PIPE_SIZE, x.Use.WAITS),
    keys=(
        *(
            x.Key(f"{way}_large_s", "round_trip", (way,), at="large_bytes")
            for way in ("thread_queue", "pipe", "shared_memory")
        ),
    ),
    next=x.Next("uneven", {"payload": "list"}),
    parts=(x.Part.CORES, x.Part.L3, x.Part.MEMORY),
    defaults=lambda _machine: Params(
        largest_bytes=max(x.fits(16 * x.MIB, FREE_SHARE / COPIES), x.KIB)
    ),
    quick=x.change(largest_bytes=lambda size: max(size // 16, x.KIB), sample_s=0.003, rounds=5),
    smallest=x.change(largest_bytes=64 * x.KIB, sample_s=0.001, rounds=2),
    seconds=seconds,
    quiet_limit_s=60.0,  # large lists take long
    memory_bytes=lambda params: COPIES * params.largest_bytes + 100 * x.MIB,
)
