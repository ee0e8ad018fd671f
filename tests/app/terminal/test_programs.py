from __future__ import annotations

import io
from types import SimpleNamespace

from rich.console import Console

from app.terminal.programs import puzzle, solution
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.views import BROKEN
from tests.cases import in_one

ENGLISH = words.load("en")
CLINIC = Catalogue().load("clinic")
VIEW = CLINIC.views[0]


def printed(drawn, width: int = 80) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width).print(drawn)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_all_that_will_be_run_is_shown_before_and_nothing_is_given_away():
    lines = printed(puzzle(ENGLISH, CLINIC))

    for piece in VIEW.pieces:
        for number, text in enumerate(piece.broken.splitlines(), 1):
            assert f"{number:2}  {text}".rstrip() in lines
        assert not any(ENGLISH.say(f"clinic.faults.{key}")[:40] in lines for key in piece.faults)


def test_an_experiment_without_programs_shows_none():
    assert puzzle(ENGLISH, Catalogue().load("stream")) is None


@in_one("width", [40, 60, 80, 200])
def test_every_fault_is_explained_and_the_checker_is_quoted(width):
    row = SimpleNamespace(
        piece="next_word", version=BROKEN, where="1 Linear", kind="no_multiple", detail="5001"
    )
    lines = printed(solution(ENGLISH, CLINIC, VIEW, [row]), width)
    said = " ".join(" ".join(lines).split())

    for piece in VIEW.pieces:
        for key in piece.faults:
            assert ENGLISH.say(f"clinic.faults.{key}") in said
    assert "The checker says: 1 Linear: no multiple of 8 (5001)." in said
    assert max(map(len, lines)) <= width


def test_without_a_run_the_checker_says_nothing():
    assert "checker" not in " ".join(printed(solution(ENGLISH, CLINIC, VIEW, [])))
