"""Work in pieces, dealt out to streams: there, through two matrix products, and back.

The products are widened until they last as long as asked for. Each stream has its own room between
them; the pieces share nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from experiments import api as x
from experiments.devices.device import Device
from experiments.devices.host_memory import PINNED, host_memory
from experiments.devices.timing import taken

from .overlap import one_after_another, overlap_fraction

FP32_BYTES = 4
WIDTH = 1024  # columns of a piece
INNER, STEP, MOST_INNER = 256, 32, 16384  # columns between the products
SAMPLES = 8
TOLERANCE = 0.05  # of numbers about 1: it lets TF32 pass, but no wrong data
PARTS = ("to_gpu", "compute", "from_gpu")
BESIDE = "compute_in_two"  # streams
ALONE = (*PARTS, BESIDE)


class PieceWork(x.Record):
    """One part of one piece: when it ran, from the start of the course."""

    part: str
    stream: int
    piece: int
    ran: x.Interval


class Course(x.Record):
    """All pieces, once; `called_s` is when the last call returned."""

    works: Sequence[PieceWork]
    called_s: float

    @property
    def total_s(self) -> float:
        """Return the time until the last piece is back."""
        return max(work.ran[1] for work in self.works)

    @property
    def overlap_fraction(self) -> float:
        """Return time copying while computing / time copying."""
        computing = [work.ran for work in self.works if work.part == "compute"]
        copies = [work.ran for work in self.works if work.part != "compute"]
        return overlap_fraction(copies, computing) or 0.0


class Pieces:
    """The pieces on both sides, and the work on each."""

    def __init__(
        self, device: Device, total_bytes: int, count: int, streams: int, kinds: Sequence[str]
    ) -> None:
        self.device, self.count = device, count
        self.rows = max(1, total_bytes // (count * WIDTH * FP32_BYTES))
        self.sent = {kind: self._host(kind) for kind in kinds}
        self.got = {kind: self._host(kind) for kind in kinds}
        self.there = device.torch.empty(count, self.rows, WIDTH, device=device.name)
        self.back = device.torch.empty_like(self.there)
        self.streams = [device.stream() for _ in range(max(2, streams))]
        self.widen(INNER)

    def _host(self, kind: str) -> Any:
        numbers = host_memory(self.device, self.count * self.rows * WIDTH, kind, "float32")
        return numbers.view(self.count, self.rows, WIDTH)

    def widen(self, inner: int) -> None:
        """Set the products' width."""
        torch, name = self.device.torch, self.device.name
        self.inner = inner
        self._first = torch.randn(WIDTH, inner, device=name) / WIDTH**0.5
        self._second = torch.randn(inner, WIDTH, device=name) / inner**0.5
        self._between = [torch.empty(self.rows, inner, device=name) for _ in self.streams]
        self.device.wait()  # other streams will use them

    def calibrate(self, compute_per_copy: float) -> None:
        """Widen until computing a piece takes `compute_per_copy` times its copy."""
        device = self.device
        copy_s = taken(device, partial(self.do, "to_gpu", 0), SAMPLES).device_s
        row_bytes = FP32_BYTES * (self.rows * len(self.streams) + 2 * WIDTH)
        for _ in range(2):  # wider products use the GPU better, so once is not enough
            compute_s = taken(device, partial(self.do, "compute", 0), SAMPLES).device_s
            wanted = self.inner * compute_per_copy * copy_s / compute_s
            room = device.free_bytes() // (2 * row_bytes)
            self.widen(STEP * max(1, round(min(wanted, room, MOST_INNER) / STEP)))

    def do(self, part: str, piece: int, place: int = 0, kind: str = PINNED) -> None:
        """Queue one part of one piece into the current stream, the `place`-th."""
        if part == "to_gpu":
            self.there[piece].copy_(self.sent[kind][piece], non_blocking=True)
        elif part == "from_gpu":
            self.got[kind][piece].copy_(self.back[piece], non_blocking=True)
        else:
            mm = self.device.torch.mm
            mm(self.there[piece], self._first, out=self._between[place])
            mm(self._between[place], self._second, out=self.back[piece])

    def alone(self, part: str) -> None:
        """Queue one part of all pieces into the current stream, or computing into two."""
        if part != BESIDE:
            for piece in range(self.count):
                self.do(part, piece)
            return
        current, two = self.device.backend.current_stream(), self.streams[:2]
        for stream in two:
            stream.wait_stream(current)
        for piece in range(self.count):
            with self.device.on(two[piece % 2]):
                self.do("compute", piece, piece % 2)
        for stream in two:
            current.wait_stream(stream)

    def course(self, streams: int, kind: str) -> Course:
        """Process all pieces, dealt out to the first `streams`, and wait for the end."""
        device, bench = self.device, self.device.bench
        bench.check_stop()
        device.wait()
        start_s, start = bench.now_s(), device.mark()
        marks = []
        for piece in range(self.count):
            with device.on(self.streams[piece % streams]):
                marks.append([device.mark()])
                for part in PARTS:
                    self.do(part, piece, piece % streams, kind)
                    marks[piece].append(device.mark())
        called_s = bench.now_s() - start_s
        device.wait()
        moments = [[mark.since(start) for mark in of_piece] for of_piece in marks]
        works = [
            PieceWork(part=part, stream=piece % streams, piece=piece, ran=ran)
            for place, part in enumerate(PARTS)
            for piece, ran in enumerate(
                one_after_another([(ends[place], ends[place + 1]) for ends in moments])
            )
        ]
        return Course(works=works, called_s=called_s)

    def check(self, kind: str) -> None:
        """Did the right results come back? Checks a row of each piece. Raises UserError if not."""
        expected = self.sent[kind][:, 0] @ self._first.cpu() @ self._second.cpu()
        if not bool(
            (expected - self.got[kind][:, 0]).abs().max() < TOLERANCE
        ):  # also if not a number
            raise x.UserError("copied_wrong")
        self.got[kind].zero_()
