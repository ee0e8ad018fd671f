"""Functions that the lesson of talk-cost calls."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

from experiments import api as x

from .experiment import APART, COPY, IN_A_ROW, KEPT, WIDE

HELD_BACK = ("shared_memory",)
CLEARLY = 1.25  # times as fast: a cause that was taken away did cost
FASTER_THAN_BYTES = 1.5  # times
ON_THE_FLOOR = 2.0  # times the usual round trip of the smaller half of the messages
SAME, A_LITTLE = 1.5, 10.0  # times as long: up to which an answer is right
FAR_LESS_OFTEN = 4.0  # times: so much less often the sender waits for a larger pipe
SMALL_BYTES, LARGE_BYTES = 64 * x.KIB, x.MIB
WAKING = 2.0, 8.0  # times waking alone
MOST_BYTES = x.MIB  # of a message that moves on the drawing: 16 pieces of 64 KiB


def numbers(run: x.LessonRun, guess: x.Guess | None) -> dict[str, float]:
    """Return how far a message through the pipe grows, and as how far it was drawn.

    Beside them, what its parts and two plain copies take.
    """
    found: dict[str, float] = {}
    if guess is not None:
        found["guess_over_small"] = guess.at[-1] / guess.at[0]
    if {"pipe_large_s", "pipe_small_s"} <= run.values.keys():
        found["large_over_small"] = run.values["pipe_large_s"] / run.values["pipe_small_s"]
    if "through_pipe_waits" in run.values:
        found["through_pipe_waits"] = round(run.values["through_pipe_waits"])
    if "copy_large_s" in run.values:
        found["two_copies_s"] = 2 * run.values["copy_large_s"]
    if run.values.keys() >= (parts := {f"{part}_s" for part in IN_A_ROW}):
        found["parts_s"] = sum(run.values[part] for part in parts)
    line = _line(run, "pipe")
    if (last := _last_on_floor(line)) is not None and last < max(line):
        found["time_over_floor"] = line[max(line)] / line[last]
        found["size_over_floor"] = max(line) // last
    return found


def heights(run: x.LessonRun, points: Sequence[float]) -> list[float | None]:
    """Return the seconds of messages of these sizes through a pipe, None where not measured."""
    line = _line(run, "pipe")
    return [line.get(round(size)) for size in points]


def option_by_growth(run: x.LessonRun) -> int | None:
    """Return the answer by how many times the smallest message the largest takes."""
    line = _line(run, "pipe")
    if len(line) < 2:
        return None
    grown, bytes_grew = line[max(line)] / line[min(line)], max(line) / min(line)
    return 3 if 2 * grown >= bytes_grew else sum(grown > most for most in (SAME, A_LITTLE))


def end_of_the_floor(run: x.LessonRun) -> x.Spot:
    """Return the stretch from the last quick message through a pipe to the next larger one."""
    line = _line(run, "pipe")
    if len(line) < 2:
        return x.Spot()
    last = _last_on_floor(line)
    low, high = next((step for step in pairwise(line) if step[0] == last), [*pairwise(line)][-1])
    return x.Spot(low=low, high=high * math.sqrt(2))


keeps_up = x.found("a_process_keeps_up")  # did a process answer as soon as a thread?


def sender_waited(run: x.LessonRun) -> bool:
    """Did the system count more than one wait for a message, and say what a pipe holds?"""
    known = "into_kept_memory_holds_bytes" in run.values
    return known and run.values.get("through_pipe_waits", 0.0) > 1.5


def waking_costs(run: x.LessonRun) -> bool:
    """Was a larger pipe, for which the sender waits far less often, clearly faster?"""
    return _spares_waits(run) and run.values["through_wide_pipe_gain"] >= CLEARLY


def waking_is_cheap(run: x.LessonRun) -> bool:
    """Was it not clearly faster, and did no other load hide that?"""
    is_hardly_faster = _spares_waits(run) and run.values["through_wide_pipe_gain"] < CLEARLY
    return is_hardly_faster and run.trust == "solid"


def new_memory_costs(run: x.LessonRun) -> bool:
    """Was it clearly faster to read into memory that is kept?"""
    return run.values.get("into_kept_memory_gain", 0.0) >= CLEARLY


def parts_fall_short(run: x.LessonRun) -> bool:
    """Do the parts of the largest message, timed apart, add up to clearly less than it took?"""
    parts_s, whole_s = numbers(run, None).get("parts_s"), run.values.get("pipe_large_s")
    return parts_s is not None and whole_s is not None and parts_s < (1 - APART) * whole_s


def grows_faster_than_bytes(run: x.LessonRun) -> bool:
    """Did the time of a message grow clearly more than its bytes, beyond the floor?"""
    grew = numbers(run, None)
    bytes_grew = grew.get("size_over_floor", math.inf)
    return grew.get("time_over_floor", 0.0) >= FASTER_THAN_BYTES * bytes_grew


def fits_the_pipe(run: x.LessonRun) -> bool:
    """Does the largest message fit into the pipe at once?"""
    holds_bytes = run.values.get("into_kept_memory_holds_bytes", 0.0)
    return run.values.get("large_bytes", math.inf) < holds_bytes


def no_gain_by_sharing(run: x.LessonRun) -> bool:
    """Did a message of middle size take nearly as long through shared memory as through a pipe?"""
    pipe_s, shared_s = run.values.get("pipe_large_s"), run.values.get("shared_memory_large_s")
    if pipe_s is None or shared_s is None:
        return False
    size = run.values.get("large_bytes", 0.0)
    return SMALL_BYTES <= size <= LARGE_BYTES and pipe_s < CLEARLY * shared_s


def mostly_waking(run: x.LessonRun) -> bool:
    """Did an array take a few times as long as waking the other side alone?"""
    pipe_s, wake_s = run.values.get("pipe_large_s"), run.values.get("wake_s")
    if run.params.payload != "array" or pipe_s is None or wake_s is None:
        return False
    least, most = WAKING
    return least * wake_s <= pipe_s <= most * wake_s


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """One message, piece by piece through a pipe, and at the same time through shared memory.

    The pieces share the measured time of the message evenly. In the first half of a piece's time
    the sender is awake, in the second the receiver. A point of the line chooses the message.
    """
    holds_bytes = run.values.get("into_kept_memory_holds_bytes")
    pipe, shared, copy = (_line(run, way) for way in ("pipe", "shared_memory", COPY))
    sizes = [size for size in pipe if size <= MOST_BYTES and size in shared and size in copy]
    if not holds_bytes or not sizes:
        return None
    size = max(sizes)
    if pointed is not None and pointed.view == "round_trip" and pointed.at:
        near = math.log(pointed.at)
        size = min(sizes, key=lambda each: abs(math.log(each) - near))
    pieces, shared_s = math.ceil(size / holds_bytes), shared[size]
    piece_s, written_s = pipe[size] / pieces, min(copy[size], shared_s)
    duration_s = max(pipe[size], shared_s)
    events: list[x.Travel | x.Hold | x.Count] = []
    fulls = []
    for number in range(pieces):
        start_s = number * piece_s
        full_s, end_s = start_s + piece_s / 2, min(start_s + piece_s, duration_s)
        fulls.append(full_s)
        events += [
            x.Hold(shape="sender", start_s=start_s, end_s=full_s),
            x.Travel(along=("sender", "pipe"), start_s=start_s, end_s=full_s),
            x.Hold(shape="receiver", start_s=full_s, end_s=end_s, role="second"),
            x.Travel(along=("pipe", "receiver"), start_s=full_s, end_s=end_s),
        ]
    events += [
        x.Count(shape="sender", label="waits", times=tuple(fulls)),
        x.Hold(shape="writer", start_s=0.0, end_s=written_s),
        x.Travel(along=("writer", "shared"), start_s=0.0, end_s=written_s),
        x.Hold(shape="reader", start_s=written_s, end_s=shared_s, role="second"),
        x.Travel(along=("shared", "reader"), start_s=written_s, end_s=shared_s),
    ]
    return x.Motion(
        scenes=(x.Scene(events=tuple(events)),),
        duration_s=duration_s,
        stills=(0.1 * duration_s, 0.5 * duration_s, 0.9 * duration_s),
        says=(
            x.Say(text="sleeps", start_s=0.0),
            x.Say(text="shared_done", start_s=shared_s),
        ),
    )


def _spares_waits(run: x.LessonRun) -> bool:
    """Was a larger pipe timed, and did the sender wait far less often for it?"""
    waits = [run.values.get(f"{part}_waits", 0.0) for part in (KEPT, WIDE)]
    return "through_wide_pipe_gain" in run.values and waits[0] >= FAR_LESS_OFTEN * waits[1] > 0


def _last_on_floor(line: dict[int, float]) -> int | None:
    """Return the largest message that takes about as long as small ones; None of fewer than two."""
    if len(line) < 2:
        return None
    floor_s = ON_THE_FLOOR * statistics.median([*line.values()][: len(line) // 2])
    return max((size for size in line if line[size] <= floor_s), default=min(line))


def _line(run: x.LessonRun, way: str) -> dict[int, float]:
    """Return the median round trip of each size of message, the smallest first."""
    found = x.medians(
        (row.message_bytes, row.round_trip_s) for row in run.tables["talks"] if row.method == way
    )
    return dict(sorted(found.items()))
