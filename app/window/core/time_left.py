"""How long does the run under way still take, in words?"""

from __future__ import annotations

from experiments.core.words import Words
from experiments.engine.run_state import RunState

OVERDUE_S = 3.0  # beyond the estimate; less is not worth a word


def time_left(words: Words, run_state: RunState) -> str:
    """Return it in whole seconds; "" where nothing is known of it."""
    left_s = run_state.left_s
    if left_s is None:
        return ""
    if left_s < -OVERDUE_S:
        return words.say("page.overdue")
    return words.say("terminal.time_left", {"duration": left_s})
