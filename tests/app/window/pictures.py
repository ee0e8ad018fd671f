"""Every state of the whole window as a picture.

`python -m tests.app.window.pictures FOLDER MODE WIDTH HEIGHT ZOOM [STATE ...]`, a state by the
beginning of its name in `whole.STATES`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PySide6.QtWidgets import QApplication

from tests.app.window.stage import live_s
from tests.app.window.whole import STATES, Whole
from widgets.style import theme as themes
from widgets.style.look import Look


def main() -> None:
    folder, (mode, width, height, zoom, *wanted) = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    themes.add_fonts()
    look = Look(themes.load(mode, float(zoom)))
    look.wear(look.theme)
    for name, show in STATES.items():
        if wanted and not name.startswith(tuple(wanted)):
            continue
        with tempfile.TemporaryDirectory() as data:
            whole = Whole(look, Path(data))
            whole.window.resize(int(width), int(height))
            show(whole)
            whole.rest()
            live_s(0.3)
            whole.window.grab().save(str(folder / f"{name}-{mode}-{width}-{zoom}.png"))
            whole.close()
            application.processEvents()


if __name__ == "__main__":
    main()
