"""A lesson's drawing as it moves, as one picture that plays wherever a browser shows it.

`python -m tests.tools.motion_picture FILE [EXPERIMENT] [--width N] [--light]`: the motion of the
recording that comes along, as fast as the window plays it. FILE ends in .webp or .png; Pillow
writes it (`pip install pillow`), since Qt writes no pictures that move.
"""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PIL import Image
from PySide6.QtCore import QBuffer
from PySide6.QtWidgets import QApplication, QScrollArea

from app.evidence import shipped
from app.loaded_run import lesson_run_of
from experiments.core.catalogue import Catalogue
from experiments.core.teaching.playable import Playable, playable
from experiments.core.words import load
from widgets.lesson.drawing.motion_player import MotionPlayer
from widgets.lesson.drawing.playback import BETWEEN_S
from widgets.style import theme as themes
from widgets.style.look import Look

FRAME_S = 1 / 15


def recorded(experiment_id: str) -> Playable:
    """Return what moves in the recording of an experiment."""
    catalogue = Catalogue()
    experiment = catalogue.load(experiment_id)
    taught, loaded = catalogue.lesson(experiment), shipped(catalogue, experiment)
    run = lesson_run_of(loaded.run_state) if loaded is not None else None
    found = playable(taught, run) if taught is not None and run is not None else None
    if found is None:
        raise SystemExit(f"Nothing moves in the recording of {experiment_id}.")
    return found


def frames(found: Playable, look: Look, width: int) -> Iterator[Image.Image]:
    """Yield one round of a motion as the window shows it."""
    now_s = 0.0
    player = MotionPlayer(load(), look, clock=lambda: now_s)
    player.show_motion(found)
    player.resize(width, width)
    player.show()
    (area,) = player.findChildren(QScrollArea)
    room, shown = area.viewport().size(), area.widget()
    player.resize(width, width - room.height() + shown.heightForWidth(room.width()))
    while True:
        player.playback.move_on()
        yield as_image(player)
        if player.playback.t_s >= found.motion.duration_s:
            return
        now_s += FRAME_S


def as_image(player: MotionPlayer) -> Image.Image:
    """Return what is shown now."""
    buffer = QBuffer()
    player.grab().save(buffer, "PNG")
    return Image.open(io.BytesIO(buffer.data().data())).convert("RGB")


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("experiment", nargs="?", default="cache-ladder")
    parser.add_argument("--width", type=int, default=960)
    parser.add_argument("--light", action="store_true")
    options = parser.parse_args()
    application = QApplication([])
    themes.add_fonts()
    look = Look(themes.load("light" if options.light else "dark"))
    look.wear(look.theme)
    first, *rest = frames(recorded(options.experiment), look, options.width)
    last_s = [FRAME_S] * len(rest) + [BETWEEN_S]
    how = {"lossless": True, "quality": 100, "method": 6} if options.file.suffix == ".webp" else {}
    first.save(
        options.file, save_all=True, append_images=rest, loop=0,
        duration=[round(1000 * each) for each in last_s], **how,
    )  # fmt: skip
    application.quit()


if __name__ == "__main__":
    main()
