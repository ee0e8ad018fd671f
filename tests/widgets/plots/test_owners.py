from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QLineF, QPointF, QRectF

from tests.widgets.plots.painting import DARK, likeness, painted
from widgets.plots.labels import Anchor, Wish
from widgets.plots.owners import Courses, Owner, leader_to

ENDS = np.array([0.0, 400.0])


def level(*ys: float) -> Courses:
    """Return level lines, one at each height."""
    return Courses([(ENDS, np.array([y, y])) for y in ys])


def test_a_label_is_taken_for_the_name_of_the_nearest_line():
    rect, lines = QRectF(100, 80, 60, 16), level(100.0, 104.0)

    assert Owner(lines, 0, ()).doubt_px(rect) == 0.0
    assert Owner(lines, 1, ()).doubt_px(rect) > 4.0


def test_a_line_without_points_and_a_single_point_are_lines_too():
    nothing = np.array([])
    lines = Courses([(nothing, nothing), (np.array([50.0]), np.array([50.0])), (ENDS, ENDS)])

    assert Owner(lines, 1, ()).doubt_px(QRectF(30, 25, 40, 16)) > 0.0
    assert lines.gaps(QRectF(40, 20, 20, 20))[1] == 10.0


def test_a_leader_goes_through_other_lines_but_not_through_its_own():
    lines = level(100.0, 110.0, 120.0)

    assert lines.crossed(QLineF(200, 90, 230, 130), own=1) == 2
    assert lines.crossed(QLineF(200, 90, 230, 105), own=0) == 0
    assert lines.crossed(QLineF(500, 90, 530, 130), own=0) == 0


def test_a_leader_ends_at_the_side_that_faces_its_line():
    rect = QRectF(100, 100, 60, 16)

    assert leader_to(rect, QPointF(40, 50)).p2() == QPointF(100, 108)
    assert leader_to(rect, QPointF(240, 50)).p2() == QPointF(160, 108)
    assert leader_to(rect, QPointF(120, 50)).p2() == QPointF(120, 100)
    assert leader_to(rect, QPointF(120, 180)).p2() == QPointF(120, 116)


@pytest.mark.parametrize("is_vector", [False, True])
def test_a_leader_is_drawn_in_the_colour_of_its_label(qapp, is_vector):
    def paint(sheet):
        sheet.occupied.take_rect(QRectF(0, 20, 400, 80))  # nothing is free near the line
        owner, colour = Owner(level(60.0, 62.0, 58.0), 0, [QPointF(200, 60)]), "#ff0000"
        font = DARK.bold()
        sheet.wishes.append(Wish("name", [Anchor(QPointF(200, 60))], colour, font, owner=owner))
        sheet.put_labels()
        drawn.extend(sheet.labels)

    drawn = []
    picture = painted(paint, (0, 1), (0, 1), is_vector=is_vector)

    middle = drawn[0].leader.center()
    near = [(middle.x() + right, middle.y() + down) for right in (-1, 0, 1) for down in (-1, 0, 1)]
    assert max(likeness(picture, x, y, "#ff0000") for x, y in near) > 0.4
