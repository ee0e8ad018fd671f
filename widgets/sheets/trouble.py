"""Error messages: a box on the page for expected problems, a dialog for crashes.

The box stands beside the cause, with next steps. The dialog has a report to copy, and the window
keeps running.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFrame, QLabel, QPlainTextEdit, QWidget

from experiments.core.words import Words
from widgets.controls.basics import announce, button, column, label, row, set_role
from widgets.controls.layouts import FlowLayout
from widgets.style.icons import pixmap
from widgets.style.look import Look
from widgets.style.theme import STEP

Action = tuple[str, Callable[[], object]]  # the words of a button, and what it does
CRASH_SIZE_PX = (760, 520)
KEPT = 10  # reports that are shown; more would only repeat


class TroubleBox(QFrame):
    """A sentence with an icon, next steps as buttons, and details to copy."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._detail = ""
        self._sign = QLabel()
        self.text = label("", wrap=True)
        self.copy = button(words.say("trouble.copy"), "link", clicked=self._copy)
        self.copy.setParent(self)  # or it outlives the box wherever there was nothing to copy
        self._actions = FlowLayout()
        self.buttons: list[QWidget] = []
        said, edges = column(self.text, self._actions), (4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP)
        layout = row(self._sign, said, space=3 * STEP, edges=edges, grows=1)
        layout.setAlignment(self._sign, Qt.AlignmentFlag.AlignTop)
        self.setLayout(layout)
        look.follow(self._paint_sign)
        self.hide()

    def tell(self, sentence: str, *, actions: Sequence[Action] = (), detail: str = "") -> None:
        """Show a sentence."""
        self._detail = detail
        set_role(self, "trouble-attention")  # once it is laid out: the bar takes no room from it
        self.text.setText(sentence)
        self.setAccessibleName(self._words.say("trouble.attention", {"sentence": sentence}))
        for old in self.buttons:
            self._actions.removeWidget(old)
            if old is not self.copy:
                old.deleteLater()
        self.buttons = [button(text, clicked=act) for text, act in actions]
        self.copy.setText(self._words.say("trouble.copy"))
        if detail:
            self.buttons.append(self.copy)
        for each in self.buttons:
            self._actions.addWidget(each)
        self.copy.setVisible(bool(detail))
        self.show()
        announce(self, sentence)

    def clear(self) -> None:
        """Hide the box: the problem is gone."""
        self.hide()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(f"{self.text.text()}\n{self._detail}")
        self.copy.setText(self._words.say("trouble.copied"))

    def _paint_sign(self) -> None:
        theme = self._look.theme
        side, ratio = round(20 * theme.zoom), self.devicePixelRatioF()
        self._sign.setPixmap(pixmap("attention", theme.attention, side, ratio))


class CrashDialog(QDialog):
    """The dialog for unexpected errors; while it is open it collects further ones."""

    quit_wanted = Signal()

    def __init__(
        self, report: str, words: Words, parent: QWidget | None = None, *, to_mend: str = ""
    ) -> None:
        """Show a report; `to_mend` is said in place of ours, of an error in the user's own file."""
        super().__init__(parent)
        self._words, self._more = words, 0
        self.setWindowTitle(words.say("crash.window_title"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.count = label("", "attention")
        self.count.hide()
        self.report = QPlainTextEdit(report)
        self.report.setProperty("role", "report")
        self.report.setReadOnly(True)
        self.report.setTabChangesFocus(True)
        self.report.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.report.setAccessibleName(words.say("crash.report"))
        self.copy = button(words.say("crash.copy"), clicked=self._copy)
        self.go_on = button(words.say("crash.go_on"), "main", clicked=self.accept)
        self.quit = button(words.say("crash.quit"), clicked=self._quit)
        self.go_on.setDefault(True)
        layout = column(
            label(words.say("crash.title_own" if to_mend else "crash.title"), "head", wrap=True),
            label(to_mend or words.say("crash.sentence"), wrap=True),
            self.count,
            self.report,
            row(self.copy, None, self.quit, self.go_on),
            space=3 * STEP,
            edges=(6 * STEP, 6 * STEP, 6 * STEP, 6 * STEP),
        )
        self.setLayout(layout)
        self.resize(*CRASH_SIZE_PX)
        self.go_on.setFocus()

    def add(self, report: str) -> None:
        """Add a further report to the open dialog."""
        self._more += 1
        if self._more < KEPT:
            self.report.appendPlainText(f"\n{report}")
        self.count.setText(self._words.say("crash.more", {"count": self._more}))
        self.count.show()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report.toPlainText())  # what is seen
        self.copy.setText(self._words.say("trouble.copied"))

    def _quit(self) -> None:
        self.accept()
        self.quit_wanted.emit()
