"""What the lesson of race computes."""

from __future__ import annotations

from experiments import api as x

from .experiment import CALL, LOCKED

HELD_BACK = (CALL,)
ABOUT_THE_SAME = 0.01  # of all increments
MUCH = 0.75  # of all increments


def option_by_spread(run: x.LessonRun) -> int | None:
    """Return the option that says where the counter ended in this Python, with a call between."""
    kept = [
        row.kept_fraction
        for row in run.tables["races"]
        if row.form == CALL and row.python not in run.params.pythons
    ]
    if len(kept) < 2 or run.params.workers == 1:
        return None
    if min(kept) == 1:
        return 0
    return 1 if max(kept) - min(kept) < ABOUT_THE_SAME else 2


def forms_that_never_lose(run: x.LessonRun) -> x.Spot:
    """Return the forms that kept every increment in each run, whatever the Python."""
    least = x.best_of(run.tables["races"], "kept_fraction", "form")
    return x.Spot(names=tuple(form for form, kept in least.items() if kept == 1))


def one_thread(run: x.LessonRun) -> bool:
    """Was one thread alone, so that nobody could interrupt it?"""
    return bool(run.params.workers == 1)


# Did several threads lose nothing, though there was a call between read and write?
call_lost_nothing = x.found("nothing_lost", "bare_lost")
# Did the line without a call lose nothing, where the one with a call did?
bare_kept_all = x.found("only_the_call_lost")
# Did the line without a call lose increments in this Python?
bare_lost_too = x.found("both_lost", "bare_lost")
# Did the line without a call lose increments in another Python?
another_python_lost = x.limited("not_everywhere")


def lock_costs(run: x.LessonRun) -> bool:
    """Did an increment take clearly longer under a lock?"""
    is_told = "locked_slowdown" not in run.unclear
    return is_told and run.values.get("locked_slowdown", 0.0) > 1


def nothing_lost_unlocked(run: x.LessonRun) -> bool:
    """Did the forms without a lock keep everything in each run?"""
    kept = [row.kept_fraction for row in run.tables["races"] if row.form != LOCKED]
    return bool(kept) and min(kept) == 1


def lost_much(run: x.LessonRun) -> bool:
    """Did some run lose most increments?"""
    return run.values.get("lost_most_fraction", 0.0) > MUCH
