"""Whatever a single point does: one answer, nothing left, and the next point can be asked for."""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.shelves import SHELVES as ALL_SHELVES
from experiments.engine import live, live_measuring, messages
from experiments.engine.live import Points
from experiments.engine.lock import Lock
from experiments.engine.messages import Outcome
from tests.experiments.engine.runs import SHELVES, called, misbehave, params
from tests.processes import PATIENCE_S, living, until


class Asked:
    """Points, and what is heard of them, in order."""

    def __init__(self, experiment: Experiment[Any], shelves: tuple[str, ...] = SHELVES) -> None:
        self.points = Points(experiment, shelves)
        self._heard: queue.SimpleQueue[messages.Event] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for event in self.points.events():
            self._heard.put(event)

    def ask(self, how: str = "behaves", **more: Any) -> None:
        self.points.ask(params(how, **more))

    def hear(self) -> messages.Event:
        return self._heard.get(timeout=PATIENCE_S)

    def answer(self, how: str = "behaves", **more: Any) -> tuple[list[Any], messages.Event]:
        """Return the rows of a point, and what came behind them."""
        self.ask(how, **more)
        return self.next_answer()

    def next_answer(self) -> tuple[list[Any], messages.Event]:
        rows = []
        while isinstance(event := self.hear(), messages.Row):
            rows.append(event.row["value"])
        return rows, event

    @property
    def guardian(self) -> int:
        return self.points._worker._process.pid  # noqa: SLF001  (what it started is the subject)

    @property
    def worker(self) -> int:
        pid = self.points._worker.pid  # noqa: SLF001  (what it started is the subject)
        assert pid is not None
        return pid

    def close(self) -> None:
        self.points.stop()
        self._reader.join(PATIENCE_S)
        assert not self._reader.is_alive()


@pytest.fixture
def asked() -> Iterator[Asked]:
    """Return a worker that is ready for points."""
    asked = Asked(misbehave())
    assert isinstance(asked.hear(), messages.Ready)
    yield asked
    asked.close()


def test_each_point_is_answered_by_its_rows_and_then_done(asked):
    for number in (1, 2, 3):
        rows, done = asked.answer(rows=number)

        assert rows == [float(n) for n in range(number)]
        assert done == messages.PointDone(point=number)


def test_a_point_that_fails_says_why_and_the_next_is_answered(asked):
    number = 1
    for how, key in (
        ("raises", "experiment_raised"),
        ("raises_trouble", "too_much_memory"),
        ("says_nan", "result_unsendable"),
        ("says_an_undeclared_row", "experiment_raised"),
        ("fills_memory_at_once", "out_of_memory"),
    ):
        _, done = asked.answer(how)
        assert (done.point, done.problem.key) == (number, key)
        assert asked.answer() == ([0.0, 1.0, 2.0], messages.PointDone(point=number + 1))
        number += 2


def test_a_point_out_of_its_range_says_so(asked):
    _, done = asked.answer(rows=-1)

    assert done.problem.key == "parameter_too_small"
    assert asked.answer()[1].problem is None


def test_of_points_that_have_not_begun_the_newest_counts(asked):
    asked.ask("takes_its_time", rows=10)
    assert isinstance(asked.hear(), messages.Row)
    for number in (1, 2, 3, 4):
        asked.ask(rows=number)

    rest, first = asked.next_answer()
    rows, last = asked.next_answer()

    assert (len(rest), first.point) == (9, 1)
    assert (rows, last.point) == ([0.0, 1.0, 2.0, 3.0], 5)


@pytest.mark.parametrize("how", ["sleeps", "holds_the_gil", "stops_itself", "forks_all_the_time"])
def test_a_point_that_hangs_is_ended_and_nothing_is_left(asked, how, monkeypatch, token):
    monkeypatch.setattr(live, "POINT_LIMIT_S", 0.5)

    _, finished = asked.answer(how)

    assert finished.outcome is Outcome.KILLED
    assert finished.problem.key == "points_silent"
    assert finished.problem.values == {"limit_s": 0.5}
    assert until(lambda: not living(token))


