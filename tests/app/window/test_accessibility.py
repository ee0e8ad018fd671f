"""Every state of the window for those who use the keyboard, a screen reader or large text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAction, QImage, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QMenu,
    QPushButton,
    QScrollBar,
    QStyle,
    QStyleOptionButton,
    QWidget,
)
from shiboken6 import isValid

from experiments.engine import messages
from tests.app.recordings import burst
from tests.app.window.layouts import is_restless
from tests.app.window.stage import events
from tests.app.window.whole import (
    STATES,
    Whole,
    show_catalogue,
    show_live,
    show_notice,
    show_page_done,
    show_page_empty,
    show_page_failed,
    show_page_running,
    show_runs,
)
from widgets.catalogue.card import MOST_TITLE_LINES, PADDING, Card
from widgets.controls.elided import ElidedLabel
from widgets.controls.search_field import SearchField
from widgets.sheets.overlay import Overlay
from widgets.style import theme as themes

NEAR_PX = 8  # what stands a little higher is still in the same line
LARGER, LARGEST = 1.45, themes.ZOOMS[-1]
LESSON = "lesson_"  # states that still stand in columns at 145 %; the others are walked at the most
SLACK_PX = 2  # between letters and the edge of their label
RING_PIXELS = 40  # a cursor that blinks is no ring
WITHIN_OTHERS = ("map", "catalogue", "page_empty")  # all of it stands in another state too
PLOT_KEYS = ("Left", "Right", "Up", "Down", "Home", "End", "+", "=", "-", "0", "Space")


@pytest.fixture
def whole(request, worn, tmp_path) -> Iterator[Whole]:
    """Return the window in the state that the test asks for."""
    whole = Whole(worn, tmp_path)
    whole.state = request.param
    STATES[whole.state](whole)
    whole.rest()
    yield whole
    whole.close()


@pytest.fixture
def made(look, tmp_path) -> Iterator[Whole]:
    """Return the window as it is at the start."""
    made = Whole(look, tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("whole", [s for s in STATES if s not in WITHIN_OTHERS], indirect=True)
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
    found = [
        widget
        for widget in seen(whole)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isEnabled()
        and not is_for_arrows(widget)
    ]
    first = min(found, key=lambda each: (rect_of(each).left(), rect_of(each).top()))
    if isinstance(ground(whole), Overlay):  # there is no rail at the left
        first = min(found, key=lambda each: rect_of(each).top())
    return [first, *(widget for widget in found if widget is not first)]


def is_for_arrows(widget: QWidget) -> bool:
    """Is this one of some buttons of which another is chosen, where Tab stops?"""
    if not isinstance(widget, QAbstractButton) or not widget.isCheckable() or widget.isChecked():
        return False
    group = widget.group()
    return widget.autoExclusive() if group is None else group.exclusive()


def name_of(widget: QWidget) -> str:
    """Return what assistive technology says of a widget."""
    found = QAccessible.queryAccessibleInterface(widget)
    return "" if found is None else found.text(QAccessible.Text.Name)


def told(widget: QWidget) -> str:
    role = widget.property("role")
    return f"{type(widget).__name__}[{role}] {name_of(widget)!r} {rect_of(widget)}"


def rect_of(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


@pytest.fixture
def heard(monkeypatch) -> list[str]:
    """Return what assistive technology is asked to say."""
    said: list[str] = []

    class Ear:
        AnnouncementPoliteness = QAccessible.AnnouncementPoliteness

        @staticmethod
        def updateAccessibility(event: QAccessibleAnnouncementEvent) -> None:
            said.append(event.message())

    monkeypatch.setattr("widgets.controls.basics.QAccessible", Ear)
    return said


def test_a_run_is_heard_when_it_begins_at_its_quarters_and_when_it_ends(heard, made):
    show_page_empty(made)
    made.do("page.run")
    first, *rest = events(burst())
    made.runner.hear(first)
    for share in (0.26, 0.5, 0.51, 0.77):
        made.runner.hear(messages.Progress(fraction=share, left_s=1.0))
    made.runner.hear(*rest)

    say = made.words.say
    quarters = [say("page.done_part", {"done_fraction": part}) for part in (0.25, 0.5, 0.75)]
    assert heard[:-1] == [say("page.beginning"), *quarters]
    found = messages.decode_event(burst().lines[-1]).finding
    assert heard[-1] == say(f"burst-random.findings.{found.message}", found.values)


def test_trouble_is_heard(heard, made):
    show_page_failed(made)

    assert any("on purpose" in text for text in heard)


def test_what_is_said_in_passing_is_heard(heard, made):
    show_notice(made)

    assert heard[-1] == "The run was deleted."


def test_esc_is_left_to_what_has_the_focus_while_nothing_runs(made):
    show_catalogue(made)
    search = made.window.findChild(SearchField)
    search.setFocus()
    QTest.keyClicks(search, "cache")
    QTest.keyClick(search, Qt.Key.Key_Escape)

    assert search.text() == ""


def test_esc_stops_a_run_unless_it_takes_something_back(made):
    show_page_running(made)
    show_catalogue(made)
    made.window.go_back()
    search = made.window.findChild(SearchField)
    search.setFocus()
    QTest.keyClicks(search, "cache")

    QTest.keyClick(search, Qt.Key.Key_Escape)
    assert (search.text(), made.runner.stops) == ("", 0)

    QTest.keyClick(search, Qt.Key.Key_Escape)
    assert made.runner.stops == 1


def test_without_single_letters_no_key_acts_by_itself(made):
    """Keys that act only on what has the focus remain, such as those of a plot (WCAG 2.1.4)."""
    made.window.preferences.change(letters=False)
    for show in (show_page_empty, show_page_done, show_live, show_runs):
        show(made)
        made.rest()
        assert [keys for keys in shortcuts(made) if len(keys) == 1] == []


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


@dataclass(frozen=True)
class Stop:
    """A stop of Tab; its words are noted at once, since parts of the map share them."""

    widget: QWidget
    told: str
    rect: QRect
    rect_before: QRect  # of the stop before this, as it is now: it may have been scrolled


def round_by_tab(whole: Whole, key: Qt.Key = Qt.Key.Key_Tab) -> list[Stop]:
    """Press Tab until it comes round; return where it stopped, each once."""
    here = stops(whole)[0]
    here.setFocus()
    found: list[Stop] = []
    for _ in range(60 + 3 * len(stops(whole))):  # on the map it stops at many parts
        if not found or here is not found[-1].widget:
            assert here not in [stop.widget for stop in found], f"too early again: {told(here)}"
            before = found[-1].widget if found and isValid(found[-1].widget) else here
            found.append(Stop(here, told(here), rect_of(here), rect_of(before)))
        QTest.keyClick(here, key)
        focused = QApplication.focusWidget()
        assert focused is not None, f"lost after {found[-1].told}"
        here = focused
        if here is found[0].widget:
            return found
    raise AssertionError(f"Tab does not come round: {[stop.told for stop in found]}")


def wrong_by_tab(whole: Whole) -> list[str]:
    """Return what is wrong with one round of Tab, and one of Shift+Tab."""
    there = round_by_tab(whole)
    return not_reached(whole, there) + against_reading(there) + another_way_back(whole, there)


def not_reached(whole: Whole, there: list[Stop]) -> list[str]:
    """Return what Tab leaves out."""
    reached = [stop.widget for stop in there]
    return [f"not reached: {told(each)}" for each in stops(whole) if each not in reached]


def another_way_back(whole: Whole, way: list[Stop]) -> list[str]:
    """Return the way of Shift+Tab where it is not the reverse of Tab's."""
    there = [stop.widget for stop in way]
    back = [stop.widget for stop in round_by_tab(whole, Qt.Key.Key_Backtab)]
    there = [there[0], *(widget for widget in there[:0:-1] if widget in back)]
    back = [widget for widget in back if widget in there]
    return [] if there == back else [f"another way back: {list(map(told, back))}"]


