from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont

from widgets.plots.labels import Anchor, Occupied, Wish, place
from widgets.plots.owners import Courses, Owner

BOUNDS = QRectF(10, 20, 400, 200)
SIZE = QSizeF(60, 16)


def wish(*at: tuple[float, float], **more) -> Wish:
    anchors = [Anchor(QPointF(x, y), 0.0, 0.5) for x, y in at]
    return Wish(text="x", colour="#000000", font=QFont(), anchors=anchors, **more)


def test_a_label_stands_where_it_wishes_if_nothing_is_there():
    label = place(wish((100, 100), (200, 100)), SIZE, Occupied(BOUNDS))

    assert label.rect == QRectF(100, 92, 60, 16)
    assert not label.is_over


def test_a_taken_place_leads_to_the_next_wish():
    occupied = Occupied(BOUNDS)
    occupied.take_points(np.array([120.0]), np.array([100.0]))

    label = place(wish((100, 100), (200, 100)), SIZE, occupied)

    assert label.rect.left() == 200


def test_a_line_is_kept_clear_along_all_of_it():
    occupied = Occupied(BOUNDS)
    occupied.take_path(np.array([10.0, 410.0]), np.array([100.0, 100.0]))

    label = place(wish((100, 100)), SIZE, occupied)

    assert not label.rect.adjusted(0, 2, 0, -2).intersects(QRectF(10, 99, 400, 2))


def test_labels_never_overlap_however_many_want_the_same_place():
    occupied = Occupied(BOUNDS)

    rects = [label.rect for _ in range(80) if (label := place(wish((200, 100)), SIZE, occupied))]

    assert len(rects) > 6
    letters = [rect.adjusted(0, 2, 0, -2) for rect in rects]
    for place_, rect in enumerate(letters):
        assert BOUNDS.contains(rect)
        assert not any(rect.intersects(other) for other in letters[:place_])


def test_a_label_that_must_stand_covers_marks_and_one_that_need_not_is_left_out():
    occupied = Occupied(BOUNDS)
    occupied.take_rect(BOUNDS)

    assert place(wish((200, 100)), SIZE, occupied).is_over
    assert place(wish((200, 100), must=False), SIZE, occupied) is None


def test_a_label_that_stays_in_its_row_gives_way_to_the_right():
    occupied = Occupied(BOUNDS)
    occupied.take_rect(QRectF(100, 20, 30, 200))

    label = place(wish((100, 100), stays_in_row=True), SIZE, occupied)

    assert label.rect.center().y() == 100
    assert label.rect.left() > 130


def test_a_label_that_stays_close_rather_covers_marks_than_goes_away():
    occupied = Occupied(BOUNDS)
    occupied.take_rect(QRectF(10, 60, 400, 80))

    assert place(wish((100, 100)), SIZE, occupied).rect.bottom() < 64
    close = place(wish((100, 100), stays_close=True), SIZE, occupied)
    assert close.is_over
    assert abs(close.rect.center().y() - 100) <= SIZE.height()


@pytest.mark.parametrize("at", [(-50.0, 100.0), (500.0, 100.0), (100.0, 600.0)])
def test_a_label_is_never_put_outside(at):
    label = place(wish(at), SIZE, Occupied(BOUNDS))

    assert label is None or BOUNDS.contains(label.rect)


ENDS = np.array([10.0, 200.0])


def bunch(*ys: float) -> tuple[Occupied, list[Wish]]:
    """Return lines that end close together, and a wish for a label above the end of each."""
    occupied, paths = Occupied(BOUNDS), [(ENDS, np.array([y, y])) for y in ys]
    for path in paths:
        occupied.take_path(*path)
    owners = [Owner(Courses(paths), number, [QPointF(200, y)]) for number, y in enumerate(ys)]
    return occupied, [
        wish((140, y - 12), (140, y + 12), owner=owner) for y, owner in zip(ys, owners, strict=True)
    ]


def test_of_two_close_lines_the_upper_has_its_label_above_and_the_lower_below():
    occupied, wishes = bunch(100.0, 106.0)

    lower, upper = (place(wishes[number], SIZE, occupied) for number in (1, 0))

    assert upper.rect.bottom() < 100.0 < 106.0 < lower.rect.top()
    assert upper.leader is lower.leader is None


def test_a_line_between_others_leads_to_its_label():
    occupied, wishes = bunch(96.0, 102.0, 108.0)

    labels = [place(wishes[number], SIZE, occupied) for number in (0, 2, 1)]

    leader = labels[2].leader
    assert [label.leader for label in labels[:2]] == [None, None]
    assert leader.p1() == QPointF(200, 102)
    assert labels[2].rect.adjusted(-1, -1, 1, 1).contains(leader.p2())


def test_leaders_go_through_no_label_and_no_other_leader():
    occupied, wishes = bunch(*(float(y) for y in range(96, 124, 4)))

    labels = [place(each, SIZE, occupied) for each in wishes]

    leaders = [label.leader for label in labels if label.leader]
    assert len(leaders) >= 4
    for number, leader in enumerate(leaders):
        for other in leaders[:number]:
            assert leader.intersects(other)[0] != QLineF.IntersectionType.BoundedIntersection
        for label in labels:
            inner = label.rect.adjusted(1, 3, -1, -3)
            points = (leader.pointAt(part / 50) for part in range(51))
            assert label.leader is leader or not any(inner.contains(point) for point in points)
