from app.lecture.file import Item, Lecture
from tests.cases import in_one


def lecture(*minutes, whole=None):
    items = tuple(Item(experiment="a", minutes=each) for each in minutes)
    return Lecture(item=items, minutes=whole)


@in_one(
    ("place", "elapsed_s", "off_s"),
    [(0, 100, 0), (0, 300, 60), (1, 300, 0), (1, 100, -140), (2, 900, 180)],
)
def test_an_item_is_behind_after_its_end_and_ahead_before_its_beginning(place, elapsed_s, off_s):
    assert lecture(4, 6, 2).behind_s(place, elapsed_s) == off_s


def test_items_without_minutes_share_what_the_plan_leaves():
    made = lecture(4, None, None, whole=10)
    assert made.behind_s(1, 4 * 60 + 3 * 60) == 0
    assert made.behind_s(1, 4 * 60 + 3 * 60 + 1) == 1
    assert made.behind_s(2, 0) == -7 * 60


def test_without_a_plan_nothing_is_late():
    assert lecture(None).behind_s(0, 1e6) is None
