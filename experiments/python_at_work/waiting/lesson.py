"""Functions that the lesson of waiting calls."""

from __future__ import annotations

from collections.abc import Sequence

from experiments import api as x

from .experiment import COMPUTING, COROUTINES, SERIAL

HELD_BACK = (COMPUTING,)
A_LITTLE, MUCH = 1.5, 5.0  # times less than the sum of all waits: up to which an answer is right
WORK_S, TEN_TIMES, HARDLY = 0.005, 10.0, 2.5  # of the goals: seconds of work, gains
MOST_DRAWN = 32  # questions that move


def numbers(run: x.LessonRun, guess: x.Guess | None) -> dict[str, float]:
    """Return how long the most coroutines took and waited in all, and the end of the guess.

    `each_more_s` is what each of them adds to one wait.
    """
    took_s, one_s = _took_s(run), run.values.get("one_wait_s")
    found = {} if guess is None else {"guess_last_s": guess.at[-1]}
    if not took_s or one_s is None:
        return found
    most = max(took_s)
    each_more_s = max(0.0, took_s[most] - one_s) / most
    return found | {
        "most": most, "took_s": took_s[most], "sum_s": most * one_s, "each_more_s": each_more_s
    }  # fmt: skip


def heights(run: x.LessonRun, points: Sequence[float]) -> list[float | None]:
    """Return the seconds of each number of coroutines, None where not measured."""
    took_s = _took_s(run)
    return [took_s.get(round(number)) for number in points]


def option_by_sum(run: x.LessonRun) -> int | None:
    """Return the answer by how many times less than the sum of all waits the most took."""
    known = numbers(run, None)
    if "took_s" not in known:
        return None
    return sum(known["sum_s"] > times * known["took_s"] for times in (A_LITTLE, MUCH))


def lines_that_climb(run: x.LessonRun) -> x.Spot:
    """Return the line of one wait after another, and that of coroutines that compute."""
    ways = {row.way for row in run.tables["waits"]}
    return x.Spot(names=tuple(way for way in (SERIAL, COMPUTING) if way in ways))


only_one_way_gained = x.found("some_waits_overlap")
neither_gained = x.found("no_gain")
many_take_longer = x.limited("many_coroutines_take_longer")


def one_blocks(run: x.LessonRun) -> bool:
    """Did one coroutine block?"""
    return bool(run.params.one_blocks)


def works(run: x.LessonRun) -> bool:
    """Did the program compute after each answer?"""
    return bool(run.params.work_s > 0)


def gains_beside_work(run: x.LessonRun) -> bool:
    """Were coroutines far faster though each answer cost work, as their time shows?"""
    work_s = run.values.get("waits", 0) * run.params.work_s
    did_work = run.params.work_s >= WORK_S and run.values.get("coroutines_s", 0.0) >= work_s
    return did_work and _gain(run) >= TEN_TIMES


def gains_little_without_work(run: x.LessonRun) -> bool:
    """Were coroutines hardly faster though no answer cost work?"""
    return not works(run) and 0 < _gain(run) < HARDLY


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Send the questions of the most coroutines, or of a number pointed at, beside single ones.

    Coroutines start evenly until the last has just time for a wait; some of them are drawn.
    """
    took_s, one_s = _took_s(run), run.values.get("one_wait_s")
    if not took_s or one_s is None:
        return None
    count = max(took_s)
    if pointed is not None and pointed.at is not None:
        count = round(pointed.at)
    end_s = took_s.get(count, 0.0)
    if not one_s < end_s <= MOST_DRAWN * one_s:  # not measured, or nothing to see of waiting
        return None
    each_s = (end_s - one_s) / count
    drawn = range(0, count, -(-count // MOST_DRAWN))
    one_by_one = [_question(n * one_s, one_s) for n in range(int(end_s / one_s))]
    together = [_question(n * each_s, one_s) for n in drawn]
    ends_s = tuple(question.end_s for question in one_by_one)
    all_over = x.Count(shape="thread", label="over", start_s=one_s, end_s=end_s, every_s=each_s)
    return x.Motion(
        scenes=(
            x.Scene(
                title=SERIAL,
                events=(*one_by_one, x.Count(shape="thread", label="over", times=ends_s)),
            ),
            x.Scene(title=COROUTINES, events=(*together, all_over)),
        ),
        duration_s=end_s,
        stills=(one_s / 2, max(one_s, end_s / 2), end_s),
        says=(
            x.Say(text="free", start_s=0.0),
            *([] if pointed else [x.Say(text="sum", start_s=one_s)]),
        ),
    )


def _question(start_s: float, wait_s: float) -> x.Travel:
    return x.Travel(
        along=("thread", "server"), start_s=start_s, end_s=start_s + wait_s, returns=True
    )


def _took_s(run: x.LessonRun) -> dict[int, float]:
    """Return the median seconds of coroutines by their number."""
    rows = run.tables["waits"]
    return x.medians((row.waits, row.all_s) for row in rows if row.way == COROUTINES)


def _gain(run: x.LessonRun) -> float:
    """Return how many times faster coroutines were than one after another, 0 if unknown."""
    serial_s, coroutines_s = (run.values.get(f"{way}_s") for way in (SERIAL, COROUTINES))
    return serial_s / coroutines_s if serial_s and coroutines_s else 0.0
