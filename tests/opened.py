"""Looks at the window of an installed program, with a home of its own and no font of the system."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Opens the window as the program does, pictures it once it is furnished, and closes it.
LOOK = """
import json, sys
from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontDatabase, QFontInfo
from PySide6.QtWidgets import QApplication
from app.cli import main
from app.window.shell.window import Window

def wake(self, wake=Window.wake):
    wake(self)
    QTimer.singleShot(1000, self, lambda: tell(self))

def tell(self):
    image = self.grab().toImage()
    image.save(sys.argv[1])
    colours = {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}
    print(json.dumps({
        "families": QFontDatabase.families(),
        "worn": QFontInfo(QApplication.font()).family(),
        "colours": len(colours),
    }))
    self.close()
    QApplication.quit()

Window.wake = wake
sys.exit(main([]))
"""


def own_home(folder: Path) -> dict[str, str]:
    """Return an environment with a home of its own, an invisible window, and no fonts."""
    folder.mkdir(exist_ok=True)
    fonts = folder / "fonts.conf"
    fonts.write_text('<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig/>')
    return {
        "HOME": os.fspath(folder),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "FONTCONFIG_FILE": os.fspath(fonts),
        "QT_QPA_PLATFORM": "offscreen",
    }


def check_window(python: Sequence[str | Path], home: dict[str, str]) -> None:
    """Open the window by this command of a Python: it draws, with the fonts that come along."""
    picture = Path(home["HOME"], "window.png")
    said = subprocess.run(
        [*python, "-c", LOOK, picture],
        env=home, cwd=home["HOME"], check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "Traceback" not in said.stderr, said.stderr
    seen = json.loads(said.stdout)
    assert "JetBrains Mono" in seen["families"], seen
    assert seen["worn"] == "Inter", seen
    assert seen["colours"] > 20, (
        seen
    )  # of frame, map and the edges of letters, not the ground alone
    assert picture.stat().st_size > 0
