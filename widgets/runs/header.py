"""How is the head of the list drawn? Its arrow points the way the values go, down the list."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QStyleOptionHeader

from widgets.runs.model import Column
from widgets.style.theme import STEP

Arrow = QStyleOptionHeader.SortIndicator


class RunsHeader(QHeaderView):
    """The newest first, until a click on a column puts the runs into another order."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(STEP)
        self.setSectionsClickable(True)
        self.setSortIndicator(Column.WHEN, Qt.SortOrder.DescendingOrder)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, index: int) -> None:
        """Turn the arrow: Qt lets it point up where the greatest value stands on top."""
        super().initStyleOptionForIndex(option, index)
        turned = {Arrow.SortUp: Arrow.SortDown, Arrow.SortDown: Arrow.SortUp}
        option.sortIndicator = turned.get(option.sortIndicator, option.sortIndicator)
