"""`coreopsis FILE`: a run, report, checkup or lecture, in the window or, without one, as text."""

from __future__ import annotations

from types import SimpleNamespace

from app.context import Context, ExitCode
from app.ending_signals import end_at_once, end_in_order


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Open a file in the window where one can open, else show it in the terminal."""
    from app.window.shell.display import loses_references, reason

    if reason() is None and loses_references() is None:
        from app.window.shell import start

        end_at_once()  # until the window has handlers of its own
        return start.show(context, options.file)
    end_in_order()
    return in_terminal(options, context)


def in_terminal(options: SimpleNamespace, context: Context) -> ExitCode:
    """Show a checkup, a lecture or its record, or what else may be a run."""
    from app.lecture.file import SUFFIX
    from app.lecture.record import SUFFIX as RECORD
    from experiments.checkup.result import holds_checkup, read

    path = options.file
    if path.name.endswith((SUFFIX, RECORD)):
        from app.terminal.handout import run as handout

        return handout(SimpleNamespace(file=path, html=None, pdf=None), context)
    if holds_checkup(path):
        from app.terminal.checkup import tell

        tell(context.console, context.words, read(path))
        return ExitCode.DONE
    from app.terminal.replay import run as replay

    return replay(SimpleNamespace(file=str(path), speed=None), context)
