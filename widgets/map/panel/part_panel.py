"""Panel about the part chosen on the map: sentences, numbers, facts, experiments.

Each fact names its source; an unknown one says why, and how to get it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QSizePolicy,
    QWidget,
)

from experiments.core.declare import Part
from experiments.core.units import unbroken
from experiments.core.words import Words
from experiments.presentation.known import KnownValues
from machine.model import Machine
from widgets.controls.basics import column, holding, label, row, show_text, tip
from widgets.controls.layouts import DownArea
from widgets.controls.wrapped import WrappedLink
from widgets.map.layout.boxes import Box, Kind
from widgets.map.layout.device_labels import joined
from widgets.map.live import Live
from widgets.map.panel.about import About
from widgets.map.panel.fact import Fact
from widgets.style.look import Look
from widgets.style.theme import STEP

NUMBERED = (Kind.CORE, Kind.OPEN_CORE, Kind.UNIT)  # they show numbers that stand elsewhere
NAMED = 2  # of the numbers that an experiment would add
BREAK = "\u200b"  # zero-width space: lines of a path break after slashes


class PartPanel(QFrame):
    """The panel; with nothing chosen it describes the whole machine."""

    experiment_wanted = Signal(str)
    doctor_wanted = Signal()
    machine_wanted = Signal()  # the whole machine, no part
    core_wanted = Signal(object)  # the threads of the core to look into

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._words, self._look = words, look
        self._machine: Machine | None = None
        self._box: Box | None = None
        self._known = KnownValues()
        self._scroll = DownArea()
        self.setLayout(column(self._scroll, edges=(2, 2, 2, 2)))
        self._now = label("")
        self._show()

    @property
    def box(self) -> Box | None:
        """The shown part; None for the whole machine."""
        return self._box

    def show_machine(self, machine: Machine | None) -> None:
        """Show another machine as a whole."""
        self._machine, self._box = machine, None
        self._show()

    def show_values(self, known: KnownValues) -> None:
        """Set the known numbers, how many there can be, and the experiments."""
        if known != self._known:
            self._known = known
            self._show_anew()

    def show_now(self, live: Live | None) -> None:
        """Show what the part does now; the rest of the panel stays."""
        texts = [live.texts[:1], live.bar_texts[:1]] if live else []
        what = joined(text for some in texts for text in some)
        text = self._words.say("map.now", {"what": what}) if what else ""
        if text != self._now.text():
            show_text(self._now, text)

    def show_box(self, box: Box | None) -> None:
        """Show this box."""
        if box != self._box:
            self._box = box
            self._show()

    def _show_anew(self) -> None:
        """Rebuild the panel for the same part; scroll position and focus stay."""
        bar, focus = self._scroll.verticalScrollBar(), self.focusWidget()
        at, name = bar.value(), focus.accessibleName() if focus and focus.hasFocus() else ""
        self._show()
        bar.setValue(at)
        same = (link for link in self.findChildren(WrappedLink) if link.accessibleName() == name)
        if name and (link := next(same, None)):
            link.setFocus()

    def _show(self) -> None:
        parts: list[QWidget] = []
        if self._machine is None:
            parts.append(label(self._words.say("map.reading"), "soft", wrap=True))
        else:
            parts += self._content(About(self._machine, self._words))
        layout = column(*parts, None, space=STEP, edges=(4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP))
        self._scroll.setWidget(holding(layout))  # deletes the previous content

    def _content(self, about: About) -> list[QWidget]:
        say, box = self._words.say, self._box
        title = say("map.this_machine") if box is None else about.title(box)
        text = say("map.about_machine") if box is None else about.sentences(box)
        self.setAccessibleName(say("map.panel_of", {"part": title}))
        if box is None or box.kind not in (Kind.DISK, Kind.NETWORK):  # those are names
            title = title[:1].upper() + title[1:]
        parts: list[QWidget] = []
        if box is not None:
            parts.append(_link(say("map.whole"), self.machine_wanted.emit))
        parts.append(label(title, "head", wrap=True))
        parts.append(label(text, "note", wrap=True))
        if box is not None and box.kind in (Kind.CORE, Kind.THREAD):
            parts.append(_link(say("map.open_core"), partial(self.core_wanted.emit, box.threads)))
        self._now = label("", "note", wrap=True)
        self._now.hide()
        parts.append(self._now)
        parts += self._numbers(about, box)
        facts = about.facts.of_machine() if box is None else about.facts.of(box)
        if facts:
            parts.append(self._heading("map.facts"))
            parts += self._facts(facts)
        for key, group in about.facts.groups() if box is None else ():
            parts.append(self._heading(key))
            parts += [self._quiet(fact) for fact in group]
        parts += self._experiments(box)  # last: some parts have many
        if box is not None and box.kind in (Kind.GPU, Kind.UNREAD) and box.part is Part.GPU:
            parts.append(_link(say("map.examine"), self.doctor_wanted.emit))
        return parts

    def _heading(self, key: str, values: Mapping[str, object] | None = None) -> QWidget:
        heading = label(self._words.say(key, values), "strong")
        heading.setContentsMargins(0, 2 * STEP, 0, 0)
        return heading

    def _numbers(self, about: About, box: Box | None) -> list[QWidget]:
        if box is None or box.part is None or not (box.bears_value or box.kind in NUMBERED):
            return []
        known = self._known.values.get(box.part, ())
        if box.kind is Kind.UNIT and not box.bears_value:
            return [label(self._words.say("map.other_kind"), "small", wrap=True)]
        if not known:
            return []
        count = {"count": len(known), "possible": self._known.possible.get(box.part, len(known))}
        parts = [self._heading("map.measured", count)]
        for value in known:
            key = "map.quickly_measured" if value.is_quick else "map.measured_when"
            key = "map.roughly_measured" if value.is_rough else key
            about_value = self._words.say(key, {"label": value.label, "when": value.when})
            parts.append(pair := _pair(value.text, about_value))
            pair.setToolTip(tip(value.about))
        if not box.bears_value:
            parts.append(label(self._words.say("map.at_package"), "small", wrap=True))
        elif (alike := about.count_alike(box)) > 1:
            parts.append(label(self._words.say("map.one_of", {"count": alike}), "small", wrap=True))
        return parts

    def _experiments(self, box: Box | None) -> list[QWidget]:
        some = self._known.invitations.get(box.part, ()) if box and box.part else ()
        if not some:
            return []
        parts = [self._heading("map.experiments")]
        for invitation in some:
            wanted = partial(self.experiment_wanted.emit, invitation.experiment)
            parts.append(_link(invitation.question, wanted))
            missing = self._missing(invitation.missing) if invitation.missing else ""
            if text := invitation.lack or missing:
                parts.append(label(text, "small", wrap=True))
        return parts

    def _missing(self, numbers: Sequence[str]) -> str:
        """Return which numbers an experiment would add, the first of them by name."""
        more = len(numbers) - NAMED
        key = "map.missing_more" if more > 0 else "map.missing"
        return self._words.say(key, {"numbers": "; ".join(numbers[:NAMED]), "count": more})

    def _facts(self, facts: Sequence[Fact]) -> list[QWidget]:
        """Return the facts; those with the same source or reason share it."""
        below = [[fact.source] if fact.value else self._gap(fact) for fact in facts]
        parts = []
        for place, fact in enumerate(facts):
            is_last = place + 1 == len(facts) or below[place] != below[place + 1]
            small = [text for text in below[place] if text] if is_last else []
            parts.append(self._fact(fact, small))
        return parts

    def _quiet(self, fact: Fact) -> QWidget:
        """Return a fact whose source is its tip; only the reason for a gap stands below it."""
        if fact.value is None:
            return self._fact(fact, self._gap(fact))
        made = self._fact(fact, ())
        made.setToolTip(tip(fact.source))
        return made

    def _gap(self, fact: Fact) -> list[str]:
        """Return why a fact is not known, and how to get it."""
        return [fact.why, self._words.say("map.how", {"how": fact.how}) if fact.how else ""]

    def _fact(self, fact: Fact, below: Sequence[str]) -> QWidget:
        unknown = self._words.say("map.hidden" if fact.is_hidden else "map.not_known")
        is_known = fact.value is not None
        return _triple(fact.label, fact.value or unknown, below, is_known=is_known)


def _link(text: str, act: Callable[[], object]) -> WrappedLink:
    link = WrappedLink(text)
    link.clicked.connect(lambda _=False: act())
    return link


def _pair(value: str, text: str) -> QWidget:
    shown = label(value, "strong")
    shown.setMinimumWidth(shown.sizeHint().width())
    return holding(row(shown, _filling(label(text, "soft", wrap=True))))


def _triple(name: str, value: str, below: Sequence[str], *, is_known: bool = True) -> QWidget:
    """Return a name, its value at the right, and small text below."""
    answer = label(unbroken(value), "note" if is_known else "soft", wrap=True)
    answer.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
    is_list = ", " in name  # unknown for one reason; it may be longer than the panel is wide
    named = _filling(label(name, "soft", wrap=True)) if is_list else label(name, "soft")
    named.setAlignment(Qt.AlignmentFlag.AlignTop)
    head = row(named, _filling(answer))
    lines = [label(text.replace("/", "/" + BREAK), "small", wrap=True) for text in below if text]
    return holding(column(head, *lines, space=0, edges=(0, 0, 0, STEP if lines else 0)))


def _filling(widget: QLabel) -> QLabel:
    policy = widget.sizePolicy()
    policy.setHorizontalPolicy(QSizePolicy.Policy.Expanding)
    widget.setSizePolicy(policy)
    return widget
