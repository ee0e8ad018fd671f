"""The plots of a report, or one alone, drawn by the window's scenes; Qt is imported when drawn."""

from __future__ import annotations

import functools
import itertools
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.reports.document import PAPER
from experiments.core.declare import Experiment
from experiments.core.problems import Problem
from experiments.core.teaching.playable import Playable
from experiments.core.views import Plotted
from experiments.core.words import Words
from experiments.engine import messages

if TYPE_CHECKING:
    from app.context import Context
    from app.reports.document import Mode
    from app.reports.run_report import Draw
    from widgets.lesson.drawing.stills import Stills
    from widgets.plots.chart import Chart
    from widgets.style.theme import Theme

WIDTH_PX, HEIGHT_PX = 760, 340
LOW_PX = 260  # the height of one that stands among several of its kind
HEADLINE_PX = (960, 480)


def qt_or_problem() -> tuple[object, Problem | None]:
    """Return the application that pictures and PDF need, to be held; or why there is none."""
    try:
        from PySide6.QtCore import QCoreApplication
        from PySide6.QtGui import QGuiApplication

        from widgets.plots import export  # noqa: F401  needs all libraries of Qt
        from widgets.style import theme
    except ModuleNotFoundError as error:
        return None, Problem("svg_needs_qt", {"name": error.name or "PySide6"})
    except ImportError as error:  # names the missing shared library
        return None, Problem("svg_needs_libraries", {"reason": str(error)})
    application = QCoreApplication.instance()
    if application is None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"  # a display is not needed
        application = QGuiApplication([])
        theme.add_fonts()
    return application, None


def drawer(words: Words, height_px: int = HEIGHT_PX) -> Draw:
    """Return what draws the views of an experiment; Qt is needed only once a picture is drawn.

    A plot that needs more than `height_px` is higher.
    """
    numbers = itertools.count()

    def draw(
        experiment: Experiment[Any],
        view: Plotted,
        rows: Sequence[Any],
        values: Mapping[str, float],
        frame: messages.Frame | None,
    ) -> ChartPicture:
        def make() -> Chart:
            from widgets.plots.chart import Chart

            chart = Chart(experiment, view, words)
            chart.take(rows, values, None)
            if frame is not None:
                chart.take_frame(frame)
            return chart

        return ChartPicture(make, f"p{next(numbers)}", height_px)

    return draw


class ChartPicture:
    """A chart as a picture of a document; `prefix` keeps its ids apart from other pictures' ids."""

    def __init__(self, make: Callable[[], Chart], prefix: str, height_px: int = HEIGHT_PX) -> None:
        self._make, self._prefix, self._usual_px = make, prefix, height_px

    @functools.cached_property
    def _chart(self) -> Chart:
        return self._make()

    @functools.cached_property
    def _height(self) -> int:
        return max(self._usual_px, round(self._chart.least_px(WIDTH_PX, _theme(PAPER))))

    @property
    def said(self) -> str:
        """The content of the chart, in sentences."""
        return self._chart.summary()

    @property
    def height_over_width(self) -> float:
        """Its shape."""
        return self._height / WIDTH_PX

    def svg(self, mode: Mode) -> str:
        """Return it as an SVG element that may stand beside others."""
        from PySide6.QtCore import QSize

        from widgets.plots import export

        made = export.svg(self._chart, QSize(WIDTH_PX, self._height), _theme(mode)).decode()
        return inline(made, f"{self._prefix}{mode[0]}-")

    def paint(self, painter: Any, width: float) -> None:
        """Paint it on a QPainter, `width` units wide; its digits can be searched."""
        from PySide6.QtCore import QRectF

        painter.save()
        painter.scale(width / WIDTH_PX, width / WIDTH_PX)
        bounds = QRectF(0, 0, WIDTH_PX, self._height)
        self._chart.paint(painter, bounds, replace(_theme(PAPER), is_for_pdf=True))
        painter.restore()


class MotionPicture:
    """Three moments of a motion, one below the other, each with its time."""

    def __init__(self, playable: Playable, prefix: str) -> None:
        self._playable, self._prefix = playable, prefix

    @functools.cached_property
    def _stills(self) -> Stills:
        return self._made(PAPER)

    @property
    def said(self) -> str:
        """The content of the drawing, in a sentence."""
        return self._playable.labels.get("about", "")

    @property
    def height_over_width(self) -> float:
        """Its shape."""
        return self._stills.height / WIDTH_PX

    def svg(self, mode: Mode) -> str:
        """Return it as an SVG element that may stand beside others."""
        from PySide6.QtCore import QSize

        from widgets.controls import picture_files

        size = QSize(WIDTH_PX, math.ceil(self._stills.height))
        made = picture_files.svg(size, self._made(mode).draw, title="", description="").decode()
        return inline(made, f"{self._prefix}{mode[0]}-")

    def paint(self, painter: Any, width: float) -> None:
        """Paint it on a QPainter, `width` units wide."""
        painter.save()
        painter.scale(width / WIDTH_PX, width / WIDTH_PX)
        self._made(PAPER, is_for_pdf=True).draw(painter)
        painter.restore()

    def _made(self, mode: Mode, *, is_for_pdf: bool = False) -> Stills:
        from widgets.lesson.drawing.stills import Stills

        return Stills(self._playable, replace(_theme(mode), is_for_pdf=is_for_pdf), WIDTH_PX)


def _theme(mode: Mode) -> Theme:
    from widgets.style import theme

    return theme.load(mode)


def inline(svg: str, prefix: str) -> str:
    """Return an SVG file as an element for HTML: no head of XML, and ids of its own.

    Its title and its description are left to the page, which says them once for both themes.
    """
    element = svg[svg.index("<svg") :].strip()
    element = re.sub(r"\s*<(title|desc)>.*?</\1>", "", element, flags=re.DOTALL)
    element = re.sub(r'\bid="', f'id="{prefix}', element)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}", element)


def draw_headline(
    context: Context,
    experiment: Experiment[Any],
    tables: Mapping[str, Sequence[Any]],
    values: Mapping[str, float],
    path: Path,
) -> Problem | None:
    """Draw the headline view, as the window does, to an SVG file; return the problem if that fails.

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
        path.write_bytes(export.svg(chart, QSize(*HEADLINE_PX), theme.load(PAPER)))
    except OSError as error:
        return Problem("svg_not_writable", {"path": str(path), "reason": error.strerror or "?"})
    del application  # held until here: the fonts belong to it
    return None
