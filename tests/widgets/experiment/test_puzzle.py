from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from experiments.core import words
from experiments.core.views import BROKEN, MENDED, Code
from experiments.numbers.clinic.experiment import EXPERIMENT, PIECES, STATIONS
from widgets.experiment.code_line import LINE_ROLE, Line, Mark
from widgets.experiment.puzzle import Puzzle
from widgets.style import theme as themes
from widgets.style.look import Look

ENGLISH = words.load("en")
(VIEW,) = (view for view in EXPERIMENT.views if isinstance(view, Code))


@pytest.fixture
def look(qapp) -> Look:
    return Look(themes.load("dark"))


@pytest.fixture
def make(qtbot, look):
    def make(zoom: float = 1.0, width: int = 800) -> Puzzle:
        look.theme = themes.load("dark", zoom)
        puzzle = Puzzle(EXPERIMENT, VIEW, ENGLISH, look)
        qtbot.addWidget(puzzle)
        puzzle.resize(width, 900)
        puzzle.fit(width)
        with qtbot.waitExposed(puzzle):
            puzzle.show()
        return puzzle

    return make


@pytest.fixture
def puzzle(make) -> Puzzle:
    return make()


@pytest.fixture
def heard(monkeypatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(
        "widgets.experiment.puzzle.announce", lambda _widget, text: said.append(text)
    )
    return said


@pytest.mark.parametrize("changed", ["# mine\n", ""])
def test_a_program_that_was_changed_names_no_line_sound(qtbot, look, changed):
    piece = PIECES[1]
    mine = replace(piece, broken=changed + piece.mended)
    puzzle = Puzzle(EXPERIMENT, replace(VIEW, pieces=(mine, *PIECES[2:])), ENGLISH, look)
    qtbot.addWidget(puzzle)
    for version in (BROKEN, MENDED):
        puzzle.show_version(version)
        puzzle.choose(2)
        shown = [line(puzzle, n) for n in range(1, puzzle.lines.model().rowCount() + 1)]
        assert "\n".join(each.text for each in shown) == mine.text(version).strip()
        assert {each.mark for each in shown} == {Mark.NONE}
    puzzle.show_version(BROKEN)
    said = [each.text() for each in puzzle.findChildren(QLabel)]
    assert ENGLISH.say("puzzle.changed_program") in said


def line(puzzle: Puzzle, number: int) -> Line:
    return puzzle.lines.model().index(number - 1, 0).data(LINE_ROLE)


def click(puzzle: Puzzle, number: int) -> None:
    place = puzzle.lines.visualRect(puzzle.lines.model().index(number - 1, 0)).center()
    QTest.mouseClick(puzzle.lines.viewport(), Qt.MouseButton.LeftButton, pos=place)


def marks(puzzle: Puzzle) -> dict[int, Mark]:
    found = (line(puzzle, row + 1) for row in range(puzzle.lines.model().rowCount()))
    return {each.number: each.mark for each in found if each.mark is not Mark.NONE}


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.key)
def test_every_fault_is_shown_mended_and_is_found_by_a_click_and_explained(puzzle, piece):
    puzzle.show_piece(piece.key)
    puzzle.versions.buttons[MENDED].click()
    assert marks(puzzle) == dict.fromkeys(piece.fault_lines(), Mark.CHANGED)
    for number in piece.fault_lines():
        assert line(puzzle, number).text == piece.mended.splitlines()[number - 1]
        assert piece.broken.splitlines()[number - 1].strip() in line(puzzle, number).code
    assert not puzzle.rest.isVisible()

    puzzle.versions.buttons[BROKEN].click()
    for number, fault in piece.fault_lines().items():
        click(puzzle, number)

        assert line(puzzle, number).mark is Mark.FOUND
        assert line(puzzle, number).note == ENGLISH.say(f"clinic.faults.{fault}")
        assert piece.mended.splitlines()[number - 1].strip() in line(puzzle, number).code

    assert set(marks(puzzle)) == set(piece.fault_lines())
    assert not puzzle.rest.isVisible()
    total = len(piece.faults)
    assert puzzle.pieces.buttons[piece.key].text().endswith(f"{total}/{total}")


def test_no_sound_line_is_a_fault(puzzle, heard):
    piece = PIECES[0]
    puzzle.show_piece(piece.key)
    for number in set(range(1, len(piece.broken.splitlines()) + 1)) - set(piece.fault_lines()):
        click(puzzle, number)

        assert marks(puzzle) == {number: Mark.SOUND}
        assert heard[-1] == "This line is sound"
    assert puzzle.pieces.buttons[piece.key].text().endswith(f"0/{len(piece.faults)}")


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_a_fault_is_found_by_the_keyboard_alone(puzzle, key, heard):
    first = min(PIECES[0].fault_lines())
    puzzle.lines.setFocus()
    for _ in range(first - 1):
        QTest.keyClick(puzzle.lines, Qt.Key.Key_Down)
    QTest.keyClick(puzzle.lines, key)

    assert marks(puzzle) == {first: Mark.FOUND}
    assert heard[-1].startswith("Found. Mended: words = 5008. A GPU")


