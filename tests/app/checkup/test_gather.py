import json

import pytest

from app.checkup.gather import Node, gather, to_json
from app.checkup.in_words import odd_text
from experiments.checkup.result import Word
from experiments.core import words
from tests.app.checkup.made import bandwidth, checkup, disturbed, fact
from tests.cases import in_one


def nodes(*middles, **more):
    return [
        Node(f"n{place}", checkup(bandwidth(middle, seed=place), id=str(place), **more))
        for place, middle in enumerate(middles)
    ]


def test_equal_machines_have_no_odd_one():
    gathered = gather(nodes(40e9, 40e9, 40e9, 40e9))
    assert gathered.odd == ()
    assert gathered.kinds == 1
    assert gathered.word is Word.FINE


def test_the_slow_one_of_eight_is_named():
    gathered = gather(nodes(*[40e9] * 5, 30e9, 40e9, 40e9))
    (odd,) = gathered.odd
    assert odd.name == "n5"
    assert odd.ratio == pytest.approx(0.75, abs=0.02)
    assert odd.word is Word.PROBLEM
    assert gathered.word is Word.PROBLEM
    assert "n5" in odd_text(words.load(), odd)
    said = [machine["word"] for machine in to_json(gathered)["machines"]]
    assert said == ["fine"] * 5 + ["problem"] + ["fine"] * 2


def test_a_row_that_others_disturbed_is_neither_odd_nor_a_measure():
    busy = Node("busy", checkup(disturbed(20e9), id="busy"))
    gathered = gather([*nodes(40e9, 40e9, 40e9), busy])
    assert gathered.odd == ()
    assert gathered.word is Word.FINE
    # Two are left to compare it with, but for the disturbed one.
    assert gather([*nodes(40e9, 40e9, 30e9)]).odd
    slow = [Node("busy", checkup(disturbed(60e9), id="busy")), *nodes(40e9, 40e9)]
    assert gather(slow).odd == ()


def test_the_fast_one_is_not_odd_nor_makes_the_others_so():
    assert gather(nodes(*[40e9] * 6, 60e9)).odd == ()


def test_of_two_nobody_knows_which_is_odd():
    gathered = gather(nodes(40e9, 20e9))
    assert gathered.odd == ()
    assert gathered.alone == ("n0", "n1")


def test_machines_of_other_parts_are_not_compared():
    slow = nodes(20e9, machine={"cpu": {"model": "A slower one"}})[0]
    gathered = gather([*nodes(40e9, 40e9, 40e9), Node("slow", slow.result)])
    assert gathered.odd == ()
    assert gathered.kinds == 2
    assert gathered.alone == ("slow",)


def test_false_alarms_stay_rare():
    alarms = sum(
        bool(gather([Node(str(n), checkup(bandwidth(seed=100 * trial + n))) for n in range(8)]).odd)
        for trial in range(100)
    )
    assert alarms <= 2


def test_a_problem_of_one_is_that_of_all():
    bad = Node("bad", checkup(fact(word=Word.PROBLEM, reason="recent", count=1, example="x")))
    assert gather([*nodes(40e9, 40e9), bad]).word is Word.PROBLEM


def test_the_json_holds_every_machine():
    plain = json.loads(json.dumps(to_json(gather(nodes(40e9, 40e9, 40e9, 20e9)))))
    assert plain["format"] == "coreopsis.gathered"
    assert [machine["name"] for machine in plain["machines"]] == ["n0", "n1", "n2", "n3"]
    assert [odd["name"] for odd in plain["odd"]] == ["n3"]


def test_rows_of_other_versions_of_a_rule_are_not_compared():
    older = Node("older", checkup(bandwidth(20e9, version=0)))
    assert gather([*nodes(40e9, 40e9, 40e9), older]).odd == ()


@in_one("size", [10**400, "9" * 400, "²", "9" * 5000, 1.5])
def test_a_strangers_size_of_the_memory_ends_nothing(size):
    odd = Node("odd", checkup(machine={"memory": {"total_bytes": size}}))
    assert gather([*nodes(40e9, 40e9, 40e9), odd]).alone == ("odd",)
