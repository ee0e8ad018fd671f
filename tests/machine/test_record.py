from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, replace

import msgspec
import pytest

from machine.record import names, record


@record
class Point:
    x: int
    y: float = 2.0
    tags: list[str] = field(default_factory=list)


@record
class Named(Point):
    name: str = ""


def test_it_is_a_dataclass_to_all_who_ask():
    point = Point(x=1)

    assert asdict(point) == {"x": 1, "y": 2.0, "tags": []}
    assert replace(point, y=3.0) == Point(x=1, y=3.0)
    assert [each.name for each in fields(Named)] == ["x", "y", "tags", "name"] == [*names(Named)]
    assert msgspec.convert({"x": 4, "name": "d"}, Named) == Named(x=4, name="d")
    assert repr(point) == "Point(x=1, y=2.0, tags=[])"


def test_nothing_of_it_changes_and_no_list_is_shared():
    point = Point(x=1)

    with pytest.raises(FrozenInstanceError):
        point.x = 2
    with pytest.raises(FrozenInstanceError):
        del point.x
    assert point.tags is not Point(x=1).tags
    assert not hasattr(point, "__dict__")
    assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == point


def test_what_is_equal_has_one_hash_and_another_kind_is_not_equal():
    assert hash(Named(x=1, tags=())) == hash(Named(x=1, tags=()))
    assert Point(x=1) != Named(x=1)


@pytest.mark.parametrize("given", [{}, {"x": 1, "z": 2}])
def test_wrong_fields_are_refused(given):
    with pytest.raises(TypeError):
        Point(**given)
    with pytest.raises(TypeError):
        Point(1)
