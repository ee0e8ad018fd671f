"""The page of the map: layers, the map, the chosen part, and where to start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QMenu, QPushButton, QStackedWidget, QWidget

from experiments.core.declare import Part
from experiments.core.words import Words
from experiments.engine.messages import Sample
from experiments.presentation.known import KnownValues, is_of_part
from machine.model import Machine
from widgets.controls.basics import chip, column, holding, label, leave_keys, row
from widgets.controls.choices import joined
from widgets.controls.picture_files import as_mime
from widgets.controls.place_head import BELOW, PlaceHead, chip_row
from widgets.map.foot import FootLine, LoadScale
from widgets.map.layout.boxes import Box
from widgets.map.machine_map import MachineMap
from widgets.map.panel.part_panel import PartPanel
from widgets.map.panel.parts_table import PartsTable
from widgets.map.start_card import StartCard
from widgets.style.look import Look
from widgets.style.theme import STEP

SIDE_PX, SIDE_SHARE = 300, 0.36  # at zoom 1, and of the page at most


class MapPage(QWidget):
    """The page. `experiment_wanted` carries the id of an experiment."""

    experiment_wanted = Signal(str)
    save_wanted = Signal(str)  # ".png" or ".svg"
    copied = Signal()

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._machine: Machine | None = None
        self._counts: Mapping[Part, tuple[int, int]] = {}  # numbers known, and possible
        self._asks = False  # a part has no number yet
        self.map, self.panel = MachineMap(words, look), PartPanel(words, look)
        self._soft = label("", "soft")
        self._foot, self._scale = FootLine(look), LoadScale(words, look)
        self._scale.hide()
        self.measured = self._layer("map.layer_measured", "map.measured_help")
        self.live = self._layer("map.layer_live", "map.live_help")
        help_, act = words.say("map.structure_help"), self._show_structure
        structure = words.say("map.layer_structure")
        self.structure = chip(structure, checkable=True, clicked=act, tip=help_)
        self.table = chip(
            words.say("map.table"), checkable=True, tip=f"{words.say('map.act_table')} (Ctrl+D)"
        )
        self.table.toggled.connect(self._switch_view)
        self._picture = chip(words.say("places.map"), checkable=True, clicked=self._show_map)
        self._picture.setChecked(True)
        self._parts: PartsTable | None = None  # made on first use
        self.start = StartCard(words, look)
        title = label(words.say("map.this_machine"), "title")
        layers, views = (self.structure, self.measured, self.live), (self._picture, self.table)
        leave_keys(*layers, *views)
        head = PlaceHead(self._soft, title, chip_row(*layers, joined(*views)))
        # Below the panel, which the user reads already when the card appears.
        self._side = holding(column(self.panel, self.start, space=3 * STEP))
        self._stack = QStackedWidget()
        self._stack.addWidget(self.map)
        body = row(self._stack, self._side, space=6 * STEP, grows=0)
        foot = row(self._foot, self._scale, space=6 * STEP, grows=0)
        foot.setAlignment(self._scale, Qt.AlignmentFlag.AlignTop)
        self.setLayout(column(head, body, foot, space=BELOW, grows=1))
        self.setFocusProxy(self.map)
        self.map.part_chosen.connect(self._choose)
        self.map.way_found.connect(self._foot.show_way)
        self.map.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.map.customContextMenuRequested.connect(self._open_menu)
        for asking in (self.map, self.panel, self.start):
            asking.experiment_wanted.connect(self.experiment_wanted)
        self.panel.machine_wanted.connect(self._leave_part)
        self.panel.core_wanted.connect(self._open_core)
        look.changed.connect(self._share)
        self.show_machine(None)

    def show_machine(self, machine: Machine | None) -> None:
        """Show a machine; None while it is being read."""
        self._machine = machine
        self.map.show_machine(machine)
        self.panel.show_machine(machine)
        self._refresh_texts()
        self._fill_table()

    def show_values(self, known: KnownValues) -> None:
        """Show the known numbers, and how many there can be."""
        values, most = known.values, known.possible
        self._counts = {part: (len(values.get(part, ())), count) for part, count in most.items()}
        self._asks = any(
            one.fills and not any(is_of_part(part, value.unit) for value in values.get(part, ()))
            for part, some in known.invitations.items()
            for one in some
        )
        self.map.show_values(known)
        self.panel.show_values(known)
        self._refresh_texts()
        self._fill_table()

    def show_sample(self, sample: Sample) -> None:
        """Show what memory, GPUs, links, disks and networks do."""
        self.map.show_sample(sample)
        self._refresh_now()

    def menu(self) -> QMenu:
        """Return the context menu of the map."""
        say, menu = self._words.say, QMenu(self)
        entries: tuple[tuple[str, Callable[[], object]] | None, ...] = (
            ("plot.copy_picture", self.copy_picture),
            ("plot.copy_svg", self.copy_svg),
            ("plot.save_png", lambda: self.save_wanted.emit(".png")),
            ("plot.save_svg", lambda: self.save_wanted.emit(".svg")),
            None,
            ("plot.show_table", self.table.toggle),
            None,
            ("plot.show_all", self.map.fit),
        )
        for entry in entries:
            if entry is None:
                menu.addSeparator()
            else:
                menu.addAction(say(entry[0])).triggered.connect(entry[1])
        return menu

    def copy_picture(self) -> None:
        """Copy the map as a picture."""
        QGuiApplication.clipboard().setImage(self.map.whole().picture())
        self.copied.emit()

    def copy_svg(self) -> None:
        """Copy the map as an SVG file."""
        QGuiApplication.clipboard().setMimeData(as_mime(self.map.whole().svg()))
        self.copied.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Divide the width between map and panel."""
        super().resizeEvent(event)
        self._share()

    def _layer(self, key: str, help_key: str) -> QPushButton:
        say = self._words.say
        made = chip(say(key), checkable=True, adds=True, tip=say(help_key))
        made.setChecked(True)
        made.toggled.connect(self._show_layers)
        return made

    def _show_layers(self) -> None:
        measured, live = self.measured.isChecked(), self.live.isChecked()
        self.map.set_layers(measured=measured, live=live)
        self.structure.setChecked(not measured and not live)
        self._refresh_texts()
        self._refresh_now()

    def _show_structure(self) -> None:
        """Toggle between the bare structure and all layers."""
        on = not self.structure.isChecked()
        self.measured.setChecked(on)
        self.live.setChecked(on)
        self._show_layers()

    def _leave_part(self) -> None:
        self.map.open_core(())
        self._choose_row(None)
        self.setFocus()  # the focused widget is gone

    def _open_core(self, threads: Sequence[int]) -> None:
        if self.table.isChecked():
            self._show_map()
        self.map.open_core(threads)
        self.setFocus()

    def _choose_row(self, box: Box | None) -> None:
        """Choose a part by its row; the map may not show it, if it is folded."""
        self.map.choose(self.map.box(box.id) if box else None)
        self._choose(box)

    def _choose(self, box: Box | None) -> None:
        """Show a part in the panel; in the table, the part of the row."""
        if self._parts is not None and self.table.isChecked():
            box = self._parts.mark(box)
        self.panel.show_box(box)
        self._refresh_texts()
        self._refresh_now()

    def _refresh_now(self) -> None:
        chosen = self.panel.box
        self.panel.show_now(self.map.live_of(chosen) if chosen else None)

    def _show_map(self) -> None:
        self._picture.setChecked(True)  # a second click would take it away
        self.table.setChecked(False)

    def _switch_view(self) -> None:
        """Switch between the table and the map."""
        self._picture.setChecked(not self.table.isChecked())
        if self._parts is None:
            self._parts = PartsTable(self._words, self._look)
            self._parts.part_chosen.connect(self._choose_row)
            self._stack.addWidget(self._parts)
        shown = self._parts if self.table.isChecked() else self.map
        self._fill_table()
        self._choose(self.map.chosen)
        self._stack.setCurrentWidget(shown)
        self.setFocusProxy(shown)
        shown.setFocus()

    def _fill_table(self) -> None:
        if self._parts is not None and self.table.isChecked():
            self._parts.show_parts(self.map.parts())
            self._parts.mark(self.panel.box)

    def _open_menu(self, at: QPoint) -> None:
        self.menu().exec(self.map.mapToGlobal(at))

    def _share(self) -> None:
        width = min(round(SIDE_PX * self._look.theme.zoom), round(SIDE_SHARE * self.width()))
        self._side.setFixedWidth(width)

    def _known_count(self) -> str:
        """Return how many numbers are known, and list them in the tip."""
        say, counts = self._words.say, self._counts
        known, possible = (sum(each[at] for each in counts.values()) for at in (0, 1))
        parts = [
            say("map.earned_of", {"part": say(f"parts.{part}"), "count": some, "possible": most})
            for part in Part
            for some, most in [counts.get(part, (0, 0))]
            if most
        ]
        whole = (say("map.earned_help"), *parts, say("map.earned_no_more"))
        tip = "\n".join(whole) if possible else ""
        self._soft.setToolTip(tip)
        self._soft.setAccessibleDescription(tip)
        return say("map.earned", {"count": known, "possible": possible}) if possible else ""

    def _refresh_texts(self) -> None:
        say, machine, is_map = self._words.say, self._machine, not self.table.isChecked()
        if machine is None:
            self._soft.setText(say("map.reading"))
            self._foot.show_legend("")
            return
        system = machine.os.distribution or machine.os.kind
        known = filter(None, (machine.cpu.model, system, self._known_count()))
        self._soft.setText(" · ".join(known))
        self._scale.setVisible(is_map and self.live.isChecked())
        sentences = []
        if is_map and machine.gpus and not self.map.is_inside:
            sentences.append(say("map.legend_links"))
        if is_map and self.measured.isChecked() and self._asks:
            sentences.append(say("map.legend_unmeasured"))
        hint = say("map.way_hint") if is_map and self.map.chosen else ""
        hint = say("map.inside_hint") if is_map and self.map.is_inside else hint
        self._foot.show_legend(" ".join(sentences), hint)
