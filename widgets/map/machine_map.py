"""Map of a machine: boxes to click and to walk through with the arrow keys.

It is given the machine, the numbers measured on it and its load; it asks no engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHelpEvent, QKeyEvent
from PySide6.QtWidgets import QToolTip

from experiments.core.declare import Part
from experiments.core.words import Words
from experiments.engine.messages import Sample
from experiments.presentation.known import INSIDE_A_CORE, Invitation, KnownValues
from machine.model import Machine
from widgets.controls.basics import announce, takes_escape
from widgets.map.canvas import EMPTY, ZOOM_STEP, Canvas
from widgets.map.layout.boxes import Box, Kind, Layout
from widgets.map.layout.inside import CLOSE, core_of, lay_out_core, measured_core
from widgets.map.layout.layout import lay_out_comfortably
from widgets.map.layout.ways import DataPaths
from widgets.map.live import Live, Loads, load_step
from widgets.map.panel.about import About
from widgets.map.panel.part_rows import PartRow, rows_of
from widgets.map.walking import Arrow, next_box, next_stop
from widgets.style.look import Look

ARROWS = {
    Qt.Key.Key_Left: Arrow.LEFT,
    Qt.Key.Key_Right: Arrow.RIGHT,
    Qt.Key.Key_Up: Arrow.UP,
    Qt.Key.Key_Down: Arrow.DOWN,
}
USING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
PAN_SHARE = 0.2  # of the widget, for Ctrl and an arrow
PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)


class MachineMap(Canvas):
    """The map. `part_chosen` carries a Box or None, `experiment_wanted` the id of an experiment.

    While a part is chosen, the data path from it to the part under the mouse is lit.
    """

    part_chosen = Signal(object)
    experiment_wanted = Signal(str)
    way_found = Signal(str)  # in words; "" when nothing is pointed at
    _opened: tuple[int, ...] = ()  # threads of the core that is looked into; events ask early

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__(look, words)
        self._words = words
        self._machine: Machine | None = None
        self._about: About | None = None
        self._invitations: Mapping[Part, Sequence[Invitation]] = {}
        self._unfolded: frozenset[str] = frozenset()
        self._tiles: dict[int, Box] = {}
        self._way_text = ""
        self._loads: Loads | None = None
        self._ways: DataPaths | None = None
        self.setAccessibleName(words.say("map.name"))
        self.setAccessibleDescription(words.say("map.keys"))

    # --- what is shown -------------------------------------------------------------------------

    def show_machine(self, machine: Machine | None) -> None:
        """Show a machine; None while it is being read."""
        self._machine = machine
        self._about = None if machine is None else About(machine, self._words)
        self._loads = None if machine is None else Loads(machine, self._words)
        self._ways = None  # made on first use
        self._state.unusable = frozenset(
            thread.id
            for thread in (machine.cpu.threads_list if machine else ())
            if thread.online and thread.usable is False
        )
        self._unfolded, self._state.chosen, self._view.is_zoomed = frozenset(), None, False
        self._opened = ()
        self._state.busy, self._state.live = {}, {}
        self._point(None)
        self.lay_out()

    def show_values(self, known: KnownValues) -> None:
        """Show measured numbers; a part without one invites to its first experiment."""
        self._state.values, self._invitations = known.values, known.invitations
        self._state.asked = frozenset(
            part for part, some in known.invitations.items() if any(one.fills for one in some)
        )
        self._painting.forget_texts()
        self.repaint_all()

    def show_load(self, busy: Mapping[int, float | None]) -> None:
        """Colour the threads by their load; only visible changes are repainted."""
        before = self._state.busy
        now = {thread: load_step(load) for thread, load in busy.items()}
        self._state.busy = now
        if bool(before) != bool(now):  # unknown threads look different once others are known
            self.repaint_all()
        elif self._state.shows_load:
            tiles = self._tiles.items()
            self.repaint_alone([box for id_, box in tiles if before.get(id_) != now.get(id_)])

    def show_sample(self, sample: Sample) -> None:
        """Show what memory and devices do; only changes are repainted."""
        if self._loads is None:
            return
        before, now = self._state.live, self._loads.of(sample)
        self._state.live = now
        changed = {name for name in {*before, *now} if before.get(name) != now.get(name)}
        boxes = [box for box in self.boxes if box.id in changed]
        for box in boxes:
            self._painting.forget_texts(box)
        if not self._state.shows_load:
            return
        framed = [box for box in boxes if box.kind is not Kind.LINK]
        lost = {name for live in (before, now) for name, one in live.items() if one.is_lost}
        self.repaint_alone([box for box in framed if box.id not in lost])
        for box in boxes:
            if box.id in lost:  # its frame changes too
                self.repaint_box(box)
        self.repaint_links(changed)

    def live_of(self, box: Box) -> Live | None:
        """Return what a part does now."""
        return self._state.live_of(box.id)

    def set_layers(self, *, measured: bool, live: bool) -> None:
        """Show or hide numbers and load."""
        self._state.shows_values, self._state.shows_load = measured, live
        self._painting.forget_texts()
        self.repaint_all()

    def parts(self) -> list[PartRow]:
        """Return every part with its facts and numbers, folded ones too."""
        if self._machine is None or self._about is None:
            return []
        measured = self._box_texts.measured if self._state.shows_values else lambda _: ""
        return rows_of(self._machine, self._words, self._measure, self._about, measured)

    # --- choosing ------------------------------------------------------------------------------

    @property
    def chosen(self) -> Box | None:
        """The box that is chosen."""
        return self.box(self._state.chosen)

    def choose(self, box: Box | None) -> None:
        """Choose a box and scroll to it; None chooses the whole machine."""
        before = self.chosen
        self._state.chosen = None if box is None else box.id
        self._point(None)
        self.repaint_box(before)
        self.repaint_box(box)
        self.setAccessibleName(self._spoken(box))
        if box is not None and self._view.bring_into_sight(box.rect):
            self.view_changed()
        if box is not None or before is not None:
            self.part_chosen.emit(box)

    def point_to(self, box: Box | None) -> None:
        """Light the data path from the chosen box to this one, and announce it."""
        self._point(box, by_key=True)
        if box is not None:
            if self._view.bring_into_sight(box.rect):
                self.view_changed()
            announce(self, self._way_text or self._spoken(box))

    def hovered(self, box: Box | None) -> None:
        """Light the data path from the chosen box to the box under the mouse."""
        if box is not None or self._state.pointed is None:
            self._point(box)

    def _point(self, box: Box | None, *, by_key: bool = False) -> None:
        state, chosen, way = self._state, self.chosen, None
        before = state.lit | {state.pointed or ""}
        if box is not None and chosen is not None and self._machine and self._about:
            self._ways = self._ways or DataPaths(self._machine, self._words, self._about.title)
            way = self._ways.between(chosen, box, self.boxes)
        state.lit = way.lit if way else frozenset()
        state.pointed = box.id if box is not None and by_key else None
        self._way_text = way.text if way else ""
        changed = before ^ (state.lit | {state.pointed or ""})
        for other in self.boxes:
            if other.id in changed:
                self.repaint_box(other)
        self.repaint_wires(changed)
        self.way_found.emit(self._way_text)

    def choose_part(self, part: Part, threads: Set[int] = frozenset()) -> None:
        """Choose the box of a part with exactly these threads, otherwise its first box."""
        if self._machine is not None and (part in INSIDE_A_CORE) != bool(self._opened):
            self.open_core(measured_core(self._machine) if part in INSIDE_A_CORE else ())
        some = [box for box in self.boxes if box.part is part]
        exact = [box for box in some if threads and {*box.threads} == threads]
        if found := exact or some:
            self.choose(found[0])

    def open_core(self, threads: Sequence[int]) -> None:
        """Look into the core of these threads; () shows the whole machine again."""
        before = self._opened
        self._opened = core_of(self._machine, threads) if self._machine else ()
        if self._opened == before:
            return
        self._state.chosen, self._view.is_zoomed = None, False
        self._point(None)
        self.lay_out()
        core = f"open:{self._opened[0]}" if self._opened else f"core:{before[0]}"
        self.choose(self.box(core))

    @property
    def is_inside(self) -> bool:
        """Return whether the inside of a core is shown."""
        return bool(self._opened)

    def make_layout(self, width: float, height: float) -> Layout:
        """Return the map of the machine."""
        if self._machine is None:
            return EMPTY
        if self._opened:
            return lay_out_core(
                self._machine, self._words, self._measure, width, height, self._opened
            )
        return lay_out_comfortably(
            self._machine, self._words, self._measure, width, height, self._unfolded
        )

    def lay_out(self) -> None:
        """Lay out again, and index the tiles by thread."""
        super().lay_out()
        self._tiles = {box.threads[0]: box for box in self.boxes if box.kind is Kind.THREAD}

    def use_at(self, box: Box | None, point: QPointF) -> None:
        """Use the clicked box; a click outside all boxes clears the choice."""
        if box is None:
            self.choose(None)
        else:
            self._use(box, is_asked=self.invites_at(box, point))

    def _use(self, box: Box, *, is_asked: bool) -> None:
        """Unfold a box, open the experiment it asks for, or choose it; a chosen core opens."""
        is_core = box.kind in (Kind.CORE, Kind.THREAD) and not self._opened
        if box.id == CLOSE:
            self.open_core(())
        elif box.kind is Kind.FOLD:
            self._unfolded ^= {box.id}
            self.lay_out()
            self.choose(self.box(box.id))
        elif is_asked and box.part is not None:
            self.experiment_wanted.emit(self._wanted(box.part).experiment)
        elif is_core and box == self.chosen:
            self.open_core(box.threads)
        else:
            self.choose(box)

    def _wanted(self, part: Part) -> Invitation:
        """Return the experiment that measures a part, preferably one without a number yet.

        Best is one whose number replaces the question mark.
        """
        known = {value.experiment for value in self._state.values.get(part, ())}
        filling = [one for one in self._invitations[part] if one.fills]
        new = [one for one in filling if one.experiment not in known]
        return max(new or filling, key=lambda one: (one.heads, not one.lack))

    def _spoken(self, box: Box | None) -> str:
        """Return the chosen part in words, for screen readers."""
        say = self._words.say
        if box is None or self._about is None:
            return say("map.name")
        known, part = self._box_texts.numbers(box), ", ".join(self._about.lines(box))
        if known:
            numbers = ", ".join(f"{value.label} {value.text}" for value in known)
            return say("map.part_measured", {"part": part, "numbers": numbers})
        is_asked = self._box_texts.is_unmeasured(box)
        return say("map.part_unmeasured", {"part": part}) if is_asked else part

    def _tip(self, box: Box, about: About) -> str:
        lines = about.lines(box)
        if (first := self._box_texts.headline(box)) is not None:
            lines.append(f"{first.label}: {first.text}")
            if (alike := about.count_alike(box)) > 1:
                lines.append(self._words.say("map.one_of", {"count": alike}))
        elif box.part is not None and box.bears_value and box.part in self._state.asked:
            question, count = self._wanted(box.part).question, len(self._box_texts.numbers(box))
            key = "map.asks_for_more" if count else "map.asks"
            lines.append(self._words.say(key, {"question": question, "count": count}))
        return "\n".join(lines)

    # --- Qt ------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk with the arrows, point with Shift, pan with Ctrl; Enter uses, Esc leaves."""
        key, chosen = Qt.Key(event.key()), self.chosen
        middle = QRectF(self.rect()).center()
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in ARROWS and modifiers == Qt.KeyboardModifier.ControlModifier:
            across, down = ARROWS[key].value
            self.pan(PAN_SHARE * across * self.width(), PAN_SHARE * down * self.height())
        elif key in ARROWS and modifiers == Qt.KeyboardModifier.ShiftModifier and chosen:
            here = self.box(self._state.pointed) or chosen
            self.point_to(next_box(self.boxes, here, ARROWS[key]) or here)
        elif key in ARROWS and event.modifiers() in PLAIN:
            first = next(iter(self.boxes), None)
            there = next_box(self.boxes, chosen, ARROWS[key]) if chosen else first
            if there is not None:
                self.choose(there)
        elif key in USING and chosen:
            texts = self._painting.texts(chosen)
            self._use(chosen, is_asked=any(text.role == "invitation" for text in texts))
        elif key == Qt.Key.Key_Escape and self._opened:
            self.open_core(())
        elif key == Qt.Key.Key_Escape and chosen:
            self.choose(None)
        elif event.text() == "+":
            self.zoom(ZOOM_STEP, middle)
        elif event.text() == "-":
            self.zoom(1 / ZOOM_STEP, middle)
        elif event.text() == "0":
            self.fit()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab visit the larger boxes before it leaves."""
        there = next_stop(self.boxes, self.chosen, forward=forward)
        if self.hasFocus() and there is not None:
            self.choose(there)
            return True
        return super().focusNextPrevChild(forward)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show which box has the keyboard."""
        super().focusInEvent(event)
        self._state.has_focus = True
        forward = event.reason() == Qt.FocusReason.TabFocusReason
        if forward or event.reason() == Qt.FocusReason.BacktabFocusReason:
            self.choose(next_stop(self.boxes, None, forward=forward))
        self.repaint_box(self.chosen)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show that the keyboard is elsewhere."""
        super().focusOutEvent(event)
        self._state.has_focus = False
        self.repaint_box(self.chosen)

    def event(self, event: QEvent) -> bool:
        """Show the tip of the box under the mouse; keep Esc while a part is chosen."""
        if takes_escape(event, wanted=self.chosen is not None or bool(self._opened)):
            return True
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._about:
            box = self.box_at(QPointF(event.pos()))
            tip = "" if box is None else self._tip(box, self._about)
            QToolTip.showText(event.globalPos(), tip, self)  # an empty one hides it
            return True
        return super().event(event)
