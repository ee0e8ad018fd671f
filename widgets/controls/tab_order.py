"""The order of Tab: the visible controls in reading order.

Qt itself follows the order of creation, so rebuilt widgets would come last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QScrollArea, QWidget

CHILDREN = Qt.FindChildOption.FindDirectChildrenOnly
TAB = Qt.FocusPolicy.TabFocus.value


def go_on(area: QWidget, *, forward: bool) -> bool:
    """Focus the next control of an area, wrapping at its end; return False if there is none."""
    here = area.window().focusWidget()
    way = _stops(area, here)
    if not forward:
        way.reverse()
    place = way.index(here) + 1 if here in way else 0
    there = next((stop for stop in (*way[place:], *way[:place]) if _takes_tab(stop)), None)
    if there is None:
        return False
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    there.setFocus(reason)
    _scroll_to(there)
    return True


def _stops(area: QWidget, here: QWidget | None) -> list[QWidget]:
    """Return the controls that Tab may focus, and `here`, in reading order."""
    found: list[QWidget] = []
    children = area.findChildren(QWidget, options=CHILDREN)
    for part in _read([child for child in children if child.isVisible() and not child.isWindow()]):
        if part is here or _takes_tab(part):
            found.append(part)
        found += _stops(part, here)
    return found


def _read(parts: Sequence[QWidget]) -> Sequence[QWidget]:
    """Return parts line by line, or column by column if a column spans all lines."""
    if len(parts) < 2:
        return parts
    for near, size in ((QWidget.y, QWidget.height), (QWidget.x, QWidget.width)):
        groups = _cut(parts, near, size)
        if len(groups) > 1:
            return [part for group in groups for part in _read(group)]
    return sorted(parts, key=lambda part: (part.y(), part.x()))


def _cut(
    parts: Sequence[QWidget], near: Callable[[QWidget], int], size: Callable[[QWidget], int]
) -> list[list[QWidget]]:
    """Split parts into groups wherever a straight line separates them."""
    groups: list[list[QWidget]] = []
    end = 0
    for part in sorted(parts, key=near):
        if not groups or near(part) >= end:
            groups.append([])
        groups[-1].append(part)
        end = max(end, near(part) + size(part))
    return groups


def _takes_tab(widget: QWidget) -> bool:
    """Return whether Tab may focus a widget; in an exclusive group, only the chosen button."""
    if not widget.isEnabled():
        return False
    if isinstance(widget, QAbstractButton) and (chosen := _chosen_of(widget)) is not None:
        return widget is chosen
    return bool(widget.focusPolicy().value & TAB)


def _chosen_of(button: QAbstractButton) -> QAbstractButton | None:
    """Return the chosen button of an exclusive group, through which arrow keys move."""
    group = button.group()
    beside: Sequence[QAbstractButton] = ()
    if group:
        beside = group.buttons() if group.exclusive() else ()
    elif button.autoExclusive() and (around := button.parentWidget()) is not None:
        beside = around.findChildren(QAbstractButton, options=CHILDREN)
        beside = [each for each in beside if each.autoExclusive() and not each.group()]
    return next((each for each in beside if each.isChecked() and each.isVisible()), None)


def _scroll_to(widget: QWidget) -> None:
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()
