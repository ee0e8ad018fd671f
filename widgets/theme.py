"""Which colours, fonts and spaces does the window have? All of them from one file per mode.

Qt's own style is Fusion with our palette and a small style sheet. `palette(...)` in a style sheet
does not follow a new palette by itself, so both are set again whenever the theme changes.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

MODES = ("light", "dark")
SIZES = {"small": 11, "note": 12, "text": 14, "head": 15, "title": 25}  # pixels at zoom 1
STEP = 4  # all spaces are multiples of this
ZOOMS = (0.8, 0.9, 1.0, 1.15, 1.3, 1.45, 1.6, 1.8, 2.0)
SANS, MONO = "Inter", "JetBrains Mono"


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours of one mode, as #RRGGBB, and the zoom of all text."""

    mode: str
    zoom: float
    ground: str
    panel: str
    ink: str
    soft: str
    line: str
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

    def px(self, name: str) -> int:
        """Return the height in pixels of one of the five text sizes."""
        return round(SIZES[name] * self.zoom)

    def font(self, name: str, *, weight: int = QFont.Weight.Normal, mono: bool = False) -> QFont:
        """Return a font of one of the five text sizes; its figures are all of one width."""
        font = QFont(MONO if mono else SANS)
        font.setPixelSize(self.px(name))
        font.setWeight(QFont.Weight(weight))
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        font.setFeature(QFont.Tag("tnum"), 1)
        return font

    def series_colour(self, place: int, *, word: bool = False) -> str:
        """Return the colour of the series at `place`, or of the words beside it."""
        colours = self.series_words if word else self.series
        return colours[place % len(colours)]


def load(mode: str, zoom: float = 1.0) -> Theme:
    """Read `resources/themes/MODE.toml`."""
    text = files("resources").joinpath("themes", f"{mode}.toml").read_text(encoding="utf-8")
    colours: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in tomllib.loads(text).items()
    }
    return Theme(mode=mode, zoom=zoom, **colours)


def add_fonts() -> None:
    """Make the bundled fonts known to Qt; once for each application."""
    for entry in files("resources").joinpath("fonts").iterdir():
        if entry.name.endswith((".otf", ".ttf")):
            with as_file(entry) as path:
                QFontDatabase.addApplicationFont(str(path))


def system_mode(application: QApplication) -> str:
    """Return what the desktop asks for; dark where it does not say."""
    from PySide6.QtCore import Qt

    scheme = application.styleHints().colorScheme()
    return "light" if scheme is Qt.ColorScheme.Light else "dark"


def apply(application: QApplication, theme: Theme) -> None:
    """Give the whole application this theme."""
    application.setStyle("Fusion")
    application.setPalette(_palette(theme))
    application.setFont(theme.font("text"))
    application.setStyleSheet(_style_sheet(theme))


def _palette(theme: Theme) -> QPalette:
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
    return f"""
    QWidget {{ color: {theme.ink}; }}
    QToolTip {{ background: {theme.panel}; color: {theme.ink}; border: 1px solid {theme.line}; }}
    QLabel[role="soft"] {{ color: {theme.soft}; font-size: {theme.px("note")}px; }}
    QLabel[role="title"] {{ font-size: {theme.px("title")}px; font-weight: 700; }}
    QLabel[role="head"] {{ font-size: {theme.px("head")}px; font-weight: 600; }}
    QLabel[role="attention"] {{ color: {theme.attention}; }}
    QLabel[role="fault"] {{ color: {theme.fault}; }}
    QLabel[role="good"] {{ color: {theme.good}; }}
    QFrame[role="panel"] {{
        background: {theme.panel}; border: 1px solid {theme.line}; border-radius: 12px;
    }}
    QFrame[role="rail"] {{
        background: {theme.panel}; border: none; border-right: 1px solid {theme.line};
    }}
    QFrame[role="status"] {{
        background: {theme.panel}; border: none; border-top: 1px solid {theme.line};
    }}
    QPushButton {{
        background: {theme.panel}; border: 1px solid {theme.line}; border-radius: 6px;
        padding: {STEP + 2}px {4 * STEP}px; font-weight: 500;
    }}
    QPushButton:hover {{ border-color: {theme.accent}; }}
    QPushButton:focus {{
        border: 2px solid {theme.accent}; padding: {STEP + 1}px {4 * STEP - 1}px;
    }}
    QPushButton:disabled {{ color: {theme.soft}; }}
    QPushButton[role="main"] {{
        background: {theme.accent}; color: {theme.on_accent}; border-color: {theme.accent};
    }}
    QPushButton[role="main"]:focus {{ border: 2px solid {theme.ink}; }}
    QPushButton[role="stop"] {{ color: {theme.attention}; border-color: {theme.attention}; }}
    QPushButton[role="chip"] {{
        border-radius: {round(11 * theme.zoom)}px; padding: 2px {3 * STEP}px;
        font-size: {theme.px("note")}px; font-weight: 400; color: {theme.soft};
    }}
    QPushButton[role="chip"]:checked {{
        background: {theme.accent_wash}; color: {theme.accent_word}; border-color: {theme.accent};
    }}
    QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox {{
        background: {theme.panel}; border: 1px solid {theme.line}; border-radius: 6px;
        padding: {STEP}px {2 * STEP}px; selection-background-color: {theme.accent};
    }}
    QLineEdit:focus, QComboBox:focus {{ border-color: {theme.accent}; }}
    QProgressBar {{
        background: {theme.line}; border: none; border-radius: 3px; max-height: 6px;
    }}
    QProgressBar::chunk {{ background: {theme.accent}; border-radius: 3px; }}
    QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; border: none; }}
    QTableView {{
        background: {theme.panel}; border: none; gridline-color: {theme.line};
        selection-background-color: {theme.accent_wash}; selection-color: {theme.ink};
    }}
    QHeaderView::section {{
        background: {theme.panel}; color: {theme.soft}; border: none;
        border-bottom: 1px solid {theme.line}; padding: {STEP}px {2 * STEP}px;
        font-size: {theme.px("note")}px;
    }}
    """
