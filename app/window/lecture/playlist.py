"""Puts a lecture together: what its panel does, and what it says of items and preflight."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from app.lecture.draft import Draft
from app.lecture.file import SUFFIX, Item, read
from app.lecture.lectures import NAME, is_shipped, lectures, name_of
from app.lecture.preflight import Mark, disturbance_text
from app.report import chosen
from app.window.core.saving import complete, file_there, new_file
from app.window.core.session import Session
from app.window.lecture.checking import Checking
from app.window.lecture.items import prepare, seconds_of
from experiments.core.declare import specs
from experiments.core.problems import UserError
from experiments.core.units import DURATION, show
from widgets.controls.basics import announce
from widgets.lecture.playlist import Playlist, PlaylistData
from widgets.lecture.presenter_data import ItemLine, Standing

KEPT = f"unsaved{SUFFIX}"
UNTITLED = f"lecture{SUFFIX}"
STANDINGS = {
    Mark.READY: Standing.DONE,
    Mark.BUSY: Standing.NOTHING,
    Mark.LONG: Standing.NOTHING,
    Mark.RECORDING: Standing.RECORDING,
    Mark.NEITHER: Standing.NOTHING,
}


class PlaylistPart(QObject):
    """The panel and its draft. `page_item` returns the experiment of the page, if one is open."""

    opened = Signal()  # or closed

    def __init__(self, session: Session, page_item: Callable[[], Item | None]) -> None:
        super().__init__()
        self._session, self._page_item = session, page_item
        self._kept = session.context.folder / NAME / KEPT
        last = session.settings.playlist
        self.draft = Draft.kept(self._kept, Path(last) if last else None)
        self.place = 0 if self.draft.items else -1
        self.checking = Checking(session)
        self.panel = panel = Playlist(session.words, session.look)
        panel.hide()
        self.is_open = False  # the place shows it where it has room
        self.has_room = True  # beside the cards, as the place says
        panel.asked.connect(self._do)
        panel.added.connect(lambda id_, place: self.add(Item(experiment=id_), place))
        panel.moved.connect(self._move)
        panel.removed.connect(self._remove)
        panel.selected.connect(self._select)
        panel.titled.connect(self._title)
        panel.noted.connect(lambda place, notes: self._change(place, notes=notes))
        panel.timed.connect(lambda place, minutes: self._change(place, minutes=minutes))
        panel.settings_wanted.connect(self._use_page)
        self.checking.changed.connect(self.refresh)
        session.entries_changed.connect(self.refresh)
        session.runs_changed.connect(self.refresh)

    # --- what others ask for ------------------------------------------------------------------

    def show(self) -> None:
        """Show the panel, and give it the keyboard."""
        self.set_open(True)
        (self.panel.items if self.draft.items else self.panel.open).setFocus()

    def set_open(self, is_open: bool) -> None:
        """Show the panel as soon as there is room for it, or no more."""
        self.is_open = is_open
        self.opened.emit()

    def open(self, path: Path) -> None:
        """Open a lecture; the previous lecture can be restored."""
        try:
            lecture = read(path)
        except UserError as trouble:
            self._session.troubled.emit(trouble.problem)
            return
        before, say = self.draft, self._session.words.say
        self._use(Draft(lecture, path))
        if before.is_changed:
            told = say("playlist.opened", {"name": name_of(path)})
            self._session.tell(told, say("playlist.undo"), lambda: self._use(before))

    def take(self, item: Item) -> None:
        """Add an experiment that was chosen by key, and show the panel beside it."""
        if self.has_room:
            self.set_open(True)
        self.add(item)
        say, title = self._session.words.say, prepare(self._session, item).title
        told = say("playlist.added", {"title": title, "place": self.place + 1})
        if self.panel.isVisible():
            announce(self.panel, told)
        else:
            self._session.tell(told, say("playlist.undo"), self._undo)

    def add(self, item: Item, place: int | None = None) -> None:
        """Add an experiment, by default as the last item."""
        try:
            self.place = self.draft.add(item, place)
        except UserError as trouble:
            self._session.troubled.emit(trouble.problem)
        self._changed()

    def begin(self) -> None:
        """Begin the lecture; what is being tried would disturb it."""
        self.checking.stop()
        self._session.asked_for_lecture.emit(self.draft.lecture, self.draft.path)

    def refresh(self) -> None:
        """Show the lecture as it is now."""
        if self.panel.isHidden():
            return
        items = self.draft.items
        self.place = min(max(self.place, 0), len(items) - 1)
        item = items[self.place] if self.place >= 0 else Item(experiment="")
        of_page = self._page_item()
        self.panel.show_data(
            PlaylistData(
                title=self.draft.lecture.title,
                lines=tuple(line_of(self._session, self.checking, item) for item in items),
                place=self.place,
                notes=item.notes,
                minutes=item.minutes,
                settings=settings_in_words(self._session, item),
                can_use_page=of_page is not None and of_page.experiment == item.experiment,
                total=total_of(self._session, self.draft),
                checking=told_of(self._session, self.checking, len(items)),
                found=found_of(self._session, self.checking, items),
                can_check=not self._session.context.has_fake_machine
                and self._session.machine is not None,
                can_undo=self.draft.can_undo,
                is_saved=self.draft.path is not None and not self.draft.is_changed,
            )
        )

    # --- inside -------------------------------------------------------------------------------

    def _do(self, name: str) -> None:
        acts: dict[str, Callable[[], object]] = {
            "open": self._offer,
            "save": self._save,
            "undo": self._undo,
            "check": self._check,
            "begin": self.begin,
            "close": lambda: self.set_open(False),
        }
        acts[name]()

    def _offer(self) -> None:
        """Open the menu of lectures that are here."""
        session, menu = self._session, QMenu(self.panel)
        menu.aboutToHide.connect(menu.deleteLater)
        for found in lectures(session.context.folder):
            if found.lecture is None or found.path == self._kept:
                continue
            action = menu.addAction(found.lecture.title or name_of(found.path))
            action.triggered.connect(lambda _checked=False, path=found.path: self.open(path))
        menu.addSeparator()
        menu.addAction(session.words.say("playlist.new")).triggered.connect(
            lambda _checked=False: self._use(Draft())
        )
        menu.addAction(session.words.say("playlist.open_file")).triggered.connect(self._choose)
        menu.popup(self.panel.open.mapToGlobal(self.panel.open.rect().bottomLeft()))

    def _choose(self) -> None:
        title = self._session.words.say("playlist.open_file")
        if path := file_there(self._session, self.panel, title, f"*{SUFFIX}"):
            self.open(path)

    def _save(self) -> None:
        """Save into its file; one that comes with the program is saved as another."""
        path, session = self.draft.path, self._session
        if path is None or is_shipped(path):
            folder = session.context.folder / NAME
            with contextlib.suppress(OSError):  # the dialog begins elsewhere then
                folder.mkdir(parents=True, exist_ok=True)
            suggestion = str(folder / (path.name if path is not None else UNTITLED))
            title = session.words.say("playlist.save")
            if named := new_file(session, self.panel, title, f"*{SUFFIX}", suggestion):
                complete(session, self.panel, named, (SUFFIX,), self._write)
        else:
            self._write(path)

    def _write(self, path: Path) -> None:
        session = self._session
        try:
            self.draft.save(path)
        except UserError as trouble:
            session.troubled.emit(trouble.problem)
        else:
            session.tell(session.words.say("playlist.saved_as", {"name": path.name}))
        self._changed()

    def _undo(self) -> None:
        self.draft.undo()
        self._changed()

    def _check(self) -> None:
        if self.checking.is_on:
            self.checking.stop()
            return
        path = self.draft.path or self._session.context.folder / NAME / UNTITLED
        self.checking.begin(self.draft.lecture, path)

    def _move(self, place: int, to: int) -> None:
        self.place = self.draft.move(place, to)
        self._changed()

    def _remove(self, place: int) -> None:
        if not 0 <= place < len(self.draft.items):
            return
        title, say = prepare(self._session, self.draft.items[place]).title, self._session.words.say
        self.draft.remove(place)
        self._changed()
        draft, after = self.draft, self.draft.lecture

        def undo() -> None:
            if self.draft is draft and draft.lecture == after:
                self.place = place
                self._undo()

        self._session.tell(say("playlist.removed", {"title": title}), say("playlist.undo"), undo)

    def _select(self, place: int) -> None:
        self.place = place
        self.refresh()

    def _title(self, title: str) -> None:
        self.draft.name(title)
        self._changed()

    def _change(self, place: int, **changes: object) -> None:
        if 0 <= place < len(self.draft.items):
            self.draft.change(place, **changes)
            self._changed()

    def _use_page(self, place: int) -> None:
        """Take the settings of the experiment's page."""
        of_page = self._page_item()
        if of_page is not None and 0 <= place < len(self.draft.items):
            self._change(place, set=of_page.set)

    def _use(self, draft: Draft) -> None:
        self.checking.stop()
        self.draft, self.place = draft, 0 if draft.items else -1
        self._changed()

    def _changed(self) -> None:
        """Show it, and keep it for the next start."""
        self.refresh()
        path = str(self.draft.path) if self.draft.path is not None else ""
        self._session.remembered.emit({"playlist": path})
        with contextlib.suppress(OSError):  # said when it is saved
            self.draft.keep(self._kept)


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
