"""Applies a changed setting at once, and saves it a moment later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.window.core.settings import save
from experiments.core.problems import Problem, UserError
from widgets.style import theme as themes
from widgets.style.theme import ZOOMS

if TYPE_CHECKING:
    from app.window.core.session import Session
    from app.window.shell.window import Window
    from widgets.sheets.settings_page import SettingsDialog

SETTLE_MS = 400  # after the last change


class Preferences(QObject):
    """The settings of the session, and the look that follows from them."""

    def __init__(self, session: Session, window: Window) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._told: Problem | None = None
        self._timer = QTimer(self, interval=SETTLE_MS, singleShot=True)
        self._timer.timeout.connect(self.save)
        session.remembered.connect(lambda changes: self.keep(**changes))
        self.keep(worn=session.look.theme.mode)

    def change(self, **changes: Any) -> None:
        """Change settings and apply them."""
        self.keep(**changes)
        self.dress()
        self._session.settings_changed.emit()

    def keep(self, **changes: Any) -> None:
        """Change settings that need not be applied, such as the place."""
        settings = self._session.settings.replace(**changes)
        if settings != self._session.settings:
            self._session.settings = settings
            self._timer.start()

    def save(self) -> None:
        """Write the settings now."""
        self._timer.stop()
        problem = None
        try:
            save(self._session.context.folder, self._session.settings)
        except UserError as trouble:
            problem = trouble.problem
        if problem is not None and problem != self._told:  # once, not with every change
            self._session.troubled.emit(problem)
        self._told = problem

    def dress(self) -> None:
        """Apply mode and zoom."""
        settings, worn = self._session.settings, self._session.look.theme
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        mode = themes.mode_of(settings.mode, application)
        if (mode, settings.zoom) != (worn.mode, worn.zoom):
            self._session.look.wear(themes.load(mode, settings.zoom))
            self.keep(worn=mode)

    def zoom_by(self, steps: int) -> None:
        """Zoom in or out by this many steps."""
        now = self._session.settings.zoom
        nearest = min(range(len(ZOOMS)), key=lambda place: abs(ZOOMS[place] - now))
        self.change(zoom=ZOOMS[min(max(nearest + steps, 0), len(ZOOMS) - 1)])

    def swap_mode(self) -> None:
        """Change from dark to light or back."""
        self.change(mode="light" if self._session.look.theme.mode == "dark" else "dark")

    def open(self) -> None:
        """Show the settings."""
        from widgets.sheets.settings_page import SettingsDialog

        session = self._session
        dialog = SettingsDialog(session.words, session.look, self._window)
        now, folder = session.settings, str(session.context.folder)
        dialog.show_settings(
            mode=now.mode,
            zoom=now.zoom,
            letters=now.letters,
            less_motion=now.less_motion,
            numbers=now.numbers,
            closing=now.closing,
            folder=folder,
        )
        dialog.changed.connect(lambda changes: self.change(**changes))
        dialog.folder_wanted.connect(lambda: self._open_folder(dialog))
        dialog.open()

    def _open_folder(self, dialog: SettingsDialog) -> None:
        from PySide6.QtCore import QUrl
        from PySide6.QtGui import QDesktopServices

        folder = QUrl.fromLocalFile(str(self._session.context.folder))
        if not QDesktopServices.openUrl(folder):
            dialog.tell_not_opened()
