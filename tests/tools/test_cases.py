from __future__ import annotations

import inspect

import pytest

from tests.cases import in_one


def test_every_case_that_fails_is_listed_and_the_others_are_tried():
    tried = []

    @in_one("number", [1, 2, 3, 4])
    @in_one(("times", "most"), [(1, 3), (10, 39)], ids=["once", "ten times"])
    def check(number, times, most, fixture):
        tried.append(number * times + fixture)
        assert number * times < most

    assert [*inspect.signature(check).parameters] == ["fixture"]
    with pytest.raises(ExceptionGroup, match="2 of 4 cases") as raised:
        check(fixture=0)
    assert tried == [1, 10, 2, 20, 3, 30, 4, 40]
    notes = [error.__notes__ for error in raised.value.exceptions]
    assert notes == [["in the case (3,)"], ["in the case (4,)"]]


def test_it_is_skipped_only_where_each_case_is():
    @in_one("number", [1, 2])
    def check(number, least):
        if number < least:
            pytest.skip("too small")

    check(least=2)
    with pytest.raises(pytest.skip.Exception, match="too small"):
        check(least=3)
