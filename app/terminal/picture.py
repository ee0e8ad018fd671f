"""`coreopsis run ID --svg FILE`: the headline view as a picture, drawn as in the window.

Qt is not imported before a picture is wanted, so that all else runs where it is not installed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from app.context import Context
from experiments.core.declare import Experiment
from experiments.core.problems import Problem

SIZE_PX = (960, 480)
MODE = "light"  # for paper


def draw(
    context: Context,
    experiment: Experiment[Any],
    tables: Mapping[str, Sequence[Any]],
    values: Mapping[str, float],
    path: Path,
) -> Problem | None:
    """Draw the headline view to an SVG file; return the problem if that fails.

    If the headline has no rows, the first view that has some is drawn.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"  # a display is not needed
    try:
        from PySide6.QtCore import QSize
        from PySide6.QtGui import QGuiApplication

        from widgets.plots import export
        from widgets.plots.scene import Scene
        from widgets.style import theme
    except ModuleNotFoundError as error:
        return Problem("svg_needs_qt", {"name": error.name or "PySide6"})
    except ImportError as error:  # names the missing shared library
        return Problem("svg_needs_libraries", {"reason": str(error)})
    application = QGuiApplication.instance() or QGuiApplication([])
    theme.add_fonts()
    plots = experiment.plots
    view = next((plot for plot in plots if tables.get(plot.table)), plots[0])
    scene = Scene(experiment, view, context.words)
    scene.take(tables[view.table], values, None)
    about = {
        "question": context.words.say(f"{experiment.id}.question"),
        "view": scene.terms.title(),
        "machine": context.machine.cpu.model or "?",
        "date": date.today().isoformat(),
    }
    scene.caption = context.words.say("terminal.picture_caption", about)
    try:
        path.write_bytes(export.svg(scene, QSize(*SIZE_PX), theme.load(MODE)))
    except OSError as error:
        return Problem("svg_not_writable", {"path": str(path), "reason": error.strerror or "?"})
    del application  # held until here: the fonts belong to it
    return None
