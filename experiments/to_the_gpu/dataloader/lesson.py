"""Functions that the lesson of dataloader calls."""

from __future__ import annotations

import math

from experiments import api as x

from .experiment import COMPUTING, HARDLY, LEARNING, LOADING

HELD_BACK = (LEARNING,)
FEW, SEVERAL = 2, 8  # workers: up to which the answers of a vote are right
CLEARLY_LESS = 0.9  # of what so many times one worker would deliver
GAINS, DEAR = 1.5, 4  # times, passes
BATCHES = 8  # of a motion
WAY = ("workers", "network")


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return the fewest workers at top speed where they help, and what they deliver over one.

    Also those that would keep up with the network if each added as much as the first.
    """
    found: dict[str, float] = {}
    if "needed_workers" in run.values:
        found["enough_workers"] = math.ceil(run.values["needed_workers"])
    is_known = run.message in ("model_is_fed", "loading_holds_back")
    if is_known and "best_workers" in run.values:
        found["top_workers"] = top = int(run.values["best_workers"])
        loaded = _loaded(run)
        if {1, top} <= loaded.keys():
            found["delivered_over_one"] = loaded[top] / loaded[1]
    return found


def option_by_workers(run: x.LessonRun) -> int | None:
    """Return the answer by the fewest workers at top speed; None where these are unknown."""
    top = 0 if none_needed(run) else numbers(run, None).get("top_workers")
    return None if top is None else sum(top > most for most in (0, FEW, SEVERAL))


def first_flat(run: x.LessonRun) -> x.Spot:
    """Return the stretch around the fewest workers that are about as fast as any."""
    top = 0 if none_needed(run) else numbers(run, None).get("top_workers")
    tried = sorted({row.workers for row in run.tables["epochs"]})
    if top is None or not tried:
        return x.Spot()
    before = max((n for n in tried if n < top), default=top - 1)
    after = min((n for n in tried if n > top), default=top + 1)
    return x.Spot(low=(before + top) / 2, high=(top + after) / 2)


none_needed = x.found("no_helper_needed")
still_waits = x.found("loading_holds_back")
cores_are_shared = x.limited("cores_are_shared")


def most_were_tried(run: x.LessonRun) -> bool:
    """Was the largest number of workers that was tried the best, and still too few?"""
    top = numbers(run, None).get("top_workers")
    return still_waits(run) and top == run.values.get("most_workers")


def more_add_nothing(run: x.LessonRun) -> bool:
    """Were more workers tried, and added nothing, though the network still waits?"""
    return still_waits(run) and not most_were_tried(run)


def add_less(run: x.LessonRun) -> bool:
    """Does each worker at top speed deliver so much less that enough of the first are too few?"""
    told, needed = numbers(run, None), run.values.get("needed_workers", 0.0)
    top = told.get("top_workers", 0)
    if top <= 1 or "delivered_over_one" not in told:
        return False
    share = told["delivered_over_one"] / top  # of what the first delivers
    return share < CLEARLY_LESS and share * told.get("enough_workers", 0) < needed


def one_is_enough(run: x.LessonRun) -> bool:
    """Does one worker feed the network, and gain much beside none?"""
    known = run.values
    is_fed = known.get("best_workers") == 1 and run.message == "model_is_fed"
    return is_fed and known.get("best_over_zero", 0.0) >= GAINS


def fed_all_the_same(run: x.LessonRun) -> bool:
    """Does the network hardly wait for pictures that take long to load?"""
    waiting = run.values.get("waiting_fraction", 1.0)
    return run.params.passes >= DEAR and waiting <= HARDLY


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Let one worker, and more, decode as many batches for the network on one clock.

    Batches arrive as often as loading alone delivers them, and are learned as long as in a step.
    """
    every_s = {n: run.params.batch / rate for n, rate in _loaded(run).items()}
    learn_s = _learning_s(run)
    more = {n for n in every_s.keys() & learn_s.keys() if n > 1}
    if not more or 1 not in every_s.keys() & learn_s.keys():
        return None
    at = numbers(run, None).get("top_workers", max(more))
    if pointed is not None and pointed.view == "rates" and pointed.at is not None:
        at = pointed.at
    several = min(more, key=lambda n: abs(n - at))
    scenes = [
        _scene(title, n, every_s[n], learn_s[n]) for title, n in (("one", 1), ("more", several))
    ]
    end_s = max(event.end_s for scene in scenes for event in scene.events)
    said = {"decoding": 0.0}
    if learn_s[1] < every_s[1]:
        said["waiting"] = every_s[1] + learn_s[1]
    return x.Motion(
        scenes=tuple(scenes),
        duration_s=end_s,
        stills=(every_s[1] / 2, end_s / 2, end_s),
        says=tuple(x.Say(text=text, start_s=start_s) for text, start_s in said.items()),
    )


def _scene(title: str, workers: int, every_s: float, learn_s: float) -> x.Scene:
    """Return batches that arrive in equal steps, each after a worker's time, and are learned."""
    events: list[x.Travel | x.Hold] = []
    learned = [0.0]
    for number in range(BATCHES):
        start_s = number * every_s
        there_s = start_s + workers * every_s
        begin_s = max(there_s, learned[-1])
        events.append(x.Travel(along=WAY, start_s=start_s, end_s=there_s))
        if learned[-1] < begin_s:
            idle = {"start_s": learned[-1], "end_s": begin_s}
            events.append(x.Hold(shape="network", label="waits", role="soft", **idle))
        learned.append(begin_s + learn_s)
        events.append(x.Hold(shape="network", label="learns", start_s=begin_s, end_s=learned[-1]))
    counted = x.Count(shape="network", label="learned", times=tuple(learned[1:]), end_s=learned[-1])
    return x.Scene(title=title, events=(*events, counted))


def _loaded(run: x.LessonRun) -> dict[int, float]:
    """Return the pictures a second that each number of workers delivers, loading alone."""
    rows = run.tables["epochs"]
    return x.medians((row.workers, row.samples_per_s) for row in rows if row.kind == LOADING)


def _learning_s(run: x.LessonRun) -> dict[int, float]:
    """Return the time that the network learns in a step, by the number of workers."""
    rows = run.tables["steps"]
    return x.medians((row.workers, row.step_s) for row in rows if row.part == COMPUTING)
