from __future__ import annotations

from machine.facts import Facts, Notes, Reason, Unanswered, note
from tests.cases import in_one

WHY, OTHER = Reason("It is so.", "Look."), Reason("It is otherwise.", "Look there.")


def refuse():
    raise Unanswered(WHY)


def test_an_answer_is_kept_with_its_source_and_no_answer_with_its_reason():
    facts = Facts()
    assert facts.ask("a", "here", lambda: 0) == 0
    assert facts.ask("b", "there", refuse) is None
    assert (facts.values, facts.sources) == ({"a": 0}, {"a": "here"})
    assert facts.missing == {"b": WHY}


def test_the_first_reason_stays_and_a_value_takes_its_place():
    facts = Facts()
    facts.lack("a", WHY)
    facts.lack("a", OTHER)
    assert facts.missing == {"a": WHY}
    facts.keep("a", 1, "here")
    facts.lack("a", OTHER)
    assert facts.missing == {}


def test_a_value_that_means_nothing_can_be_dropped():
    facts = Facts()
    facts.keep("a", 1, "here")
    facts.drop("a", WHY)
    assert (facts.values, facts.sources, facts.missing) == ({}, {}, {"a": WHY})


def test_what_another_knows_is_taken_over():
    facts, other = Facts(), Facts()
    facts.keep("a", 1, "here")
    facts.lack("b", OTHER)
    other.keep("b", 2, "there")
    other.lack("a", WHY)
    other.lack("c", WHY)
    facts.take(other)
    assert facts.values == {"a": 1, "b": 2}
    assert facts.missing["c"] == WHY
    assert "a" not in facts.missing


def devices(*all_of_them):
    found = []
    for values in all_of_them:
        facts = Facts()
        for name, value in values.items():
            if isinstance(value, Reason):
                facts.lack(name, value)
            else:
                facts.keep(name, value, "here")
        found.append(facts)
    return found


@in_one(
    ("found", "missing"),
    [
        (devices({"a": WHY}, {"a": WHY}), {"x[*].a": WHY}),
        (devices({"a": WHY}, {"a": OTHER}), {"x[0].a": WHY, "x[1].a": OTHER}),
        (devices({"a": 1}, {"a": OTHER}), {"x[*].a": OTHER}),
        (devices({"a": 1}, {"a": 2}), {}),
        ([], {}),
    ],
)
def test_what_holds_for_all_is_said_once(found, missing):
    notes = Notes()
    note(found, "x", ["a"], notes)
    assert {entry.what: Reason(entry.why, entry.how) for entry in notes.missing} == missing


def test_what_nobody_explained_gets_a_reason_all_the_same():
    notes = Notes()
    note(devices({"a": 1}), "x", ["a", "b"], notes)
    assert notes.sources == {"x[*].a": "here"}
    assert [entry.what for entry in notes.missing] == ["x[*].b"]
