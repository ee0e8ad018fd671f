"""Functions that the lesson of race calls."""

from __future__ import annotations

from experiments import api as x

from .experiment import CALL, FORMS, HOLDS, RAISES, Race

HELD_BACK = (CALL,)
ABOUT_THE_SAME = 0.01  # of all increments
MANY = 8  # threads
SEVERAL, MUCH = 2, 0.6  # counters; of all increments
AFTER = 1.1  # times the caught update: its end is seen, too


def option_by_spread(run: x.LessonRun) -> int | None:
    """Return the option that says what was lost in this Python, with a call between."""
    lost = _lost(run).get(CALL, [])
    if len(lost) < 2 or run.params.workers == 1:
        return None
    if max(lost) == 0:
        return 0
    return 1 if _scatter(lost) < ABOUT_THE_SAME else 2


def form_that_scatters(run: x.LessonRun) -> x.Spot:
    """Return the form whose runs in this Python lie farthest apart, if any do."""
    scatters = {form: _scatter(lost) for form, lost in _lost(run).items()}
    widest = max(scatters, key=lambda form: scatters[form], default=CALL)
    return x.Spot(names=(widest,) if scatters.get(widest, 0.0) > 0 else ())


def one_thread(run: x.LessonRun) -> bool:
    """Was one thread alone, so that no other could interrupt it?"""
    return bool(run.params.workers == 1)


one_owner_each = x.found("one_owner_each")  # had each thread a counter of its own?
# Did several threads lose nothing, though there was a call between read and write?
call_lost_nothing = x.found("nothing_lost", "bare_lost")
# Did the line without a call lose nothing, where the one with a call did?
bare_kept_all = x.found("only_the_call_lost")
# Did the line without a call lose increments in this Python?
bare_lost_too = x.found("both_lost", "bare_lost")
# Did the line without a call lose increments in another Python?
another_python_lost = x.limited("not_everywhere")


def same_in_each_run(run: x.LessonRun) -> bool:
    """Did all runs lose about the same?"""
    return option_by_spread(run) == 1


def lock_costs(run: x.LessonRun) -> bool:
    """Did an increment take clearly longer under a lock?"""
    is_clear = "locked_slowdown" not in run.unclear
    return is_clear and run.values.get("locked_slowdown", 0.0) > 1


def many_lose_nothing(run: x.LessonRun) -> bool:
    """Did many threads lose nothing in any run, with a call between?"""
    lost = _lost(run).get(CALL, [])
    return run.values.get("workers", 0) >= MANY and bool(lost) and max(lost) == 0


def lost_much_of_several(run: x.LessonRun) -> bool:
    """Did some run lose most increments, though the threads had several counters?"""
    is_several = run.values.get("counters", 0) >= SEVERAL
    return is_several and run.values.get("lost_most_fraction", 0.0) > MUCH


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Return the late write that was caught: order and times as recorded."""
    acts = {row.act: row for row in run.tables["moments"]}
    if not {HOLDS, RAISES} <= acts.keys() or acts[RAISES].start_s >= acts[RAISES].end_s:
        return None
    late, other = acts[HOLDS], acts[RAISES]
    read_s, written_s = other.start_s, other.end_s  # all that happens before and after is quick
    each_s = (written_s - read_s) / other.updates
    half_s, first_s = read_s + each_s / 2, read_s + each_s  # of the first increment of the other
    events = (
        x.Travel(along=("counter", "late"), start_s=0.0, end_s=read_s, token="8"),
        x.Hold(shape="late", start_s=read_s, end_s=written_s, role="attention", label="waits"),
        x.Hold(shape="other", start_s=read_s, end_s=written_s, label="counts"),
        x.Travel(along=("counter", "other"), start_s=read_s, end_s=half_s, token="8", role="main"),
        x.Travel(along=("other", "counter"), start_s=half_s, end_s=first_s, token="9", role="main"),
        x.Count(shape="counter", label="added", start_s=read_s, end_s=written_s, every_s=each_s),
        x.Travel(along=("late", "counter"), start_s=written_s, end_s=late.end_s, token="9"),
    )
    return x.Motion(
        scenes=(x.Scene(events=events),),
        duration_s=AFTER * late.end_s,
        stills=(read_s / 2, (read_s + written_s) / 2, (written_s + late.end_s) / 2),
        says=(
            x.Say(text="reads", start_s=0.0),
            x.Say(text="other_counts", start_s=read_s),
            x.Say(text="erased", start_s=late.end_s),
        ),
    )


def _lost(run: x.LessonRun) -> dict[str, list[float]]:
    """Return the lost shares of each form in this Python."""
    own: list[Race] = [row for row in run.tables["races"] if row.python not in run.params.pythons]
    of = x.collected(own, "lost_fraction", "form")
    return {form: of[form] for form in FORMS if form in of}


def _scatter(lost: list[float]) -> float:
    return max(lost) - min(lost)
