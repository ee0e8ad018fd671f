"""Every text of the program keeps the rules of plain words; docstrings and pages do not yet."""

from __future__ import annotations

import pytest

from tests.tools.plain_words import EXCEPTIONS, broken, texts, words_files


def test_every_text_is_plain():
    found = [
        f"{place}: {rule}: {text}"
        for path in words_files()
        for place, text in texts(path)
        for rule in broken(place, text)
    ]
    assert not found, "\n".join(found)
    assert len(EXCEPTIONS) <= 10


@pytest.mark.parametrize(
    "text",
    [
        "Which core it is stands below.",
        "The badge tells why.",
        "It needs two things: a core: and time.",
        f"{'word ' * 21}.",
    ],
)
def test_what_is_not_plain_is_noticed(text):
    assert list(broken("page.text", text))


def test_what_cannot_tell_may_say_so():
    assert not list(broken("page.text", "This run cannot tell."))
