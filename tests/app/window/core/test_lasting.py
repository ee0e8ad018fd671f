from __future__ import annotations

import gc

import pytest

from app.window.core.lasting import MANY, lasting


@pytest.fixture(autouse=True)
def unfrozen():
    gc.collect()  # or what was made before counts
    yield
    gc.unfreeze()


def test_what_is_made_in_bulk_is_never_looked_at_again():
    with lasting():
        assert not gc.isenabled()
        made = [[number] for number in range(2 * MANY)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= len(made)
    looked_at = {id(each) for each in gc.get_objects()}
    assert not any(id(each) in looked_at for each in made)


def test_a_little_stays_with_the_collector():
    before = gc.get_freeze_count()
    with lasting():
        made = [[number] for number in range(100)]
    assert gc.get_freeze_count() == before
    assert any(each is made[0] for each in gc.get_objects())


def test_a_failure_inside_leaves_the_collector_at_work():
    with pytest.raises(ValueError, match="on purpose"), lasting():
        raise ValueError("on purpose")
    assert gc.isenabled()
