"""How does one widget look alone? `python -m widgets.NAME [--light] [--zoom N] [--shot FILE]`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget

from experiments.core import words
from experiments.core.words import Words
from widgets.style import theme
from widgets.style.look import Look


def preview(make: Callable[[Look, Words], QWidget], *, size: tuple[int, int] = (900, 600)) -> None:
    """Show what `make` returns until it is closed, or write its picture to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--zoom", type=float, default=1.0)
    parser.add_argument("--size", type=int, nargs=2, default=size, metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--shot", type=Path, metavar="FILE", help="write a PNG instead")
    options = parser.parse_args()
    application = QApplication([])
    theme.add_fonts()
    look = Look(theme.load("light" if options.light else "dark", options.zoom))
    look.wear(look.theme)
    widget = make(look, words.load())
    widget.resize(*options.size)
    widget.show()
    if options.shot is None:
        application.exec()
        return
    for _ in range(3):  # layouts settle
        application.processEvents()
    widget.grab().save(str(options.shot))
