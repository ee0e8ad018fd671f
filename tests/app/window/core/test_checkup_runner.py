"""A checkup is followed in a thread, and ends whatever happens."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from app.window.core.checkup_runner import CheckupRunner
from experiments.checkup.run_checkup import Found
from experiments.core.problems import UserError
from tests.app.window.checkup.scripted import Scripted, result
from tests.app.window.stage import settle


@pytest.fixture
def following(qapp):
    following = CheckupRunner()
    following.told, following.ends = [], []
    following.heard.connect(following.told.append)
    following.ended.connect(lambda *end: following.ends.append(end))
    yield following
    following.close()


def test_events_come_in_order_and_the_result_is_kept_before_the_end_is_told(following):
    whole, kept = result(), []
    following.ended.connect(lambda *_end: kept.append("told"))

    following.start(lambda: Scripted(whole), lambda found: kept.append(found.id))
    settle(lambda: following.ends)

    assert following.ends == [(whole, None)]
    assert kept == [whole.id, "told"]
    rows = [row for event in following.told if isinstance(event, Found) for row in event.rows]
    assert rows == [*whole.rows]
    assert not following.is_running


def test_what_is_stopped_ends_with_what_was_found(following):
    following.start(lambda: Scripted(result(), held=True), lambda _found: None)
    settle(lambda: following.left_s is not None)
    following.stop()
    assert following.is_stopping
    settle(lambda: following.ends)

    ((found, problem),) = following.ends
    assert found.outcome == "stopped"
    assert 0 < len(found.rows) < len(result().rows)
    assert problem is None


def test_what_cannot_begin_ends_in_a_problem(following):
    def make():
        raise UserError("order_unreadable", reason="line 1")

    following.start(make, lambda _found: None)
    settle(lambda: following.ends)

    ((found, problem),) = following.ends
    assert found is None
    assert problem.key == "order_unreadable"


def test_a_result_that_cannot_be_kept_is_still_told(following):
    def keep(_found):
        raise UserError("checkup_not_kept", reason="full")

    following.start(lambda: Scripted(result()), keep)
    settle(lambda: following.ends)

    ((found, problem),) = following.ends
    assert found == result()
    assert problem.key == "checkup_not_kept"


def test_a_mistake_of_ours_ends_it_too(following, caplog):
    following.start(lambda: None, lambda _found: None)
    settle(lambda: following.ends)

    ((_, problem),) = following.ends
    assert problem.key == "unexpected"


def test_what_waits_begins_when_it_may_or_is_given_up(following):
    following.wait(lambda: Scripted(replace(result(), id="waited")), lambda _found: None)
    assert (following.is_waiting, following.is_running) == (True, False)
    following.stop()
    assert not following.is_waiting
    assert following.ends == [(None, None)]

    following.wait(lambda: Scripted(replace(result(), id="waited")), lambda _found: None)
    following.go_on()
    following.go_on()  # the second time nothing waits
    settle(lambda: len(following.ends) == 2)
    assert following.ends[1][0].id == "waited"


def test_closing_ends_the_thread_and_keeps_what_was_found(following):
    kept = []
    following.start(lambda: Scripted(result(), held=True), kept.append)
    settle(lambda: following.left_s is not None)

    following.close()

    assert [found.outcome for found in kept] == ["stopped"]
