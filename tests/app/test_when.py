from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.when import when
from experiments.core import words

ENGLISH = words.load("en")
NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(seconds=-5), "just now"),  # a clock that was set back
        (timedelta(seconds=20), "just now"),
        (timedelta(seconds=70), "1 minute ago"),
        (timedelta(minutes=12), "12 minutes ago"),
        (timedelta(minutes=61), "1 hour ago"),
        (timedelta(hours=5), "5 hours ago"),
        (timedelta(hours=30), "yesterday"),
        (timedelta(days=6), "6 days ago"),
        (timedelta(days=9), "2026-04-25"),
    ],
)
def test_a_time_is_told_as_people_do(ago, said):
    assert when(ENGLISH, (NOW - ago).isoformat(), NOW) == said


def test_a_text_that_is_no_time_is_shown_as_it_is():
    assert when(ENGLISH, "some day", NOW) == "some day"


def test_a_time_without_a_zone_is_that_of_greenwich():
    assert when(ENGLISH, "2026-05-04T11:30:00", NOW) == "30 minutes ago"
