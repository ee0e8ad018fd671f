"""The visible texts of the column beside the plots."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from widgets.controls.fold import Fold


def texts(widget: QWidget) -> list[str]:
    """Return what its labels say."""
    return [each.text() for each in widget.findChildren(QLabel) if each.isVisibleTo(widget)]


def folds(block: QWidget) -> list[Fold]:
    return [fold for fold in block.findChildren(Fold) if fold.isVisible()]


def unfold(block: QWidget) -> None:
    """Unfold all that can be."""
    for fold in folds(block):
        fold.head.setChecked(True)
