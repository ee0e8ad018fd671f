"""A paragraph to read, with its measured numbers in the face of numbers."""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from experiments.core.units import unbroken
from widgets.controls.basics import label
from widgets.style.theme import MONO

LEADING = 135  # percent of a line
_POWER = r"(?: × 10[⁰¹²³⁴-⁹]+)"
# What `unbroken` has tied to its unit, a factor, or a power of ten.
_MEASURED = re.compile(
    rf"\d+(?:[.,]\d+)*(?:{_POWER}?\N{{NO-BREAK SPACE}}[^\s.,;:!?)]+|×(?! ?10)|{_POWER})"
)


def paragraph(text: str = "") -> QLabel:
    """Return a label whose text wraps, and can be marked and copied; `retell` changes it."""
    made = label(wrap=True)
    made.setTextFormat(Qt.TextFormat.RichText)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    retell(made, text)
    return made


def retell(label: QLabel, text: str) -> None:
    """Give a paragraph another text."""
    label.setText(f'<p style="line-height:{LEADING}%">{with_numbers(text)}</p>')
    label.setAccessibleName(text)


def with_numbers(text: str) -> str:
    """Return a text as HTML, its numbers with a unit or a factor in the face of numbers."""
    return _MEASURED.sub(
        lambda found: f"<span style=\"font-family:'{MONO}'; font-weight:500\">{found[0]}</span>",
        escape(unbroken(text), quote=False),
    )
