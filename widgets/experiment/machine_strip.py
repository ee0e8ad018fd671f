"""Strip of the machine's parts below an experiment; those that it uses are lit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from experiments.core.declare import Part
from experiments.core.words import Words
from machine.model import Machine
from widgets.controls.basics import discard, label, restyle, row
from widgets.map.layout.labels import ranges
from widgets.style.look import Look
from widgets.style.theme import STEP

FEW_CORES = 4  # more are merged into one tile
WIDTHS = {
    Part.CORES: 68, Part.L1: 44, Part.L2: 52, Part.L3: 120, Part.MEMORY: 150, Part.STORAGE: 80,
    Part.PCIE: 78, Part.GPU: 120, Part.NVLINK: 78,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """One tile: its text, its part, and the threads of its cores."""

    text: str
    part: Part
    threads: frozenset[int] = frozenset()


class MachineStrip(QWidget):
    """The strip. `part_wanted` carries the Part and the threads of a clicked tile."""

    part_wanted = Signal(object, object)

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self._machine: Machine | None = None
        self._parts: frozenset[Part] = frozenset()
        self._numbered: frozenset[Part] = frozenset()
        self._threads: frozenset[int] = frozenset()
        self._is_folded = False
        self.tiles: list[Tile] = []
        self._head = label(words.say("map.on_the_map"), "soft")
        self._layout = row(self._head, None, space=STEP + 2)
        self._layout.insertSpacing(1, 2 * STEP)
        self.setLayout(self._layout)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(words.say("map.on_the_map"))
        look.changed.connect(self._rebuild)

    def show_machine(self, machine: Machine | None) -> None:
        """Show the parts that a machine has."""
        self._machine = machine
        self._rebuild()

    def light(
        self,
        parts: Iterable[Part],
        threads: Iterable[int] = (),
        *,
        numbered: Iterable[Part] = (),
    ) -> None:
        """Light the parts in use; of the cores only those of `threads`, if known.

        The map will show numbers of the `numbered` parts.
        """
        self._parts, self._threads = frozenset(parts), frozenset(threads)
        self._numbered = frozenset(numbered)
        self._show_lit()

    def sizeHint(self) -> QSize:
        """Return the size with a tile for each core."""
        return QSize(self._needed(self._pieces(fold=False), least=False), self._height())

    def minimumSizeHint(self) -> QSize:
        """Return the least size, with all cores in one tile."""
        return QSize(self._needed(self._pieces(fold=True), least=True), self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Merge the cores into one tile if room is short."""
        super().resizeEvent(event)
        needed = self._needed(self._pieces(fold=False), least=True)
        if (needed > self.width()) != self._is_folded:
            self._rebuild()

    def _rebuild(self) -> None:
        focused = next((n for n, tile in enumerate(self.tiles) if tile.hasFocus()), None)
        discard(*self.tiles)
        self._is_folded = self._needed(self._pieces(fold=False), least=True) > self.width()
        self.tiles = []
        for piece in self._pieces(fold=self._is_folded):
            tile = Tile(piece, self._look)
            tile.clicked.connect(
                lambda _=False, of=piece: self.part_wanted.emit(of.part, of.threads)
            )
            self._layout.insertWidget(self._layout.count() - 1, tile)
            self.tiles.append(tile)
        self._show_lit()
        if focused is not None and self.tiles:
            self.tiles[min(focused, len(self.tiles) - 1)].setFocus()
        self.updateGeometry()

    def _show_lit(self) -> None:
        for tile in self.tiles:
            piece = tile.piece
            is_lit = piece.part in self._parts
            if piece.part is Part.CORES and self._threads:
                is_lit = not piece.threads or bool(piece.threads & self._threads)
            key, tip = "map.not_in_use", "map.not_in_use_tip"
            if is_lit:
                is_numbered = piece.part in self._numbered
                key, tip = "map.in_use", "map.numbered_tip" if is_numbered else "map.in_use_tip"
                if is_numbered and piece.part is Part.CORES and not self._threads:
                    tip = "map.cores_tip"
            tile.light(is_lit, self._words.say(key, {"part": piece.text}))
            tile.setToolTip(self._words.say(tip))

    def _pieces(self, *, fold: bool) -> list[Piece]:
        machine = self._machine
        if machine is None:
            return []
        say = self._words.say
        levels = {cache.level for cache in machine.cpu.caches}
        rest: Mapping[Part, tuple[bool, str]] = {
            Part.L1: (1 in levels, say("parts.l1")),
            Part.L2: (2 in levels, say("parts.l2")),
            Part.L3: (3 in levels, say("parts.l3")),
            Part.MEMORY: (True, say("map.memory")),
            Part.STORAGE: (bool(machine.storage), say("map.storage")),
            Part.PCIE: (bool(machine.gpus), say("parts.pcie")),
            Part.GPU: (bool(machine.gpus), say("parts.gpu")),
            Part.NVLINK: (any(link.nvlinks for link in machine.gpu_links), say("parts.nvlink")),
        }
        there = [Piece(text, part) for part, (is_there, text) in rest.items() if is_there]
        return [*self._core_pieces(machine, fold=fold), *there]

    def _core_pieces(self, machine: Machine, *, fold: bool) -> list[Piece]:
        cores: dict[int | None, list[int]] = {}
        for thread in machine.cpu.threads_list:
            cores.setdefault(thread.core, []).append(thread.id)
        everything = frozenset(thread.id for thread in machine.cpu.threads_list)
        if not cores or None in cores:
            return [Piece(self._words.say("parts.cores"), Part.CORES, everything)]
        if fold or len(cores) > FEW_CORES:
            numbers = ranges(core for core in cores if core is not None)
            text = self._words.say("map.cores_numbered", {"numbers": numbers})
            return [Piece(text, Part.CORES, everything)]
        return [
            Piece(self._words.say("map.core", {"number": core}), Part.CORES, frozenset(threads))
            for core, threads in cores.items()
        ]

    def _needed(self, pieces: Sequence[Piece], *, least: bool) -> int:
        tiles = (tile_width(piece, self._look, least=least) for piece in pieces)
        space = self._layout.spacing()
        return self._head.sizeHint().width() + 4 * STEP + sum(width + space for width in tiles)

    def _height(self) -> int:
        return self._look.theme.px("small") + 4 * STEP


class Tile(QPushButton):
    """One tile of the strip."""

    def __init__(self, piece: Piece, look: Look) -> None:
        super().__init__(piece.text)
        self.piece, self._look = piece, look
        self.setProperty("role", "part")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def light(self, is_lit: bool, name: str) -> None:
        """Show whether the part is in use; `name` says so to screen readers."""
        self.setAccessibleName(name)
        restyle(self, "lit", is_lit)

    def sizeHint(self) -> QSize:
        """Return the preferred size."""
        width = tile_width(self.piece, self._look, least=False)
        return QSize(width, self._look.theme.px("small") + 4 * STEP)

    def minimumSizeHint(self) -> QSize:
        """Return the size at which the text still fits."""
        size = self.sizeHint()
        size.setWidth(tile_width(self.piece, self._look, least=True))
        return size


def tile_width(piece: Piece, look: Look, *, least: bool) -> int:
    """Return the width of a tile: its text, or more unless `least`."""
    theme = look.theme
    bold = QFontMetricsF(theme.font("small", weight=600))
    text = round(bold.horizontalAdvance(piece.text)) + 4 * STEP
    return text if least else max(text, round(WIDTHS[piece.part] * theme.zoom))
