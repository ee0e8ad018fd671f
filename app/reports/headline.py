"""`coreopsis run ID --svg FILE`: the headline view as a picture, drawn as in the window.

Qt is not imported before a picture is wanted, so that all else runs where it is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from app.context import Context
from app.reports.pictures import qt_or_problem
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
    application, problem = qt_or_problem()
    if problem is not None:
        return problem
    from PySide6.QtCore import QSize

    from widgets.plots import export
    from widgets.plots.chart import Chart
    from widgets.style import theme

    plots = experiment.plots
    view = next((plot for plot in plots if tables.get(plot.table)), plots[0])
    chart = Chart(experiment, view, context.words)
    chart.take(tables[view.table], values, None)
    about = {
        "question": context.words.say(f"{experiment.id}.question"),
        "view": chart.terms.title(),
        "machine": context.machine.cpu.model or "?",
        "date": date.today().isoformat(),
    }
    chart.caption = context.words.say("terminal.picture_caption", about)
    try:
        path.write_bytes(export.svg(chart, QSize(*SIZE_PX), theme.load(MODE)))
    except OSError as error:
        return Problem("svg_not_writable", {"path": str(path), "reason": error.strerror or "?"})
    del application  # held until here: the fonts belong to it
    return None
