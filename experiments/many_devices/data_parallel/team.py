"""The first few members of a group: they time the same work together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from experiments.tools.member import Member

MOST_AT_ONCE = 1000  # calls in one sample
GROWTH = 10


class Team:
    """The members whose rank is below `size`; every member of the group must make it."""

    def __init__(self, member: Member, size: int) -> None:
        self.member, self.size = member, size
        self.handle = member.dist.new_group(list(range(size)))
        self.is_mine = member.rank < size  # may this process take part?

    def mean(self, value: float) -> float:
        """Return the mean of the members' values."""
        return math.fsum(self._all(value)) / self.size

    def took_s(self, call: Callable[[], object], count: int) -> list[float]:
        """Return each member's time for one of `count` calls that all begin together."""
        device, bench = self.member.device, self.member.bench
        device.wait()
        self.mean(0.0)  # all are here; NCCL's own barrier would use a GPU
        start_s = bench.now_s()
        for _ in range(count):
            call()
        device.wait()
        return self._all((bench.now_s() - start_s) / count)

    def enough(self, call: Callable[[], object], at_least_s: float) -> int:
        """Return how many calls take `at_least_s`, the same for all members; the first warm up."""
        count = 1
        self.took_s(call, count)
        while count < MOST_AT_ONCE:
            took_s = max(self.took_s(call, count)) * count
            if took_s >= at_least_s:
                break
            growth = min(GROWTH, 1.1 * at_least_s / max(took_s, 1e-9))
            count = min(MOST_AT_ONCE, max(count + 1, int(count * growth)))
        return count

    def _all(self, value: float) -> list[float]:
        torch, name = self.member.torch, self.member.device.name
        mine = torch.tensor([value], dtype=torch.float64, device=name)
        found: list[Any] = [torch.empty_like(mine) for _ in range(self.size)]
        self.member.dist.all_gather(found, mine, group=self.handle)
        return [float(each) for each in found]
