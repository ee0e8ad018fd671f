from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.presentation.load.history import History
from experiments.presentation.load.scale import LEAST_PER_S, Scale, round_above
from tests.cases import in_one


def history(*rates: float | None, step_s: float = 1.0) -> History:
    made = History(clock_s=lambda: 0.0, asleep_s=lambda: 0.0)
    for place, rate in enumerate(rates, start=1):
        made.add(place * step_s, [], {"rate": rate})
    return made


def scale() -> Scale:
    return Scale(lambda moment: moment.memory["rate"], round_above)


@in_one(
    ("highest", "top"),
    [(0.0, 1e6), (1e6, 1e6), (1.1e6, 2e6), (4.2e9, 5e9), (5e9, 5e9), (6e9, 1e10)],
)
def test_the_top_is_a_round_number(highest, top):
    assert round_above(highest) == pytest.approx(top)


@given(st.floats(0, 1e15))
def test_nothing_is_higher_than_the_top(highest):
    assert round_above(highest) >= max(highest * (1 - 1e-6), LEAST_PER_S)


def test_the_top_grows_at_once():
    made, rates = scale(), history(1e6)
    assert made.fit(rates)
    assert made.top == 1e6
    rates.add(2.0, [], {"rate": 3e9})

    assert made.fit(rates)
    assert made.top == 5e9
    assert made.share(rates.moments[-1]) == pytest.approx(0.6)


def test_the_top_sinks_when_its_minute_has_passed():
    made, rates = scale(), history(3e9)
    made.fit(rates)
    changes = []
    for second in range(2, 90):
        rates.add(float(second), [], {"rate": 1e6})
        if made.fit(rates):
            changes.append(second)

    assert len(changes) == 1
    assert 60 <= changes[0] <= 72
    assert made.top == LEAST_PER_S


def test_samples_that_were_not_drawn_count_too():
    made, rates = scale(), history(1e6)
    made.fit(rates)
    rates.add(2.0, [], {"rate": 8e9})
    rates.add(3.0, [], {"rate": 1e6})

    made.fit(rates)

    assert made.top == 1e10


def test_what_is_not_known_has_no_height():
    made, rates = scale(), history(None, 2e6)
    made.fit(rates)

    assert made.share(rates.moments[0]) is None


def test_another_history_has_another_top():
    made = scale()
    made.fit(history(1e9, 1e9, 1e9))

    made.fit(history(1e6))

    assert made.top == 1e6
