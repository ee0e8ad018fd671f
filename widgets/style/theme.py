"""Colours, fonts and sizes of the window, read from `resources/themes`: one file per mode.

Qt draws in its Fusion style with our palette and our style sheet, `window.qss`. `palette(...)` in a
style sheet does not follow a new palette, so both are set again whenever the theme changes.
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import asdict, dataclass
from typing import Any

from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

from experiments.core.resources import FOLDER, read_resource

MODES = ("light", "dark")
SIZES = {
    "small": 11,
    "note": 12,
    "text": 14,
    "head": 15,
    "verdict": 20,
    "title": 25,
}  # pixels at zoom 1
STEP = 4  # all spaces are multiples of this
ZOOMS = (0.8, 0.9, 1.0, 1.15, 1.3, 1.45, 1.6, 1.8, 2.0)
BUSY_MIDDLE = 0.6
DARKER = 0.35  # of the way to the darker of panel and ink; marks keep a contrast of 3 : 1
WORD_CONTRAST = 4.5
FAINT = 0.5  # of the way from soft words to the ground: disabled links and chips
SANS, MONO = "Inter", "JetBrains Mono"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours of one mode, as #RRGGBB, the zoom of all text, and how bold plots are."""

    mode: str
    zoom: float
    ground: str
    panel: str
    ink: str
    soft: str
    line: str
    aside: str
    accent: str
    accent_word: str
    accent_wash: str
    on_accent: str
    attention: str
    fault: str
    good: str
    series: tuple[str, ...]
    series_words: tuple[str, ...]
    load_low: str
    load_high: str
    is_for_pdf: bool = False  # its fonts substitute no letters: others cannot be searched there
    thin: float = 1.0  # pixels of a plot's thin lines, which do not grow with the zoom
    bar: float = 0.38  # thickness of a bar, as a share of its row

    def px(self, name: str) -> int:
        """Return the height in pixels of one of the six text sizes."""
        return round(SIZES[name] * self.zoom)

    def font(self, name: str, *, weight: int = 400, mono: bool = False) -> QFont:
        """Return a font of one of the six text sizes; digits are equally wide but in PDF."""
        return QFont(
            _font(self.px(name), weight, mono, self.is_for_pdf)
        )  # a copy: whoever has it may change it

    def bold(self, name: str = "note") -> QFont:
        """Return the font of labels and heads of one of the sizes."""
        return self.font(name, weight=QFont.Weight.DemiBold)

    def series_colour(self, place: int, *, word: bool = False) -> str:
        """Return the colour of the series at `place`, or of the words beside it.

        After the last one the colours repeat, as darker marks; labels distinguish them.
        """
        colours = self.series_words if word else self.series
        colour = colours[place % len(colours)]
        if word or place < len(colours):
            return colour
        darker = min(QColor(self.panel), QColor(self.ink), key=QColor.lightness)
        return mixed(QColor(colour), darker, DARKER).name()


def sized_font(px: int, weight: int, *, mono: bool = False) -> QFont:
    """Return a font of any height in pixels, for what grows with its window."""
    return QFont(_font(px, weight, mono, is_for_pdf=False))


@functools.cache
def _font(px: int, weight: int, mono: bool, is_for_pdf: bool) -> QFont:
    """Return a font; what paints asks for thousands."""
    font = QFont(MONO if mono else SANS)
    font.setPixelSize(px)
    font.setWeight(QFont.Weight(weight))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if mono or is_for_pdf:  # signs between digits, such as those of a date; ^= as one sign
        font.setFeature(QFont.Tag("calt"), 0)
    if not is_for_pdf:
        font.setFeature(QFont.Tag("tnum"), 1)
    return font


def load_colour(theme: Theme, busy: float) -> QColor:
    """Return the colour of a load from 0 to 1: one hue, from nearly the panel's to pale blue."""
    low, accent, high = (QColor(name) for name in (theme.load_low, theme.accent, theme.load_high))
    middle = mixed(low, accent, 0.75)  # straight from dark to pale passes through grey
    if busy < BUSY_MIDDLE:
        return mixed(low, middle, max(0.0, busy) / BUSY_MIDDLE)
    return mixed(middle, high, (min(1.0, busy) - BUSY_MIDDLE) / (1 - BUSY_MIDDLE))


