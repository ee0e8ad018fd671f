"""Every place and state of the whole window, as those meet it who use keys, ears or large text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QAction, QImage, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QMenu,
    QScrollBar,
    QStyle,
    QStyleOptionButton,
    QWidget,
)

from tests.app.window.whole import STATES, Whole
from widgets import theme as themes
from widgets.overlay import Overlay

NEAR_PX = 8  # what stands a little higher is still in the same line
RING_PIXELS = 40  # a cursor that blinks is no ring
PLOT_KEYS = ("Left", "Right", "Up", "Down", "Home", "End", "+", "=", "-", "0", "Space")


@pytest.fixture
def whole(request, look, tmp_path) -> Iterator[Whole]:
    """Return the window in the state that the test asks for."""
    whole = Whole(look, tmp_path)
    STATES[request.param](whole)
    whole.rest()
    yield whole
    whole.close()


@pytest.mark.parametrize("whole", STATES, indirect=True)
def test_nothing_stands_in_the_way_of_keys_ears_and_large_text(whole):
    found = {check.__name__: check(whole) for check in CHECKS}

    assert {name: faults for name, faults in found.items() if faults} == {}


def ground(whole: Whole) -> QWidget:
    """Return where the keys belong now: the sheet that is open, else the window."""
    sheets = [sheet for sheet in whole.window.findChildren(Overlay) if sheet.isVisible()]
    return sheets[-1] if sheets else whole.window


def seen(whole: Whole) -> list[QWidget]:
    return [widget for widget in ground(whole).findChildren(QWidget) if widget.isVisible()]


def stops(whole: Whole) -> list[QWidget]:
    """Return all that Tab should reach."""
    return [
        widget
        for widget in seen(whole)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isEnabled()
        and widget.focusProxy() is None
    ]


def name_of(widget: QWidget) -> str:
    """Return what assistive technology says of a widget."""
    found = QAccessible.queryAccessibleInterface(widget)
    return "" if found is None else found.text(QAccessible.Text.Name)


def told(widget: QWidget) -> str:
    role = widget.property("role")
    return f"{type(widget).__name__}[{role}] {name_of(widget)!r} {rect_of(widget)}"


def rect_of(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


# --- names ----------------------------------------------------------------------------------


def nameless(whole: Whole) -> list[str]:
    """Return what takes the keyboard and has no name."""
    return [told(widget) for widget in stops(whole) if not name_of(widget).strip()]


def called_the_same(whole: Whole) -> list[str]:
    """Return controls of one kind beside each other that have one name."""
    return [
        f"{told(one)} and {told(other)}"
        for one, other in itertools.pairwise(stops(whole))
        if name_of(one) == name_of(other) and type(one) is type(other)
    ]


# --- Tab ------------------------------------------------------------------------------------


def round_by_tab(whole: Whole, key: Qt.Key = Qt.Key.Key_Tab) -> list[QWidget]:
    """Press Tab until it comes round; return where it stopped, each once."""
    first = stops(whole)[0]
    first.setFocus()
    found = [first]
    for _ in range(60 + 3 * len(stops(whole))):  # on the map it stops at many parts
        QTest.keyClick(found[-1], key)
        here = QApplication.focusWidget()
        assert here is not None, f"lost after {told(found[-1])}"
        if here is first and found[-1] is not first:
            return found
        if here is not found[-1]:
            assert here not in found, f"comes again too early: {told(here)}"
            found.append(here)
    raise AssertionError(f"Tab does not come round: {[told(widget) for widget in found]}")


def not_reached_by_tab(whole: Whole) -> list[str]:
    """Return what Tab leaves out, and where it stops though nothing is seen there."""
    wanted, reached = stops(whole), round_by_tab(whole)
    return [told(widget) for widget in {*wanted} ^ {*reached}]


def another_way_back(whole: Whole) -> list[str]:
    """Return the way of Shift+Tab where that is not the one of Tab."""
    there, back = round_by_tab(whole), round_by_tab(whole, Qt.Key.Key_Backtab)
    return [] if back == [there[0], *reversed(there[1:])] else [told(each) for each in back]


def against_reading(whole: Whole) -> list[str]:
    """Return steps of Tab that lead neither down nor to the right."""
    way = round_by_tab(whole)
    turn = way.index(min(way, key=lambda each: (rect_of(each).left(), rect_of(each).top())))
    way = [*way[turn:], *way[:turn]]
    against = []
    for before, after in itertools.pairwise(way):
        one, other = rect_of(before), rect_of(after)
        is_below = other.top() >= one.bottom() - NEAR_PX or other.bottom() > one.bottom() + NEAR_PX
        is_beside = other.left() >= one.right() - NEAR_PX
        if not (is_below or is_beside or one.contains(other)):
            against.append(f"{told(before)} to {told(after)}")
    return against


# --- shortcuts ------------------------------------------------------------------------------


def shortcuts(whole: Whole) -> dict[str, list[QAction]]:
    """Return every key that is obeyed now, wherever the focus is, and whose it is."""
    found: dict[str, list[QAction]] = {}
    for widget in [whole.window, *whole.window.findChildren(QWidget)]:
        if isinstance(widget, QMenu) or not widget.isVisible():
            continue
        for action in widget.actions():
            for keys in action.shortcuts() if action.isEnabled() else ():
                found.setdefault(keys.toString(), []).append(action)
    return found


def ambiguous_keys(whole: Whole) -> list[str]:
    """Return keys of two actions that are enabled: Qt obeys neither."""
    return [
        f"{keys}: {[action.text() for action in actions]}"
        for keys, actions in shortcuts(whole).items()
        if len(actions) > 1
    ]


def keys_taken_from_plots(whole: Whole) -> list[str]:
    """Return keys of a plot that would never reach it."""
    plots = {QKeySequence(keys).toString() for keys in PLOT_KEYS}
    return sorted(plots & shortcuts(whole).keys())


def actions_without_words(whole: Whole) -> list[str]:
    """Return the words of actions that are the same as another's, or none at all."""
    groups = whole.window.actions_here.groups()
    texts = [action.text() for _, actions in groups for action in actions]
    return [text for text in texts if not text.strip() or texts.count(text) > 1]


