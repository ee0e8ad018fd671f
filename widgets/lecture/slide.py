"""The slide that a class sees: a question, votes on it, or one plot with its verdict."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF
from PySide6.QtGui import QColor, QCursor, QMouseEvent, QPaintEvent

from experiments.core.declare import Experiment
from experiments.core.teaching.playable import Playable
from experiments.core.views import Ruler
from experiments.core.words import Words
from widgets.controls.basics import discard
from widgets.controls.layouts import Fitting
from widgets.lecture.overlays import Halo, Still
from widgets.lecture.slide_code import SlideCode
from widgets.lecture.slide_data import SlideData
from widgets.lecture.slide_motion import SlideMotion
from widgets.lecture.slide_plot import SlidePlot, slide_theme
from widgets.lecture.slide_text import SlideText, TextPart
from widgets.lecture.vote_board import VoteBoard
from widgets.style.ink import draw_box, painting
from widgets.style.look import Look

VOTED, PLOTTED, EXPLAINED = ("vote", "again"), ("run", "reveal", "explain"), "explain"
MOST_WORDS = 40  # of an explanation, so that the last row reads it
# Pixels at a height of 720. A slide less wide than NARROW of its heights is scaled by its width.
HEIGHT, NARROW = 720, 4 / 3
SIDE, TOP, HEAD, FOOT, END = 72, 52, 84, 650, 702
APART, ABOVE_VOTES, HEAD_ROOM, FOOT_SHARE = 24, 16, 165, 0.7
CONTEXT_SHARE, CODE_SHARE = 0.4, 0.54  # of the height below the head; of the width, beside votes
PLACE_SHARE = 0.2  # of the width; the rest of the line is for the source or the band
EXPLAINED_SHARE, EXPLAINED_BELOW = 0.4, 110  # of the width, for words beside the plot; below it
BAND_SIDE, BAND_UP, CORNER = 12, 5, 6
KEY_DOWN = 4  # so that its letters stand on one line with those at its left
ASKED, HEADS = (72, 64, 56, 48, 40, 32, 26), (44, 38, 32, 26)  # heights of letters
EXPLAINS, SAID, NOTES = (32, 28, 24, 20), (24, 22, 20), (20,)
CONTEXTS = (30, 28, 26, 24, 22, 20)
EXPLAINED_ZOOM = 0.91  # of the plot beside words


class Slide(Fitting):
    """One slide, which fills its window. `plot` is that of the headline view, if there is one.

    It takes no keys: who leads the lecture does. `look` is that of the class's screen: its mode
    counts, not its zoom, since all sizes follow the height of the slide.
    """

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._theirs = words, look
        self._look = Look(slide_theme(look.theme, 1.0))
        self.data: SlideData | None = None
        self.plot: SlidePlot | None = None
        self.has_halo = False
        self._experiment: Experiment[Any] | None = None
        self._still: Still | None = None
        self._place, self._foot, self._key = SlideText(NOTES), SlideText(SAID), _right(NOTES)
        self._source, self._band = _right(NOTES), _right(NOTES)
        self._head, self._asked = SlideText(HEADS, is_even=True), SlideText(ASKED, is_even=True)
        self._explained, self._context = SlideText(EXPLAINS), SlideText(CONTEXTS)
        self._code = SlideCode(words, self._look)
        self._votes, self._halo = VoteBoard(words, self._look), Halo(self._look)
        self.motion = SlideMotion(words, self._look)
        for each in (*self._texts, self._code, self._votes, self._halo, self.motion):
            each.setParent(self)
            each.hide()
        self.setMouseTracking(True)
        look.changed.connect(self._fit)

    @property
    def is_frozen(self) -> bool:
        """Is an earlier picture kept?"""
        return self._still is not None

    def show_experiment(self, experiment: Experiment[Any] | None) -> None:
        """Have an empty plot ready for the headline view of an experiment; None: no plot."""
        if experiment is self._experiment:
            return
        self._experiment = experiment
        if self.plot is not None:
            discard(self.plot)
            self.plot = None
        if experiment is not None and experiment.plots:
            self.plot = SlidePlot(experiment, self._words, self._look)
            self.plot.setParent(self)
            self._keep_on_top()
        self._show()

    def show_data(self, data: SlideData) -> None:
        """Show a step; what does not belong to it is out of sight."""
        if data != self.data:
            self.data = data
            self._show()

    def show_motion(self, playable: Playable | None) -> None:
        """Show a motion in place of plot and words; None for the plot again."""
        if playable != self.motion.playable:
            self.motion.show_motion(playable)
            self._keep_on_top()
            self._show()

    def set_halo(self, on: bool) -> None:
        """Draw a soft circle around the mouse, or not."""
        if on == self.has_halo:
            return
        self.has_halo = on
        at = QPointF(self.mapFromGlobal(QCursor.pos()))
        self._halo.move_to(at if self.rect().contains(at.toPoint()) else None)
        self._halo.setVisible(on)
        self._keep_on_top()

    def freeze(self) -> None:
        """Keep the picture as it is, whatever is shown."""
        if self._still is None:
            self._halo.hide()
            self._still = Still(self.grab(), self._look)
            self._still.setParent(self)
            self._still.setGeometry(self.rect())
            self._still.show()
            self._keep_on_top()

    def thaw(self) -> None:
        """Let the picture go on."""
        if self._still is not None:
            discard(self._still)
            self._still = None
            self._halo.setVisible(self.has_halo)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Let the halo follow; the window around hears it too."""
        self._halo.move_to(event.position())
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Take the halo away with the mouse."""
        self._halo.move_to(None)
        super().leaveEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the ground, and the frame of the band."""
        theme = self._look.theme
        with painting(self) as painter:
            painter.fillRect(self.rect(), QColor(theme.ground))
            if self._band.isHidden():
                return
            scale = self._scale
            frame = QRectF(self._band.letters())
            frame.adjust(-BAND_SIDE * scale, -BAND_UP * scale, BAND_SIDE * scale, BAND_UP * scale)
            draw_box(painter, frame, CORNER * scale, theme.soft, theme.aside, scale)

    # --- inside -------------------------------------------------------------------------------

    @property
    def _texts(self) -> tuple[SlideText, ...]:
        return (
            self._place, self._source, self._band, self._head, self._asked, self._explained,
            self._foot, self._key, self._context,
        )  # fmt: skip

    @property
    def _scale(self) -> float:
        return min(self.height(), self.width() / NARROW) / HEIGHT

    def _show(self) -> None:
        if self.data is not None:
            self._write(self.data)
            self._fit()

    def _write(self, data: SlideData) -> None:
        theme, say = self._look.theme, self._words.say
        is_moving = self.motion.playable is not None
        is_plotted, is_explained = data.step in PLOTTED, data.step == EXPLAINED
        head = data.verdict or data.title
        values = {"place": data.place, "count": data.count, "head": head}
        self.setAccessibleName(say("slide.named", values))
        self._place.write(TextPart(say("slide.place", values), theme.soft))
        self._key.write(TextPart(data.key, theme.soft))
        self._source.write(TextPart("" if data.band or not is_plotted else data.source, theme.soft))
        self._band.write(TextPart(data.band if is_plotted else "", theme.ink, 600))
        is_asked = data.step not in (*VOTED, *PLOTTED)
        is_alone = is_asked and not (data.context or data.code)
        self._asked.write(TextPart(head if is_alone else "", theme.ink, 700))
        self._head.write(TextPart("" if is_alone else head, theme.ink, 700))
        self._context.write(TextPart(data.context if is_asked else "", theme.ink))
        self._explained.write(*self._said(data.said if is_explained and not is_moving else ""))
        self._foot.write(*self._told(data))
        self._votes.show_votes(data)
        if self.plot is not None:
            self.plot.chart.band = data.band
        for each in self._texts:
            each.setVisible(bool(each.text()))
        self._code.show_code("" if is_plotted else data.code)
        self._votes.setVisible(data.step in VOTED)
        if self.plot is not None:
            self.plot.setVisible(is_plotted and not is_moving)

    def _told(self, data: SlideData) -> tuple[TextPart, ...]:
        """Return what stands at the foot: what is wrong, what goes on, else what was said."""
        theme = self._look.theme
        if data.problem:
            return (TextPart(data.problem, theme.ink, 600),)
        if data.busy and data.step in PLOTTED:
            return (TextPart(data.busy, theme.soft),)
        if data.step in VOTED:
            before, colon, advice = data.hint.rpartition(": ")
            return (TextPart(before + colon, theme.soft), TextPart(advice, theme.ink, 700))
        return self._said(data.said if data.step in PLOTTED and data.step != EXPLAINED else "")

    def _said(self, text: str) -> tuple[TextPart, ...]:
        """Return whole sentences of at most 40 words, at least one; the first stands out."""
        first, *rest = re.split(r"(?<=[.?!])\s+", text)
        count, kept = len(first.split()), list[str]()
        for sentence in rest:
            count += len(sentence.split())
            if count > MOST_WORDS:
                break
            kept.append(sentence)
        return (
            TextPart(first, self._look.theme.ink),
            TextPart(" ".join(kept), self._look.theme.soft),
        )

    def _fit(self) -> None:
        """Scale everything to the size of the slide."""
        scale = self._scale
        is_explained = self.data is not None and self.data.step == EXPLAINED
        zoom = EXPLAINED_ZOOM if is_explained else 1.0
        theme = slide_theme(self._theirs.theme, scale, zoom)
        if theme != self._look.theme:
            is_recoloured = theme.mode != self._look.theme.mode
            self._look.theme = theme
            self._look.changed.emit()
            if is_recoloured and self.data is not None:
                self._write(self.data)
        left, right = SIDE * scale, self.width() - SIDE * scale
        bottom = self.height() - (HEIGHT - FOOT) * scale
        apart = left + PLACE_SHARE * (right - left)
        top = TOP * scale
        self._place.fit(QRectF(left, top, apart - left, HEAD * scale - top), scale)
        for each in (self._source, self._band):
            side = BAND_SIDE * scale if each is self._band else 0.0
            each.fit(QRectF(apart, top, right - side - apart, HEAD * scale - top), scale)
        foot = QRectF(left, bottom, right - left, self.height() - bottom)
        self._fit_foot(foot, scale)
        room = QRectF(left, HEAD * scale, right - left, bottom - HEAD * scale)
        asked = QRectF(room)
        asked.setTop(max(room.top(), room.center().y() - self._asked.fit(room, scale) / 2))
        self._asked.fit(asked, scale)
        head = QRectF(room)
        head.setHeight(HEAD_ROOM * scale)
        room.setTop(head.top() + self._head.fit(head, scale) + APART * scale)
        self._fit_question(room, scale)
        self._fit_plot(room, scale)
        self._halo.use_scale(scale)
        for cover in (self._halo, self._still):
            if cover is not None:
                cover.setGeometry(self.rect())
        self.update()

    def _fit_question(self, room: QRectF, scale: float) -> None:
        """Put context and code below the question, and the code of a vote beside it."""
        votes = room.adjusted(0.0, ABOVE_VOTES * scale, 0.0, 0.0)
        code = QRectF(room)
        if self._votes.isHidden():
            context = QRectF(room)
            context.setHeight(CONTEXT_SHARE * room.height())
            if self._context.text():
                code.setTop(room.top() + self._context.fit(context, scale) + APART * scale)
        elif not self._code.isHidden():
            code.setLeft(room.right() - CODE_SHARE * room.width())
            code.setTop(votes.top())
            votes.setRight(code.left() - APART * scale)
        self._code.fit(code, scale)
        self._votes.use_scale(scale)
        self._votes.setGeometry(votes.toAlignedRect())

    def _fit_foot(self, room: QRectF, scale: float) -> None:
        key = room.translated(0.0, KEY_DOWN * scale)
        key.setLeft(room.left() + FOOT_SHARE * room.width())
        self._key.fit(key, scale)
        words = QRectF(room)
        words.setHeight((END - FOOT) * scale)
        if self._key.text():
            words.setRight(key.left())
        self._foot.fit(words, scale)

    def _fit_plot(self, room: QRectF, scale: float) -> None:
        """Give the plot what is left, and words beside it where it is explained; below a ruler."""
        self.motion.fit(room, scale)
        plot = QRectF(room)
        if self._explained.text():
            words = QRectF(room)
            if self.plot is not None and isinstance(self.plot.chart.terms.view, Ruler):
                words.setTop(room.bottom() - EXPLAINED_BELOW * scale)
                plot.setBottom(words.top() - APART * scale)
            else:
                words.setWidth(EXPLAINED_SHARE * room.width())
                plot.setLeft(words.right() + APART * scale)
            self._explained.fit(words, scale)
        if self.plot is not None:
            self.plot.setGeometry(plot.toAlignedRect())

    def _keep_on_top(self) -> None:
        for cover in (self._halo, self._still):
            if cover is not None:
                cover.raise_()


def _right(sizes: tuple[int, ...]) -> SlideText:
    return SlideText(sizes, at_right=True)
