"""A bench that knows which turn is under way, to see in which one a row is yielded."""

from __future__ import annotations

from experiments.core.bench import Bench


class Turns(Bench):
    """`now` is (round, arm) of the turn under way, None before the first."""

    now = None

    def interleave(self, arms, rounds):
        for turn, arm in super().interleave(arms, rounds):
            self.now = turn.round, arm
            yield turn, arm
