"""Where does a dialog of files begin? Where the last one ended, at first in a person's own folder.

Never where the program was started: that may be the folder of its source.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths

from app.window.core.session import Session

PICTURES = (".png", ".svg")
Location = QStandardPaths.StandardLocation


def begin(session: Session, name: str = "") -> str:
    """Return where to ask for a file, with the `name` that is suggested for it."""
    last = session.settings.folder
    is_picture = Path(name).suffix in PICTURES
    own = Location.PicturesLocation if is_picture else Location.DocumentsLocation
    wanted = [last, QStandardPaths.writableLocation(own)]
    found = next((folder for folder in wanted if folder and Path(folder).is_dir()), Path.home())
    return str(Path(found, name))


def remember(session: Session, path: Path) -> None:
    """Let the next dialog begin in the folder of this file, also in the next window."""
    session.remembered.emit({"folder": str(path.parent)})


def shown(folder: Path) -> str:
    """Return a folder in few words: `~` stands for the own one."""
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if home in folder.parents else str(folder)
