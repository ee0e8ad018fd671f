"""Plays a recorded watch, sample by sample, labelled as recorded.

It plays once, unless it stands for a machine from a file (`repeats`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from experiments.core.words import Words
from experiments.engine import messages
from experiments.presentation.load.history import History, Moment
from machine.live.recorded_watch import RecordedWatch
from machine.live.sampler import Sample
from machine.model import Machine

PAUSE_S = 2.0  # before it plays again; a gap in the plots


def as_message(sample: Sample) -> messages.Sample:
    """Return a sample as a worker would send it."""
    return messages.Sample(**msgspec.to_builtins(sample))


def band_of(recorded: RecordedWatch, words: Words, machine: Machine | None = None) -> str:
    """Return the label of a recording; it names this machine if the recording names none."""
    known = recorded.machine or machine
    model = known.cpu.model if known is not None else None
    name = model or words.say("live.unknown_machine")
    if recorded.is_made_up:
        return words.say("live.made_up", {"machine": name})
    if not recorded.at:
        return words.say("live.recorded_undated", {"machine": name})
    return words.say("live.recorded", {"machine": name, "date": recorded.at[:10]})


class WatchPlayer(QObject):
    """Sends the samples of a recording, each at its time."""

    sampled = Signal(object)  # messages.Sample
    ended = Signal()

    def __init__(self, recorded: RecordedWatch, *, repeats: bool = False) -> None:
        super().__init__()
        self.recorded, self._repeats = recorded, repeats
        self._place = 0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._send)

    @property
    def is_playing(self) -> bool:
        """Is it playing?"""
        return self._timer.isActive()

    def play(self, *, anew: bool = True) -> None:
        """Send samples from the first on, or from where it was paused."""
        if anew or self._place >= len(self.recorded.samples):
            self._place = 0
        self._timer.start(0)

    def pause(self) -> None:
        """Send nothing until `play`."""
        self._timer.stop()

    def _send(self) -> None:
        samples = self.recorded.samples
        sample = samples[self._place]
        self._place += 1
        if self._place < len(samples):
            self._timer.start(round((samples[self._place].t_s - sample.t_s) * 1000))
        elif self._repeats:
            self._place = 0
            self._timer.start(round(PAUSE_S * 1000))
        self.sampled.emit(as_message(sample))
        if self._place == len(samples):
            self.ended.emit()


class Recording(QObject):
    """A recorded watch that the user opened: at first its last minute, then as it is played."""

    changed = Signal()  # new samples, or the end

    def __init__(self, recorded: RecordedWatch) -> None:
        super().__init__()
        self.player = WatchPlayer(recorded)
        self.player.sampled.connect(self._take)
        self.player.ended.connect(self.changed)
        self._begin()
        for sample in recorded.samples:
            self._add(as_message(sample))

    def play(self) -> None:
        """Play it from its beginning."""
        self._begin()
        self.player.play()

    def hold(self, held: bool) -> None:
        """Pause, or go on unless it is at its end."""
        if held:
            self.player.pause()
        elif not self._is_at_end:
            self.player.play(anew=False)

    def place(self, words: Words) -> str:
        """Return which part of it is seen."""
        recorded = self.player.recorded
        if self._is_at_end:
            return words.say("live.recording_ends", {"seconds": round(recorded.seconds)})
        passed_s = self._t_s - recorded.samples[0].t_s
        values = {"seconds": round(passed_s), "all": round(recorded.seconds)}
        return words.say("live.recording_plays", values)

    @property
    def _is_at_end(self) -> bool:
        return self._t_s >= self.player.recorded.samples[-1].t_s

    def _begin(self) -> None:
        self.history = History(clock_s=lambda: 0.0, asleep_s=lambda: 0.0)
        self.missing: Sequence[Mapping[str, str]] = ()
        self._t_s = self.player.recorded.samples[0].t_s

    def _take(self, sample: messages.Sample) -> None:
        self._add(sample)
        self.changed.emit()

    def _add(self, sample: messages.Sample) -> None:
        moment = add_to(self.history, sample)
        for mark_s in self.player.recorded.marks_s:
            if self._t_s < mark_s <= sample.t_s:
                self.history.mark(moment.at_s - (sample.t_s - mark_s))
        self.missing, self._t_s = sample.missing, sample.t_s


def add_to(history: History, sample: messages.Sample) -> Moment:
    """Add a sample to the history."""
    return history.add(
        sample.t_s,
        sample.threads,
        sample.memory,
        disks=sample.disks,
        network=sample.network,
        gpus=sample.gpus,
        heat=sample.heat,
    )
