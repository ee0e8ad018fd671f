from __future__ import annotations

import pytest

from app.lecture.file import Item, Lecture
from experiments.core.teaching.lessons import Taught
from tests.app.window.lecture.lectures import Key

LADDER = Lecture(title="One", item=(Item(experiment="cache-ladder"), Item(experiment="stream")))


@pytest.fixture
def explained(hall):
    """The explanation of an item whose mechanism moves, after its run."""
    hall.begin(LADDER)
    hall.to_run()
    hall.hear("cache-ladder")
    while hall.data.step != "explain":
        hall.press(Key.Key_PageDown)
    return hall


def test_at_its_key_the_motion_plays_in_place_of_the_plot(explained):
    slide = explained.show.audience.slide
    assert explained.data.key.startswith("M: motion")
    assert not slide.motion.isVisible()

    explained.press(Key.Key_M)
    assert slide.motion.isVisible()
    assert slide.motion.playback.is_playing
    assert not slide.plot.isVisible()
    assert slide.motion.view.width() > slide.width() / 2
    assert explained.data.key.startswith("M: plot")

    explained.press(Key.Key_M)
    assert slide.plot.isVisible()
    assert not slide.motion.playback.is_playing


def test_the_next_step_takes_the_motion_away(explained):
    explained.press(Key.Key_M, Key.Key_PageDown)

    assert explained.at == (2, "question")
    assert not explained.show.audience.slide.motion.isVisible()
    explained.press(Key.Key_M)
    assert not explained.show.audience.slide.motion.isVisible()


def test_a_broken_motion_is_told_to_the_presenter_and_the_lecture_goes_on(
    hall, monkeypatch, caplog
):
    monkeypatch.setattr(Taught, "motion", lambda *_given: {}["nothing"])
    hall.begin(LADDER)
    hall.to_run()
    hall.hear("cache-ladder")
    while hall.data.step != "explain":
        hall.press(Key.Key_PageDown)

    hall.press(Key.Key_M)
    assert "nothing" in hall.conductor.aside
    assert len(caplog.records) == 1
    assert hall.show.audience.slide.plot.isVisible()
    assert not hall.conductor.course.turn.is_recording
    hall.press(Key.Key_PageDown)
    assert hall.at == (2, "question")