def against_reading(there: list[Stop]) -> list[str]:
    """Return steps of Tab that lead neither down nor to the right."""
    against = []
    for before, after in itertools.pairwise(there):
        one, other = after.rect_before, after.rect
        is_below = other.top() >= one.bottom() - NEAR_PX or other.bottom() > one.bottom() + NEAR_PX
        is_beside = other.left() >= one.right() - NEAR_PX
        if not (is_below or is_beside or one.contains(other) or one == other):
            against.append(f"against reading: {before.told} to {after.told}")
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

    def kinds() -> dict[tuple[object, ...], QWidget]:
        found: dict[tuple[object, ...], QWidget] = {}
        for widget in stops(whole):
            is_checked = isinstance(widget, QAbstractButton) and widget.isChecked()
            found.setdefault((type(widget), widget.property("role"), is_checked), widget)
        return found

    unseen = []
    for kind in kinds():
        widget = kinds()[kind]  # found anew: a part that the map takes changes what is beside it
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        focused = widget.grab().toImage()
        widget.clearFocus()
        QApplication.processEvents()
        if changed_pixels(focused, widget.grab().toImage()) < RING_PIXELS:
            unseen.append(told(widget))
    return unseen


def changed_pixels(one: QImage, other: QImage) -> int:
    if one.size() != other.size():
        return one.width() * one.height()
    pixels = [np.frombuffer(bytes(each.constBits()), np.uint32) for each in (one, other)]
    return int((pixels[0] != pixels[1]).sum())


