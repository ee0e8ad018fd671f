"""What does `coreopsis` do? Reads the command line, hands over, and ends with the fixed exit codes.

Everything but the window works without a display and without Qt installed.
"""

from __future__ import annotations

import argparse
import logging
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from app.context import Context, ExitCode, discard_output
from experiments.problems import Trouble


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments[:1] == ["worker"]:  # before anything else is imported or printed
        return _worker()
    _speak_any_terminal()
    try:
        return _run(arguments)
    except BrokenPipeError:  # `coreopsis inspect | head`
        discard_output()
        return ExitCode.DONE
    except KeyboardInterrupt:
        return ExitCode.STOPPED


def _run(arguments: Sequence[str]) -> int:
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as exit_:  # --help, --version, wrong usage
        return int(exit_.code or 0)
    logging.basicConfig(
        level=logging.DEBUG if options.debug else logging.ERROR,
        format="%(levelname)s %(name)s: %(message)s",
    )
    context = Context(data=options.data, fake_machine=options.fake_machine)
    try:
        return int(_command(options.command)(options, context))
    except Trouble as trouble:
        if options.debug:
            traceback.print_exc()
        context.complain(trouble.problem)
        return ExitCode.USAGE


def _command(name: str | None):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """Return what runs a command; the modules of the others are not imported."""
    match name:
        case "inspect":
            from app.terminal.inspect import run
        case "watch":
            from app.terminal.watch import run
        case "experiments":
            from app.terminal.experiments import run
        case "run":
            from app.terminal.run import run
        case "replay":
            from app.terminal.replay import run
        case "compare":
            from app.terminal.compare import run
        case _:
            from app.window.start import run
    return run


def _worker() -> int:
    """One job over standard input and output: a measurement behind a guardian, the rest plain."""
    from experiments.engine import entry

    entry.main()
    return ExitCode.DONE


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one sentence, without the whole usage before it."""
        sentence = message[:1].upper() + message[1:]
        self.exit(ExitCode.USAGE, f"{sentence}; see `{self.prog} --help`.\n")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Look the version up only when it is asked for: that takes as long as all of argparse."""
        from experiments.engine.environment import program_version

        sys.stdout.write(f"coreopsis {program_version()}\n")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    _add_common(common)
    parser = _Parser(
        prog="coreopsis",
        description="Shows the machine in front of you, and lets you experiment on it.",
        epilog="Exit codes: 0 done, 1 the run failed, 2 wrong usage or unreadable input, "
        "3 cannot run here, 130 stopped.",
    )
    _add_common(parser)
    parser.set_defaults(debug=False, data=None, fake_machine=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def add(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=[common])

    inspect = add("inspect", "show this machine")
    inspect.add_argument("--json", action="store_true", help="write JSON to standard output")
    inspect.add_argument("--out", type=Path, metavar="FILE", help="write JSON to a file")
    inspect.add_argument("--root", type=Path, metavar="DIR", help="read a recorded /sys and /proc")

    watch = add("watch", "show the load as it changes")
    watch.add_argument("--json", action="store_true", help="write each sample as a line of JSON")
    watch.add_argument("--hz", type=_number, default=2.0, metavar="N", help="samples a second (2)")
    watch.add_argument(
        "--for", type=_number, dest="seconds", metavar="SECONDS", help="end after so long"
    )

    experiments = add("experiments", "list what can be measured")
    experiments.add_argument("--json", action="store_true", help="write JSON to standard output")

    run = add("run", "run one experiment")
    run.add_argument("id", help="which one; `coreopsis experiments` lists them")
    run.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="set a parameter"
    )
    run.add_argument("--quick", action="store_true", help="end within 5 seconds, roughly")
    run.add_argument("--out", type=Path, metavar="FILE", help="write the run to a file as well")
    run.add_argument("--json", action="store_true", help="stream the run to standard output")
    run.add_argument("--svg", type=Path, metavar="FILE", help="draw the headline view to a file")
    run.add_argument("--no-keep", action="store_true", help="leave the run out of the library")
    run.add_argument(
        "--now", action="store_true", help="do not wait while another measurement is under way"
    )

    replay = add("replay", "show a recorded run")
    replay.add_argument("file", help="a run file, or the first letters of a run's id")
    replay.add_argument(
        "--speed", type=_number, metavar="N", help="as it happened, N times as fast"
    )

    compare = add("compare", "hold two runs of one experiment side by side")
    compare.add_argument("a", help="a run file, or the first letters of a run's id")
    compare.add_argument("b", help="another")
    compare.add_argument("--json", action="store_true", help="write JSON to standard output")

    add("worker", "do one job over standard input and output")
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parser.add_argument("--debug", action="store_true", help="tell everything, with tracebacks")
    parser.add_argument("--data", type=Path, metavar="DIR", help="where runs are kept")
    parser.add_argument(
        "--fake-machine", type=Path, metavar="FILE", help="take the machine from a JSON file"
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no number") from None


def _speak_any_terminal() -> None:
    """Never fail over a character that the terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
