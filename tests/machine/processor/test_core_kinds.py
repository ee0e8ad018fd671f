from __future__ import annotations

import pytest

from machine.model import Cache
from machine.processor.core_kinds import by_classes

FAR = (Cache(level=3, kind="unified", threads=(0, 1)), Cache(level=2, kind="unified", threads=(2,)))


@pytest.mark.parametrize(
    ("classes", "caches", "kinds"),
    [
        ({0: 1, 1: 0}, (), ["performance", "efficiency"]),
        ({0: 9, 1: 4, 2: 1}, (), ["performance", "efficiency", "low-power"]),
        ({0: 1, 1: 0, 2: 0}, FAR, ["performance", "efficiency", "low-power"]),
    ],
)
def test_the_highest_class_is_the_fastest_kind(classes, caches, kinds):
    assert by_classes(classes, caches) == (dict(enumerate(kinds)), "")


@pytest.mark.parametrize(
    ("classes", "why"), [({0: 3, 1: 3}, "one kind"), ({0: 1, 1: 2, 2: 3, 3: 4}, "4 classes")]
)
def test_one_class_or_too_many_have_no_names(classes, why):
    kinds, said = by_classes(classes, ())
    assert kinds == {}
    assert why in said
