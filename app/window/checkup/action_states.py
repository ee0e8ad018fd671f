"""Which actions of the checkup's page make sense now, and their words."""

from __future__ import annotations

from app.checkup.store import COMPLETED
from app.window.checkup.archive import Archive
from experiments.checkup.result import Result
from experiments.core.words import Words
from widgets.checkup.page import CheckupPage

MINUTE_S, COARSE_S = 60.0, 10.0  # what is shown of a length


def allow(
    page: CheckupPage,
    words: Words,
    result: Result | None,
    archive: Archive,
    *,
    may_start: bool,
    is_still: bool,
) -> None:
    """Enable and show the actions; `result` is shown, and `is_still` while none is on its way."""
    say, baseline = words.say, archive.baseline
    has_result = is_still and result is not None
    page.check.setText(say("checkup_page.check_again" if result else "checkup_page.check"))
    for action, hint in (
        (page.check, length(words, archive.seconds.get("check"))),
        (page.quick, length(words, archive.seconds.get("quick"))),
        (page.soak, say("checkup_page.hot")),
    ):
        action.setEnabled(may_start)
        page.buttons[action].set_hint(hint)
    page.compare.setEnabled(has_result)
    page.compare.setVisible(result is not None)
    page.report.setVisible(result is not None)
    page.report.setEnabled(has_result)
    is_whole = result is not None and result.outcome == COMPLETED
    is_other = result is not None and (baseline is None or result.id != baseline.id)
    page.baseline.setVisible(is_still and is_whole and is_other)
    page.order.setVisible(is_still and may_start)


def length(words: Words, seconds: float | None) -> str:
    """Return about how long a checkup takes, "" while nobody knows."""
    if seconds is None:
        return ""
    step = MINUTE_S if seconds > 1.5 * MINUTE_S else COARSE_S
    rounded = max(step, round(seconds / step) * step)
    return words.say("checkup_page.takes", {"duration": rounded})
