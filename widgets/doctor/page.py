"""The doctor's sheet: the first fault, what mends it, and the whole chain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QWidget

from experiments.core.words import Words
from machine.doctor.verdicts import State
from widgets.controls.basics import IconButton, button, column, follow_width, holding, label, row
from widgets.controls.layouts import DownArea
from widgets.doctor.chain import Chain
from widgets.doctor.chooser import Chooser
from widgets.doctor.finding import FindingBox
from widgets.doctor.page_data import Link, PageData
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 980


class DoctorPage(Overlay):
    """Shows a diagnosis."""

    wanted = Signal(str)  # examine the Python at this path, "" for this program's own
    copy_asked = Signal(str)  # "text" or "json"

    def __init__(self, words: Words, look: Look, parent: QWidget) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        self._words = words
        self.setAcceptDrops(True)
        self.title = label("", "head")
        closer = IconButton(look, "close", words.say("overlay.close"), clicked=self.dismiss)
        self.chooser, self.box = Chooser(words), FindingBox(words, look)
        self.chain = Chain(words, look)
        self.chooser.wanted.connect(self.wanted)
        inner = holding(column(self.box, self.chain, None, space=4 * STEP))
        self.area = Area(inner, words.say("doctor.page.chain"))
        self.copy_text, self.copy_json = (
            button(words.say(key), clicked=partial(self.copy_asked.emit, kind))
            for key, kind in (("doctor.page.copy_text", "text"), ("doctor.page.copy_json", "json"))
        )
        self.copied = label("", "soft")
        self.content.addLayout(row(self.title, None, closer))
        self.content.addWidget(self.chooser)
        self.content.addWidget(self.area, 1)
        self.content.addLayout(row(self.copy_text, self.copy_json, self.copied, None))
        self._drop = self._make_drop()
        self.setFocusProxy(self.chooser.again)
        self._show_title(is_well=False)

    def wait(self, python: str, links: Sequence[Link]) -> None:
        """Show that the PyTorch of `python` is being examined, and which links will be."""
        say = self._words.say
        self.box.wait(say("doctor.page.waiting", {"python": python}), say("doctor.page.explained"))
        self.chain.show_links(links)
        self._allow_copy(False)

    def tell(self, data: PageData) -> None:
        """Show a diagnosis."""
        self._show_title(is_well=data.is_well)
        self.box.tell(data)
        self.chain.show_links(data.links)
        self._allow_copy(True)

    def complain(self, sentence: str) -> None:
        """Say why there is no diagnosis."""
        self.box.tell(PageData(headline=sentence, state=State.UNKNOWN))

    def refuse(self, sentence: str) -> None:
        """Say why nothing can be examined at all."""
        self.complain(sentence)
        self.chain.hide()
        self.chooser.hide()
        self._allow_copy(False)

    def say_copied(self) -> None:
        """Say that the report is on the clipboard."""
        self.copied.setText(self._words.say("trouble.copied"))

    def _allow_copy(self, allowed: bool) -> None:
        self.copied.setText("")
        for each in (self.copy_text, self.copy_json):
            each.setEnabled(allowed)

    def _show_title(self, *, is_well: bool) -> None:
        title = self._words.say("doctor.page.well" if is_well else "doctor.page.why")
        self.title.setText(title)
        self.setAccessibleName(title)

    # --- a Python dropped on the page ------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Show that a Python, or its folder, can be dropped here."""
        if _path(event.mimeData()) and not self.chooser.isHidden():
            event.acceptProposedAction()
            self._drop.setGeometry(self.sheet.rect())
            self._drop.show()
            self._drop.raise_()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Hide the hint for drops."""
        self._drop.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        """Examine the dropped Python."""
        self._drop.hide()
        if path := _path(event.mimeData()):
            event.acceptProposedAction()
            self.wanted.emit(path)

    def _make_drop(self) -> QFrame:
        drop = QFrame(self.sheet)
        drop.setProperty("role", "drop")
        drop.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        words = label(self._words.say("doctor.page.drop"), "head", wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        drop.setLayout(column(words))
        drop.hide()
        return drop


def _path(data: QMimeData) -> str:
    """Return the first local file or folder, or ""."""
    return next((url.toLocalFile() for url in data.urls() if url.isLocalFile()), "")


class Area(DownArea):
    """As high as its content at this width; scrolls if there is less room."""

    def __init__(self, content: QWidget, name: str) -> None:
        super().__init__(content)
        self.setProperty("role", "reader")
        self.setAccessibleName(name)
        follow_width(self)
        content.installEventFilter(self)

    def heightForWidth(self, width: int) -> int:
        """Return the height of the wrapped content, with and without a scroll bar.

        Qt removes a scroll bar only if everything would fit beside it too.
        """
        edges = 2 * (self.frameWidth() + 1)  # the style sheet's border
        bar = self.verticalScrollBar().sizeHint().width()
        content = self.widget()
        assert content is not None  # it is made with one
        least = (width - edges, width - edges - bar)
        return max(map(content.heightForWidth, least)) + edges

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the height with that of the content."""
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
