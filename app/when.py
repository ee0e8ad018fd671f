"""How long ago was that? In the words that people use: minutes, hours, then the date."""

from __future__ import annotations

from datetime import UTC, datetime

from experiments.core.words import Words

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400


def when(words: Words, at: str, now: datetime | None = None) -> str:
    """Return how long ago the ISO-8601 time `at` was; a date where that is more than a week."""
    try:
        then = datetime.fromisoformat(at)
    except ValueError:
        return at
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    ago_s = ((now or datetime.now(UTC)) - then).total_seconds()
    if ago_s < MINUTE_S:
        return words.say("when.now")
    if ago_s < HOUR_S:
        count = int(ago_s // MINUTE_S)
        return words.say("when.one_minute") if count == 1 else _many(words, "when.minutes", count)
    if ago_s < DAY_S:
        count = int(ago_s // HOUR_S)
        return words.say("when.one_hour") if count == 1 else _many(words, "when.hours", count)
    if ago_s < 7 * DAY_S:
        count = int(ago_s // DAY_S)
        return words.say("when.one_day") if count == 1 else _many(words, "when.days", count)
    return then.astimezone().strftime("%Y-%m-%d")


def _many(words: Words, key: str, count: int) -> str:
    return words.say(key, {"count": count})
