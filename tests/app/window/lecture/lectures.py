"""A lecture of three items in the whole window, led by keys; runs say what recorded ones say."""

from __future__ import annotations

import functools
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.lecture.file import Item, Lecture
from app.window.lecture.conductor import Conductor
from app.window.lecture.windows import LectureWindows
from experiments.core.shelves import homes
from experiments.engine import messages
from experiments.engine.recording import Recording, read
from tests.app.window.stage import settle
from tests.app.window.whole import Whole
from widgets.lecture.slide_data import SlideData
from widgets.style.look import Look

HOMES = homes()
THREE = Lecture(
    title="Three",
    minutes=10.0,
    item=(
        Item(experiment="gil-threads", notes="Ask first.", minutes=4.0, set={"workers": 3}),
        Item(experiment="burst-random"),
        Item(experiment="context-switch", title="Pipes"),
    ),
)
Key = Qt.Key


class Hall:
    """The window with a lecture over it."""

    def __init__(self, look: Look, folder: Path) -> None:
        self.whole = Whole(look, folder)
        self.runner = self.whole.runner

    def begin(self, lecture: Lecture = THREE) -> None:
        """Begin a lecture, with its first recordings read."""
        self.whole.session.asked_for_lecture.emit(lecture, None)
        self.rest()

    def rest(self) -> None:
        """Wait for the recording of the item of now."""
        course = self.conductor.course
        settle(lambda: self.conductor.runs.is_read(course.place))

    @property
    def conductor(self) -> Conductor:
        found = self.whole.window.lecture_mode.conductor
        assert found is not None
        return found

    @property
    def show(self) -> LectureWindows:
        found = self.whole.window.lecture_mode.windows
        assert found is not None
        return found

    @property
    def is_on(self) -> bool:
        return self.whole.window.lecture_mode.conductor is not None

    @property
    def data(self) -> SlideData:
        """The slide that the class sees."""
        found = self.show.audience.slide.data
        assert found is not None
        return found

    @property
    def at(self) -> tuple[int, str]:
        """The item, from 1, and its step."""
        return self.data.place, self.data.step

    def press(self, *keys: Key, times: int = 1, shift: bool = False, on: QWidget | None = None):
        """Press keys in the window of the class."""
        held = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
        for _ in range(times):
            for key in keys:
                QTest.keyClick(on or self.show.audience, key, held)

    def leave(self, key: Key = Key.Key_Escape) -> None:
        """Leave the lecture, and say that it is meant."""
        self.press(key, Key.Key_Return)

    def come_back(self, lecture: Lecture = THREE) -> None:
        """Begin a lecture again that was left."""
        self.whole.session.asked_for_lecture.emit(lecture, None)
        self.rest()

    @property
    def over(self) -> str:
        """The texts over the window of the class."""
        return " ".join(self.show.audience.over.texts)

    def to_run(self) -> None:
        """Go to the run of the item of now."""
        while self.data.step != "run":
            self.press(Key.Key_PageDown)
            assert self.data.step in ("question", "vote", "run")

    def hear(self, id_: str, share: float = 1.0) -> Recording:
        """Let the run under way say what the recorded one of an experiment says."""
        recording = recorded(id_)
        some = recording.events[: round(len(recording.events) * share)]
        self.runner.hear(recording.started, *some)
        if share == 1.0:
            self.runner.hear(recording.finished)
        return recording

    def end(self, outcome: messages.Outcome, key: str = "ended_from_outside") -> str:
        """Let the run under way end; return the sentence that says why."""
        problem = messages.ProblemSent(key=key)
        self.runner.hear(messages.Finished(outcome=outcome, problem=problem))
        return self.whole.words.say(f"problems.{key}")

    def drawn(self) -> str:
        """Return what the plot of the class says of itself."""
        self.show.refresh()
        plot = self.show.audience.slide.plot
        assert plot is not None
        return plot.summary()

    def say(self, key: str, **values: object) -> str:
        return self.whole.words.say(f"lecture.{key}", values)

    def close(self) -> None:
        self.whole.window.lecture_mode.leave()
        self.whole.close()


@functools.cache
def recorded(id_: str) -> Recording:
    """Return the run that comes with an experiment."""
    path = HOMES[id_].recording
    assert path is not None
    return read(path)
