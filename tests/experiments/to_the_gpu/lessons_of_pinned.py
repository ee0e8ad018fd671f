"""Runs in which pinned shows something else than usual."""

from __future__ import annotations

from msgspec.structs import replace

from experiments.core.declare import Tables
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.to_the_gpu.pinned.experiment import (
    CHOICES,
    Copy,
    Params,
    Pinning,
    Written,
    analyse,
    sizes_between,
)
from experiments.to_the_gpu.pinned.transfers import WAYS
from machine.devices import Gpu, Link
from tests.experiments.machines import KIB, MIB, machine

GPU = "cuda:0"
BEFORE, AS_IT_IS, FOR_THIS = CHOICES
LINK_BYTES_PER_S = 63e9
PINNED, PAGEABLE = "pinned", "pageable"
START_S = {PINNED: 15e-6, PAGEABLE: 20e-6}
BYTES_PER_S = {PINNED: 53e9, PAGEABLE: 7e9}


def pinning_s(size: int) -> float:
    return 1.2e-3 + size / 1.45e9


def modelled(
    params: Params, *, kinds: tuple[str, ...] = (PINNED, PAGEABLE), gain: bool = True,
    reused: bool = False, link: float | None = LINK_BYTES_PER_S,
) -> LessonRun:  # fmt: skip
    """Return the run of a GPU whose copies have a start-up and a rate, by the kind of memory."""
    on_card = None if link is None else Link(generation=5, peak_bytes_per_s=link)
    here = replace(machine(), gpus=(Gpu(index=0, torch_backend="cuda", link=on_card),))

    def took_s(size: int, kind: str) -> float:
        as_kind = kind if gain else PINNED
        return START_S[as_kind] + size / BYTES_PER_S[as_kind]

    sizes = sizes_between(params.smallest_bytes, params.largest_bytes)
    copies, written, pinnings = [], [], []
    for size in sizes:
        choices = {AS_IT_IS: took_s(size, PAGEABLE)}
        if PINNED in kinds:
            choices[BEFORE] = took_s(size, PINNED)
            if not reused:
                choices[FOR_THIS] = pinning_s(size) + took_s(size, PINNED)
        for n in range(params.rounds):
            copies += [
                Copy(size_bytes=size, way=way, repeat=n, is_clean=True,
                     bytes_per_s=size / took_s(size, way.partition("_")[0]))
                for way in WAYS[:4]
                if way.partition("_")[0] in kinds
            ]  # fmt: skip
            written += [
                Written(size_bytes=size, choice=name, repeat=n, took_s=s, bytes_per_s=size / s)
                for name, s in choices.items()
            ]
            if FOR_THIS in choices:
                pinnings.append(Pinning(size_bytes=size, repeat=n, pinning_s=pinning_s(size)))
    tables: Tables = {
        "copies": copies, "written": written, "pinnings": pinnings, "conditions": [],
    }  # fmt: skip
    return lesson_run(params, tables, here, sent(analyse(params, tables, here)))


USUAL = Params(device=GPU)
REACHING = {
    "repays_late": Params(device=GPU, largest_bytes=128 * KIB),
    "a_millisecond": Params(device=GPU, largest_bytes=52 * MIB),
}
RUNS = {
    "usual": modelled(USUAL),
    "quick": modelled(replace(USUAL, largest_bytes=16 * MIB, rounds=5)),
    "on_a_wider_link": modelled(USUAL, link=128e9),
    "without_a_known_link": modelled(USUAL, link=None),
    "pinned_memory_is_kept": modelled(USUAL, reused=True),
    "no_gain": modelled(USUAL, gain=False),
    "nothing_pinned": modelled(USUAL, kinds=(PAGEABLE,)),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
