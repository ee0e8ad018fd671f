"""The time of an all-reduce: until every member has the sum over all, for many sizes.

Method: as in nccl-tests. Each all-reduce works in place, after a warm-up. Several are timed in one
window, and the sums are checked. The bus bandwidth is bytes / time x 2 (n - 1) / n. A link must
carry that, whatever n is, if the members send and receive their parts in a ring.
Source: nccl-tests, doc/PERFORMANCE.md.
"""

from __future__ import annotations

from functools import partial

from experiments import api as x

from .team import Team

SMALLEST_BYTES, STEP = 4 * x.KIB, 4
FP32_BYTES = 4


class Reduction(x.Row):
    """The slowest member's time for one reduction; the mean of a window of them."""

    message_bytes: int = x.column(scale="log2")
    repeat: int
    reduce_s: float = x.column(scale="log10")
    bus_bytes_per_s: float


class Reductions:
    """Messages that a team sums over all its members."""

    def __init__(self, team: Team, largest_bytes: int) -> None:
        torch = team.member.torch
        self._team = team
        count = largest_bytes // FP32_BYTES
        self._buffer = torch.empty(count, dtype=torch.float32, device=team.member.device.name)
        self._counts: dict[int, int] = {}

    def check(self, size_bytes: int) -> None:
        """Sum the members' numbers once. Raises UserError where a sum is wrong."""
        message = self._buffer[: size_bytes // FP32_BYTES]
        message.fill_(self._team.member.rank + 1)
        self._reduce(size_bytes)
        if not bool((message == self._team.size * (self._team.size + 1) / 2).all()):
            raise x.UserError("reduced_wrong")

    def row(self, size_bytes: int, repeat: int, sample_s: float) -> Reduction:
        """Return one row; the first of a size is checked and warms up."""
        reduce = partial(self._reduce, size_bytes)
        if size_bytes not in self._counts:
            self.check(size_bytes)
            self._buffer.zero_()  # sums of sums would soon overflow
            self._counts[size_bytes] = self._team.enough(reduce, sample_s)
        took_s = max(self._team.took_s(reduce, self._counts[size_bytes]))
        n = self._team.size
        return Reduction(
            message_bytes=size_bytes,
            repeat=repeat,
            reduce_s=took_s,
            bus_bytes_per_s=size_bytes / took_s * 2 * (n - 1) / n,
        )

    def _reduce(self, size_bytes: int) -> None:
        message = self._buffer[: size_bytes // FP32_BYTES]
        self._team.member.dist.all_reduce(message, group=self._team.handle)


def sizes(largest_bytes: int) -> list[int]:
    """Return the sizes of messages, smallest first."""
    return x.ladder(SMALLEST_BYTES, largest_bytes, STEP)
