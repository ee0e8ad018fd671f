"""The command line: reads it, hands over, and ends with the fixed exit codes.

Everything but the window works without a display and without Qt installed.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace

from app.context import Context, ExitCode, WriteFailed, discard_output
from app.ending_signals import end_in_order
from app.output import guard_streams, lasting_output, lost
from experiments.core.problems import Problem, UserError


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    with lasting_output():
        guard_streams()
        try:
            return _run(arguments)
        except BrokenPipeError:  # `coreopsis inspect | head`
            discard_output()
            return ExitCode.DONE
        except KeyboardInterrupt:
            return ExitCode.STOPPED


def _run(arguments: Sequence[str]) -> int:
    context = Context()  # for what is wrong before the real one is there
    try:
        options = _parsed(arguments)
        logging.basicConfig(
            level=logging.DEBUG if options.debug else logging.ERROR,
            format="%(levelname)s %(name)s: %(message)s",
        )
        context = Context(
            data=options.data,
            fake_machine=options.fake_machine,
            experiments=options.experiments,
        )
        code = _obey(options, context)
    except SystemExit as exit_:  # --help, --version, wrong usage
        code = int(exit_.code or 0)
    except Exception as error:
        from experiments.core.processes.own_errors import own_problem

        problem = own_problem(error) or _surrounding(error)
        if problem is None or "--debug" in arguments:
            raise
        Context().complain(problem)  # the given folders may be what failed
        code = ExitCode.FAILED
    sys.stdout.flush()
    return _told(code, context)


def _obey(options: SimpleNamespace, context: Context) -> int:
    try:
        if options.experiments:
            from app.own_experiments import check_given

            check_given(options.experiments)
        return _command(options.command)(options, context)
    except UserError as trouble:
        if options.debug:
            import traceback

            traceback.print_exc()
        context.complain(trouble.problem)
        return ExitCode.FAILED if isinstance(trouble, WriteFailed) else ExitCode.USAGE


def _surrounding(error: Exception) -> Problem | None:
    """Return the sentence for an error that this shell or folder is the cause of."""
    from experiments.core.limits import limit_problem

    if isinstance(error, BrokenPipeError):
        return None
    if isinstance(error, FileNotFoundError):
        try:
            os.getcwd()
        except FileNotFoundError:
            return Problem("folder_gone")
    return limit_problem(error)


def _told(code: int, context: Context) -> int:
    """Say if the output was lost; return the exit code that this makes."""
    error = lost()
    if error is None:
        return code
    values = {"reason": error.strerror, "id": context.kept}
    context.complain(Problem("output_lost_kept" if context.kept else "output_lost", values))
    return ExitCode.FAILED if code in (ExitCode.DONE, ExitCode.LOOK) else code


def _parsed(arguments: Sequence[str]) -> SimpleNamespace:
    """Read the command line. The window is opened without a parser, which would delay it."""
    options = SimpleNamespace(
        command=None, debug=False, data=None, fake_machine=None, experiments=[]
    )
    if arguments:
        from app.parser import parser, with_command

        made = parser()
        made.parse_args(with_command(made, arguments), options)
    return options


def _command(name: str | None) -> Callable[[SimpleNamespace, Context], ExitCode]:
    """Return what runs a command; the modules of the others are not imported."""
    if name == "worker":
        return _worker
    if name is None:
        from app.window.shell import start

        return start.run
    command: Callable[[SimpleNamespace, Context], ExitCode]
    folder = "shells" if name in ("open", "completion") else "terminal"
    command = importlib.import_module(f"app.{folder}.{name}").run
    end_in_order()
    return command


def _worker(_options: SimpleNamespace, context: Context) -> ExitCode:
    """One job over standard input and output: a measurement behind a guardian, the rest plain."""
    if context.has_fake_machine:
        raise UserError("fake_machine_measured")
    context.use_own_folders()
    from experiments.engine import entry

    if sys.stdin.isatty():
        sys.stderr.write("This waits for a command in one line of JSON; Ctrl-C ends it.\n")
    entry.main()
    return ExitCode.DONE