def test_to_be_asked_nothing_is_no_silence(asked, monkeypatch):
    monkeypatch.setattr(live, "POINT_LIMIT_S", 0.5)
    threading.Event().wait(1.0)

    rows, _ = asked.answer("takes_its_time", rows=20)

    assert len(rows) == 20


@pytest.mark.parametrize(
    "how",
    ["talks_garbage", "talks_endlessly", "starts_twice"],
)
def test_a_worker_that_lies_is_ended_and_nothing_is_left(asked, how, token):
    _, finished = asked.answer(how)

    assert finished.outcome is Outcome.FAILED
    assert finished.problem.key == "points_unreadable"
    assert finished.problem.values["reason"]
    assert until(lambda: not living(token))


def test_what_belongs_to_no_point_is_a_lie(asked):
    asked.ask("sleeps")
    assert isinstance(asked.hear(), messages.Row)
    for line in (
        b'{"type":"ready"}',
        b'{"type":"row","n":1,"t_s":0,"table":"rows","row":{"value":"many"}}',
        b'{"type":"row","n":1,"t_s":0,"table":"rows","row":{}}',
        b'{"type":"row","n":1,"t_s":0,"table":"others","row":{"value":1}}',
        b'{"type":"row","n":2,"t_s":0,"table":"rows","row":{"value":1}}',
        b'{"type":"progress","fraction":0.5}',
        b'{"type":"point_done","point":0}',
        b'{"type":"point_done","point":2}',
    ):
        with pytest.raises(messages.BadMessage):
            asked.points._check(messages.decode_event(line))  # noqa: SLF001  (a process each would say the same)


@pytest.mark.parametrize("how", ["exits", "crashes", "is_killed", "tears_a_line"])
def test_a_worker_that_vanishes_is_told_and_nothing_is_left(asked, how, token):
    _, finished = asked.answer(how)

    assert (finished.outcome, finished.problem.key) == (Outcome.LOST, "points_ended")
    assert until(lambda: not living(token))


def test_closing_in_the_middle_of_a_point_leaves_nothing(asked, token):
    asked.ask("holds_the_gil")
    assert isinstance(asked.hear(), messages.Row)
    asked.points.stop()

    assert asked.next_answer()[1] == messages.Finished(outcome=Outcome.STOPPED)
    assert until(lambda: not living(token))


def test_when_its_guardian_is_killed_the_worker_goes_too(asked, token):
    assert asked.answer()[1].problem is None
    os.kill(asked.guardian, signal.SIGKILL)

    assert asked.hear().outcome is Outcome.LOST
    assert until(lambda: not living(token))


def test_the_machine_is_kept_only_while_a_point_is_measured(asked):
    def is_free() -> bool:
        lock = Lock()
        try:
            return lock.take({})
        finally:
            lock.close()

    assert is_free()
    asked.ask("takes_its_time", rows=20)
    asked.hear()
    assert not is_free()
    asked.next_answer()
    assert is_free()


def test_a_point_waits_for_another_program_only_for_a_moment(asked):
    lock = Lock()
    assert lock.take({"experiment": "stream", "since": "12:00:00"})
    _, done = asked.answer()
    lock.close()

    assert live_measuring.PATIENCE_S < live.POINT_LIMIT_S
    assert done.problem.key == "points_machine_busy"
    assert done.problem.values == {"experiment": "stream", "since": "12:00:00"}
    assert asked.answer()[1].problem is None


def test_what_has_no_points_or_does_not_exist_is_told():
    gil_threads = Catalogue().load("gil-threads")
    for experiment, shelves, key in (
        (called("misbehav"), SHELVES, "experiment_unknown_near"),
        (gil_threads, ALL_SHELVES, "no_points"),
    ):
        asked = Asked(experiment, shelves)
        finished = asked.hear()
        asked.close()

        assert (finished.outcome, finished.problem.key) == (Outcome.FAILED, key)


def test_parameters_that_cannot_be_sent_are_refused_and_the_next_point_is_answered(asked):
    with pytest.raises(messages.BadMessage):
        asked.points.ask({"rows": float("nan")})

    assert asked.answer()[1] == messages.PointDone(point=1)
