from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QWidget

from widgets.controls.layouts import FlowLayout


class Tile(QWidget):
    def sizeHint(self) -> QSize:
        return QSize(100, 20)


@pytest.fixture
def flow(qtbot) -> Iterator[FlowLayout]:
    parent = QWidget()
    qtbot.addWidget(parent)
    layout = FlowLayout(*(Tile(parent) for _ in range(3)), space=10)
    parent.setLayout(layout)
    parent.show()
    yield layout
    parent.close()


@pytest.mark.parametrize(("width", "lines"), [(320, 1), (319, 2), (210, 2), (209, 3), (40, 3)])
def test_lines_are_as_long_as_they_fit_and_as_high_as_their_widgets(flow, width, lines):
    assert flow.heightForWidth(width) == lines * 20 + (lines - 1) * 10


def test_widgets_stand_in_lines_and_none_is_wider_than_the_layout(flow):
    flow.setGeometry(QRect(5, 7, 210, 100))
    assert [flow.itemAt(n).geometry().topLeft().toTuple() for n in range(3)] == [
        (5, 7), (115, 7), (5, 37),
    ]  # fmt: skip
    flow.setGeometry(QRect(0, 0, 40, 100))
    assert {flow.itemAt(n).geometry().width() for n in range(3)} == {40}