def ink_on(colour: QColor) -> QColor:
    """Return black or white, whichever has more contrast with `colour`: at least 4.5 : 1."""
    is_bright = (_luminance(colour) + 0.05) ** 2 > 0.05 * 1.05  # more contrast with black
    return QColor("#000000" if is_bright else "#FFFFFF")


def word_on(colour: QColor, behind: QColor, ink: QColor) -> QColor:
    """Return `colour`, mixed with as much ink as words on `behind` need: at least 4.5 : 1."""
    shades = (mixed(colour, ink, step / 8) for step in range(9))
    return next((shade for shade in shades if contrast(shade, behind) >= WORD_CONTRAST), ink)


def contrast(one: QColor, other: QColor) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2.1)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: QColor) -> float:
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def mixed(one: QColor, other: QColor, share: float) -> QColor:
    """Return the colour at `share` of the way from one to the other."""
    return QColor.fromRgbF(
        one.redF() + (other.redF() - one.redF()) * share,
        one.greenF() + (other.greenF() - one.greenF()) * share,
        one.blueF() + (other.blueF() - one.blueF()) * share,
    )


def load(mode: str, zoom: float = 1.0) -> Theme:
    """Read `resources/themes/MODE.toml`."""
    text = read_resource("themes", f"{mode}.toml")
    colours: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in tomllib.loads(text).items()
    }
    return Theme(mode=mode, zoom=zoom, **colours)


def add_fonts() -> None:
    """Register the bundled fonts with Qt; once per application."""
    for path in FOLDER.joinpath("fonts").iterdir():
        if path.suffix in (".otf", ".ttf"):
            QFontDatabase.addApplicationFont(str(path))


def mode_of(setting: str, application: QApplication) -> str:
    """Return "light" or "dark"; for "system" what the desktop prefers, dark if it does not say."""
    from PySide6.QtCore import Qt  # loads a hundred enums: not before the first paint

    if setting != "system":
        return setting
    scheme = application.styleHints().colorScheme()
    return "light" if scheme is Qt.ColorScheme.Light else "dark"


def apply(application: QApplication, theme: Theme) -> None:
    """Give the whole application this theme."""
    if application.styleSheet():
        # Qt polishes a widget once for each that it lies in where a sheet takes another's place.
        application.setStyleSheet("")
    else:
        application.setStyle("Fusion")
    application.setPalette(palette(theme))
    application.setFont(theme.font("text"))
    application.setStyleSheet(_style_sheet(theme))


def palette(theme: Theme) -> QPalette:
    """Return the colours in which Qt draws whatever names none of its own."""
    palette = QPalette()
    role = QPalette.ColorRole
    for roles, colour in (
        ((role.Window,), theme.ground),
        ((role.Base, role.Button, role.ToolTipBase, role.AlternateBase), theme.panel),
        ((role.WindowText, role.Text, role.ButtonText, role.ToolTipText), theme.ink),
        ((role.PlaceholderText, role.Mid), theme.soft),
        ((role.Highlight, role.Link), theme.accent),
        ((role.HighlightedText,), theme.on_accent),
        ((role.Light, role.Midlight, role.Dark, role.Shadow), theme.line),
    ):
        for each in roles:
            palette.setColor(each, QColor(colour))
    for each in (role.Text, role.WindowText, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(theme.soft))
    return palette


def _style_sheet(theme: Theme) -> str:
    """Return `resources/themes/window.qss` with the values of the theme in place of each @name."""
    values: dict[str, Any] = {
        **asdict(theme),
        **{f"size_{name}": f"{theme.px(name)}px" for name in SIZES},
        "size_clock": f"{2 * theme.px('title')}px",
        "mono": MONO,
        "second": theme.series[1],
        "faint": mixed(QColor(theme.soft), QColor(theme.ground), FAINT).name(),
        "soft_handle": f"#66{theme.soft[1:]}",  # of a scroll bar: 40 % opaque
        "chip_radius": f"{round(9 * theme.zoom)}px",
    }
    text = read_resource("themes", "window.qss")
    return re.sub(r"@(\w+)", lambda found: str(values[found[1]]), text)
