from __future__ import annotations

import pytest

from experiments.core import words
from experiments.core.words import Words

CATALOGUE = {
    "notes": {"kept": "Kept {rows} rows in {file}.", "deep": {"er": "further down"}},
    "plain": "nothing to fill in",
}


def test_a_text_is_found_by_its_dotted_key():
    said = Words(CATALOGUE)

    assert said.say("plain") == "nothing to fill in"
    assert said.say("notes.deep.er") == "further down"


def test_a_value_is_shown_in_the_unit_that_its_name_ends_in():
    said = Words({"text": "{latency_s}, {size_bytes}, {a_over_b}, {count}, {used_fraction}"})
    values = {
        "latency_s": 1.5e-7,
        "size_bytes": 2**20,
        "a_over_b": 2.5,
        "count": 3,
        "used_fraction": 0.5,
    }

    assert said.say("text", values) == "150 ns, 1 MiB, 2.50×, 3, 50 %"


def test_a_text_or_a_truth_is_filled_in_as_it_is():
    said = Words({"text": "{name_s} and {flag_s}"})

    assert said.say("text", {"name_s": "{not} a [placeholder]", "flag_s": True}) == (
        "{not} a [placeholder] and True"
    )


def test_a_missing_text_shows_its_key_and_a_missing_value_its_placeholder():
    said = Words(CATALOGUE)

    assert said.say("notes.unheard_of", {"rows": 3}) == "notes.unheard_of"
    assert said.say("notes.kept", {"rows": 3}) == "Kept 3 rows in {file}."
    assert said.say("notes.kept") == "Kept {rows} rows in {file}."


def test_keys_are_listed_by_their_beginning():
    said = Words(CATALOGUE)

    assert said.has("notes.deep.er")
    assert not said.has("notes.deep")
    assert said.keys("notes.") == ("notes.kept", "notes.deep.er")
    assert len(said.keys()) == 3


def test_a_text_may_have_several_keys():
    said = Words({"because": {"slower, slower_unclear": "Because it waits."}})

    assert said.keys() == ("because.slower", "because.slower_unclear")
    assert said.say("because.slower_unclear") == "Because it waits."


def test_the_english_words_can_be_read():
    english = words.load("en")

    assert english.say("shelves.memory") == "Memory"


def test_a_text_is_there_for_a_second_thread_while_the_first_still_reads_it(monkeypatch):
    english, said = words.load("en"), []
    flatten = words._flatten  # noqa: SLF001  (between its two steps)

    def flatten_and_meanwhile(*given) -> None:
        if not said:
            said.append(None)
            said[0] = english.say("shelves.memory")  # as another thread may, between two steps
        flatten(*given)

    monkeypatch.setattr(words, "_flatten", flatten_and_meanwhile)

    assert english.say("shelves.python-at-work") == "Python at work"
    assert said == ["Memory"]


@pytest.mark.parametrize(
    ("count", "said"), [(1, "one core of 8 is busy"), (3, "3 cores of 8 are busy")]
)
def test_a_text_has_a_form_for_one_and_one_for_many(count, said):
    text = "{count|one core|{count} cores} of {all} {count|is|are} busy"
    assert words.fill(text, {"count": count, "all": 8}) == said
    assert [*dict.fromkeys(words.asked(text))] == ["count", "all"]
