"""Which colours, fonts and spaces does the window have? All of them from one file per mode.

Qt's own style is Fusion with our palette and a small style sheet. `palette(...)` in a style sheet
does not follow a new palette by itself, so both are set again whenever the theme changes.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication

from experiments.core.resources import FOLDER, read_resource

MODES = ("light", "dark")
SIZES = {"small": 11, "note": 12, "text": 14, "head": 15, "title": 25}  # pixels at zoom 1
STEP = 4  # all spaces are multiples of this
ZOOMS = (0.8, 0.9, 1.0, 1.15, 1.3, 1.45, 1.6, 1.8, 2.0)
BUSY_MIDDLE = 0.6
DARKER = 0.35  # of the way to the darker one of panel and ink; a mark keeps 3 : 1
FAINT = 0.5  # of the way from soft words to the ground: what cannot be pressed now
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

    def font(self, name: str, *, weight: int = 400, mono: bool = False) -> QFont:
        """Return a font of one of the five text sizes; its figures are all of one width."""
        font = QFont(MONO if mono else SANS)
        font.setPixelSize(self.px(name))
        font.setWeight(QFont.Weight(weight))
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        font.setFeature(QFont.Tag("tnum"), 1)
        return font

    def series_colour(self, place: int, *, word: bool = False) -> str:
        """Return the colour of the series at `place`, or of the words beside it.

        After the last colour they begin anew, as darker marks: direct labels tell them apart.
        """
        colours = self.series_words if word else self.series
        colour = colours[place % len(colours)]
        if word or place < len(colours):
            return colour
        darker = min(QColor(self.panel), QColor(self.ink), key=QColor.lightness)
        return mixed(QColor(colour), darker, DARKER).name()


def load_colour(theme: Theme, busy: float) -> QColor:
    """Return the colour of a load from 0 to 1: one hue, from almost the panel to pale blue."""
    low, accent, high = (QColor(name) for name in (theme.load_low, theme.accent, theme.load_high))
    middle = mixed(low, accent, 0.75)  # straight from dark to pale would be grey on the way
    if busy < BUSY_MIDDLE:
        return mixed(low, middle, max(0.0, busy) / BUSY_MIDDLE)
    return mixed(middle, high, (min(1.0, busy) - BUSY_MIDDLE) / (1 - BUSY_MIDDLE))


def ink_on(colour: QColor) -> QColor:
    """Return black or white, whichever is easier to read on a colour: always 4.5 : 1 or more."""
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]  # WCAG 2.1
    is_bright = (luminance + 0.05) ** 2 > 0.05 * 1.05  # as far from each
    return QColor("#000000" if is_bright else "#FFFFFF")


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
    """Make the bundled fonts known to Qt; once for each application."""
    for path in FOLDER.joinpath("fonts").iterdir():
        if path.suffix in (".otf", ".ttf"):
            QFontDatabase.addApplicationFont(str(path))


def mode_of(setting: str, application: QApplication) -> str:
    """Return "light" or "dark" for a setting that may also be "system".

    That is what the desktop asks for, and dark where it does not say.
    """
    from PySide6.QtCore import Qt  # brings a hundred enums: not before the first paint

    if setting != "system":
        return setting
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
    faint = mixed(QColor(theme.soft), QColor(theme.ground), FAINT).name()
    return f"""
    QWidget {{ color: {theme.ink}; }}
    QToolTip {{
        background: {theme.panel}; color: {theme.ink}; border: 1px solid {theme.line};
        padding: {STEP}px;
    }}
    QLabel[role="soft"] {{ color: {theme.soft}; font-size: {theme.px("note")}px; }}
    QLabel[role="title"] {{ font-size: {theme.px("title")}px; font-weight: 700; }}
    QLabel[role="head"] {{ font-size: {theme.px("head")}px; font-weight: 600; }}
    QLabel[role="small"] {{ color: {theme.soft}; font-size: {theme.px("small")}px; }}
    QLabel[role="note-number"] {{ font-family: "{MONO}"; font-size: {theme.px("note")}px; }}
    QLabel[role="number"] {{ font-family: "{MONO}"; }}
    QLabel[role="strong"] {{ font-weight: 600; }}
    QLabel[role="doubt"] {{ color: {theme.attention}; font-size: {theme.px("note")}px; }}
    QLabel[role="differs"] {{ color: {theme.accent_word}; }}
    QLabel[role="attention"] {{ color: {theme.attention}; }}
    QLabel[role="fault"] {{ color: {theme.fault}; }}
    QLabel[role="good"] {{ color: {theme.good}; }}
    QLabel:disabled {{ color: {theme.soft}; }}
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
    QPushButton[role="main"]:disabled {{
        background: {theme.line}; color: {theme.soft}; border-color: {theme.line};
    }}
    QPushButton[role="crumb"] {{
        background: transparent; border: none; border-bottom: 2px solid transparent;
        border-radius: 0px; padding: 2px 0px 0px 0px; font-weight: 400;
        color: {theme.soft}; font-size: {theme.px("note")}px;
    }}
    QPushButton[role="crumb"]:hover {{ color: {theme.ink}; }}
    QPushButton[role="crumb"]:focus {{ border-bottom-color: {theme.accent}; }}
    QPushButton[role="main"]:focus {{ border: 2px solid {theme.ink}; }}
    QPushButton[role="stop"] {{ color: {theme.attention}; border-color: {theme.attention}; }}
    QPushButton[role="stop"]:focus {{ border: 2px solid {theme.attention}; }}
    QPushButton[role="small-stop"] {{
        color: {theme.attention}; border-color: {theme.attention}; padding: 1px {2 * STEP}px;
        font-size: {theme.px("note")}px;
    }}
    QPushButton[role="small-stop"]:focus {{
        border: 2px solid {theme.attention}; padding: 0px 7px;
    }}
    QPushButton[role="link"] {{
        background: transparent; border: 1px solid transparent; padding: 1px 2px;
        color: {theme.accent_word}; text-align: left;
    }}
    QPushButton[role="link"]:hover {{ color: {theme.ink}; }}
    QPushButton[role="link"]:disabled {{ color: {faint}; }}
    QPushButton[role="link"]:focus {{ border-color: {theme.accent}; }}
    QPushButton[role="small-link"] {{
        background: transparent; border: none; border-bottom: 2px solid transparent;
        border-radius: 0px; padding: 2px 0px 0px 0px; font-weight: 400;
        color: {theme.accent_word}; font-size: {theme.px("note")}px;
    }}
    QPushButton[role="small-link"]:hover {{ color: {theme.ink}; }}
    QPushButton[role="small-link"]:focus {{ border-bottom-color: {theme.accent}; }}
    QPushButton[role="flush-link"] {{
        background: transparent; border: none; border-bottom: 2px solid transparent;
        border-radius: 0px; padding: 1px 0px; color: {theme.accent_word}; text-align: left;
    }}
    QPushButton[role="flush-link"]:hover {{ color: {theme.ink}; }}
    QPushButton[role="flush-link"]:disabled {{ color: {faint}; }}
    QPushButton[role="flush-link"]:focus {{ border-bottom-color: {theme.accent}; }}
    QPushButton[role="icon"] {{
        background: transparent; border: 1px solid transparent; padding: {STEP}px;
    }}
    QPushButton[role="icon"]:hover {{ background: {theme.accent_wash}; }}
    QPushButton[role="icon"]:focus {{ border-color: {theme.accent}; }}
    QToolButton[role="rail"] {{
        background: transparent; border: 2px solid transparent; border-radius: 10px;
        padding: {2 * STEP}px 0px; color: {theme.soft}; font-size: {theme.px("small")}px;
    }}
    QToolButton[role="rail"]:hover {{ color: {theme.ink}; }}
    QToolButton[role="rail"]:checked {{
        background: {theme.accent_wash}; color: {theme.accent_word}; font-weight: 600;
    }}
    QToolButton[role="rail"]:focus {{ border-color: {theme.accent}; }}
    QPushButton[role="part"] {{
        padding: 0px {STEP}px; font-size: {theme.px("small")}px; font-weight: 400;
        color: {theme.soft};
    }}
    QPushButton[role="part"][lit="true"] {{
        background: {theme.accent_wash}; color: {theme.accent_word};
        border-color: {theme.accent}; font-weight: 600;
    }}
    QPushButton[role="part"]:hover {{ border-color: {theme.accent}; }}
    QPushButton[role="part"]:focus {{ border: 2px solid {theme.accent}; padding: 0px; }}
    QPushButton[role="chip"], QPushButton[role="chip-main"] {{
        border-radius: {round(9 * theme.zoom)}px; padding: 2px {3 * STEP}px;
        font-size: {theme.px("note")}px; font-weight: 400; color: {theme.soft};
    }}
    QPushButton[role="chip"]:checked {{
        background: {theme.accent_wash}; color: {theme.accent_word}; border-color: {theme.accent};
    }}
    QPushButton[role="chip-main"] {{ color: {theme.accent_word}; border-color: {theme.accent}; }}
    QPushButton[role="chip-main"]:disabled {{ color: {theme.soft}; border-color: {theme.line}; }}
    QPushButton[role="chip"]:disabled {{ color: {faint}; }}
    QPushButton[role="chip"]:focus, QPushButton[role="chip-main"]:focus {{
        border: 2px solid {theme.accent}; padding: 1px {3 * STEP - 1}px;
    }}
    QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox {{
        background: {theme.panel}; border: 1px solid {theme.line}; border-radius: 6px;
        padding: {STEP}px {2 * STEP}px; selection-background-color: {theme.accent};
    }}
    QLineEdit:focus, QComboBox:focus {{ border-color: {theme.accent}; }}
    QLineEdit[role="search"] {{
        border: none; border-bottom: 1px solid {theme.line}; border-radius: 0;
        padding: {2 * STEP}px {2 * STEP}px {3 * STEP}px; font-size: {theme.px("head")}px;
    }}
    QLineEdit[role="search"]:focus {{ border-bottom-color: {theme.accent}; }}
    QListView[role="plain"] {{ background: transparent; border: none; outline: none; }}
    QListView[role="names"] {{
        background: transparent; border: 1px solid {theme.line}; border-radius: 6px;
        padding: {STEP}px; outline: none;
    }}
    QListView[role="names"]:focus {{ border-color: {theme.accent}; }}
    QListView[role="names"]::item {{ padding: 0px {STEP}px; border-radius: 6px; }}
    QListView[role="names"]::item:selected {{
        background: {theme.accent_wash}; color: {theme.accent_word};
    }}
    QPlainTextEdit[role="report"] {{
        background: {theme.panel}; border: 1px solid {theme.line}; border-radius: 6px;
        font-family: "{MONO}"; font-size: {theme.px("note")}px; padding: {STEP}px;
        selection-background-color: {theme.accent_wash}; selection-color: {theme.ink};
    }}
    QPlainTextEdit[role="report"]:focus {{ border-color: {theme.accent}; }}
    QScrollArea[role="reader"] {{ border: 1px solid transparent; border-radius: 6px; }}
    QScrollArea[role="reader"]:focus {{ border-color: {theme.accent}; }}
    QLabel[role="key"] {{
        font-size: {theme.px("note")}px; color: {theme.ink};
        background: {theme.ground}; border: 1px solid {theme.line}; border-radius: 6px;
        padding: 1px {STEP + 2}px;
    }}
    QFrame[role="notice"] {{
        background: {theme.panel}; border: 1px solid {theme.soft}; border-radius: 10px;
    }}
    QFrame[role="trouble-attention"], QFrame[role="trouble-fault"],
    QFrame[role="trouble-good"], QFrame[role="trouble-plain"] {{
        background: {theme.panel}; border: 1px solid {theme.line}; border-radius: 10px;
    }}
    QFrame[role="trouble-attention"] {{ border-left: 4px solid {theme.attention}; }}
    QFrame[role="trouble-fault"] {{ border-left: 4px solid {theme.fault}; }}
    QFrame[role="trouble-good"] {{ border-left: 4px solid {theme.good}; }}
    QFrame[role="command"] {{
        background: {theme.ground}; border: 1px solid {theme.line}; border-radius: 6px;
    }}
    QLineEdit[role="chip-search"] {{
        border-radius: {round(9 * theme.zoom)}px; padding: 1px {2 * STEP}px;
        font-size: {theme.px("note")}px;
    }}
    QLineEdit[role="chip-search"]:focus {{ border: 2px solid {theme.accent}; padding: 0px 7px; }}
    QLineEdit[role="value"] {{
        background: transparent; font-family: "{MONO}"; border: none; border-radius: 0;
        border-bottom: 2px solid transparent; padding: 3px 0px 1px 0px;
    }}
    QLineEdit[role="value"]:hover {{ border-bottom-color: {theme.line}; }}
    QLineEdit[role="value"]:focus {{ border-bottom-color: {theme.accent}; }}
    QLineEdit[role="value"]:disabled {{ color: {theme.soft}; }}
    QPlainTextEdit[role="note"] {{
        background: {theme.panel}; border: 1px solid {theme.line}; border-radius: 6px;
        padding: {STEP}px; selection-background-color: {theme.accent};
    }}
    QPlainTextEdit[role="note"]:focus {{ border-color: {theme.accent}; }}
    QFrame[role="drop"] {{
        background: {theme.accent_wash}; border: 2px dashed {theme.accent}; border-radius: 12px;
    }}
    QLineEdit[role="doubtful"] {{
        background: transparent; font-family: "{MONO}"; border: none; border-radius: 0;
        border-bottom: 2px solid {theme.attention}; padding: 3px 0px 1px 0px;
    }}
    QRadioButton[role="segment"] {{
        background: {theme.panel}; border: 1px solid {theme.line}; border-radius: 6px;
        padding: 4px {2 * STEP + 2}px; font-size: {theme.px("note")}px; color: {theme.soft};
        spacing: 0px;
    }}
    QRadioButton[role="segment"]::indicator {{ width: 0px; height: 0px; border: none; }}
    QRadioButton[role="segment"]:hover {{ border-color: {theme.accent}; }}
    QRadioButton[role="segment"]:checked {{
        background: {theme.accent_wash}; color: {theme.accent_word}; border-color: {theme.accent};
    }}
    QRadioButton[role="segment"]:focus {{
        border: 2px solid {theme.accent}; padding: 3px {2 * STEP + 1}px;
    }}
    QRadioButton[role="segment"]:checked:disabled {{
        background: transparent; color: {theme.soft}; border-color: {theme.soft};
    }}
    QMenu {{
        background: {theme.panel}; border: 1px solid {theme.line}; padding: {STEP}px;
    }}
    QMenu::item {{
        border-radius: 6px; padding: {STEP}px {4 * STEP}px {STEP}px {6 * STEP}px;
    }}
    QMenu::item:selected {{
        background: {theme.accent_wash}; color: {theme.accent_word};
    }}
    QMenu::item:disabled {{ color: {theme.soft}; }}
    QMenu::separator {{
        background: {theme.line}; height: 1px; margin: {STEP}px {2 * STEP}px;
    }}
    QMenu::indicator {{ width: {2 * STEP}px; left: {2 * STEP}px; }}
    QMenu::indicator:checked {{
        background: {theme.accent}; width: 6px; height: 6px; border-radius: 3px;
    }}
    QAbstractScrollArea::corner {{ background: transparent; border: none; }}
    QScrollBar:vertical {{
        background: transparent; border: none; width: 14px; margin: 2px 2px 2px 6px;
    }}
    QScrollBar::handle:vertical {{
        background: #66{theme.soft[1:]}; border-radius: 3px; min-height: {10 * STEP}px;
    }}
    QScrollBar::handle:vertical:hover {{ background: {theme.soft}; }}
    QScrollBar:horizontal {{
        background: transparent; border: none; height: 14px; margin: 6px 2px 2px 2px;
    }}
    QScrollBar::handle:horizontal {{
        background: #66{theme.soft[1:]}; border-radius: 3px; min-width: {10 * STEP}px;
    }}
    QScrollBar::handle:horizontal:hover {{ background: {theme.soft}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0px; height: 0px; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    QProgressBar {{
        background: {theme.line}; border: none; border-radius: 3px; max-height: 6px;
    }}
    QProgressBar::chunk {{ background: {theme.accent}; border-radius: 3px; }}
    QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; border: none; }}
    QListView[role="code"] {{
        background: transparent; border: 1px solid transparent; border-radius: 6px; outline: none;
    }}
    QListView[role="code"]:focus {{ border-color: {theme.accent}; }}
    QPlainTextEdit[role="code"] {{
        background: transparent; border: 1px solid transparent; border-radius: 6px;
        selection-background-color: {theme.accent_wash}; selection-color: {theme.ink};
    }}
    QPlainTextEdit[role="code"]:focus {{ border-color: {theme.accent}; }}
    QLabel[role="value"] {{ color: {theme.soft}; }}
    QLabel[role="note"] {{ font-size: {theme.px("note")}px; }}
    QLabel[role="panel-title"] {{ font-weight: 600; }}
    QTableView {{
        background: {theme.panel}; border: none; gridline-color: {theme.line};
        selection-background-color: {theme.accent_wash}; selection-color: {theme.ink};
    }}
    QTableView[role="data"] {{
        border: 1px solid transparent; border-radius: 6px; outline: none;
    }}
    QTableView[role="data"]:focus {{ border-color: {theme.accent}; }}
    QTableView[role="data"]::item {{
        border-bottom: 1px solid {theme.line}; padding: 0px {2 * STEP}px;
    }}
    QTableView[role="data"]::item:selected {{
        background: {theme.accent_wash}; color: {theme.ink};
    }}
    QTableView[role="data"] QHeaderView {{ background: {theme.panel}; border: none; }}
    QTableView[role="data"] QHeaderView::section {{ padding: {STEP}px {3 * STEP - 1}px; }}
    QTableView[role="data"] QHeaderView::up-arrow,
    QTableView[role="data"] QHeaderView::down-arrow {{ image: none; width: 0px; height: 0px; }}
    QTableView[role="data"]::item:focus {{ border: 1px solid {theme.accent}; }}
    QHeaderView::section {{
        background: {theme.panel}; color: {theme.soft}; border: none;
        border-bottom: 1px solid {theme.line}; padding: {STEP}px {2 * STEP}px;
        font-size: {theme.px("note")}px;
    }}
    """
