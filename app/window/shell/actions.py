"""The actions that work in every place: in the palette, the menu and the shortcut sheet."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from app.window.core.target import CHECKUP, EXPERIMENTS, LIVE, MAP, RUNS, Target
from app.window.shell.finding import FOUND_BY
from widgets.controls.actions import Actions as PageActions
from widgets.frame.rail import Rail

if TYPE_CHECKING:
    from app.window.guess.guesses import Guesses
    from app.window.shell.window import Window

HIDDEN = ("frame.menu",)  # in no list: it opens one
LOOKS = ("frame.larger", "frame.smaller", "frame.usual_size", "frame.other_mode")


class Actions(PageActions):
    """Built once for the window; the actions of a place are asked for when needed."""

    def __init__(self, window: Window, rail: Rail) -> None:
        super().__init__(window, window.session.words)
        self._window, self._rail, self._session = window, rail, window.session
        for key, keys, act in self._everywhere():
            action = self.add(key, act, keys)
            if self._words.has(found_by := f"{key}_found_by"):
                action.setProperty(FOUND_BY, self._words.say(found_by))
        self._session.settings_changed.connect(self._use_letters)
        self._session.woke.connect(self._follow_runs)
        self._session.asked_for_doctor.connect(self.show_doctor)
        self._session.asked_for_guesses.connect(self.show_guesses)
        window.lecture_mode.kept.connect(self._allow_handout)
        self._use_letters()
        self._allow_stop()
        self._allow_handout()

    def _everywhere(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        """Yield the key of the words, the shortcuts, and the act."""
        window, preferences = self._window, self._window.preferences
        yield "places.map", "Ctrl+1", lambda: window.go(Target(MAP))
        yield "places.live", "Ctrl+2", lambda: window.go(Target(LIVE))
        yield "places.experiments", "Ctrl+3", lambda: window.go(Target(EXPERIMENTS))
        yield "places.checkup", "Ctrl+4", lambda: window.go(Target(CHECKUP))
        yield "places.runs", "Ctrl+5", lambda: window.go(Target(RUNS))
        yield "runs.collage_page", "", lambda: window.go(Target(RUNS, then="collage"))
        yield "guess.title", "", self.show_guesses
        yield "playlist.lecture", "", lambda: window.show_playlist(None)
        yield "handout.open", "", window.lecture_mode.show_handout
        yield "frame.back", "Alt+Left", window.go_back
        yield "frame.find", "Ctrl+K", self.find
        yield "frame.stop_run", "Escape", self._session.stop
        yield "frame.larger", "Ctrl++ Ctrl+=", lambda: preferences.zoom_by(1)
        yield "frame.smaller", "Ctrl+-", lambda: preferences.zoom_by(-1)
        yield "frame.usual_size", "Ctrl+0", lambda: preferences.change(zoom=1.0)
        yield "frame.other_mode", "Ctrl+Shift+L", preferences.swap_mode
        yield "doctor.page.why", "", self.show_doctor
        yield "frame.keys", "?", self.show_keys
        yield "frame.settings", "Ctrl+,", preferences.open
        yield "frame.about", "F1", self.show_about
        yield "frame.menu", "F10", self.show_menu
        yield "frame.quit", "Ctrl+Q", window.close

    def use(self, tool: str) -> None:
        """Use a tool of the rail."""
        {
            "search": self.find,
            "settings": self._window.preferences.open,
            "menu": self.show_menu,
        }[tool]()

    def groups(self) -> Iterator[tuple[str, Sequence[QAction]]]:
        """Yield title and actions: of this place, then those of the window."""
        say, place = self._session.words.say, self._window.place
        yield say(f"places.{place.name}"), list(place.own_actions())
        general = [action for key, action in self._all.items() if key not in HIDDEN]
        yield say("frame.anywhere"), general

    def find(self) -> None:
        """Open the palette."""
        from app.window.shell.finding import choices
        from widgets.sheets.palette import Palette

        palette = Palette(self._session.words, self._session.look, self._window)
        palette.open_with(choices(self._session, self.groups(), self._window.place))

    def show_keys(self) -> None:
        """Show every shortcut."""
        from app.window.shell.finding import keys_of
        from widgets.sheets.shortcut_sheet import Group, ShortcutSheet

        places = self._of("places.")
        (first, _), *rest = keys = keys_of(places)  # one line for all
        numbers = (key.rpartition("+")[2] for key, _ in rest)
        go = ", ".join((first, *numbers)), ", ".join(name for _, name in keys)
        (here, own), (anywhere, actions) = self.groups()
        groups = [
            Group(here, [*keys_of(own), *self._window.place.own_keys()]),
            Group(anywhere, [go, *keys_of([each for each in actions if each not in places])]),
        ]
        ShortcutSheet(groups, self._session.words, self._session.look, self._window).open()

    def show_about(self) -> None:
        """Show versions, promises and licences."""
        from widgets.sheets.about import About

        About(self._session.words, self._session.look, self._window).open()

    def show_doctor(self) -> None:
        """Show what stands between Python and the GPU."""
        from app.window.doctor.sheet import Doctor

        Doctor(self._session, self._window).open()

    def show_guesses(self) -> None:
        """Show the round of guesses where it was left."""
        self.guesses.open()

    @functools.cached_property
    def guesses(self) -> Guesses:
        """The round of guesses, which lives as long as the window."""
        from app.window.guess.guesses import Guesses

        return Guesses(self._session, self._window)

    def show_menu(self) -> None:
        """Show all actions as a menu, for those with a mouse alone.

        Groups are submenus: with large text one menu would be too high.
        """
        menu = QMenu(self._window)
        menu.aboutToHide.connect(menu.deleteLater)
        (here, own), (_, everywhere) = self.groups()
        going, looks = self._of("places.", "frame.back", "guess."), self._of(*LOOKS)
        say = self._session.words.say
        here = say("frame.here", {"place": here})
        for title, actions in ((here, own), (say("frame.go"), going), (say("frame.looks"), looks)):
            if actions:
                menu.addMenu(title).addActions(list(actions))
        menu.addSeparator()
        menu.addActions([each for each in everywhere if each not in (*going, *looks)])
        anchor = self._rail.tool("menu")
        corner = anchor.mapToGlobal(QPoint(anchor.width(), anchor.height()))
        menu.popup(corner - QPoint(0, menu.sizeHint().height()))

    def _of(self, *keys: str) -> list[QAction]:
        return [action for key, action in self._all.items() if key.startswith(keys)]

    def _follow_runs(self) -> None:
        for each in (self._session.runner, self._session.checking):
            each.began.connect(self._allow_stop)
            each.ended.connect(self._allow_stop)

    def _allow_stop(self) -> None:
        """Leave Esc to the focused widget unless there is a run to stop."""
        self["frame.stop_run"].setEnabled(self._session.is_measuring)

    def _allow_handout(self) -> None:
        """Offer a handout once a lecture was held."""
        self["handout.open"].setVisible(self._window.lecture_mode.has_handout)

    def _use_letters(self) -> None:
        """Let single letters act, or not (WCAG 2.1.4)."""
        self["frame.keys"].setShortcut(
            QKeySequence("?" if self._session.settings.letters else "Ctrl+?")
        )
