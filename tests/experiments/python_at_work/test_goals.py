"""A goal of a lesson needs thought: no single setting reaches it, and no recording does.

`modelled` of a lesson's runs says what a run with given parameters would roughly measure.
"""

from __future__ import annotations

from msgspec.structs import replace

from experiments.core.catalogue import Catalogue
from experiments.core.declare import specs
from tests.cases import in_one
from tests.experiments.machines import machine
from tests.experiments.python_at_work import (
    lessons_of_amdahl,
    lessons_of_core_to_core,
    lessons_of_false_sharing,
    lessons_of_gil_threads,
    lessons_of_race,
    lessons_of_uneven,
)
from tests.experiments.python_at_work.recorded import all_recorded, lesson_of

LESSONS = {
    "gil-threads": lessons_of_gil_threads,
    "race": lessons_of_race,
    "amdahl": lessons_of_amdahl,
    "uneven": lessons_of_uneven,
    "false-sharing": lessons_of_false_sharing,
    "core-to-core": lessons_of_core_to_core,
}
GOALS = [(name, goal) for name, runs in LESSONS.items() for goal in runs.REACHING]
STEPS = 12  # values tried of a number


def single_changes(params):
    """Yield the parameters with one setting changed, over the whole of its range."""
    for name, spec in specs(type(params)).items():
        usual = getattr(params, name)
        if callable(spec.choices):
            continue  # what is found on a machine
        if isinstance(usual, bool):
            values = [not usual]
        elif isinstance(usual, tuple):
            values = [tuple(each for each in usual if each != left_out) for left_out in usual]
        elif spec.choices:
            values = spec.choices
        else:
            low, high = spec.minimum, spec.maximum
            shares = [n / STEPS for n in range(STEPS + 1)]
            is_log = spec.scale != "linear" and low > 0
            values = [low * (high / low) ** s if is_log else low + (high - low) * s for s in shares]
        for value in values:
            whole = round(value) if type(usual) is int else value
            yield replace(params, **{name: whole})


def test_every_goal_has_settings_that_reach_it():
    for name, runs in LESSONS.items():
        goals = lesson_of(name).words.goals
        named = {goal.reached for goal in goals if not goal.start}  # those are code, not settings
        assert named == runs.REACHING.keys(), name


@in_one(("name", "goal"), GOALS)
def test_a_goal_takes_two_settings(name, goal):
    lesson, runs = lesson_of(name), LESSONS[name]
    params = Catalogue().load(name).suited(machine())
    chosen = runs.REACHING[goal]

    assert lesson.call(goal, runs.modelled(chosen))
    assert not lesson.call(goal, runs.modelled(params))
    for other in single_changes(params):
        assert not lesson.call(goal, runs.modelled(other)), other


@in_one(("name", "goal"), GOALS)
def test_no_recording_reaches_a_goal(name, goal):
    for run in all_recorded(name):
        assert not lesson_of(name).call(goal, run)
