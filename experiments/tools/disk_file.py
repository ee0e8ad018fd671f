"""A file of random data that is read past the page cache and always removed."""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

from experiments.core.bench import Bench
from experiments.core.direct_io import DirectFile, has_direct_io
from experiments.core.problems import UserError
from experiments.core.sizes import MIB
from machine.storage.place import place_of, room_bytes

PIECE_BYTES = 4 * MIB  # written at once; also the largest block
CACHED_BYTES = 4 * PIECE_BYTES
TIMED_READS = 2**18  # of one sample; later ones are only counted
POLL_S = 0.0002
LOOK_S = 0.01  # between two checks for a stop
SEED = 88172645463325252


class DiskFile:
    """A file of incompressible data; leaving the context closes and so removes it."""

    def __init__(self, folder: Path, size_bytes: int, bench: Bench) -> None:
        """Create it empty. Raises UserError if it cannot be created or read directly."""
        if not has_direct_io():
            raise UserError("no_direct_io")
        self.place = place_of(folder)
        self.size_bytes = size_bytes // PIECE_BYTES * PIECE_BYTES
        self._bench = bench
        self._number = 0  # of the sample
        self.took_s: Sequence[float] = ()
        if self.place.is_in_memory:
            raise UserError("folder_in_memory", file_system=self.place.file_system or "zram")
        try:
            self._file = DirectFile(folder)
        except OSError as error:
            raise UserError("folder_not_writable", reason=error.strerror or "?") from None
        try:
            self._check(folder)
        except UserError:
            self._file.close()
            raise

    def __enter__(self) -> DiskFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _check(self, folder: Path) -> None:
        if self.size_bytes > (room := room_bytes(folder)):
            raise UserError("disk_too_full", file_bytes=self.size_bytes, room_bytes=room)
        try:
            with self._file.opened():
                pass
        except OSError:
            raise UserError("no_direct_io") from None

    def write(self) -> Iterator[float]:
        """Write all of it; yield the share that is written, 0 to 1. Raises UserError."""
        import numpy as np

        from experiments.kernels.disk import fill

        piece = mmap.mmap(-1, PIECE_BYTES)  # direct I/O wants whole pages
        words, seed = np.frombuffer(piece, dtype=np.uint64), np.uint64(SEED)
        try:
            with self._file.opened() as file:
                for offset in range(0, self.size_bytes, PIECE_BYTES):
                    self._bench.check_stop()
                    seed = np.uint64(fill(words, seed))
                    if os.write(file, piece) != PIECE_BYTES:
                        raise UserError("file_not_written_there", reason=os.strerror(28))
                    yield (offset + PIECE_BYTES) / self.size_bytes
                os.fsync(file)
        except OSError as error:
            raise UserError("file_not_written_there", reason=error.strerror or "?") from None

    def reads_per_s(
        self, block_bytes: int, depth: int, *, at_random: bool, sample_s: float
    ) -> float:
        """Return how many blocks arrive a second while `depth` readers ask for one each.

        Counted between two arrivals while all readers are at work. Of one reader `took_s` has the
        seconds of each read afterwards.
        """
        opened = self._file.opened
        return self._reads_per_s(opened, self.size_bytes, block_bytes, depth, at_random, sample_s)

    def cached_reads_per_s(self, block_bytes: int, *, sample_s: float) -> float | None:
        """Return the same from the page cache, one at a time; None where that would spoil it."""
        cached_bytes = min(CACHED_BYTES, self.size_bytes)
        with self._file.cached() as file:
            if file is None:
                return None
            os.lseek(file, 0, os.SEEK_SET)
            for _ in range(0, cached_bytes, PIECE_BYTES):
                os.read(file, PIECE_BYTES)
            same = contextlib.nullcontext(file)
            return self._reads_per_s(lambda: same, cached_bytes, block_bytes, 1, True, sample_s)

    def _reads_per_s(
        self,
        opened: Callable[[], AbstractContextManager[int]],
        within_bytes: int,
        block_bytes: int,
        depth: int,
        at_random: bool,
        sample_s: float,
    ) -> float:
        import numpy as np

        from experiments.kernels.disk import TICK_S, by_kernel, read_on

        over, done = np.zeros(1, dtype=np.uint64), np.zeros((depth, 8), dtype=np.uint64)
        took = np.zeros((depth, TIMED_READS if depth == 1 else 0), dtype=np.int64)
        memory = mmap.mmap(-1, depth * block_bytes)
        address = np.frombuffer(memory, dtype=np.uint8).ctypes.data
        self._number += 1

        def read(reader: int) -> int:
            start = np.uint64(SEED // (1000 * self._number + reader + 1))
            buffer = np.uint64(address + reader * block_bytes)
            blocks = within_bytes // block_bytes
            # Of many readers some wait for a core while others have it: nobody disturbs them.
            watched = self._bench.watched() if depth == 1 else contextlib.nullcontext()
            with opened() as file, watched:
                failed: int = read_on(
                    by_kernel(file), buffer, block_bytes, blocks, start, at_random, over,
                    done[reader], took[reader],
                )  # fmt: skip
            return failed

        with ThreadPoolExecutor(depth) as pool:
            readers = [pool.submit(read, reader) for reader in range(depth)]

            def wait(until: Callable[[], bool], step_s: float) -> None:
                while not until():
                    self._bench.check_stop()
                    if any(reader.done() for reader in readers):
                        raise UserError("disk_read_failed")
                    time.sleep(step_s)

            def arrival() -> tuple[int, float]:
                before = int(done[:, 0].sum())
                wait(lambda: int(done[:, 0].sum()) > before, POLL_S)
                return int(done[:, 0].sum()), self._bench.now_s()

            try:
                wait(lambda: bool(done[:, 0].all()), POLL_S)
                first, start_s = arrival()
                self._sleep_until(start_s + sample_s, wait)
                last, end_s = arrival()
            finally:
                over[0] = 1
        self.took_s = list(took[0, : int(done[0, 0])] * TICK_S)
        return (last - first) / (end_s - start_s)

    def _sleep_until(self, end_s: float, wait: Callable[[Callable[[], bool], float], None]) -> None:
        while (left_s := end_s - self._bench.now_s()) > 0:
            wait(lambda: self._bench.now_s() >= end_s, min(left_s, LOOK_S))
