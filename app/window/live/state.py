"""The samples that Live shows: live, frozen or recorded."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence

import msgspec

from app.window.core.watch_player import Recording, add_to
from experiments.engine import messages
from experiments.presentation.load.history import History, Mark, Moment

SOONEST_S = 0.03  # after the last sample; the kernel counts in ticks of 10 ms


class LiveState:
    """Keeps the samples of this machine, whatever is shown."""

    def __init__(self) -> None:
        self.live = History()
        self.samples: collections.deque[messages.Sample] = collections.deque()  # as they came
        self.frozen: History | None = None
        self.recording: Recording | None = None
        self._frozen_samples: list[messages.Sample] = []

    @property
    def history(self) -> History:
        """The history to draw."""
        if self.recording is not None:
            return self.recording.history
        return self.frozen or self.live

    @property
    def missing(self) -> Sequence[Mapping[str, str]]:
        """The facts that the newest sample lacks."""
        if self.recording is not None:
            return self.recording.missing
        samples = self._frozen_samples or self.samples
        return samples[-1].missing if samples else ()

    @property
    def is_still(self) -> bool:
        """Does the picture ignore new samples?"""
        return self.frozen is not None or self.recording is not None

    def take(self, sample: messages.Sample) -> Moment | None:
        """Keep a sample of this machine; None for one that comes too soon."""
        if self.samples and 0 < sample.t_s - self.samples[-1].t_s < SOONEST_S:
            return None  # the rate has just changed: too short a time for a share
        moment = add_to(self.live, sample)
        self.samples.append(sample)
        while len(self.samples) > len(self.live.moments):
            self.samples.popleft()
        return moment

    def freeze(self, wanted: bool) -> None:
        """Freeze the picture, or let it go on."""
        if self.recording is not None:
            self.recording.hold(wanted)
        else:
            self.frozen = self.live.freeze() if wanted else None
            self._frozen_samples = list(self.samples) if wanted else []

    def mark(self, ago_s: float) -> Mark | None:
        """Mark the moment `ago_s` before the newest shown one; None without samples."""
        if not self.history.moments:
            return None
        kept = self.live if self.recording is None else self.recording.history
        mark = kept.mark(self.history.now_s - ago_s)
        if self.frozen is not None:
            self.frozen.marks.append(mark)
        return mark

    def minute(self) -> tuple[list[messages.Sample], list[float]]:
        """Return samples and marks of the shown minute of this machine."""
        samples = self._frozen_samples or list(self.samples)
        history = self.frozen or self.live
        # A replaced worker counts its time anew; the history goes on.
        in_time = [
            msgspec.structs.replace(sample, t_s=moment.at_s)
            for sample, moment in zip(samples, history.moments, strict=True)
        ]
        return in_time, [mark.at_s for mark in history.marks]
