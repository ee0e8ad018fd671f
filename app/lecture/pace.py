"""Where a lecture stands against its plan."""

from __future__ import annotations

from app.lecture.file import Lecture

MINUTE_S = 60.0


def behind_s(lecture: Lecture, place: int, elapsed_s: float) -> float | None:
    """Return how far the item at `place` is behind the plan, below zero if it is ahead of it.

    An item without minutes takes an equal share of what the plan leaves; None without a plan.
    """
    planned = lecture.planned_minutes
    if planned is None or not lecture.item:
        return None
    told = sum(item.minutes or 0.0 for item in lecture.item)
    untold = sum(item.minutes is None for item in lecture.item)
    share = max(0.0, planned - told) / untold if untold else 0.0
    minutes = [share if item.minutes is None else item.minutes for item in lecture.item]
    begins_s = MINUTE_S * sum(minutes[:place])
    ends_s = begins_s + MINUTE_S * minutes[place]
    return max(elapsed_s - ends_s, 0.0) or min(elapsed_s - begins_s, 0.0)
