"""The motion below the plots of an explanation, with the run that comes along."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt

from app.evidence import Evidence
from app.window.lesson.model import LessonModel
from experiments.core.teaching.lessons import Taught
from experiments.core.teaching.motion import Hold, Motion, Scene
from tests.app.window.stage import Stage, found, settle
from widgets.experiment.machine_strip import MachineStrip
from widgets.lesson.drawing.diagram import DiagramView
from widgets.lesson.drawing.motion_player import MotionPlayer
from widgets.lesson.steps import Step

LADDER = "cache-ladder"
BROKEN = Motion(
    scenes=(Scene(events=(Hold(shape="nowhere", start_s=0.0, end_s=1.0),)),),
    duration_s=1.0,
    stills=(0.0, 0.5, 1.0),
)


@pytest.fixture
def stage(look, tmp_path):
    """The page of an experiment, on which lessons are shown."""
    stage = Stage(look, tmp_path, numbers=False)
    stage.page.resize(1280, 800)
    stage.page.show()
    stage.page.arrive()
    stage.know_machine()
    yield stage
    stage.close()


def explain(stage: Stage, id_: str = LADDER) -> MotionPlayer:
    """Open the recording of an experiment at its explanation."""
    stage.page.open(id_)
    lesson = stage.page.lesson.model
    lesson.answer(None)
    lesson.observe()
    recording = stage.page.model.recording
    assert recording is not None
    stage.page.open_run(recording)
    player = stage.page.lesson.moving.player
    settle(lambda: player.isVisible() and not stage.drawing.isActive())
    assert lesson.step is Step.EXPLAIN
    return player


def point(stage: Stage, size: int, name: str = "random") -> None:
    """Let the plot say that a mark is pointed at, and rest there."""
    stage.views.keyed_plots()["ladder"].pointed.emit(name, float(size))
    settle(lambda: not stage.page.lesson.moving.is_waiting)


def line(stage: Stage) -> dict[int, float]:
    run = stage.page.lesson.model.evidence.run
    return {row.size_bytes: row.latency_s for row in run.tables["steps"] if row.order == "random"}


def test_the_question_shows_no_drawing(stage):
    stage.page.open(LADDER)
    settle(lambda: stage.page.lesson.model.step is Step.QUESTION)

    assert not any(view.isVisible() for view in stage.page.findChildren(DiagramView))


def test_the_motion_plays_where_it_is_explained_and_ends_with_it(stage):
    player = explain(stage)
    assert player.playback.is_playing
    times = stage.page.lesson.model.evidence.run.values
    assert player.motion.duration_s == times["memory_latency_s"]

    stage.page.lesson.model.go(Step.OBSERVE)
    assert not player.isVisible()
    assert not player.playback.is_playing


def test_on_a_small_screen_a_whole_plot_stands_above_the_drawing(stage):
    stage.page.resize(1194, 684)  # in a window of 1280 x 720
    player = explain(stage)
    strip = found(stage.page, MachineStrip)
    views, plot = stage.views, stage.views.keyed_plots()["ladder"]

    def is_whole() -> bool:
        return views.rect().contains(QRect(plot.mapTo(views, QPoint()), plot.size()))

    settle(is_whole)
    assert player.visibleRegion().boundingRect() == player.rect()
    assert not strip.isVisible()

    stage.page.lesson.model.go(Step.TRY)
    assert strip.isVisible()


def test_the_line_at_the_foot_tells_the_keys_of_what_moves(stage):
    explain(stage)
    keys = stage.session.words.say("lesson.motion_keys")
    assert stage.page.status() == keys
    assert ("Space", stage.session.words.say("lesson.motion_key_play")) in stage.page.own_keys()

    stage.page.lesson.model.go(Step.TRY)
    assert stage.page.status() != keys


def test_space_plays_wherever_the_keyboard_is_unless_a_button_takes_it(qtbot, stage):
    player = explain(stage)
    plot = stage.views.keyed_plots()["ladder"]
    plot.setFocus()

    qtbot.keyClick(plot, Qt.Key.Key_Space)
    assert not player.playback.is_playing
    qtbot.keyClick(plot, Qt.Key.Key_Space)
    assert player.playback.is_playing


def test_pointing_at_a_size_sends_a_load_of_that_size_and_the_last_one_stays(stage):
    player = explain(stage)
    before = player.motion
    size = sorted(line(stage))[len(line(stage)) // 2]
    point(stage, size)
    best = min(
        row.latency_s
        for row in stage.page.lesson.model.evidence.run.tables["steps"]
        if (row.size_bytes, row.order) == (size, "random")
    )
    assert player.motion.duration_s == best
    assert player.playback.is_playing

    stage.views.keyed_plots()["ladder"].pointed.emit("", float("nan"))
    point(stage, 1)  # where nothing was measured
    assert player.motion.duration_s == best
    assert player.motion != before


def test_a_mouse_that_passes_by_sends_nothing_until_it_rests(stage):
    player, asked = explain(stage), []
    plot = stage.views.keyed_plots()["ladder"]
    stage.page.lesson.moving.player.playback.pause()
    for size in sorted(line(stage))[:6]:
        plot.pointed.emit("random", float(size))
        asked.append(player.motion)

    assert len(set(map(id, asked))) == 1


def test_the_mouse_on_the_line_is_enough(qtbot, stage):
    player = explain(stage)
    before = player.motion
    plot = stage.views.keyed_plots()["ladder"]
    settle(lambda: not stage.drawing.isActive())  # what is drawn later moves the line
    track = next(each for each in plot.chart.drawing.tracks() if len(each.xs) > 10)
    at = plot.painted().area.point(float(track.xs[8]), float(track.ys[8]))
    qtbot.mouseMove(plot, QPoint(5, 5))
    qtbot.mouseMove(plot, at.toPoint())

    settle(lambda: player.motion is not before)
    assert player.motion.duration_s < before.duration_s


def test_with_less_motion_it_stands(stage):
    stage.session.settings = stage.session.settings.replace(less_motion=True)

    assert not explain(stage).playback.is_playing


def test_while_something_is_measured_it_stands(stage):
    player = explain(stage)
    stage.runner.start(stage.page.model.experiment, stage.form.params())

    assert not player.playback.is_playing
    player.toggle()
    assert not player.playback.is_playing


def test_where_a_recording_explains_its_motion_plays_under_its_band(stage, monkeypatch):
    before = LessonModel.evidence.fget

    def of_recording(model):
        known = before(model)
        return known and Evidence(run=known.run, explained=known.explained, band="RECORDED · X")

    monkeypatch.setattr(LessonModel, "evidence", property(of_recording))
    player = explain(stage)

    assert player.playable.band == "RECORDED · X"
    point(stage, sorted(line(stage))[3])
    assert player.playable.band == "RECORDED · X"


def raises(*_given: object) -> Motion:
    raise KeyError("lost")


@pytest.mark.parametrize("moves", [raises, lambda *_given: BROKEN])
def test_a_broken_motion_is_told_once_and_the_drawing_stands_still(
    stage, monkeypatch, caplog, moves
):
    troubles = []
    stage.session.troubled.connect(troubles.append)
    monkeypatch.setattr(Taught, "motion", moves)
    player = explain(stage)
    lesson = stage.page.lesson.model
    lesson.go(Step.TRY)
    lesson.go(Step.EXPLAIN)
    settle(player.isVisible)

    assert [problem.key for problem in troubles] == ["motion_broken"]
    assert player.motion is None
    assert player.view.isVisible()


def test_a_lesson_without_motion_shows_its_drawing_below_the_plots(stage, monkeypatch):
    monkeypatch.setattr(Taught, "motion", lambda *_given: None)
    player = explain(stage)

    assert player.view.isVisible()
    assert not player.slider.isVisible()
    assert stage.page.status() != stage.session.words.say("lesson.motion_keys")


def test_leaving_the_page_stops_it(stage):
    player = explain(stage)
    stage.page.leave()

    assert not player.playback.is_playing