# --- large text -----------------------------------------------------------------------------


def cut_off(widget: QWidget) -> str:
    """Return why words, or a drawing, are not whole, "" if they are; what scrolls may be longer."""
    if isinstance(widget, QLabel | QAbstractButton) and not widget.text():
        return ""
    scrolls = isinstance(widget, QAbstractScrollArea) or any(
        widget.findChild(kind) for kind in (QAbstractScrollArea, QScrollBar)
    )
    least = widget.minimumSizeHint().height()
    if widget.hasHeightForWidth():
        least = widget.heightForWidth(widget.width())
    if widget.height() < min(least, widget.maximumHeight()) - SLACK_PX and not scrolls:
        return f"{widget.height()} high, needs {least}"
    if not isinstance(widget, QLabel | QAbstractButton) or widget.hasHeightForWidth():
        return ""
    if isinstance(widget, QLabel) and widget.textFormat() is Qt.TextFormat.RichText:
        room, needed = widget.width(), widget.sizeHint().width()
        return f"{room} wide, needs {needed}" if room < needed - 1 else ""
    room, measure = widget.contentsRect().width(), widget.fontMetrics().horizontalAdvance
    if isinstance(widget, QPushButton):
        option = QStyleOptionButton()
        option.initFrom(widget)
        part = QStyle.SubElement.SE_PushButtonContents
        room = widget.style().subElementRect(part, option, widget).width()
    needed = max(map(measure, widget.text().splitlines()))
    if isinstance(widget, Card):  # it wraps its question, a little before the end of each line
        room, needed = room - 2 * PADDING, round(1.2 * needed / MOST_TITLE_LINES)
    is_elided = isinstance(widget, ElidedLabel) or widget.text().endswith("…")
    is_elided = is_elided and bool(widget.toolTip())  # where all of them can be read
    return f"{room} wide, needs {needed}" if room < needed - 1 and not is_elided else ""


def outside(widget: QWidget) -> str:
    """Return which of the widgets around cuts off a part, "" if none does; what scrolls may."""
    place, around = QRect(QPoint(0, 0), widget.size()), widget
    while not around.isWindow():
        place.translate(around.pos())
        above = around.parentWidget()
        assert above is not None
        around = above
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


def cut_off_with_large_text(whole: Whole) -> list[str]:
    """Return words and controls that are not whole, also with the largest text."""
    found = []
    for zoom in (LARGER, LARGEST) if whole.state.startswith(LESSON) else (LARGEST,):
        whole.window.preferences.change(zoom=zoom)
        whole.rest()
        for widget in seen(whole):
            why = outside(widget) or cut_off(widget)
            if why and not isinstance(widget, QScrollBar):
                found.append(f"{zoom:.0%}: {told(widget)}: {why}")
    return found


def restless(whole: Whole) -> list[str]:
    """Return that the window lays itself out again and again, though nothing happens."""
    return ["layouts"] if is_restless() else []


def restless_at_largest(whole: Whole) -> list[str]:
    """Return the same, after `cut_off_with_large_text`."""
    return restless(whole)


CHECKS: tuple[Callable[[Whole], list[str]], ...] = (
    restless, nameless, called_the_same, wrong_by_tab,
    ambiguous_keys, keys_taken_from_plots, actions_without_words, focus_unseen,
    cut_off_with_large_text, restless_at_largest,
)  # fmt: skip
