from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel

from tests.widgets.sheets.below import WORDS, Below
from widgets.sheets import credits
from widgets.sheets.about import About
from widgets.sheets.credits import LGPL, all_credits, versions

CREDITS = {credit.name: credit for credit in all_credits()}


def opened(qtbot, *, zoom: float = 1.0, size: tuple[int, int] = (1280, 720)) -> About:
    window = Below(qtbot, zoom=zoom)
    window.resize(*size)
    about: Any = About(WORDS, window.look, window)
    about.window_below = window
    about.open()
    QApplication.processEvents()
    return about


# --- whose work it is ---------------------------------------------------------------------------


def test_versions_are_those_that_run():
    import PySide6

    found = dict(versions())

    assert found["Python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["PySide6"] == PySide6.__version__
    assert set(found) >= {"Coreopsis", "Qt", "NumPy"}


def test_reading_them_imports_nothing_of_them():
    code = (
        "import sys; from widgets.sheets.credits import all_credits, versions; "
        "[credit.read() for credit in all_credits()]; versions(); "
        "sys.exit('numpy' in sys.modules or 'torch' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ours_comes_first_then_the_fonts_then_qt():
    assert list(CREDITS)[:4] == ["Coreopsis", "Inter, JetBrains Mono", *LGPL]
    assert "MIT License" in CREDITS["Coreopsis"].read()
    assert "SIL OPEN FONT LICENSE" in CREDITS["Inter, JetBrains Mono"].read()


def test_qt_comes_with_the_whole_lgpl():
    for name in LGPL:
        text = CREDITS[name].read()
        assert CREDITS[name].licence == "LGPL-3.0-only"
        assert "GNU LESSER GENERAL PUBLIC LICENSE" in text
        assert "GNU GENERAL PUBLIC LICENSE" in text


def test_every_library_that_is_asked_for_and_what_it_needs_is_named():
    names = {re.sub(r"[-_.]+", "-", name).lower() for name in CREDITS}

    assert {"numpy", "msgspec", "psutil", "rich", "jinja2"} <= names
    assert {"markupsafe", "pygments", "llvmlite"} <= names  # needed by those
    assert not names & {"pytest", "ruff", "mypy", "hypothesis"}


def test_each_has_terms_or_a_text():
    for credit in CREDITS.values():
        assert credit.licence or credit.read(), credit.name


def test_what_is_not_installed_is_left_out(monkeypatch):
    # Whatever the program needs is installed where its tests run.
    monkeypatch.setattr(credits, "_needs", lambda name: ["no-such-thing"] if name else [])

    assert [credit.name for credit in all_credits()][2:] == []


# --- how it is shown ----------------------------------------------------------------------------


def test_the_program_and_its_promises_come_first(qtbot):
    about = opened(qtbot)
    shown = [words.text() for words in about.findChildren(QLabel) if words.isVisible()]

    assert WORDS.say("about.no_account") in shown
    assert dict(versions())["Qt"] in shown


def test_versions_are_copied(qtbot):
    about = opened(qtbot)

    qtbot.mouseClick(about.program.copy, Qt.MouseButton.LeftButton)

    assert f"Qt {dict(versions())['Qt']}" in QGuiApplication.clipboard().text().split("\n")


def test_licences_are_reached_and_read_by_keys_alone(qtbot):
    about = opened(qtbot)
    qtbot.keyClick(about.pages.buttons["program"], Qt.Key.Key_Right)
    assert about.licences.isVisible()

    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert about.licences.list.hasFocus()
    for _ in range(2):
        qtbot.keyClick(about.licences.list, Qt.Key.Key_Down)

    assert "Lesser General Public License" in about.licences.terms.text()
    assert "LESSER" in about.licences.text.toPlainText()
    qtbot.keyClick(about.licences.list, Qt.Key.Key_Tab)
    assert about.licences.text.hasFocus()
    qtbot.keyClicks(about.licences.text, "x")
    assert about.licences.text.toPlainText() == CREDITS[LGPL[0]].read()


@pytest.mark.parametrize("zoom", [1.0, 1.6, 2.0])
@pytest.mark.parametrize("size", [(1440, 900), (820, 560)])
def test_it_stays_within_the_window(qtbot, zoom, size):
    about = opened(qtbot, zoom=zoom, size=size)
    about.show_page("licences")
    QApplication.processEvents()

    assert about.window_below.rect().contains(about.sheet.geometry())
    assert about.licences.text.visibleRegion().boundingRect().height() >= 30