# --- focus ----------------------------------------------------------------------------------


def focus_unseen(whole: Whole) -> list[str]:
    """Return controls that look the same with the focus; of each kind one is looked at."""
    kinds: dict[tuple[object, ...], QWidget] = {}
    for widget in stops(whole):
        is_checked = isinstance(widget, QAbstractButton) and widget.isChecked()
        kinds.setdefault((type(widget), widget.property("role"), is_checked), widget)
    unseen = []
    for widget in kinds.values():
        other = next(each for each in stops(whole) if each is not widget)
        pictures = []
        for focused in (widget, other):
            focused.setFocus(Qt.FocusReason.TabFocusReason)
            QApplication.processEvents()
            pictures.append(widget.grab().toImage())
        if changed_pixels(*pictures) < RING_PIXELS:
            unseen.append(told(widget))
    return unseen


def changed_pixels(one: QImage, other: QImage) -> int:
    if one.size() != other.size():
        return one.width() * one.height()
    pixels = [np.frombuffer(bytes(each.constBits()), np.uint32) for each in (one, other)]
    return int((pixels[0] != pixels[1]).sum())


# --- large text -----------------------------------------------------------------------------


def cut_off(widget: QWidget) -> str:
    """Return why the words of a label or a button are not whole, "" if they are."""
    metrics = widget.fontMetrics()
    if isinstance(widget, QLabel):
        room = widget.contentsRect()
        if widget.wordWrap():
            least = widget.heightForWidth(widget.width())
            widest = max(map(metrics.horizontalAdvance, widget.text().split()), default=0)
            if widget.height() < least - 1:
                return f"{widget.height()} high, needs {least}"
            return (
                f"{room.width()} wide, a word needs {widest}" if room.width() < widest - 1 else ""
            )
        needed = max(map(metrics.horizontalAdvance, widget.text().splitlines()), default=0)
        return f"{room.width()} wide, needs {needed}" if room.width() < needed - 1 else ""
    if (
        isinstance(widget, QAbstractButton)
        and type(widget).paintEvent is QAbstractButton.paintEvent
    ):
        return ""
    if isinstance(widget, QAbstractButton) and widget.text():
        option = QStyleOptionButton()
        option.initFrom(widget)
        part = QStyle.SubElement.SE_PushButtonContents
        room = widget.style().subElementRect(part, option, widget)
        needed = max(map(metrics.horizontalAdvance, widget.text().splitlines()))
        if room.width() < needed - 1 and widget.width() < widget.sizeHint().width():
            return f"{room.width()} wide, needs {needed}"
    return ""


def outside(widget: QWidget) -> str:
    """Return which of the widgets around cuts off a part, "" if none does; what scrolls may."""
    place, around = QRect(QPoint(0, 0), widget.size()), widget
    while not around.isWindow():
        place.translate(around.pos())
        around = around.parentWidget()
        is_viewport = isinstance(around.parentWidget(), QAbstractScrollArea)
        room = around.rect()
        if place.left() < room.left() - 1 or place.right() > room.right() + 1:
            return f"{place} is beside {type(around).__name__} {room}"
        is_above = place.top() < room.top() - 1 or place.bottom() > room.bottom() + 1
        if is_above and not is_viewport:
            return f"{place} is above or below {type(around).__name__} {room}"
        if is_viewport:
            place = place.intersected(room)
            if place.isEmpty():
                return ""
    return ""


def cut_off_at_largest(whole: Whole) -> list[str]:
    """Return words and controls that are not whole with the largest text."""
    whole.window.preferences.change(zoom=themes.ZOOMS[-1])
    whole.rest()
    found = []
    for widget in seen(whole):
        why = outside(widget) or cut_off(widget)
        if why and not isinstance(widget, QScrollBar):
            found.append(f"{told(widget)}: {why}")
    return found


CHECKS: tuple[Callable[[Whole], list[str]], ...] = (
    nameless, called_the_same, not_reached_by_tab, another_way_back, against_reading,
    ambiguous_keys, keys_taken_from_plots, actions_without_words, focus_unseen,
    cut_off_at_largest,
)  # fmt: skip
