from __future__ import annotations

import importlib
import json
import subprocess
import sys

import pytest

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.problems import UserError
from experiments.core.shelves import SHELVES, homes, id_of
from tests.cases import in_one

HEAVY = ("torch", "numba", "numpy", "llvmlite", "PySide6", "pynvml")
BUDGET_S = 0.4

LOOK = """
import json, sys, time
start_s = time.process_time()  # waiting for a busy machine does not count
{work}
taken_s = time.process_time() - start_s
loaded = [name for name in {heavy!r} if name in sys.modules]
print(json.dumps({{"taken_s": taken_s, "loaded": loaded}}))
"""


def look(work: str) -> dict:
    """Do `work` in a Python of its own; return how long it took and what heavy it loaded."""
    code = LOOK.format(work=work, heavy=HEAVY)
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(answer.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "work",
    [
        "from experiments.core.catalogue import Catalogue; list(Catalogue())",
        "import app.command_line, app.terminal.inspect",
    ],
    ids=["the catalogue", "the command line and inspect"],
)
def test_starting_is_quick_and_loads_nothing_heavy(work):
    looks = [look(work)]
    while len(looks) < 5 and looks[-1]["taken_s"] >= BUDGET_S:  # a busy machine gets its chances
        looks.append(look(work))

    assert looks[0]["loaded"] == []
    assert min(each["taken_s"] for each in looks) < BUDGET_S


@pytest.mark.parametrize("command", [["inspect"], ["inspect", "--json"], ["experiments"]])
def test_a_command_that_only_shows_loads_nothing_heavy(command):
    quiet = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()): main({!r})"

    assert look("from app.cli import main\n" + quiet.format(command))["loaded"] == []


def test_an_experiment_is_imported_when_it_is_asked_for():
    work = "from experiments.core.catalogue import Catalogue; Catalogue().ids(); "
    work += "assert not [m for m in sys.modules if 'gil_threads' in m]"

    assert look(work)["loaded"] == []


def test_ids_are_unique_and_come_in_the_order_of_the_shelves():
    catalogue = Catalogue()
    shelves = [catalogue.shelf(experiment) for experiment in catalogue]

    assert len(set(catalogue.ids())) == len(catalogue.ids()) > 0
    assert shelves == sorted(
        shelves, key=[each.rpartition(".")[2].replace("_", "-") for each in SHELVES].index
    )
    assert len(SHELVES) == len({*shelves, "yours"})


DECLARED = {
    id_of(lesson): tuple(map(id_of, names))
    for shelf in SHELVES
    for lesson, names in getattr(importlib.import_module(shelf), "FOLLOW_UPS", {}).items()
}


def test_follow_ups_come_directly_after_their_lesson_also_from_another_shelf():
    catalogue = Catalogue()
    ids = catalogue.ids()

    there = {
        lesson: tuple(name for name in names if name in ids)
        for lesson, names in DECLARED.items()
        if lesson in ids
    }
    assert {lesson: catalogue.follow_ups(lesson) for lesson in there} == there
    for lesson, names in there.items():
        place = ids.index(lesson)
        assert ids[place : place + 1 + len(names)] == (lesson, *names)
        for name in names:
            assert catalogue.homes[name].follows == lesson
            assert catalogue.shelf(catalogue.load(name)) == catalogue.load(lesson).shelf
    moved = {name for names in there.values() for name in names}
    assert {name for name, home in catalogue.homes.items() if home.follows} == moved
    assert any(
        catalogue.load(name).shelf != catalogue.load(lesson).shelf
        for lesson, names in there.items()
        for name in names
    )


def test_what_is_declared_is_there_and_has_one_place():
    names = [name for each in DECLARED.values() for name in each]
    order = [
        name
        for shelf in SHELVES
        for name in getattr(importlib.import_module(shelf), "EXPERIMENTS", ())
    ]

    assert len({*names}) == len(names)
    assert not {*names} & {*map(id_of, order)}
    assert not {*names} & DECLARED.keys()  # a follow-up leads to no further ones


def test_a_follow_up_stays_on_its_own_shelf_where_its_lesson_is_not():
    name, home = next(
        (n, h) for n, h in homes().items() if h.follows and h.shelf != homes()[h.follows].shelf
    )

    alone = homes((home.shelf,))
    assert alone[name].follows == ""
    listed = [n for n, h in homes().items() if h.shelf == home.shelf and not h.follows]
    assert list(alone)[: len(listed)] == listed  # before those that follow a lesson elsewhere


def test_nobody_waits_for_a_lesson_of_a_follow_up_or_a_tool():
    catalogue = Catalogue()
    kinds = {"lesson_follows": 0, "lesson_of_tool": 0, "lesson_unwritten": 0, None: 0}
    for name, home in catalogue.homes.items():
        why = catalogue.lacks_lesson(catalogue.load(name))
        kinds[why.key if why else None] += 1
        if home.follows or home.is_tool:
            assert not home.has_lesson
            assert why is not None
            assert why.key == ("lesson_follows" if home.follows else "lesson_of_tool")
            assert why.values.get("lesson", "") == home.follows

    assert kinds["lesson_follows"] > 5
    assert kinds["lesson_of_tool"] > 0


def test_an_experiment_is_found_by_its_id():
    experiment = Catalogue().load("gil-threads")

    assert isinstance(experiment, Experiment)
    assert experiment.id == "gil-threads"


@in_one("near", ["gil-thread", "gil_threads", "threads", "GIL-threads"])
def test_an_id_that_is_nearly_right_is_answered_with_the_right_one(near):
    with pytest.raises(UserError) as caught:
        Catalogue().load(near)

    assert caught.value.problem.key == "experiment_unknown_near"
    assert caught.value.problem.values == {"id": near, "near": "gil-threads"}


@pytest.mark.parametrize(
    ("begun", "near"),
    [("cach", "cache-ladder"), ("LAD", "cache-ladder"), ("pin", "pinned")],
)
def test_an_id_that_is_begun_is_nearer_than_one_with_like_letters(begun, near):
    with pytest.raises(UserError) as caught:
        Catalogue().load(begun)

    assert caught.value.problem.values == {"id": begun, "near": near}


@in_one("nonsense", ["", "xyzzy", "../../etc/passwd", "qq"])
def test_an_id_that_is_nothing_like_any_is_refused(nonsense):
    with pytest.raises(UserError) as caught:
        Catalogue().load(nonsense)

    assert caught.value.problem.key == "experiment_unknown"


def test_a_catalogue_can_have_other_shelves():
    assert Catalogue(("experiments.memory",)).ids()[:2] == ("cache-ladder", "burst-random")
