"""Sheet that shows what a report will contain, before it is written: format, parts, text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, column, holding, label, row
from widgets.controls.choices import Check, Segments
from widgets.controls.layouts import FlowLayout
from widgets.sheets.overlay import Overlay
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX, LINES = 860, 18
KINDS = ("html", "pdf", "markdown", "text", "json")
UNCOPIED = ("pdf",)
WITH_DATA = ("html", "json")


class ReportSheet(Overlay):
    """Shows the text of one report; `changed` asks for another text, which `show_text` brings.

    `choices` are the names of what may be included, and whether it is at first. Title and helps
    of the `formats` stand in the words under `of`.
    """

    changed = Signal()
    save_asked = Signal()
    copy_asked = Signal()

    def __init__(
        self,
        parent: QWidget,
        choices: Mapping[str, bool],
        look: Look,
        words: Words,
        *,
        of: str = "report",
        formats: Sequence[str] = KINDS,
    ) -> None:
        super().__init__(parent, width_px=WIDTH_PX)
        self._words, self._of = words, of
        say = words.say
        self.add_head(say(f"{of}.title"), say("overlay.close"), look)
        named = [(kind, say(f"report.{kind}")) for kind in formats]
        self.kinds = Segments(named, name=say("report.format"))
        self.kind = formats[0]
        self.kinds.choose(self.kind)
        self.kinds.chosen.connect(self._choose)
        self.help = label("", "soft", wrap=True)
        self.checks: dict[str, Check] = {}
        for name, is_on in choices.items():
            check = self.checks[name] = Check(say(f"report.include_{name}"), look)
            check.setChecked(is_on)
            check.toggled.connect(lambda _on: self._ask())
            policy = check.sizePolicy()
            policy.setRetainSizeWhenHidden(True)  # what is below stays where it is
            check.setSizePolicy(policy)
        self.text = QPlainTextEdit()
        self.text.setProperty("role", "report")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(say("report.preview"))
        self.text.ensurePolished()
        least = self.text.fontMetrics().lineSpacing() * LINES
        self.text.setMinimumHeight(min(least, parent.height() - 110 * STEP))
        self.save = button(say("report.save"), "main", clicked=self.save_asked.emit)
        self.copy = button(say("report.copy"), clicked=self.copy_asked.emit)
        ticks = holding(column(*self.checks.values(), space=STEP))
        ticks.setAccessibleName(say("report.include"))
        self.content.addWidget(label(say(f"{of}.explained"), wrap=True))
        self.content.addLayout(FlowLayout(self.kinds))
        self.content.addWidget(self.help)
        if self.checks:
            self.content.addWidget(ticks)
        self.content.addWidget(self.text, 1)
        self.content.addLayout(row(self.save, self.copy, None))
        self.setFocusProxy(self.kinds.buttons[self.kind])
        self._wait()

    @property
    def included(self) -> Collection[str]:
        """The names of what is ticked."""
        return frozenset(name for name, check in self.checks.items() if check.isChecked())

    @property
    def asked(self) -> tuple[str, Collection[str]]:
        """The format, and what is included."""
        return self.kind, self.included

    def show_text(self, text: str) -> None:
        """Show the text that was asked for; now it may be written."""
        self.text.setPlainText(text)
        self.allow(ready=True)

    def allow(self, *, ready: bool) -> None:
        """Let the report be written and copied, or not yet."""
        can_copy = self.kind not in UNCOPIED
        self.save.setEnabled(ready)
        self.copy.setEnabled(ready and can_copy)
        self.copy.setToolTip("" if can_copy else self._words.say("report.cannot_copy"))

    def tell_copied(self) -> None:
        """Say on the button that it was copied."""
        self.copy.setText(self._words.say("trouble.copied"))

    def _choose(self, kind: str) -> None:
        self.kind = kind
        self._ask()

    def _ask(self) -> None:
        self._wait()
        self.changed.emit()

    def _wait(self) -> None:
        """Let nothing be written that is not shown."""
        if (data := self.checks.get("data")) is not None:
            data.setVisible(self.kind in WITH_DATA)
        self.help.setText(self._words.say(f"{self._of}.{self.kind}_help"))
        self.text.setPlainText(self._words.say("report.making"))
        self.copy.setText(self._words.say("report.copy"))
        self.allow(ready=False)
