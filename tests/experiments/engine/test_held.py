"""A run that is made ready and waits for its key."""

from __future__ import annotations

import threading
import time

from experiments.engine import messages
from experiments.engine.messages import Outcome
from tests.experiments.engine.runs import ending, hear, rows, start

PAUSE_S = 0.8  # longer than an impatient run may be silent
COMPLETED = (Outcome.COMPLETED, None)


def held(event: messages.Event) -> bool:
    return isinstance(event, messages.Note) and event.key == messages.HELD


def turns(events: list[messages.Event]) -> set[object]:
    """Return what the rows hold; on a busy machine a disturbed turn comes again."""
    return {row.row["value"] for row in rows(events)}


def test_the_first_turn_waits_for_its_key_and_the_wait_is_no_part_of_the_run(engine):
    run = start(engine, "takes_samples", impatient=True, hold=True)
    timer = threading.Timer(PAUSE_S, run.go)
    before: list[messages.Event] = []
    at_s: dict[str, float] = {}
    for event in run.events():
        if held(event):
            assert not rows(before)
            at_s["held"] = time.monotonic()
            timer.start()
        if isinstance(event, messages.Row):
            at_s.setdefault("row", time.monotonic())
        before.append(event)
    assert ending(before) == COMPLETED
    (number,) = (n for n, event in enumerate(before) if held(event))
    assert isinstance(before[number + 1], messages.Progress)  # so that the time left is no older
    assert len(turns(before)) == 3
    assert at_s["row"] - at_s["held"] >= PAUSE_S
    assert rows(before)[0].t_s < PAUSE_S


def test_what_comes_before_the_turns_is_told_before_the_wait(engine):
    run = start(engine, "says_and_takes_samples", hold=True)
    events = hear(run, {messages.Row: run.go})
    assert ending(events) == COMPLETED
    assert len(turns(events)) == 4


def test_a_key_that_comes_early_is_not_lost(engine):
    run = start(engine, "takes_samples", hold=True)
    run.go()
    events = hear(run)
    assert ending(events) == COMPLETED
    assert len(turns(events)) == 3


def test_a_held_run_can_be_stopped(engine):
    run = start(engine, "takes_samples", hold=True)
    events = []
    for event in run.events():
        events.append(event)
        if held(event):
            run.stop()
    assert ending(events) == (Outcome.STOPPED, None)
    assert not rows(events)


def test_a_key_changes_nothing_for_a_run_that_is_not_held(engine):
    run = start(engine, "takes_samples")
    events = hear(run, {messages.Row: run.go})
    assert ending(events) == COMPLETED
    assert not any(map(held, events))
