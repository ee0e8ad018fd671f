"""The command line: reads it, hands over, and ends with the fixed exit codes.

Everything but the window works without a display and without Qt installed.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace

from app.context import Context, ExitCode, discard_output
from app.output import guard_streams
from experiments.core.problems import UserError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["worker"]:  # before anything else is imported or printed
        return _worker()
    guard_streams()
    try:
        return _run(arguments)
    except BrokenPipeError:  # `coreopsis inspect | head`
        discard_output()
        return ExitCode.DONE
    except KeyboardInterrupt:
        return ExitCode.STOPPED


def _run(arguments: Sequence[str]) -> int:
    try:
        options = _parsed(arguments)
    except SystemExit as exit_:  # --help, --version, wrong usage
        return int(exit_.code or 0)
    logging.basicConfig(
        level=logging.DEBUG if options.debug else logging.ERROR,
        format="%(levelname)s %(name)s: %(message)s",
    )
    context = Context(
        data=options.data,
        fake_machine=options.fake_machine,
        experiments=options.experiments,
    )
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
        return ExitCode.USAGE


def _parsed(arguments: Sequence[str]) -> SimpleNamespace:
    """Read the command line. The window is opened without a parser, which would delay it."""
    options = SimpleNamespace(
        command=None, debug=False, data=None, fake_machine=None, experiments=[]
    )
    if arguments:
        from app.parser import parser

        parser().parse_args(arguments, options)
    return options


def _command(name: str | None) -> Callable[[SimpleNamespace, Context], ExitCode]:
    """Return what runs a command; the modules of the others are not imported."""
    match name:
        case "inspect":
            from app.terminal.inspect import run
        case "doctor":
            from app.terminal.doctor import run
        case "watch":
            from app.terminal.watch import run
        case "experiments":
            from app.terminal.experiments import run
        case "new":
            from app.terminal.new import run
        case "check":
            from app.terminal.check import run
        case "run":
            from app.terminal.run import run
        case "replay":
            from app.terminal.replay import run
        case "compare":
            from app.terminal.compare import run
        case _:
            from app.window.shell.start import run
    return run


def _worker() -> int:
    """One job over standard input and output: a measurement behind a guardian, the rest plain."""
    from experiments.engine import entry

    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write("This waits for a command in one line of JSON; Ctrl-C ends it.\n")
    entry.main()
    return ExitCode.DONE
