"""`coreopsis handout FILE`: what was asked, voted, measured and explained in a lecture.

FILE is a lecture, or the record of one that was held. Without an option the handout is written as
Markdown to standard output. Exit code 4 means that the run of an item is missing, or that another
recording stands in its place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace

from app.context import Context, ExitCode, WriteFailed, refused
from app.lecture.fallbacks import StandIns
from app.lecture.handout import find, handout
from app.lecture.record import read
from app.reports.document import Document
from app.reports.pictures import drawer, qt_or_problem
from app.reports.run_report import Draw
from app.reports.writing import as_text, written
from experiments.core.problems import Problem


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Write the handout of a lecture."""
    words, path = context.words, options.file
    held = read(path)
    runs = context.library.runs() if held.at else ()
    catalogue, machine = context.catalogue, context.machine
    found = find(held, StandIns(path, context.folder, catalogue, runs, machine))
    code = write_document(
        options, context, lambda draw, why_not: handout(words, held, found, draw, why_not)
    )
    for trouble in filter(None, (each.problem for each in found)):
        context.complain(trouble)
    is_whole = not any(each.problem for each in found)
    return code if code is not ExitCode.DONE or is_whole else ExitCode.LOOK


def write_document(
    options: SimpleNamespace,
    context: Context,
    make: Callable[[Draw | None, str], Document],
) -> ExitCode:
    """Write a document as HTML and PDF as asked, else as Markdown to standard output.

    `make` is given what draws its plots, or why there are none.
    """
    words = context.words
    wanted = {"html": options.html, "pdf": options.pdf}
    application, problem = qt_or_problem() if any(wanted.values()) else (None, None)
    if problem is not None and options.pdf:
        context.complain(Problem("pdf_needs_qt"))
        return ExitCode.CANNOT_RUN_HERE
    draw = drawer(words) if application is not None else None
    document = make(draw, words.say("handout.no_plots") if problem is not None else "")
    for kind, target in wanted.items():
        if target is not None:
            data = written(document, kind, words)
            with refused(WriteFailed, "file_not_written", target):
                target.write_bytes(data)
    if not any(wanted.values()):
        sys.stdout.write(as_text(document, "markdown", words))
    del application  # held until here: the fonts belong to it
    if problem is not None:
        context.complain(problem)
    return ExitCode.DONE
