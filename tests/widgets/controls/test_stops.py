from __future__ import annotations

from tests.cases import in_one
from widgets.controls.stops import Stops

FOUR = Stops((1, 2, 4, 8), (0.0, 1 / 3, 2 / 3, 1.0))


@in_one(
    ("value", "above", "below"), [(1, 2, 1), (3, 4, 2), (4, 8, 2), (8, 8, 4), (9, 8, 8), (0, 1, 1)]
)
def test_a_step_leads_to_the_next_stop_on_that_side(value, above, below):
    assert (FOUR.beside(value, 1), FOUR.beside(value, -1)) == (above, below)


@in_one(("place", "index"), [(0.0, 0), (0.4, 1), (0.6, 2), (1.0, 3)])
def test_a_place_on_the_slider_is_that_of_the_nearest_stop(place, index):
    assert FOUR.nearest(place) == index
