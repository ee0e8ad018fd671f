"""What the panel of a lecture says of its items, and of preflight."""

from __future__ import annotations

from collections.abc import Sequence

from app.lecture.draft import Draft
from app.lecture.file import Item
from app.lecture.preflight import Mark, disturbance_text
from app.report import chosen
from app.window.core.session import Session
from app.window.lecture.checking import Checking
from app.window.lecture.items import prepare, seconds_of
from experiments.core.declare import specs
from experiments.core.units import DURATION, show
from widgets.lecture.presenter_data import ItemLine, Standing

STANDINGS = {
    Mark.READY: Standing.DONE,
    Mark.BUSY: Standing.NOTHING,
    Mark.LONG: Standing.NOTHING,
    Mark.RECORDING: Standing.RECORDING,
    Mark.NEITHER: Standing.NOTHING,
}


def line_of(session: Session, checking: Checking, item: Item) -> ItemLine:
    """Return an item as it stood when it was tried; before that, about how long it takes."""
    say, prepared = session.words.say, prepare(session, item)
    if prepared.problem is not None:
        return ItemLine(prepared.title, session.say(prepared.problem), Standing.NOTHING)
    checked = checking.of(item)
    if checked is not None:
        duration = show(checked.seconds, DURATION) if checked.seconds is not None else ""
        state = say(f"preflight.{checked.mark}", {"duration": duration})
        if checked.reason is not None:
            state = f"{state}: {session.say(checked.reason)}"
        elif checked.disturbance is not None:
            state = f"{state}. {disturbance_text(session.words, checked.disturbance)}"
        return ItemLine(prepared.title, state, STANDINGS[checked.mark])
    seconds = seconds_of(session, prepared)
    if seconds is None:
        return ItemLine(prepared.title, say("lecture.recording_only"), Standing.RECORDING)
    state = say("lecture.about", {"value": show(seconds, DURATION)})
    return ItemLine(prepared.title, state, Standing.READY)


def settings_in_words(session: Session, item: Item) -> str:
    """Return the settings of an item, or that they are the usual ones; "" of no item."""
    words, prepared = session.words, prepare(session, item)
    if not item.set or prepared.experiment is None:
        return words.say("playlist.usual_settings") if item.experiment else ""
    known, id_ = specs(prepared.experiment.params), prepared.experiment.id
    told = [
        f"{words.say(f'{id_}.params.{name}')} "
        f"{chosen(words, id_, known[name], value) if name in known else value}"
        for name, value in item.set.items()
    ]
    return words.say("playlist.settings", {"settings": ", ".join(told)})


def total_of(session: Session, draft: Draft) -> str:
    """Return how many items there are, and how long they are planned to take."""
    count, say = len(draft.items), session.words.say
    minutes = draft.lecture.planned_minutes
    if not count:
        return ""
    items = say("playlist.count_one" if count == 1 else "playlist.count", {"count": count})
    if minutes is None:
        return items
    return f"{items} · {say('playlist.total', {'minutes': f'{minutes:g}'})}"


def told_of(session: Session, checking: Checking, count: int) -> str:
    """Return what preflight does now, "" for nothing."""
    step, say = checking.step, session.words.say
    if not checking.is_on:
        return ""
    if step is None:
        return say("playlist.checking")
    values = {"place": step.place + 1, "count": count}
    return f"{say('lecture.place', values)}: {say(f'preflight.{step.work}')}"


def found_of(session: Session, checking: Checking, items: Sequence[Item]) -> str:
    """Return why preflight calls the machine too busy, by the item that was disturbed most."""
    tried = [checking.of(item) for item in items]
    notes = [each.disturbance for each in tried if each is not None and each.disturbance]
    if not notes:
        return ""
    worst = max(notes, key=lambda note: max(note.values.values(), default=0.0))
    return disturbance_text(session.words, worst)
