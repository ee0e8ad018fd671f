"""Runs in which streams shows something else than usual."""

from __future__ import annotations

from typing import Any

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.devices.host_memory import PAGEABLE, PINNED
from experiments.engine.recording import sent
from experiments.to_the_gpu.streams.experiment import (
    Alone,
    FromPageable,
    OneStream,
    Params,
    PieceSpan,
    Total,
    analyse,
    stream_counts,
)
from experiments.to_the_gpu.streams.pieces import BESIDE, PARTS, Course, PieceWork
from tests.experiments.machines import GIB, machine

GPU = "cuda:0"
COPIED_PER_S, CALL_S = 5e10, 4e-5
SLOWER = 4.0  # times, from pageable memory


def course(params: Params, streams: int, memory: str, engines: int = 3) -> Course:
    """Return when each part of each piece runs: in order in its stream, and on its engine.

    A pageable copy is slower, and the next call comes after its end.
    """
    copy_s = params.total_bytes / params.pieces / COPIED_PER_S
    free_s, done_s = [0.0] * engines, [0.0] * streams
    works: list[PieceWork] = []
    called_s = 0.0
    for piece in range(params.pieces):
        for place, part in enumerate(PARTS):
            stream, engine, is_copy = piece % streams, place % engines, part != "compute"
            takes_s = copy_s if is_copy else copy_s * params.compute_per_copy
            takes_s *= SLOWER if is_copy and memory == PAGEABLE else 1.0
            called_s += CALL_S
            start_s = max(called_s, done_s[stream], free_s[engine])
            free_s[engine] = done_s[stream] = start_s + takes_s
            ran = (start_s, start_s + takes_s)
            works.append(PieceWork(part=part, stream=stream, piece=piece, ran=ran))
            if is_copy and memory == PAGEABLE:
                called_s = ran[1]
    return Course(works=works, called_s=called_s)


def modelled(params: Params, *, engines: int = 3, in_two: float = 0.95) -> LessonRun:
    """Return the run of such a GPU; with one engine for all, nothing overlaps.

    Products in two streams take `in_two` of their time in one.
    """
    tables: dict[str, list[Any]] = {
        name: []
        for name in ("totals", "alone", "several_streams", "one_stream", "pageable", "conditions")
    }
    here = machine(gpus=1)
    if not params.device.startswith("cuda"):
        return lesson_run(params, tables, here, sent(analyse(params, tables, here)))
    kinds = {1: ("one_stream", OneStream), params.streams: ("several_streams", PieceSpan)}
    arms = [(count, PINNED) for count in stream_counts(params.streams)]
    for streams, memory in [*arms, *[(params.streams, PAGEABLE)] * params.pageable]:
        found = course(params, streams, memory, engines)
        tables["totals"] += [
            Total(streams=streams, memory=memory, repeat=n, total_s=found.total_s,
                  called_s=found.called_s, overlap_fraction=found.overlap_fraction)
            for n in range(params.rounds)
        ]  # fmt: skip
        if memory == PAGEABLE or streams in kinds:
            pageable = ("pageable", FromPageable)
            name, row = pageable if memory == PAGEABLE else kinds[streams]
            tables[name] += [
                row(part=work.part, stream=work.stream, piece=work.piece,
                    start_s=work.ran[0], end_s=work.ran[1])
                for work in found.works
            ]  # fmt: skip
    copies_s = params.total_bytes / COPIED_PER_S
    compute_s = copies_s * params.compute_per_copy
    alone_s = {"to_gpu": copies_s, "compute": compute_s, "from_gpu": copies_s}
    for part, took_s in {**alone_s, BESIDE: in_two * compute_s}.items():
        tables["alone"] += [Alone(part=part, repeat=n, took_s=took_s) for n in range(params.rounds)]
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


def on_gpu(**changed) -> Params:
    return Params(device=GPU, **changed)


REACHING = {
    "near_the_longest": on_gpu(pieces=64, total_bytes=GIB),
    "two_are_enough": on_gpu(compute_per_copy=3.0),
}
RUNS = {
    "usual": modelled(on_gpu()),
    "pinned_alone": modelled(on_gpu(pageable=False)),
    "no_gain": modelled(on_gpu(), engines=1),
    "one_piece": modelled(on_gpu(pieces=1)),
    "two_streams": modelled(on_gpu(streams=2)),
    "one_stream": modelled(on_gpu(streams=1)),
    "one_queue": modelled(Params(device="mps")),
    "parts_differ": modelled(on_gpu(compute_per_copy=0.25)),
    "small_products": modelled(on_gpu(), in_two=0.6),
    "many_pieces": modelled(on_gpu(pieces=64)),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
