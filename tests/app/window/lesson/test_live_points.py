from __future__ import annotations

import queue
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, Signal

from app.context import Context
from app.window.core.session import Session
from app.window.core.settings import Settings
from app.window.lesson import live_try
from app.window.lesson.live_try import LivePoints
from experiments.core.catalogue import Catalogue
from experiments.engine import messages
from experiments.engine.messages import Outcome

SOON_MS = 60_000
EXPERIMENT = Catalogue().load("burst-random")
Point = EXPERIMENT.live.params


def row(n: int, size_bytes: int) -> messages.Row:
    plain: dict[str, messages.Cell] = {
        "size_bytes": size_bytes, "order": "random", "repeat": n, "element_s": 1e-9,
        "useful_bytes_per_s": 8e9,
    }  # fmt: skip
    return messages.Row(n=n, t_s=0.0, table="reads", row=plain)


class Played:
    """Points without a process: a test says what they say."""

    made: list[Played]
    refuses = False

    def __init__(self, experiment) -> None:
        if Played.refuses:
            raise OSError(11, "Resource temporarily unavailable")
        self.experiment = experiment
        self.asked: list[dict] = []
        self._said: queue.SimpleQueue[messages.Event] = queue.SimpleQueue()
        self.is_stopped = False
        Played.made.append(self)

    def ask(self, params) -> None:
        self.asked.append(params)

    def say(self, *events: messages.Event) -> None:
        for event in events:
            self._said.put(event)

    def events(self) -> Iterator[messages.Event]:
        while True:
            yield (event := self._said.get())
            if isinstance(event, messages.Finished):
                return

    def stop(self) -> None:
        self.is_stopped = True
        self.say(messages.Finished(outcome=Outcome.STOPPED))


class Runner(QObject):
    """The part of a runner that is asked here."""

    began = Signal()
    is_running = False


@pytest.fixture
def runner() -> Runner:
    return Runner()


@pytest.fixture
def points(session, runner, monkeypatch) -> Iterator[LivePoints]:
    Played.made, Played.refuses = [], False
    monkeypatch.setattr(live_try, "Points", Played)
    session.runner = runner
    points = LivePoints(session)
    session.woke.emit()
    yield points
    session.closing.emit()


def test_the_rows_of_a_point_come_together_once_it_is_done(qtbot, points):
    told = []
    points.rows.connect(lambda table, rows: told.append((table, rows)))
    points.start(EXPERIMENT)
    (played,) = Played.made
    points.ask(Point(size_bytes=65536))
    assert played.asked == [{"size_bytes": 65536, "order": "random"}]

    with qtbot.waitSignal(points.ready):
        played.say(messages.Ready(), row(0, 32768), row(1, 65536))
    assert told == []
    with qtbot.waitSignal(points.rows):
        played.say(messages.PointDone(point=1))

    ((table, rows),) = told
    assert table == "reads"
    assert all(isinstance(each, EXPERIMENT.tables["reads"]) for each in rows)
    assert [each.size_bytes for each in rows] == [32768, 65536]


def test_a_point_that_failed_is_told_without_its_rows_and_the_next_is_drawn(qtbot, points):
    points.start(EXPERIMENT)
    (played,) = Played.made
    points.ask(Point())
    problem = messages.ProblemSent(key="out_of_memory", detail="where")
    with qtbot.assertNotEmitted(points.rows), qtbot.waitSignal(points.failed) as failed:
        played.say(row(0, 1024), messages.PointDone(point=1, problem=problem))
    assert (failed.args[0].key, failed.args[0].detail) == ("out_of_memory", "where")

    points.ask(Point())
    with qtbot.waitSignal(points.rows) as drawn:
        played.say(row(1, 2048), messages.PointDone(point=2))

    assert [each.size_bytes for each in drawn.args[1]] == [2048]
    assert len(Played.made) == 1


def test_after_its_process_has_failed_the_next_point_starts_one_anew(qtbot, points):
    points.start(EXPERIMENT)
    problem = messages.ProblemSent(key="points_silent", values={"limit_s": 5.0})
    with qtbot.waitSignal(points.failed) as failed:
        Played.made[0].say(messages.Finished(outcome=Outcome.KILLED, problem=problem))
    assert failed.args[0].values == {"limit_s": 5.0}

    points.ask(Point())

    assert [len(played.asked) for played in Played.made] == [0, 1]


def test_what_was_closed_says_nothing_any_more(qtbot, points):
    points.start(EXPERIMENT)
    points.ask(Point())
    points.close()
    points.close()

    with (
        qtbot.assertNotEmitted(points.rows, wait=50),
        qtbot.assertNotEmitted(points.failed, wait=50),
    ):
        Played.made[0].say(row(0, 1024), messages.PointDone(point=1))
    assert Played.made[0].is_stopped


def test_another_experiment_takes_the_place_of_the_first(points):
    points.start(EXPERIMENT)
    points.start(Catalogue().load("cache-ladder"))

    assert [played.is_stopped for played in Played.made] == [True, False]


def test_a_run_ends_the_points_and_there_are_none_until_it_has_ended(qtbot, points, runner):
    points.start(EXPERIMENT)
    runner.is_running = True
    runner.began.emit()
    assert Played.made[0].is_stopped

    for ask in (lambda: points.ask(Point()), lambda: points.start(EXPERIMENT)):
        with qtbot.waitSignal(points.failed) as failed:
            ask()
        assert failed.args[0].key == "points_during_run"
    runner.is_running = False
    points.ask(Point())

    assert [len(played.asked) for played in Played.made] == [0, 1]


def test_where_no_process_can_be_started_it_is_told(qtbot, points):
    Played.refuses = True
    with qtbot.waitSignal(points.failed) as failed:
        points.start(EXPERIMENT)

    assert failed.args[0].key == "points_not_started"
    assert failed.args[0].values["reason"]


def test_of_a_machine_from_a_file_no_point_is_measured(qtbot, points, look, tmp_path, runner):
    context = Context(data=tmp_path, fake_machine=tmp_path / "laptop.json")
    session = Session(context, look, Settings())
    session.runner = runner
    points = LivePoints(session)
    with qtbot.waitSignal(points.failed) as failed:
        points.start(EXPERIMENT)

    assert failed.args[0].key == "fake_machine_measured"
    assert Played.made == []


def test_real_points_of_a_real_process(qtbot, session):
    session.wake()
    points = LivePoints(session)
    points.start(EXPERIMENT)
    for size_bytes in (16384, 65536):
        with qtbot.waitSignal(points.rows, timeout=SOON_MS) as answer:
            points.ask(Point(size_bytes=size_bytes))
        table, (found,) = answer.args

        assert (table, found.size_bytes, found.order) == ("reads", size_bytes, "random")
        assert 1e-10 < found.element_s < 1e-6
    session.close()
    assert session.library.runs() == []
