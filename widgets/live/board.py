"""Board of tiles, one for each sampled resource, above the processes that use the GPUs.

The reading cursor stands at the same time in all tiles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from experiments.core.units import show
from experiments.core.words import Words
from experiments.presentation.load.face import percent
from experiments.presentation.load.faces import Faces
from experiments.presentation.load.groups import group_threads
from experiments.presentation.load.history import SPAN_S, History, Moment
from experiments.presentation.load.resources import Resource, Resources
from machine.model import Machine
from widgets.controls.basics import announce, label
from widgets.live import grid
from widgets.live.cores import CoresBody
from widgets.live.minute import move
from widgets.live.processes import ProcessTable
from widgets.live.sparkline import Sparkline
from widgets.live.tile import Body, Tile
from widgets.style.look import Look

WAITED_FOR = ("cores", "memory")  # resources with a time that tasks waited for them
FEW_THREADS = 8  # up to this many, one row of tiles is high enough for the cores
SLOW = frozenset({"memory", "swap", "clock", "heat", "stolen", "disks", "network"})
SLOW_S = 0.9  # between two updates of the SLOW tiles


class Board(QWidget):
    """The tiles. `draw` may be called as often as there are samples."""

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look, self._words = look, words
        self._faces = Faces(words)
        self._machine: Machine | None = None
        self._history = History()
        self.cursor_s: float | None = None  # time of the reading cursor before the newest sample
        self._row: int | None = None
        self._slow_s = 0.0  # time of the last sample shown by all tiles
        self._missing: Sequence[Mapping[str, str]] = ()
        self.tiles: dict[str, Tile] = {}  # the visible ones, in order
        self._kept: dict[str, Tile] = {}  # also those of a GPU that sleeps or has gone
        self._resources = Resources(words, self._faces)
        self.processes = ProcessTable(look, words)
        self.processes.setParent(self)
        self.processes.grown.connect(self._arrange)
        self._note = label("", "soft", wrap=True)
        self._note.setParent(self)
        self._visible_height = 0
        look.changed.connect(self._arrange)

    def show_machine(self, machine: Machine | None, *, is_recorded: bool = False) -> None:
        """Order the rows of the cores by this machine's topology."""
        self._machine = machine
        self._faces.is_recorded = self.processes.is_recorded = is_recorded
        self._faces.know_machine(machine)
        for tile in self.tiles.values():
            if isinstance(tile.body, CoresBody):
                tile.body.strip.show_groups(())
        self.draw(self._history)

    def forget(self) -> None:
        """Remove all tiles, since another machine follows."""
        for tile in self._kept.values():
            tile.setParent(None)
            tile.deleteLater()
        self.tiles, self._kept = {}, {}
        self._resources.forget()
        self._history = History()

    def draw(self, history: History, missing: Sequence[Mapping[str, str]] | None = None) -> None:
        """Show this history; `missing` is what the newest sample lacks, None for no change."""
        is_other, self._history = history is not self._history, history
        if missing is not None and missing != self._missing:
            self._missing = missing
            self._faces.know_missing(missing)
            self._say_not_sampled()
        if not history.moments:
            return
        moment = history.moments[-1]
        are_new = self._choose_tiles(moment)
        passed_s = moment.at_s - self._slow_s
        is_soon = 0 < passed_s < SLOW_S and not (is_other or are_new or history.marks)
        self._slow_s = self._slow_s if is_soon else moment.at_s
        for name, tile in self.tiles.items():
            if is_soon and name in SLOW:
                continue
            resource = self._resources[name]
            tile.show_face(resource.face(moment))
            if isinstance(tile.body, CoresBody):
                if set(tile.body.strip.threads) != moment.threads.keys():
                    tile.body.strip.show_groups(group_threads(self._machine, moment.threads))
            elif resource.scale is not None and resource.scale.fit(history):
                self._show_scale(tile, resource.scale.top, resource.unit)
                tile.body.start_anew()
            tile.body.draw(history)
        self.processes.show_moment(moment, self._faces.reasons)
        if self.cursor_s is not None:
            self._read()

    def fill(self, visible_height: int) -> None:
        """Let the tiles fill the visible height."""
        self._visible_height = visible_height
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the tiles."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def point_at(self, ago_s: float | None, row: int | None = None) -> None:
        """Move the reading cursor of all tiles, or remove it."""
        self.cursor_s, self._row = ago_s, row
        self._read()

    def _choose_tiles(self, moment: Moment) -> bool:
        """Add new tiles, hide those of sleeping GPUs; return whether any changed."""
        names = self._resources.names(moment)
        if names == [*self.tiles]:
            return False
        for name in names:
            if name not in self._kept:
                self._kept[name] = self._tile(name, self._resources[name])
        for name, tile in self._kept.items():
            tile.setVisible(name in names)
        self.tiles = {name: self._kept[name] for name in names}
        for before, after in pairwise([*self.tiles.values(), self.processes]):
            QWidget.setTabOrder(before, after)
        self._arrange()
        return True

    def _tile(self, name: str, resource: Resource) -> Tile:
        body: Body
        if name == "cores":
            body = CoresBody(self._look, self._words)
        else:
            body = Sparkline(self._look, resource.share, resource.series)
        body.pointed.connect(self.point_at)
        part = name.partition(".")[2]  # of a GPU
        what, source = (f"gpu_{part}", "gpu") if part else (name, name)
        say = self._words.say
        about = (say(f"live.{what}_is"), say(f"live.{source}_from"))
        about_words = {"errors": (say("live.errors_head"), say("live.errors_text"))}
        if name in WAITED_FOR:
            about_words["detail"] = (say("live.waited_head"), say("live.waited_text"))
        tile = Tile(resource.title, body, self._look, about, about_words)
        tile.setParent(self)
        tile.stepped.connect(self._step)
        tile.grown.connect(self._arrange)
        tile.released.connect(lambda: self.point_at(None))
        tile.show()
        if resource.scale is None and not isinstance(body, CoresBody):
            tile.show_foot("", "", self._words.say("live.up_to", {"top": percent(1.0)}))
        if isinstance(body, CoresBody):
            body.strip.moved.connect(lambda: self._show_axis(tile, body))
        return tile

    def _show_axis(self, tile: Tile, body: CoresBody) -> None:
        start, now = self._faces.when(SPAN_S), self._faces.when(0.0)
        tile.show_foot(start, self._words.say("live.rows"), now, indent=body.strip.left)
        self._arrange()

    def _show_scale(self, tile: Tile, top: float, unit: str) -> None:
        """Show the top of the scale, and which of two flows the line is."""
        which = self._words.say("live.larger_flow") if unit == "bytes/s" else ""
        tile.show_foot(which, "", self._words.say("live.up_to", {"top": show(top, unit)}))

    def _say_not_sampled(self) -> None:
        text, tip = self._faces.not_sampled()
        if text != self._note.text():
            self._note.setText(text)
            self._note.setToolTip(tip)
            self._arrange()

    def _step(self, back_s: float, down: int) -> None:
        """Move the cursor by keys, starting at now and at no thread."""
        ago_s, row = self.cursor_s, self._row
        ago_s = 0.0 if ago_s is None else min(max(ago_s + back_s, 0.0), SPAN_S)
        if down:
            count = len(self._history.moments[-1].threads) if self._history.moments else 0
            row = max(-1, min((-1 if row is None else row) + down, count - 1))
        self.point_at(ago_s, None if row == -1 else row)
        for tile in self.tiles.values():
            if tile.hasFocus():
                announce(tile, self._reading(tile))

    def _read(self) -> None:
        for name, tile in self.tiles.items():
            ago_s = self.cursor_s
            if ago_s is None:
                tile.body.point_at(None)
            elif isinstance(tile.body, CoresBody):
                tile.body.point_at(ago_s, self._words_at(name), self._thread_words(tile.body))
            else:
                tile.body.point_at(ago_s, self._words_at(name))

    def _reading(self, tile: Tile) -> str:
        if isinstance(tile.body, CoresBody) and (words := self._thread_words(tile.body)):
            return words
        name = next(name for name, other in self.tiles.items() if other is tile)
        return self._words_at(name)

    def _words_at(self, name: str) -> str:
        ago_s = self.cursor_s or 0.0
        moment = self._history.at(ago_s)
        value = None if moment is None else self._resources[name].reading(moment)
        return self._faces.reading(moment, ago_s, value)

    def _thread_words(self, body: CoresBody) -> str:
        threads, ago_s = body.strip.threads, self.cursor_s or 0.0
        if self._row is None or self._row >= len(threads):
            return ""
        moment = self._history.at(ago_s)
        value = self._faces.thread_reading(moment, threads[self._row])
        return self._faces.reading(moment, ago_s, value)

    def _arrange(self) -> None:
        """Place tiles, table and note, and set the height they need."""
        zoom, width = self._look.theme.zoom, self.width()
        tiles = list(self.tiles.values())
        columns = grid.column_count(width, zoom)
        # Many threads are as high as two rows of the tiles beside them.
        count = len(self._history.moments[-1].threads) if self._history.moments else 0
        is_high = count > FEW_THREADS and columns > 2 and len(tiles) > columns - 1
        cores = (2, 2 if is_high else 1)
        spans = [cores if name == "cores" else (1, 1) for name in self.tiles]
        note = self._note.heightForWidth(width) if self._note.text() else 0
        table = self.processes.least_height()
        below = grid.GAP + note + (grid.GAP + table if table else 0)
        room, height = self._visible_height - below, 0
        for _ in range(2):  # heights depend on widths, which the first turn sets
            rects, height = grid.arrange(
                spans,
                [tile.least_height() for tile in tiles],
                width=width,
                height=room,
                columns=columns,
            )
            for tile, rect in zip(tiles, rects, strict=True):
                move(tile, rect)
        self.processes.setGeometry(0, height + grid.GAP, width, table)
        self._note.setGeometry(0, height + below - note, width, note)
        self.setMinimumHeight(height + below)

    def minimumSizeHint(self) -> QSize:
        """Return the least width; the height is set by `_arrange`."""
        return QSize(0, 0)
