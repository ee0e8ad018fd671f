"""The latency of a dependent read while other cores load the memory.

One thread walks a random chain, each time on from where it last stopped: so no cache, however idle,
holds what comes next. The others read arrays in order, with pauses that shrink from level
to level. Their reads are counted from the walk's start to its end.
Source: loaded latency as in Intel's Memory Latency Checker and multichase (`chaseload`).
"""

from __future__ import annotations

import functools
import statistics
import threading
from collections.abc import Sequence
from typing import Any

from experiments import api as x
from experiments.tools.arrays import Team
from experiments.tools.buffers import Buffer
from experiments.tools.chasing import LINE_BYTES

PAUSES = (6400, 3200, 1600, 800, 400, 200, 100, 50, 0)  # turns of about 2 ns after each block
LEVELS = range(len(PAUSES) + 1)  # at level 0 no other core reads
BLOCK_WORDS = 512
BLOCK_S, TURN_S = 3e-7, 2e-9  # roughly; they only size a portion
PORTION_S = 0.0005  # read between two checks whether the walk is over
WARM_UP_STEPS, STEPS = 50_000, 40_000
SCATTERED = 1.5  # times: of the least time under one load
WINDOWS = 5  # of so many steps; the one in the middle counts, as others may push in


class Loaded(x.Row):
    """One walk: what the others read meanwhile, and the time of each step."""

    level: int
    repeat: int
    load_bytes_per_s: float
    latency_s: float


def measure_loaded(
    team: Team, cores: int, chain_bytes: int, bench: x.Bench, rounds: int, begin_fraction: float
) -> x.Measured:
    """Yield a row for each level and round; the last of a team's first `cores` walks."""
    from experiments.kernels.chains import link_random

    chain = Buffer(chain_bytes)
    place = link_random(chain.words, chain_bytes // LINE_BYTES, chain.address, 0x9E3779B9)
    arrays = [team.arrays(m, team.share_bytes(cores))[0].view("uint64") for m in range(cores - 1)]
    for arm, level in bench.interleave(LEVELS, rounds):
        readers = [_Reader(words, PAUSES[level - 1]) for words in arrays] if level else []
        walker = _Walker(bench, readers, place)
        jobs = {member: functools.partial(r.go_on, walker.over) for member, r in enumerate(readers)}
        team.run({**jobs, cores - 1: walker.go})
        place = walker.place
        yield Loaded(
            level=level,
            repeat=arm.round,
            load_bytes_per_s=walker.load_bytes_per_s,
            latency_s=walker.latency_s,
        )
        yield x.Progress(begin_fraction + (1 - begin_fraction) * arm.fraction)


def under_load(rows: Sequence[Loaded]) -> dict[str, float]:
    """Return the median of the walks without load, and of those under the greatest."""
    idle = [row.latency_s for row in rows if row.level == LEVELS[0]]
    # If nothing was read, the walk ended first.
    busiest = [row for row in rows if row.level == LEVELS[-1] and row.load_bytes_per_s]
    if not idle or not busiest:
        return {}
    return {
        "idle_latency_s": statistics.median(idle),
        "loaded_latency_s": statistics.median(row.latency_s for row in busiest),
        "loaded_bytes_per_s": statistics.median(row.load_bytes_per_s for row in busiest),
    }


def scatters(rows: Sequence[Loaded]) -> bool:
    """Do walks under one load differ by more than half? Then something disturbed them."""
    found = x.spreads_of(rows, "latency_s", "level")
    return any(each.high > SCATTERED * each.low for each in found.values())


class _Reader:
    """Reads its array again and again; `read_bytes` counts."""

    def __init__(self, words: Any, pause: int) -> None:
        self.read_bytes = 0
        self._pause = pause
        blocks = max(1, round(PORTION_S / (BLOCK_S + TURN_S * pause)))
        size = min(blocks * BLOCK_WORDS, words.size)
        self._portions = [words[at : at + size] for at in range(0, words.size - size + 1, size)]

    def go_on(self, over: threading.Event) -> None:
        from experiments.kernels.streams import read_with_pauses

        place = 0
        while not over.is_set():
            words = self._portions[place]  # another part each time: these are cached now
            read_with_pauses(words, BLOCK_WORDS, self._pause)
            self.read_bytes += words.nbytes
            place = (place + 1) % len(self._portions)


class _Walker:
    """Walks the chain on from `place`; `over` is set at its end, even after an error."""

    def __init__(self, bench: x.Bench, readers: Sequence[_Reader], place: Any) -> None:
        self.over = threading.Event()
        self.latency_s = self.load_bytes_per_s = 0.0
        self._bench, self._readers, self.place = bench, readers, place

    def go(self) -> None:
        from experiments.kernels.chains import rounded_steps, walk

        try:
            self.place = walk(WARM_UP_STEPS, self.place)
            windows = []
            for _ in range(WINDOWS):
                before_bytes, start_s = self._read(), self._bench.now_s()
                self.place = walk(STEPS, self.place)
                took_s = self._bench.now_s() - start_s
                windows.append((took_s, (self._read() - before_bytes) / took_s))
            took_s, self.load_bytes_per_s = sorted(windows)[WINDOWS // 2]
            self.latency_s = took_s / rounded_steps(STEPS)
        finally:
            self.over.set()

    def _read(self) -> int:
        return sum(reader.read_bytes for reader in self._readers)