def test_where_the_keyboard_goes_is_told_so_that_it_can_be_scrolled_to(puzzle, qtbot):
    puzzle.lines.setFocus()
    with qtbot.waitSignal(puzzle.moved) as moved:
        QTest.keyClick(puzzle.lines, Qt.Key.Key_End)

    assert puzzle.rect().contains(moved.args[0].center())
    assert moved.args[0].top() > puzzle.height() / 3


def test_what_was_not_found_is_shown_on_request_and_does_not_count_as_found(puzzle):
    first, *others = PIECES[0].fault_lines()
    click(puzzle, first)
    puzzle.rest.click()

    assert marks(puzzle) == {first: Mark.FOUND, **dict.fromkeys(others, Mark.SHOWN)}
    assert puzzle.pieces.buttons[PIECES[0].key].text() == "Next word 1/3"
    click(puzzle, others[0])
    assert marks(puzzle)[others[0]] is Mark.SHOWN


def test_what_was_found_is_kept_while_another_piece_is_looked_at(puzzle):
    number = min(PIECES[0].fault_lines())
    click(puzzle, number)
    puzzle.pieces.buttons[STATIONS].click()
    assert marks(puzzle) == {}
    puzzle.pieces.buttons[PIECES[0].key].click()

    assert marks(puzzle) == {number: Mark.FOUND}


def said(puzzle) -> list[str]:
    texts = (each.text() for each in puzzle.findChildren(QLabel) if each.isVisible())
    return [text.replace("\N{NO-BREAK SPACE}", " ") for text in texts]


def test_the_checker_is_quoted_only_where_it_gives_nothing_away(puzzle):
    row = SimpleNamespace(
        piece=PIECES[0].key, version=BROKEN, where="0 Embedding", kind="no_multiple", detail="511"
    )
    puzzle.draw([row], {})
    assert not any("checker" in text for text in said(puzzle))

    puzzle.show_rest()
    assert "The checker says: 0 Embedding: no multiple of 8 (511)." in said(puzzle)

    puzzle.show_version(MENDED)
    assert ENGLISH.say("puzzle.checker_silent") in said(puzzle)

    puzzle.draw([], {})
    assert not any("checker" in text for text in said(puzzle))


@pytest.mark.parametrize("zoom", [1.0, 2.0])
def test_the_list_is_as_high_as_its_lines_at_every_width(make, zoom):
    puzzle = make(zoom)
    lines = puzzle.lines
    for piece, width in itertools.product(PIECES, (300, 1000)):
        puzzle.resize(width, 900)
        puzzle.fit(width)
        puzzle.show_piece(piece.key)
        puzzle.show_rest()
        QApplication.processEvents()
        lines.doItemsLayout()
        last = lines.visualRect(lines.model().index(lines.model().rowCount() - 1, 0))

        assert abs(last.bottom() + 1 - lines.viewport().height()) <= 1
        assert lines.verticalScrollBar().maximum() <= 1


def test_a_long_line_goes_on_in_other_rows_and_none_of_it_is_lost(puzzle):
    painter = puzzle.lines.painter
    for piece, width in itertools.product(PIECES, (10, 200, 300, 560, 1000)):
        painter.width = width
        for text in (*piece.broken.splitlines(), "", "a" * 200, " " * 40 + "b" * 40):
            rows = painter._rows(text)  # noqa: SLF001  (rows are only painted)
            assert "".join(text[start:end] for start, end in rows) == text


def test_each_line_is_spoken_with_what_is_known_of_it(puzzle):
    number = min(PIECES[0].fault_lines())
    click(puzzle, number)
    found = QAccessible.queryAccessibleInterface(puzzle.lines)

    assert found.text(QAccessible.Text.Name) == "Next word: program lines"
    assert found.role() == QAccessible.Role.List
    spoken = found.child(number - 1).text(QAccessible.Text.Name)
    assert spoken.startswith("6: words = 5001. Found. Mended: words = 5008. A GPU")


def test_another_theme_is_worn_at_once(puzzle, look):
    before = puzzle.lines.height()
    look.theme = themes.load("light", 1.6)
    look.changed.emit()

    assert puzzle.lines.height() > 1.4 * before
