"""Which tiles are there, and what do they show? One a resource, for what is sampled here.

The reading cursor stands at the same time in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from experiments.units import show
from experiments.words import Words
from machine.model import Machine
from widgets.announce import announce
from widgets.basics import label
from widgets.live import grid
from widgets.live.cores import CoresBody
from widgets.live.faces import Face, Faces, percent
from widgets.live.groups import group_threads
from widgets.live.history import SPAN_S, History, Moment
from widgets.live.sparkline import Sparkline
from widgets.live.tile import Body, Tile
from widgets.look import Look


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Which words and which line a tile has, and what its cursor reads."""

    title: str
    face: Callable[[Moment], Face]
    share: Callable[[Moment], float | None]
    reading: Callable[[Moment], str | None]
    is_there: Callable[[Moment], bool] = lambda _moment: True
    series: int = 0


class Board(QWidget):
    """The tiles. `draw` may be called as often as there are samples."""

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look, self._words = look, words
        self._faces = Faces(words)
        self._machine: Machine | None = None
        self._history = History()
        self.cursor_s: float | None = None  # of the reading cursor, before the newest sample
        self._row: int | None = None
        self._missing: Sequence[Mapping[str, str]] = ()
        self._highest_hz = 0.0
        self.tiles: dict[str, Tile] = {}
        self._resources = self._all_resources()
        self._note = label("", "soft", wrap=True)
        self._note.setParent(self)
        self._visible_height = 0
        look.changed.connect(self._arrange)

    def show_machine(self, machine: Machine | None) -> None:
        """Order the rows of the cores as they lie in this machine."""
        self._machine = machine
        self._faces.know_machine(machine)
        self._highest_hz = 0.0
        for tile in self.tiles.values():
            if isinstance(tile.body, CoresBody):
                tile.body.strip.show_groups(())
        self.draw(self._history)

    def draw(self, history: History, missing: Sequence[Mapping[str, str]] | None = None) -> None:
        """Show this history; `missing` is what the newest sample lacks, None: as before."""
        self._history = history
        if missing is not None and missing != self._missing:
            self._missing = missing
            self._faces.know_missing(missing)
            self._say_not_sampled()
        if not history.moments:
            return
        moment = history.moments[-1]
        self._scale_clock(moment)
        self._add_tiles(moment)
        for name, tile in self.tiles.items():
            tile.show_face(self._resources[name].face(moment))
            if isinstance(tile.body, CoresBody):
                self._show_threads(tile.body, moment)
            tile.body.draw(history)
        if self.cursor_s is not None:
            self._read()

    def fill(self, visible_height: int) -> None:
        """Let the tiles grow into the room that is seen."""
        self._visible_height = visible_height
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the tiles their places."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def point_at(self, ago_s: float | None, row: int | None = None) -> None:
        """Move the reading cursor of all tiles, or take it away."""
        self.cursor_s, self._row = ago_s, row
        self._read()

    def _all_resources(self) -> dict[str, Resource]:
        say, faces = self._words.say, self._faces
        return {
            "cores": Resource(
                title=say("live.cores"),
                face=faces.cores,
                share=lambda moment: moment.busy_fraction,
                reading=lambda moment: _percent(moment.busy_fraction),
            ),
            "memory": Resource(
                title=say("live.memory"),
                face=faces.memory,
                share=lambda moment: moment.memory_fraction,
                reading=lambda moment: _percent(moment.memory_fraction),
            ),
            "swap": Resource(
                title=say("live.swap"),
                face=faces.swap,
                share=lambda moment: moment.swap_fraction,
                reading=lambda moment: _percent(moment.swap_fraction),
                is_there=lambda moment: bool(moment.memory.get("swap_total_bytes")),
                series=1,
            ),
            "clock": Resource(
                title=say("live.clock"),
                face=faces.clock,
                share=self._clock_share,
                reading=lambda moment: _hertz(moment.highest_hz),
                series=2,
            ),
            "stolen": Resource(
                title=say("live.stolen"),
                face=faces.stolen,
                share=lambda moment: moment.stolen_fraction,
                reading=lambda moment: _percent(moment.stolen_fraction),
                is_there=faces.may_be_robbed,
                series=3,
            ),
        }

    def _add_tiles(self, moment: Moment) -> None:
        """Add what has turned out to be there; a tile that is there stays."""
        new = [
            name
            for name, resource in self._resources.items()
            if name not in self.tiles and resource.is_there(moment)
        ]
        for name in new:
            self.tiles[name] = self._tile(name)
        if new:
            self.tiles = {name: self.tiles[name] for name in self._resources if name in self.tiles}
            for before, after in pairwise(self.tiles.values()):
                QWidget.setTabOrder(before, after)
            self._arrange()

    def _tile(self, name: str) -> Tile:
        resource = self._resources[name]
        body: Body
        if name == "cores":
            body = CoresBody(self._look, self._words)
        else:
            body = Sparkline(self._look, resource.share, resource.series)
        body.pointed.connect(self.point_at)
        tile = Tile(resource.title, body, self._look)
        tile.setParent(self)
        tile.stepped.connect(self._step)
        tile.grown.connect(self._arrange)
        tile.released.connect(lambda: self.point_at(None))
        tile.show()
        if isinstance(body, CoresBody):
            body.strip.moved.connect(lambda: self._show_axis(tile, body))
        return tile

    def _show_threads(self, body: CoresBody, moment: Moment) -> None:
        if set(body.strip.threads) != moment.threads.keys():
            body.strip.show_groups(group_threads(self._machine, moment.threads))

    def _show_axis(self, tile: Tile, body: CoresBody) -> None:
        tile.show_foot(
            self._words.say("live.a_minute_ago"),
            self._words.say("live.rows"),
            self._words.say("live.now"),
            indent=body.strip.left,
        )
        self._arrange()

    def _scale_clock(self, moment: Moment) -> None:
        """The line of the clock goes up to the limit, or to the highest that was seen."""
        highest = max(self._faces.highest_clock_hz() or 0.0, moment.highest_hz or 0.0)
        if highest > self._highest_hz:
            self._highest_hz = highest
            if "clock" in self.tiles:
                body = self.tiles["clock"].body
                assert isinstance(body, Sparkline)
                body.start_anew()

    def _clock_share(self, moment: Moment) -> float | None:
        if moment.highest_hz is None or not self._highest_hz:
            return None
        return moment.highest_hz / self._highest_hz

    def _say_not_sampled(self) -> None:
        text, tip = self._faces.not_sampled()
        if text != self._note.text():
            self._note.setText(text)
            self._note.setToolTip(tip)
            self._arrange()

    def _step(self, back_s: float, down: int) -> None:
        """Move the cursor by keys: it begins at now, and at no thread."""
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
        """Place tiles and note, and take the height that they need."""
        zoom, width = self._look.theme.zoom, self.width()
        tiles = list(self.tiles.values())
        columns = grid.column_count(width, zoom)
        # As high as the others beside them, which take a second row where one is not enough.
        cores = (2, 2 if columns > 2 and len(tiles) > columns - 1 else 1)
        spans = [cores if name == "cores" else (1, 1) for name in self.tiles]
        note = self._note.heightForWidth(width) if self._note.text() else 0
        room, height = self._visible_height - note - grid.GAP, 0
        for _ in range(2):  # once for the widths, on which the heights depend
            rects, height = grid.arrange(
                spans,
                [tile.least_height() for tile in tiles],
                width=width,
                height=room,
                columns=columns,
            )
            for tile, rect in zip(tiles, rects, strict=True):
                tile.setGeometry(rect)
        self._note.setGeometry(0, height + grid.GAP, width, note)
        self.setMinimumHeight(height + grid.GAP + note)

    def minimumSizeHint(self) -> QSize:
        """Return the least width; the height is set as it is needed."""
        return QSize(0, 0)


def _percent(share: float | None) -> str | None:
    return None if share is None else percent(share)


def _hertz(clock: float | None) -> str | None:
    return None if clock is None else show(clock, "hz")
