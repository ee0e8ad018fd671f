"""`coreopsis worksheet RUN...`: a page to hand in, or the answer sheet for who marks it.

Without an option it is written as Markdown to standard output. Exit code 4 tells that a run cannot
answer its own sheet.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from app.context import Context, ExitCode
from app.reports.run_report import source_of
from app.reports.worksheet import LEAVES, can_tell, worksheet
from app.runs.library import meant
from app.terminal.handout import write_document


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Write the worksheet of runs, or its answers."""
    library, catalogue = context.library, context.catalogue
    sources = [source_of(meant(each, library, catalogue), catalogue) for each in options.runs]
    include = replace(LEAVES, answers=options.answers)
    code = write_document(
        options, context, lambda draw, _: worksheet(sources, context.words, include, draw)
    )
    is_whole = all(can_tell(source, context.words) for source in sources)
    return ExitCode.LOOK if code is ExitCode.DONE and not is_whole else code
