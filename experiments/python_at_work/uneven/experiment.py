"""Is the same number of tasks the same work? Rows of a picture, shared out in several ways.

Method: warm processes compute the rows of a Mandelbrot set, of which some cost far more than
others. Shared out beforehand in blocks, or in turn (interleaved), the slowest worker sets the end;
handed out in chunks to free workers, each hand-out costs. The clock runs from the first hand-out to
the last answer; ways and chunks are shuffled in each round, and compared round by round. Ideal is
the time of one worker for all rows, divided by the workers that there are cores for.
Source: Stanford CS149, assignment 1 (threads and Mandelbrot); guided self-scheduling.

Not shown: the best chunk of another job, whose tasks and hand-outs have other costs.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from experiments import api as x
from experiments.tools.interpreters import own

JOBS = Path(__file__).with_name("jobs.py")
SERIAL, BLOCK, INTERLEAVED, DYNAMIC = WAYS = ("serial", "block", "interleaved", "dynamic")
LATE = 0.01  # of the blocks' time: visible in the plot
SHOWN_CHUNKS = (1, 16)  # of the timeline
SHOWN = (BLOCK, INTERLEAVED, *(f"{DYNAMIC}_{chunk}" for chunk in SHOWN_CHUNKS))
AS_IT_COMES, LONGEST_FIRST, SHUFFLED = ORDERS = ("as_it_comes", "longest_first", "shuffled")
TURN_S, IN_SET_FRACTION = (
    2e-7,
    0.24,
)  # of an iteration; the share of iterations that are done


class Params(x.Params):
    """The parameters."""

    workers: int = x.param(4, minimum=1, maximum=64)
    rows: int = x.param(256, minimum=16, maximum=320)
    columns: int = x.param(80, minimum=4, maximum=320)
    iterations: int = x.param(250, minimum=10, maximum=10_000, scale="log10")
    order: str = x.param(AS_IT_COMES, choices=ORDERS)
    rounds: int = x.param(10, minimum=1, maximum=50)


class WayTime(x.Row):
    """All rows in one way, once; efficiency is the share of the workers' time in which they work.

    `chunk` is how many rows are handed out at a time.
    """

    way: str
    chunk: int = x.column(scale="log2")
    repeat: int
    wall_s: float
    efficiency_fraction: float


class ChunkSpan(x.Row):
    """A chunk at a worker, in the first round; time from the first hand-out."""

    way: str
    worker: int
    start_s: float
    end_s: float


class Cost(x.Row):
    """The cost of a row: the iterations of all its points."""

    row: int
    turns: int


def chunks(params: Params) -> list[int]:
    """Return how many rows are handed out at a time: powers of two, up to one hand-out each."""
    return x.ladder(1, params.rows // params.workers, 2)


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield what each row costs, then a row for each way, chunk and round."""
    with contextlib.closing(own(JOBS, bench.check_stop)) as python:
        first = python.do(
            arm="start", workers=params.workers, rows=params.rows, columns=params.columns,
            iterations=params.iterations,
        )  # fmt: skip
        yield from _costs(first)
        order = order_rows(params.order, first["turns"])
        arms = [(SERIAL, params.rows), (BLOCK, -(-params.rows // params.workers))]
        arms += [(INTERLEAVED, 1), *((DYNAMIC, chunk) for chunk in chunks(params))]
        for turn, (way, chunk) in bench.interleave(arms, params.rounds):
            parts = hand_outs(way, chunk, order, params.workers)
            answer = python.do(arm="run", chunks=parts, own=way != DYNAMIC)
            workers = 1 if way == SERIAL else params.workers
            busy_s = sum(end_s - start_s for _, start_s, end_s in answer["slices"])
            yield WayTime(
                way=way,
                chunk=chunk,
                repeat=turn.round,
                wall_s=answer["wall_s"],
                efficiency_fraction=busy_s / (workers * answer["wall_s"]),
            )
            name = f"{way}_{chunk}" if way == DYNAMIC else way
            if turn.round == 0 and name in SHOWN:
                for worker, start_s, end_s in answer["slices"]:
                    yield ChunkSpan(way=name, worker=worker, start_s=max(start_s, 0.0), end_s=end_s)
            yield x.Progress(turn.fraction)


def _costs(first: dict[str, Any]) -> Iterator[Cost | x.Frame]:
    picture = first["picture"]
    for number, turns in enumerate(first["turns"]):
        yield Cost(row=number, turns=turns)
    yield x.Frame(
        "costs", (len(picture), len(picture[0])), bytes(value for row in picture for value in row)
    )


def order_rows(order: str, turns: list[int]) -> list[int]:
    """Return the rows' numbers in the order in which they are handed out."""
    numbers = list(range(len(turns)))
    if order == LONGEST_FIRST:
        numbers.sort(key=lambda number: -turns[number])
    elif order == SHUFFLED:
        random.Random(x.SEED).shuffle(numbers)
    return numbers


def hand_outs(way: str, chunk: int, order: list[int], workers: int) -> list[list[int]]:
    """Return the rows of each hand-out."""
    if way == INTERLEAVED:
        return [order[worker::workers] for worker in range(workers)]
    return [order[first : first + chunk] for first in range(0, len(order), chunk)]


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the block split with every chunk; name a winner only where it is clear."""
    of = x.spreads_of(tables["shares"], "wall_s", "way", "chunk")
    by_way = {way: found for (way, _), found in of.items() if way != DYNAMIC}
    by_chunk = {chunk: found for (way, chunk), found in of.items() if way == DYNAMIC}
    cores = x.physical_cores(machine) or 1
    values: dict[str, float] = {"workers": params.workers}
    values |= {f"{way}_s": found.median for way, found in by_way.items()}
    if SERIAL in by_way:
        values["ideal_s"] = by_way[SERIAL].median / min(params.workers, cores)
    limits = x.Limits()
    ends = [each.end_s for each in tables["slices"] if each.way == BLOCK]
    if ends:  # of the round that is drawn
        values["block_ends_s"] = max(ends)
    begins: dict[tuple[str, int], float] = {}
    for each in tables["slices"]:
        begins.setdefault((each.way, each.worker), each.start_s)
    if 1 in by_chunk:
        values["dynamic_1_s"] = by_chunk[1].median
    if not by_chunk or BLOCK not in by_way or SERIAL not in by_way or params.workers == 1:
        return x.Finding("nothing_to_compare", values, tuple(limits))
    in_turn = by_way.get(INTERLEAVED)
    # Load can help what is handed out, but meets blocks and dealing in turn alike: both deal the
    # same rows to the same workers beforehand. Where in turn is quicker, the blocks are uneven;
    # and the largest chunk handed out is a block.
    is_uneven = in_turn is not None and in_turn.is_below(by_way[BLOCK], is_alike=True)
    over_block = x.family(
        {c: (of_c, by_way[BLOCK]) for c, of_c in by_chunk.items()},
        partial(x.Spread.against, is_alike=is_uneven),
    )
    wins = [c for c, r in over_block.items() if r.outcome is x.Outcome.DIFFERS and not r.is_above]
    best = min(wins or by_chunk, key=lambda chunk: by_chunk[chunk].median)
    values |= {"dynamic_best_s": by_chunk[best].median, "best_chunk": best}
    others = {c: (of_c, by_chunk[best]) for c, of_c in by_chunk.items() if c != best}
    outcomes = {found.outcome for found in x.family(others, x.Spread.against).values()}
    if x.Outcome.UNKNOWN in outcomes:
        limits.append("best_chunk_by_chance")
    elif x.Outcome.SAME in outcomes:
        limits.append("other_chunks_as_good")
    is_in_turn = params.order == AS_IT_COMES
    if in_turn and not x.too_few((in_turn, by_chunk[best])):
        against_best = in_turn.against(by_chunk[best])
        if against_best.outcome is x.Outcome.UNKNOWN:
            limits.append("interleaved_unclear")
        elif against_best.outcome is x.Outcome.SAME or not against_best.is_above:
            limits.append("interleaved_as_good" if is_in_turn else "interleaved_as_good_by_order")
    limits.add("below_ideal", by_chunk[best].median < values["ideal_s"])
    if not is_in_turn:
        limits.append("shuffled" if params.order == SHUFFLED else "longest_first")
    limits.add("more_workers_than_cores", params.workers > cores)
    limits.add("begins_later", ends and max(begins.values()) > LATE * max(ends))
    limits.add("virtual_machine", x.is_virtual(machine))
    if over_block[best].outcome is x.Outcome.UNKNOWN:
        message = x.TOO_FEW if over_block[best].count < x.ENOUGH else x.CANNOT_TELL
    elif over_block[best].outcome is x.Outcome.SAME:
        message = "ways_alike"
    else:
        message = "handing_out_wins" if wins else "block_wins"
    return x.Finding(message, values, tuple(limits))


def seconds(params: Params) -> float:
    """Estimate: all rows by one worker, then in each other way by all, with two cores at least."""
    work_s = params.rows * params.columns * params.iterations * IN_SET_FRACTION * TURN_S
    ways = 2 + len(chunks(params))
    each_round_s = work_s * (1 + 1.9 * ways / min(params.workers, 2)) + 0.05
    return 0.4 + work_s + params.rounds * each_round_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"shares": WayTime, "slices": ChunkSpan, "costs": Cost},
    measure=measure,
    loop="jobs.py:row",
    analyse=analyse,
    views=(
        x.Timeline(
            key="lanes",
            table="slices",
            lane="worker",
            start="start_s",
            end="end_s",
            group="way",
            order=(SERIAL, *SHOWN),  # in the colours of the bars
            limits=(x.Limit("ideal", "ideal_s", "x"), x.Limit("block_ends", "block_ends_s", "x")),
        ),
        x.Lines(
            "efficiency",
            "shares",
            x.Axis("chunk"),
            x.Axis("efficiency_fraction"),
            series="way",
            only=(DYNAMIC,),
            order=WAYS,
        ),
        x.Bars(
            "wall",
            "shares",
            "way",
            "wall_s",
            detail="chunk",
            order=WAYS,
            limits=(x.Limit("ideal", "ideal_s", "x"),),
        ),
        x.Lines("costs", "costs", x.Axis("row"), x.Axis("turns")),
        x.Field("picture", "costs"),
    ),
    values=x.values(
        x.Value("ideal_s", x.Part.CORES),
        x.Value("block_s", x.Part.CORES),
        "interleaved_s",
        "dynamic_1_s",
        x.Value("dynamic_best_s", x.Part.CORES),
        "best_chunk",
        "block_ends_s",
        "serial_s",
        "workers",
    ),
    keys=(
        x.Key("block_s", "wall", (BLOCK,)),
        x.Key("dynamic_best_s", "efficiency", (DYNAMIC,), at="best_chunk"),
        x.Key("interleaved_s", "wall", (INTERLEAVED,)),
    ),
    next=x.Next("amdahl", {"order": SHUFFLED}),
    parts=(x.Part.CORES,),
    defaults=lambda machine: Params(workers=min(8, max(2, x.physical_cores(machine) or 2))),
    quick=x.change(columns=lambda columns: max(4, columns // 4), rounds=5),
    smallest=x.change(workers=2, rows=16, columns=4, rounds=2),
    budget=x.Budget(full={"columns": 4}, quick={"columns": 4}),
    seconds=seconds,
    quiet_limit_s=120.0,  # many iterations can be asked for
    memory_bytes=lambda params: (params.workers + 2) * 30 * x.MIB,
)
