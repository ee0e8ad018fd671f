"""The About sheet: the program with its versions and promises, and all licences."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QStackedLayout,
    QWidget,
)

from experiments.core.words import Words
from widgets.controls.basics import button, column, grid, label, row
from widgets.controls.choices import Segments
from widgets.controls.layouts import scrolling
from widgets.sheets.credits import LGPL, Credit, all_credits, versions
from widgets.sheets.overlay import Overlay
from widgets.style.icons import pixmap
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX, LIST_PX, ROW_PX = 920, 230, 26  # at zoom 1
TEXT_LINES = 22
SIGN_PX = 48


class About(Overlay):
    """A sheet with two pages: the program, and the licences."""

    def __init__(self, words: Words, look: Look, parent: QWidget) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        self._words = words
        self.add_head(words.say("about.title"), words.say("overlay.close"), look)
        self.pages = Segments(
            [("program", words.say("about.program")), ("licences", words.say("about.licences"))],
            name=words.say("about.pages"),
        )
        self.program = _Program(versions(), words, look)
        self.licences = _Licences(all_credits(), words, look)
        self._stack = QStackedLayout()
        self.content.addWidget(self.pages)
        self.content.addLayout(self._stack, 1)
        self._stack.addWidget(scrolling(self.program, words.say("about.program")))
        self._stack.addWidget(self.licences)
        self.pages.choose("program")
        self.pages.chosen.connect(self.show_page)
        self.setFocusProxy(self.pages.buttons["program"])

    def show_page(self, name: str) -> None:
        """Show "program" or "licences"."""
        self.pages.choose(name)
        self._stack.setCurrentIndex(0 if name == "program" else 1)


class _Program(QWidget):
    def __init__(self, versions_found: Sequence[tuple[str, str]], words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look, self._versions = words, look, versions_found
        self._sign = QLabel()
        table = grid(6 * STEP, STEP)
        table.setColumnStretch(2, 1)
        for place, (name, version) in enumerate(versions_found):
            table.addWidget(label(name), place, 0)
            table.addWidget(label(version, "number"), place, 1)
        self.copy = button(words.say("about.copy"), clicked=self._copy)
        heading = column(
            label(words.say("frame.program"), "title"), label(words.say("about.tagline"), wrap=True)
        )
        promises = column(
            label(words.say("about.no_account"), wrap=True),
            label(words.say("about.nothing_sent"), wrap=True),
            label(words.say("about.yours"), wrap=True),
            space=STEP,
        )
        top = row(self._sign, heading, space=4 * STEP, grows=1)
        parts = (top, promises, table, row(self.copy, None), None)
        self.setLayout(column(*parts, space=5 * STEP, edges=(0, 2 * STEP, 2 * STEP, 0)))
        look.follow(self._paint_sign)

    def _copy(self) -> None:
        lines = (f"{name} {version}" for name, version in self._versions)
        QGuiApplication.clipboard().setText("\n".join(lines))
        self.copy.setText(self._words.say("trouble.copied"))

    def _paint_sign(self) -> None:
        theme = self._look.theme
        size = round(SIGN_PX * theme.zoom)
        self._sign.setPixmap(pixmap("coreopsis", theme.accent, size, self.devicePixelRatioF()))


class _Licences(QWidget):
    def __init__(self, credits_found: Sequence[Credit], words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look, self._credits = words, look, credits_found
        self.list = QListWidget()
        self.list.setProperty("role", "names")
        self.list.setAccessibleName(words.say("about.licences"))
        for each in credits_found:
            item = QListWidgetItem(f"{each.name} {each.version}".strip())
            item.setToolTip(each.licence)
            self.list.addItem(item)
        self.terms = label("", wrap=True)
        self.text = _Text()
        self.text.setProperty("role", "report")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setAccessibleName(words.say("about.text"))
        said, edges = column(self.terms, self.text), (0, 2 * STEP, 0, 0)
        self.setLayout(row(self.list, said, space=4 * STEP, edges=edges, grows=1))
        look.follow(self._fit)
        self.list.currentRowChanged.connect(self._show)
        self.list.setCurrentRow(0)

    def _show(self, place: int) -> None:
        credit, say = self._credits[place], self._words.say
        if credit.name in LGPL:
            terms = say("about.lgpl", {"name": credit.name})
        elif credit.licence:
            terms = say("about.terms", {"name": credit.name, "licence": credit.licence})
        else:
            terms = say("about.terms_in_text", {"name": credit.name})
        self.terms.setText(terms)
        self.text.setPlainText(credit.read() or say("about.no_text"))

    def _fit(self) -> None:
        zoom = self._look.theme.zoom
        self.list.setFixedWidth(round(LIST_PX * zoom))
        for place in range(self.list.count()):
            self.list.item(place).setSizeHint(QSize(0, round(ROW_PX * zoom)))
        self.text.setMinimumHeight(8 * STEP)


class _Text(QPlainTextEdit):
    def sizeHint(self) -> QSize:
        """Return the height of a page of text; a small window gives less."""
        return QSize(0, TEXT_LINES * self.fontMetrics().lineSpacing())
