from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest
import shiboken6
from PySide6.QtCore import QObject, Signal

from app.window.core.background import Background
from experiments.core.problems import UserError


@pytest.fixture
def background(qapp) -> Iterator[Background]:
    background = Background()
    yield background
    background.close()


def test_work_is_done_in_another_thread_and_its_result_comes_back_to_this_one(qtbot, background):
    threads = []

    def work() -> int:
        threads.append(threading.current_thread())
        return 7

    def then(result: int) -> None:
        threads.append(threading.current_thread())
        assert result == 7

    background.do(work, then)

    qtbot.waitUntil(lambda: len(threads) == 2)
    assert threads[0] is not threading.main_thread()
    assert threads[1] is threading.main_thread()


def test_what_is_deleted_meanwhile_gets_no_result_and_no_trouble(qtbot, background):
    class Page(QObject):
        came = Signal(int)

        def take(self, place: int, result: object) -> None:
            self.came.emit(place)

    def fail() -> None:
        raise UserError("recording_missing", name="x")

    pages, later = [Page(), Page()], []
    taking = [partial(page.take, 1) for page in pages]
    background.do_soon(lambda: 7, taking[0])
    background.do_soon(fail, taking[0], failed=taking[1])
    for page in pages:
        shiboken6.delete(page)
    background.do_soon(lambda: 8, later.append)

    qtbot.waitUntil(lambda: later == [8])  # an exception in the event loop fails the test


def test_expected_trouble_is_told_as_its_problem(qtbot, background):
    def work() -> None:
        raise UserError("recording_missing", name="x")

    with qtbot.waitSignal(background.troubled) as told:
        background.do(work, lambda _: pytest.fail("there is no result"))

    assert told.args[0].key == "recording_missing"


def test_an_error_is_told_and_the_next_work_is_done(qtbot, background, caplog):
    results = []
    with qtbot.waitSignal(background.troubled) as told:
        background.do(lambda: 1 / 0)
        background.do(lambda: 1, results.append)

    assert told.args[0].key == "unexpected"
    assert "ZeroDivisionError" in told.args[0].values["error"]
    qtbot.waitUntil(lambda: results == [1])


def test_nothing_comes_after_it_was_closed(qtbot, background):
    results: list[int] = []
    background.do(lambda: 1, results.append)
    background.close()
    background.do(lambda: 2, results.append)

    qtbot.wait(20)

    assert results == []


def test_what_somebody_waits_for_does_not_wait_for_what_takes_long(qtbot, background):
    goes_on, results = threading.Event(), []
    background.do(goes_on.wait, results.append)

    background.do_soon(lambda: "soon", results.append)
    qtbot.waitUntil(lambda: results == ["soon"])

    goes_on.set()
    qtbot.waitUntil(lambda: results == ["soon", True])


def test_who_asks_for_it_hears_of_trouble_alone(qtbot, background):
    def work() -> None:
        raise UserError("recording_missing", name="x")

    told, heard = [], []
    background.troubled.connect(told.append)
    background.do_soon(work, lambda _: pytest.fail("there is no result"), failed=heard.append)

    qtbot.waitUntil(lambda: bool(heard))
    assert heard[0].key == "recording_missing"
    assert told == []


# --- what may take minutes ----------------------------------------------------------------------


def test_what_takes_long_is_in_nobodys_way(qtbot, background):
    results: list[str] = []
    stop = background.do_long(lambda stop: stop.wait(60), lambda _: results.append("long"))

    background.do_soon(lambda: "soon", results.append)
    background.do(lambda: "in order", results.append)
    qtbot.waitUntil(lambda: sorted(results) == ["in order", "soon"])
    stop.set()


def test_the_result_of_what_takes_long_comes_back(qtbot, background):
    results: list[bool] = []

    background.do_long(lambda stop: stop.is_set(), results.append)

    qtbot.waitUntil(lambda: results == [False])


def test_what_was_stopped_tells_nothing_any_more(qtbot, background):
    told: list[object] = []

    def fail(stop: threading.Event) -> None:
        stop.wait(60)
        raise UserError("recording_missing", name="x")

    background.do_long(fail, told.append, told.append).set()
    background.do_long(lambda stop: "next", told.append)

    qtbot.waitUntil(lambda: told == ["next"])


def test_trouble_with_what_takes_long_is_told(qtbot, background):
    told: list[str] = []

    def fail(stop: threading.Event) -> None:
        raise UserError("recording_missing", name="x")

    background.do_long(fail, told.append, lambda problem: told.append(problem.key))

    qtbot.waitUntil(lambda: told == ["recording_missing"])


def test_closing_stops_what_takes_long(qapp):
    background, stopped = Background(), []
    begun = threading.Event()

    def work(stop: threading.Event) -> None:
        begun.set()
        stopped.append(stop.wait(60))

    background.do_long(work, lambda _: pytest.fail("nobody is there any more"))
    assert begun.wait(10)
    background.close()

    assert stopped == [True]
