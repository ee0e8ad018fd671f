from __future__ import annotations

import re
from importlib.resources import files

import pytest
from PySide6.QtGui import QColor

from tests.cases import in_one
from widgets.style.theme import MODES, ink_on, load, load_colour, mixed, word_on

WORDS = ("ink", "soft", "accent_word", "attention", "fault", "good")
MARKS = ("accent",)


def luminance(colour: str) -> float:
    """Return the relative luminance (WCAG 2.1)."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@in_one("mode", MODES)
@in_one("behind", ["ground", "panel", "aside"])
def test_words_can_be_read_on_every_ground(mode, behind):
    theme = load(mode)

    for name in WORDS:
        assert contrast(getattr(theme, name), getattr(theme, behind)) >= 4.5, name
    for colour in theme.series_words:
        assert contrast(colour, getattr(theme, behind)) >= 4.5, colour


@in_one("mode", MODES)
@in_one("behind", ["ground", "panel"])
def test_marks_can_be_seen_on_every_ground(mode, behind):
    theme = load(mode)

    series = [theme.series_colour(place) for place in range(2 * len(theme.series))]
    assert len(set(series)) == len(series)
    for colour in (*series, *(getattr(theme, name) for name in MARKS)):
        assert contrast(colour, getattr(theme, behind)) >= 3.0, colour


@pytest.mark.parametrize("mode", MODES)
def test_words_on_what_is_chosen_can_be_read(mode):
    theme = load(mode)

    assert contrast(theme.on_accent, theme.accent) >= 4.5
    assert contrast(theme.accent_word, theme.accent_wash) >= 4.5


@pytest.mark.parametrize("mode", MODES)
def test_every_word_can_be_read_on_a_selected_line(mode):
    theme = load(mode)

    for name in WORDS:
        assert contrast(getattr(theme, name), theme.accent_wash) >= 4.5, name


@pytest.mark.parametrize("mode", MODES)
def test_colours_of_code_can_be_read(mode):
    theme = load(mode)
    colours = [theme.accent_word, theme.soft]
    colours += [theme.series_colour(place, word=True) for place in (1, 2)]

    for colour in colours:
        assert contrast(colour, theme.panel) >= 4.5
    assert contrast(theme.ink, theme.accent_wash) >= 4.5  # where it is selected


@pytest.mark.parametrize("mode", MODES)
def test_numbers_on_colours_of_load_can_be_read(mode):
    theme = load(mode)

    for step in range(101):
        colour = load_colour(theme, step / 100)
        assert contrast(ink_on(colour).name(), colour.name()) >= 4.5, step


@pytest.mark.parametrize("mode", MODES)
def test_a_word_takes_as_much_ink_as_it_needs_and_no_more(mode):
    theme = load(mode)
    ink, panel = QColor(theme.ink), QColor(theme.panel)
    assert word_on(ink, panel, ink) == ink

    for colour in (theme.line, theme.soft, *theme.series):
        for behind in (panel, mixed(panel, QColor(colour), 0.3)):
            word = word_on(QColor(colour), behind, ink)
            assert contrast(word.name(), behind.name()) >= 4.4, colour  # name() rounds
            if contrast(colour, behind.name()) >= 4.5:
                assert word.name() == colour.lower()


@in_one("mode", MODES)
@in_one("behind", ["ground", "panel", "line"])
def test_a_ring_around_what_has_the_focus_is_seen(mode, behind):
    """Beside a hairline too: without the focus there is one in its place."""
    theme = load(mode)

    for name in ("accent", "attention", "ink"):
        assert contrast(getattr(theme, name), getattr(theme, behind)) >= 3.0, name


def test_text_grows_with_the_zoom():
    assert load("dark", 1.6).px("text") == 22
    assert load("dark").px("title") == 25


def test_icons_take_the_colour_of_the_theme():
    for entry in files("resources").joinpath("icons").iterdir():
        text = entry.read_text(encoding="utf-8")
        assert "currentColor" in text, entry.name
        assert not re.search(r"<(script|image|use|text)\b", text), entry.name


def test_a_font_has_figures_of_one_width(qapp):
    from PySide6.QtGui import QFontInfo, QFontMetricsF

    from widgets.style import theme

    theme.add_fonts()
    font = load("light").font("text")

    assert QFontInfo(font).family() == "Inter"
    widths = {QFontMetricsF(font).horizontalAdvance(figure) for figure in "0123456789"}
    assert len(widths) == 1


def test_an_icon_is_drawn_in_its_colour(qapp):
    from widgets.style.icons import pixmap

    picture = pixmap("stop", "#D55E00", 24, 2.0).toImage()
    colours = {
        picture.pixelColor(x, y).name()
        for x in range(picture.width())
        for y in range(picture.height())
        if picture.pixelColor(x, y).alpha() == 255
    }

    assert "#d55e00" in colours
