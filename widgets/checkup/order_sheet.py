"""The sheet that asks what was bought; blank is what nobody said."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, grid, label
from widgets.controls.layouts import FlowLayout
from widgets.form.typed_input import ErrorLine
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 460
NAMES = ("cores", "memory", "gpus", "disks")  # memory in GiB
MOST = 65536


class OrderSheet(Overlay):
    """Four numbers, each or none. Emits `wanted` once, with a number or None for each name."""

    wanted = Signal(object)  # dict[str, int | None]

    def __init__(
        self,
        words: Words,
        look: Look,
        parent: QWidget,
        *,
        bought: Mapping[str, int | None],
        here: Mapping[str, int],
    ) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        self._words = words
        say = words.say
        self.add_head(say("checkup_page.order_sheet.title"), say("overlay.close"), look)
        text = say("checkup_page.order_sheet.text")
        self.setAccessibleDescription(text)
        self.content.addWidget(label(text, wrap=True))
        lines = grid(4 * STEP, 2 * STEP)
        lines.setColumnStretch(2, 1)
        self.fields: dict[str, QLineEdit] = {}
        for place, name in enumerate(NAMES):
            title = label(say(f"checkup_page.order_sheet.{name}"))
            field = self.fields[name] = QLineEdit(_text(bought.get(name)))
            field.setAccessibleName(title.text())
            title.setBuddy(field)
            field.textEdited.connect(self._look)
            field.returnPressed.connect(self._save)
            lines.addWidget(title, place, 0)
            lines.addWidget(field, place, 1)
            if name in here:
                told = say("checkup_page.order_sheet.here", {"count": here[name]})
                field.setAccessibleDescription(told)
                lines.addWidget(label(told, "soft"), place, 2)
        self.content.addLayout(lines)
        self.error = ErrorLine(look)
        self.content.addWidget(self.error)
        self.save = button(say("checkup_page.order_sheet.save"), "main", clicked=self._save)
        self.cancel = button(say("checkup_page.order_sheet.cancel"), clicked=self.dismiss)
        self.content.addSpacing(STEP)
        self.content.addLayout(FlowLayout(self.save, self.cancel))
        self.setFocusProxy(self.fields[NAMES[0]])

    def _numbers(self) -> dict[str, int | None] | None:
        """Return what was typed, None where a text is no whole number of the range."""
        found: dict[str, int | None] = {}
        for name, field in self.fields.items():
            typed = field.text().strip()
            is_number = typed.isascii() and typed.isdecimal() and len(typed) <= len(str(MOST))
            if typed and not (is_number and int(typed) <= MOST):
                return None
            found[name] = int(typed) if typed else None
        return found

    def _look(self) -> None:
        is_fine = self._numbers() is not None
        said = self._words.say("checkup_page.order_sheet.not_whole", {"most": MOST})
        self.error.say("" if is_fine else said)
        self.save.setEnabled(is_fine)

    def _save(self) -> None:
        if (numbers := self._numbers()) is not None:
            self.dismiss()
            self.wanted.emit(numbers)


def _text(count: int | None) -> str:
    return "" if count is None else str(count)
