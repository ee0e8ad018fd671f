from __future__ import annotations

from experiments.core import words
from experiments.core.teaching.motion import Motion, Say, Scene
from experiments.core.teaching.motion_words import factor_text, moment_text, said_at, time_text
from tests.cases import in_one

ENGLISH = words.load("en")


def lasting(duration_s: float, **more) -> Motion:
    stills = (0.0, duration_s / 2, duration_s)
    return Motion(scenes=(Scene(events=()),), duration_s=duration_s, stills=stills, **more)


@in_one(
    ("duration_s", "share", "text"),
    [
        (207e-9, 0.4831, "100 of 207 ns"),
        (3.85e-9, 0.5, "1.93 of 3.85 ns"),
        (0.4, 0.0, "0 of 400 ms"),
        (207e-9, 1.0, "207 of 207 ns"),
    ],
)
def test_the_time_has_one_unit_and_as_many_places_as_the_whole(duration_s, share, text):
    motion = lasting(duration_s)
    assert time_text(ENGLISH, share * duration_s, motion) == text
    number, _, unit = text.partition(" of ")
    assert moment_text(share * duration_s, motion) == f"{number} {unit.partition(' ')[2]}"


@in_one(
    ("slowed", "text"),
    [
        (30e6, "slowed 30 million times"),
        (2e9, "slowed 2 billion times"),
        (40.0, "slowed 40 times"),
        (1.0, "as fast as it was"),
        (0.3, "shown 3.3 times faster"),
        (1e-3, "shown 1 thousand times faster"),
    ],
)
def test_how_much_slower_it_is_shown_stands_in_words(slowed, text):
    assert factor_text(ENGLISH, lasting(1.0, slowed=slowed)) == text


def test_the_sentence_of_a_moment_is_the_last_that_has_begun():
    motion = lasting(1.0, says=(Say(text="late", start_s=0.5), Say(text="early", start_s=0.2)))
    texts = {"early": "First.", "late": "Then."}

    found = [said_at(t_s, motion, texts) for t_s in (0.0, 0.2, 0.49, 0.5, 1.0)]
    assert found == ["", "First.", "First.", "Then.", "Then."]
