from __future__ import annotations

import json

import pytest

from experiments.core import words
from experiments.engine.recording import read

ENGLISH = words.load("en")
RACE = ("run", "my-start-cost", "--beside", "--quick", "--set", "rounds=6",
        "--set", "methods=call,thread")  # fmt: skip
LOOP = "        thread.join()\n"  # of the threads, which come first


@pytest.fixture
def copy(coreopsis, inside):
    """Return the file of the loop in a copy of start-cost."""
    said = inside("new", "my-start-cost", "--from", "start-cost")
    assert said.code == 0
    assert "my-start-cost --beside" in said.out.replace("\n", " ")
    return coreopsis.data / "experiments" / "my_start_cost" / "start_jobs.py"


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_copy_and_its_original_are_raced_and_kept_as_a_pair(coreopsis, inside, copy):
    said = coreopsis(*RACE)

    assert (said.code, said.err) == (0, "")
    assert "A  start-cost, the original" in said.out
    assert "B  my-start-cost, your copy" in said.out
    kept = {s.experiment: s for s in (read(path).started for path in coreopsis.runs)}
    a, b = kept["start-cost"], kept["my-start-cost"]
    assert a.pair == b.pair == a.run
    assert a.params == b.params
    compared = inside("compare", a.run[:8], b.run[:8])
    assert compared.code == 0, compared.err


def test_a_slowed_loop_is_slower(coreopsis, inside, copy):
    change(copy, LOOP, f"{LOOP}        time.sleep(0.02)\n")
    said = inside(*RACE, "--json", "--no-keep")

    assert said.code == 0
    assert "times slower" in json.loads(said.out)["verdict"]
    assert coreopsis.runs == []


@pytest.mark.parametrize(
    ("new", "line", "says"),
    [
        ("        thread.join(\n", 91, "'(' was never closed"),
        ("        thread.joined()\n", 91, "AttributeError: 'Thread' object has no attribute"),
    ],
)
def test_a_copy_that_breaks_is_a_sentence_with_its_line_and_nothing_is_kept(
    coreopsis, inside, copy, new, line, says
):
    change(copy, LOOP, new)
    said = inside(*RACE)

    told = " ".join(said.err.split())
    assert said.code != 0
    assert f"start_jobs.py, line {line}: {says}" in told
    assert coreopsis.runs == []
    unharmed = inside("run", "start-cost", "--quick", "--set", "rounds=1", "--set", "methods=call")
    assert unharmed.code == 0


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("run", "start-cost", "--beside"), "not_a_copy"),
        (("new", "mine", "--from", "nonsuch"), "experiment_unknown"),
        (("new", "mine", "--start"), "start_without_from"),
        (("new", "mine", "--from", "race", "--start"), "mine_no_start"),
        (("new", "race", "--from", "race"), "own_id_taken"),
    ],
)
def test_what_cannot_be_is_one_sentence(inside, arguments, key):
    said = inside(*arguments)

    values = {"id": "start-cost" if "start-cost" in arguments else "race"}
    assert said.code == 2
    if key != "experiment_unknown":
        assert said.sentence == ENGLISH.say(f"problems.{key}", values)


def test_the_original_in_another_version_asks_for_a_new_copy(coreopsis, inside, copy):
    change(copy.with_name("experiment.py"), "    version=2,\n", "    version=7,\n")
    said = inside(*RACE)

    assert said.code == 2
    assert "Make a new copy" in said.err


def test_one_run_alone_is_meant_by_some_options(inside, copy, tmp_path):
    said = inside(*RACE, "--out", tmp_path / "x.coreopsis.jsonl")

    assert said.code == 2
    assert "--out" in said.sentence
