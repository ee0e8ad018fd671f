from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from widgets.sheets.fuzzy import rank

LADDER, RECYCLE = "Cache ladder", "Recycle"


def found(pattern: str, *texts: str) -> list[str]:
    return [texts[hit.number] for hit in rank(pattern, [(text, "", ()) for text in texts])]


def places(pattern: str, text: str) -> tuple[int, ...]:
    (hit,) = rank(pattern, [(text, "", ())])
    return hit.places


def test_letters_are_found_in_their_order_only():
    assert found("cl", LADDER) == [LADDER]
    assert found("lc", "cl") == []
    assert found("cll", "cl") == []


def test_starts_of_words_win():
    assert found("cl", RECYCLE, LADDER) == [LADDER, RECYCLE]
    assert places("cl", LADDER) == (0, 6)


def test_letters_in_a_row_win_over_scattered_ones():
    assert found("run", "Rebuild under noise", "Show the runs")[0] == "Show the runs"
    assert places("lad", "a lot and ladder") == (10, 11, 12)


def test_the_shorter_of_two_equal_texts_comes_first():
    assert found("map", "Map of a machine", "Map") == ["Map", "Map of a machine"]


def test_equally_good_texts_keep_their_order():
    assert found("a", "ab", "ac", "ad") == ["ab", "ac", "ad"]


def test_words_are_found_in_any_order():
    assert places("ladder cache", LADDER) == (0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11)


def test_case_does_not_matter_and_places_stay_right():
    assert places("BYTE", "İ a byte") == (4, 5, 6, 7)


def test_a_word_of_a_detail_comes_before_letters_scattered_in_a_text():
    texts = [("Back to the place before", "", ()), ("How far is a byte?", "cache-ladder", ())]

    assert [hit.number for hit in rank("cace", texts[:1])] == [0]
    assert [hit.number for hit in rank("ca", texts)] == [1]


def test_whole_words_come_before_starts_before_first_letters_before_parts():
    texts = ["Not the gilded one", "Ask: gil", "gilded age", "Great ideas last", "Abigil"]

    assert found("gil", *texts) == [texts[1], texts[2], texts[0], texts[3], texts[4]]
    assert found("xgil", *texts) == []


def test_letters_here_and_there_are_asked_for_only_where_nothing_else_fits():
    assert found("cache", "Can a GPU copy and compute here?", "Caches") == ["Caches"]
    assert found("cache", "Can a GPU copy and compute here?") != []


def test_what_was_found_in_a_phrase_about_a_text_is_shown_beside_it():
    texts = [("How far is a byte?", "ladder", ("Caches", "Huge pages")), ("Huge", "", ())]

    assert [hit.number for hit in rank("huge", texts)] == [1, 0]
    hit = rank("huge", texts)[1]
    assert hit.detail == "ladder · Huge pages"
    assert "".join(hit.detail[place] for place in hit.detail_places) == "Huge"
    assert rank("uge", texts[:1]) == []


def test_no_letters_find_everything_in_its_order():
    assert found("  ", "long", "b", "a") == ["long", "b", "a"]


def test_a_detail_is_found_from_the_start_of_a_word_and_after_the_texts():
    texts = [
        ("How far is a byte?", "Caches and latency", ()),
        ("Latency", "", ()),
        ("Map", "of tency", ()),
    ]

    hits = rank("late", texts)

    assert [hit.number for hit in hits] == [1, 0]
    assert hits[1].detail_places == (11, 12, 13, 14)
    assert rank("tenc", texts[:1]) == []


@given(st.text(max_size=12), st.text(max_size=60))
def test_what_is_found_stands_there(pattern, text):
    for hit in rank(pattern, [(text, "", ())]):
        assert list(hit.places) == sorted(set(hit.places))
        assert all(0 <= place < len(text) for place in hit.places)


@given(st.text(alphabet="abc ", max_size=30), st.data())
def test_any_letters_left_out_of_a_text_still_find_it(text, data):
    kept = [letter for letter in text if data.draw(st.booleans())]

    assert found("".join(kept).replace(" ", ""), text) == [text]


def test_five_hundred_texts_are_ranked_between_two_key_strokes():
    texts = [
        (f"How fast is the number {n} of all experiments?", "a topic", ("Rounds",))
        for n in range(500)
    ]

    start_s = time.process_time()
    assert len(rank("how fast exper", texts)) == 500
    assert time.process_time() - start_s < 0.2  # 30 ms alone on one core
