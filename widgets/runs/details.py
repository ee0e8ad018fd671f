"""Details of the selected run, and fields for its name, note and tags.

Typed text is emitted when its field loses the focus, and after a pause. If it could not be saved,
a sentence says so, and the text stays in the field.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QPlainTextEdit, QWidget

from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import column, holding, label, show_text
from widgets.controls.layouts import DownArea
from widgets.runs.buttons import RunButtons
from widgets.runs.facts import Facts
from widgets.runs.warned import Warned
from widgets.style.look import Look
from widgets.style.theme import STEP

PAUSE_MS = 1200  # without typing, before the text is emitted
NOTE_LINES = 3
TAG_LIMIT, NAME_LIMIT = 12, 200


@dataclass(frozen=True, slots=True)
class Said:
    """Name, note and tags that a user gave to a run."""

    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails:
    """One run in words. With a `problem` its file is damaged and can only be deleted."""

    key: str
    question: str
    when: str
    said: Said = Said()
    finding: str = ""
    ending: str = ""  # how it ended, in a word, if it was not completed
    is_troubled: bool = False  # it ended against the user's will
    values: Sequence[tuple[str, ...]] = ()  # label, number, explanation
    facts: Sequence[tuple[str, str]] = ()
    remarks: Sequence[str] = ()
    problem: str = ""
    is_pinned: bool = False


class Details(QFrame):
    """The panel beside the list."""

    said = Signal(str, object)  # key of the run, Said

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._shown: RunDetails | None = None
        self._unkept: dict[str, Said] = {}  # typed but not saved, by key
        self._why_unkept = ""
        self.setProperty("role", "panel")
        self.setAccessibleName(words.say("runs.details"))
        self._make_fields()
        self.buttons = RunButtons(look, words)
        self._title = label("", "head", wrap=True)
        self._when = label("", "soft", wrap=True)
        self._hint = label("", "soft", wrap=True)
        self._ending = Warned(self._look)
        self._finding = label("", wrap=True)
        self._problem = Warned(self._look)
        self._values, self._facts = Facts(numbers=True), Facts()
        self._remarks = label("", "soft", wrap=True)
        self._head = holding(column(self._title, self._when, space=STEP))
        self._parts = (
            self._named, self._head, self._ending, self._finding, self._problem, self._hint,
            self._fields, self._values, self._facts, self._remarks,
        )  # fmt: skip
        edges = (4 * STEP, 2 * STEP, 4 * STEP, 3 * STEP)
        area = DownArea(holding(column(*self._parts, None, space=3 * STEP, edges=edges)))
        # Take the focus on a click beside a field, or typing would act on the list.
        area.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        # Above the scrolling part, so that they stay in place.
        above = column(self.buttons, edges=(4 * STEP, 3 * STEP, 4 * STEP, STEP))
        self.setLayout(column(above, area, space=0, edges=(0, STEP, 0, STEP)))
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.hand_on)
        look.follow(self._measure)
        self.show_nothing()

    # --- showing ------------------------------------------------------------------------------

    def show_run(self, run: RunDetails) -> None:
        """Show one run; text being typed about it stays."""
        is_other = self._shown is None or self._shown.key != run.key
        if is_other:
            self.hand_on()
        self._shown = run
        if is_other or not self._is_typing():
            self._show_said(self._unkept.get(run.key, run.said))
        self._title.setText(run.question)
        self._when.setText(run.when)
        self._when.show()
        self._ending.setText(run.ending, is_quiet=not run.is_troubled)
        self._finding.setText(unbroken(run.finding))
        self._problem.setText(run.problem)
        self._values.show_facts(run.values)
        self._facts.show_facts(run.facts)
        self._remarks.setText(unbroken("\n".join(run.remarks)))
        is_whole = not run.problem
        texts = {self._ending, self._finding, self._problem, self._remarks}
        self._show_only(
            {self._named, self._head, self._fields} if is_whole else {self._head},
            texts | {self._values, self._facts},
        )
        self.buttons.show_one(is_whole=is_whole, is_pinned=run.is_pinned)
        self._show_unkept()

    def show_several(
        self,
        count: int,
        why_not_comparable: str,
        hint: str = "",
        *,
        can_collage: bool = True,
        are_pinned: bool = False,
    ) -> None:
        """Show that several runs are selected, and why they cannot be compared.

        "" if they can be; then the `hint` says how. A collage takes two whole ones.
        """
        self.hand_on()
        self._shown = None
        told = why_not_comparable or hint
        self._title.setText(self._words.say("runs.several", {"count": count}))
        show_text(self._when, told)
        self._show_only({self._head}, set())
        self.buttons.show_several(
            can_compare=not why_not_comparable, can_collage=can_collage, are_pinned=are_pinned
        )

    def ask_for_another(self) -> None:
        """Ask for the run to compare the shown one with."""
        self.hand_on()
        self._when.setText(self._words.say("runs.compare_ask"))
        self._show_only({self._head}, set())
        self.buttons.show_asking()
        self._shown = None

    def show_nothing(self) -> None:
        """Show that no run is selected."""
        self.hand_on()
        self._shown = None
        self._hint.setText(self._words.say("runs.choose_one"))
        self._show_only(set(), {self._hint})
        self.buttons.hide()

    def edit_name(self) -> None:
        """Focus the field of the name."""
        if self._shown is not None and not self._shown.problem:
            self.name.setFocus()
            self.name.selectAll()

    # --- typing -------------------------------------------------------------------------------

    def hand_on(self) -> None:
        """Emit the typed text if it has changed."""
        self._pause.stop()
        if self._shown is None or self._shown.problem:
            return
        key, said = self._shown.key, self._typed()
        failed = key in self._unkept and bool(self._why_unkept)
        if failed or said != self._unkept.get(key, self._shown.said):
            self._unkept[key] = said
            self.said.emit(key, said)

    def tell_kept(self, key: str, said: Said) -> None:
        """Forget unsaved text of a run, after it was saved."""
        if self._unkept.get(key) == said:
            del self._unkept[key]
        if self._shown is not None and self._shown.key == key:
            self._shown = replace(self._shown, said=said)
        self._why_unkept = ""
        self._show_unkept()

    def tell_not_kept(self, sentence: str) -> None:
        """Say why the text could not be saved; it is emitted again later."""
        self._why_unkept = sentence
        self._show_unkept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Emit the text when its field loses the focus."""
        if event.type() == QEvent.Type.FocusOut:
            self.hand_on()
        return False

    def _make_fields(self) -> None:
        say = self._words.say
        self.name, self.note, self.tags = QLineEdit(), QPlainTextEdit(), QLineEdit()
        self.name.setMaxLength(NAME_LIMIT)
        self.note.setProperty("role", "note")
        self.note.setTabChangesFocus(True)
        self._unkept_says = Warned(self._look)
        columns = []
        for field, name, hint, stays in (
            (self.name, "runs.name", "runs.name_hint", "runs.name_stays"),
            (self.note, "runs.note", "runs.note_hint", "runs.stays_here"),
            (self.tags, "runs.tags", "runs.tags_hint", "runs.stays_here"),
        ):
            field.setAccessibleName(say(name))
            field.setPlaceholderText(say(hint))
            field.setToolTip(say(stays))
            field.installEventFilter(self)
            columns.append(column(_FieldName(say(name), field), field, space=STEP))
        for line in (self.name, self.tags):
            line.returnPressed.connect(self.hand_on)
            line.textEdited.connect(self._typing)
        self.note.textChanged.connect(self._typing)
        self._named = holding(columns[0])  # on top, so that it never moves
        self._fields = holding(column(*columns[1:], self._unkept_says))

    def _typing(self) -> None:
        if self._shown is not None:
            self._pause.start()

    def _is_typing(self) -> bool:
        return self._pause.isActive() or any(
            field.hasFocus() for field in (self.name, self.note, self.tags)
        )

    def _typed(self) -> Said:
        tags = dict.fromkeys(" ".join(tag.split()) for tag in self.tags.text().split(","))
        return Said(
            self.name.text().strip(),
            self.note.toPlainText().strip(),
            tuple(tag for tag in tags if tag)[:TAG_LIMIT],
        )

    def _show_said(self, said: Said) -> None:
        if said == self._typed():
            return
        self.name.setText(said.name)
        self.name.setCursorPosition(0)
        self.note.setPlainText(said.note)
        self.tags.setText(", ".join(said.tags))
        self._pause.stop()

    def _show_unkept(self) -> None:
        is_unkept = self._shown is not None and self._shown.key in self._unkept
        self._unkept_says.setText(self._why_unkept if is_unkept else "")
        self._unkept_says.setVisible(bool(self._unkept_says.text()))

    def _show_only(self, always: set[QWidget], if_filled: set[QWidget]) -> None:
        """Show these parts, those of the second set only if they have text."""
        for part in self._parts:
            filled = part in if_filled and bool(getattr(part, "text", str)())
            part.setVisible(part in always or filled)
        self.buttons.show()

    def _measure(self) -> None:
        theme = self._look.theme
        self.note.setFixedHeight(round(theme.px("text") * 1.25 * NOTE_LINES) + 5 * STEP)


class _FieldName(QLabel):
    """Label above a field; a click on it focuses the field."""

    def __init__(self, text: str, field: QWidget) -> None:
        super().__init__(text)
        self.setProperty("role", "soft")
        self.setBuddy(field)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Focus the field."""
        self.buddy().setFocus(Qt.FocusReason.MouseFocusReason)
