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


def test_the_height_is_another_as_soon_as_anything_has_changed(flow):
    found = [flow.heightForWidth(210)]
    changes = (
        flow.itemAt(0).widget().hide,
        flow.itemAt(0).widget().show,
        lambda: flow.setSpacing(0),
        lambda: flow.itemAt(0).widget().setMinimumHeight(50),
        lambda: flow.addWidget(Tile(flow.parentWidget())),
        lambda: flow.addWidget(Tile(flow.parentWidget())),
        lambda: flow.takeAt(4),
    )
    for change in changes:
        change()
        flow.itemAt(flow.count() - 1).widget().show()
        found.append(flow.heightForWidth(210))

    assert found == [50, 20, 50, 40, 70, 70, 90, 70]
