"""`coreopsis worksheet RUN...`: a page to hand in, or the answer sheet for who marks it.

Without an option it is written as Markdown to standard output. Exit code 4 means that a run cannot
answer its own sheet.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from app.context import Context, ExitCode
from app.reports.document import Document
from app.reports.run_report import Draw, source_of
from app.reports.worksheet import LEAVES, can_tell, worksheet
from app.runs.library import meant
from app.terminal.handout import write_document


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Write the worksheet of runs, or its answers."""
    library, catalogue = context.library, context.catalogue
    sources = [source_of(meant(each, library, catalogue), catalogue) for each in options.runs]
    include = replace(LEAVES, answers=options.answers)
    made: list[Document] = []

    def make(draw: Draw | None, _why_not: str) -> Document:
        made.append(worksheet(sources, context.words, include, draw))
        return made[0]

    code = write_document(options, context, make)
    is_whole = all(can_tell(document, context.words) for document in made)
    return code if code is not ExitCode.DONE or is_whole else ExitCode.LOOK
