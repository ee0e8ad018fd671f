from __future__ import annotations

import copy
import pickle

import msgspec
import pytest

from machine.record import Record, names


class Point(Record):
    x: int
    y: float = 2.0
    tags: list[str] = msgspec.field(default_factory=list)


class Named(Point):
    name: str = ""


def test_its_fields_are_known_and_it_is_read_from_plain_data():
    point = Point(x=1)

    assert msgspec.to_builtins(point) == {"x": 1, "y": 2.0, "tags": []}
    assert msgspec.structs.replace(point, y=3.0) == Point(x=1, y=3.0)
    assert names(Named) == ("x", "y", "tags", "name")
    assert msgspec.convert({"x": 4, "name": "d"}, Named) == Named(x=4, name="d")


def test_nothing_of_it_changes_and_no_list_is_shared():
    point = Point(x=1)

    with pytest.raises(AttributeError):
        point.x = 2
    with pytest.raises(AttributeError):
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
