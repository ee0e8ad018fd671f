"""Column beside the plots: state, then tabs with result, settings or comparison, then buttons."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QScrollArea, QStackedWidget, QWidget

from experiments.core.words import Words
from widgets.controls.basics import chip, column, holding
from widgets.controls.choices import joined
from widgets.controls.layouts import DownArea, FlowLayout, ReaderArea
from widgets.experiment.comparison_table import Comparison, ComparisonTable
from widgets.experiment.result import Result, ResultBlock
from widgets.experiment.state import StateBlock
from widgets.sheets.trouble import TroubleBox
from widgets.style.look import Look
from widgets.style.theme import STEP

WIDTH_PX = 345  # at zoom 1
WIDEST_SHARE = 0.4  # of the page, at large zoom
LEAST_TAB_PX = 180
FIRST = 100  # stretch of the tab: it takes all the room up to what it needs
MOST_PX = 16_777_215  # Qt's QWIDGETSIZE_MAX, which the bindings lack


class Tab(IntEnum):
    """The tabs of the lower part."""

    RESULT = 0
    SETTINGS = 1
    COMPARISON = 2


class SideColumn(DownArea):
    """The tab below the head scrolls; if even the head lacks room, the whole column does."""

    def __init__(self, words: Words, look: Look, buttons: Sequence[QWidget]) -> None:
        super().__init__()
        self._look = look
        self.state = StateBlock(words)
        self.trouble = TroubleBox(words, look)
        self.result = ResultBlock(words, look)
        self._comparison = ComparisonTable(look, words)
        self._form, self._nothing = QWidget(), QWidget()
        self._offered: list[Tab] | None = None
        self._stack = _Tabs()
        for each in (
            ReaderArea(words.say("page.result"), self.result),
            self._form,
            ReaderArea(words.say("page.comparison"), self._comparison),
            self._nothing,
        ):
            self._stack.addWidget(each)
        self._tabs = QButtonGroup(self)
        for tab, key in (
            (Tab.RESULT, "page.result"),
            (Tab.SETTINGS, "page.settings"),
            (Tab.COMPARISON, "page.comparison"),
        ):
            made = chip(words.say(key), checkable=True, clicked=partial(self.choose, tab))
            self._tabs.addButton(made, tab)
        # The program's settings have the same accessible name.
        self._tabs.button(Tab.SETTINGS).setAccessibleName(words.say("form.name"))
        self._choice = tabs = joined(*self._tabs.buttons())
        head = column(self.state, self.trouble, space=3 * STEP)
        whole = column(head, tabs, self._stack, FlowLayout(*buttons), None, space=4 * STEP)
        whole.setStretch(2, FIRST)
        self._inner = holding(whole)
        self.setWidget(self._inner)
        self._inner.installEventFilter(self)
        for area in self._stack.findChildren(QScrollArea):
            _content(area).installEventFilter(self)
        self.offer(())

    @property
    def tab(self) -> Tab | None:
        """The current tab."""
        place = self._stack.currentIndex()
        return Tab(place) if 0 <= place < len(Tab) else None

    def offer(self, tabs: Sequence[Tab]) -> None:
        """Offer these tabs and show the first; the same tabs again change nothing."""
        if list(tabs) == self._offered:
            return
        self._offered = list(tabs)
        for tab in Tab:
            self._tabs.button(tab).setVisible(tab in tabs)
        self._choice.setVisible(len(tabs) > 1)
        if tabs:
            self.choose(tabs[0])
        else:
            self._stack.setCurrentWidget(self._nothing)

    def choose(self, tab: Tab) -> None:
        """Show a tab."""
        self._tabs.button(tab).setChecked(True)
        self._stack.setCurrentIndex(tab)
        self._share_out()

    def set_form(self, form: QWidget) -> None:
        """Set the form on the settings tab."""
        shown = self._stack.currentIndex()
        self._stack.removeWidget(self._form)
        self._form.deleteLater()
        self._form = form
        self._stack.insertWidget(Tab.SETTINGS, form)
        for area in _areas(form):
            _content(area).installEventFilter(self)
        self._stack.setCurrentIndex(shown)

    def show_result(self, result: Result) -> None:
        """Show a result, scrolled to the top if it has changed."""
        if self.result.show_result(result):
            self._begin(Tab.RESULT)

    def show_comparison(self, comparison: Comparison) -> None:
        """Show a comparison, scrolled to the top if it has changed."""
        if self._comparison.show_comparison(comparison):
            self._begin(Tab.COMPARISON)

    def fit(self, page_px: int) -> None:
        """Set the width by the zoom, limited to a share of the page."""
        wanted = round(WIDTH_PX * self._look.theme.zoom)
        self.setFixedWidth(min(wanted, round(page_px * WIDEST_SHARE)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose whether the tab or the whole column scrolls."""
        super().resizeEvent(event)
        self._share_out()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Choose again after the head or a tab has grown."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._share_out()
        return super().eventFilter(watched, event)

    def _begin(self, tab: Tab) -> None:
        for area in _areas(self._stack.widget(tab)):
            area.verticalScrollBar().setValue(0)

    def _share_out(self) -> None:
        layout, seen = self._inner.layout(), self.viewport()
        if layout is not None:
            least = layout.totalMinimumHeightForWidth(seen.width())
            around = least - self._stack.minimumSizeHint().height()
            self._stack.unroll(unrolled=around + LEAST_TAB_PX > seen.height())


class _Tabs(QStackedWidget):
    """Stack of tabs that asks for little height; while unrolled, for all of the tab's."""

    _is_unrolled = False

    def unroll(self, *, unrolled: bool) -> None:
        before, self._is_unrolled = self.minimumSizeHint(), unrolled
        seen = _areas(self.currentWidget()) if unrolled else ()
        for area in self.findChildren(QScrollArea):
            area.setMinimumHeight(_content_px(area) if area in seen else 0)
        self._end_below_content()
        if self.minimumSizeHint() != before:
            self.updateGeometry()

    def _end_below_content(self) -> None:
        """Take no more room than the tab needs, so that the buttons stand right below it."""
        page = self.currentWidget()
        areas = _areas(page)
        most = sum(map(_content_px, areas))
        if page not in areas and page is not None:  # a form has more than what scrolls
            most += page.sizeHint().height() - sum(area.sizeHint().height() for area in areas)
        most = max(most, LEAST_TAB_PX) if areas else MOST_PX
        if most != self.maximumHeight():
            self.setMaximumHeight(most)

    def hasHeightForWidth(self) -> bool:
        """Ask for `minimumSizeHint` only: a tab's height for width would count as the head's."""
        return False

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        if page is None or not self._is_unrolled:
            return QSize(0, LEAST_TAB_PX)
        return QSize(0, max(page.minimumSizeHint().height(), page.minimumHeight(), LEAST_TAB_PX))


def _areas(page: QWidget | None) -> list[QScrollArea]:
    """Return the scroll areas of a tab: itself, or those in it."""
    if page is None or isinstance(page, QScrollArea):
        return [page] if page is not None else []
    return page.findChildren(QScrollArea)


def _content(area: QScrollArea) -> QWidget:
    content = area.widget()
    assert content is not None  # each is created with one
    return content


def _content_px(area: QScrollArea) -> int:
    """Return the height without scrolling."""
    content, frame_px = _content(area), area.height() - area.viewport().height()
    layout = content.layout()
    if layout is not None and layout.hasHeightForWidth():
        return layout.totalHeightForWidth(area.viewport().width()) + frame_px
    return content.sizeHint().height() + frame_px
