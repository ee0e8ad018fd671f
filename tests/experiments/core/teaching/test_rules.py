"""The rules of lessons that can be checked: words, beliefs, numbers, goals."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, specs
from experiments.core.shelves import Home, homes
from experiments.core.teaching.lesson_run import LessonRun
from experiments.core.teaching.lessons import Taught, taught
from tests.experiments.core.teaching.shown import made, recorded
from tests.tools.plain_words import NOT_SAID

CATALOGUE = Catalogue()
MOST_NUMBERS = 3  # in a text
FILLED_IN = ("one of many", "a multiple below 1")  # what depends on the numbers


@pytest.fixture(scope="module")
def lessons() -> list[tuple[Experiment[Any], Taught]]:
    found = ((experiment, CATALOGUE.lesson(experiment)) for experiment in CATALOGUE)
    return [(experiment, lesson) for experiment, lesson in found if lesson is not None]


def explained(lesson: Taught, run: LessonRun) -> Iterator[str]:
    told = lesson.explain(run, None)
    if told is not None:
        yield from (told.headline, told.text, *told.beside, told.confirm, told.why_not_double)


def test_what_is_filled_in_reads_well(lessons):
    found = []
    for experiment, lesson in lessons:
        for run in (recorded(experiment), *made(experiment).values()):
            found += [(experiment.id, rule, text) for text in explained(lesson, run)
                      for rule in FILLED_IN if re.search(NOT_SAID[rule], text)]  # fmt: skip
    assert found == []


def test_an_explanation_names_a_value_of_the_run_and_at_most_three(lessons):
    """A value that the run could refute; a text may name the same one twice."""
    found = []
    for experiment, lesson in lessons:
        explain = lesson.words.explain
        instead = [(each.headline, each.text) for each in explain.branches if each.instead]
        for headline, text in [(explain.headline, explain.text), *instead]:
            in_text, at_all = named(text), named(headline) | named(text)
            if not at_all or len(in_text) > MOST_NUMBERS:
                found.append((experiment.id, sorted(at_all), " ".join(text.split())[:60]))
    assert found == []


def named(text: str) -> set[str]:
    """Return the values that a text names."""
    return {*re.findall(r"\{(\w+)[^}]*\}", text)}


def changed(experiment: Experiment[Any], run: LessonRun) -> Iterator[tuple[str, Any]]:
    """Yield each single change of a setting from those of a run."""
    for name, spec in specs(experiment.params).items():
        now = getattr(run.params, name)
        if isinstance(now, bool):
            values: tuple[Any, ...] = (not now,)
        elif isinstance(now, int | float):
            least = spec.minimum if spec.minimum is not None else now / 4
            most = spec.maximum if spec.maximum is not None else now * 4
            tried = (least, now / 2, now - 1, now + 1, now * 2, most)
            values = tuple(type(now)(min(most, max(least, each))) for each in tried)
        else:
            values = spec.known_choices(run.machine)
        yield from ((name, value) for value in dict.fromkeys(values) if value != now)


def test_no_goal_is_reached_by_the_recording_or_by_one_setting(lessons):
    found = []
    for experiment, lesson in lessons:
        run = recorded(experiment)
        for goal in lesson.words.goals:
            if lesson.call(goal.reached, run):
                found.append((experiment.id, goal.goal, "recording"))
            for name, value in changed(experiment, run):
                other = replace(run, params=replace(run.params, **{name: value}))
                if lesson.call(goal.reached, other):
                    found.append((experiment.id, goal.goal, f"{name} = {value}"))
    assert found == []


def test_the_sentences_of_an_opening_may_hold_any_sign(tmp_path):
    """They were put into the file as they are, where a quotation mark ended the text."""
    home, said = homes()["noise"], r'A \ "turn" ends.'
    copy = tmp_path / home.folder.name
    shutil.copytree(home.folder, copy)
    file = copy / "lesson.en.toml"
    opening = f"opening = {json.dumps(said)}"
    text = re.sub("^opening = .*$", lambda _: opening, file.read_text("utf-8"), flags=re.MULTILINE)
    file.write_text(text, encoding="utf-8")

    assert said in taught(CATALOGUE.load("noise"), Home(home.shelf, copy)).words.explain.text
