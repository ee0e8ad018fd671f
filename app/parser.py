"""All commands and options, as argparse reads them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from app.context import ExitCode
from app.program import called


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


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line of every command."""
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    _add_common(common)
    made = _Parser(
        prog=called(),
        description="Shows the machine in front of you, and lets you experiment on it. "
        "Without a command it opens the window.",
        epilog="Exit codes: 0 done, 1 the run failed or a problem was found, 2 wrong usage or "
        "unreadable input, 3 cannot run here, 4 something to look at, 130 stopped.",
    )
    _add_common(made)
    made.set_defaults(debug=False, data=None, fake_machine=None, experiments=[])
    commands = made.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def add(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=[common])

    inspect = add("inspect", "show this machine")
    inspect.add_argument("--json", action="store_true", help="write JSON to standard output")
    inspect.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write JSON to a file, without what names the owner",
    )
    inspect.add_argument("--root", type=Path, metavar="DIR", help="read a recorded /sys and /proc")

    doctor = add("doctor", "say why accelerators can or cannot be used, and what to do")
    doctor.add_argument("--json", action="store_true", help="write JSON to standard output")
    doctor.add_argument(
        "--python", metavar="PATH", help="examine the PyTorch of that Python or environment"
    )

    watch = add("watch", "show the load as it changes")
    watch.add_argument("--json", action="store_true", help="write each sample as a line of JSON")
    watch.add_argument("--hz", type=_number, default=2.0, metavar="N", help="samples a second (2)")
    watch.add_argument(
        "--for", type=_number, dest="seconds", metavar="SECONDS", help="end after so long"
    )

    experiments = add("experiments", "list what can be measured, or show what one can be set to")
    experiments.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="show what can be set in it; any other word finds experiments",
    )
    experiments.add_argument("--json", action="store_true", help="write JSON to standard output")

    run = add("run", "run one experiment")
    run.add_argument("id", help=f"which one; `{called()} experiments` lists them")
    run.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="change a setting"
    )
    run.add_argument("--quick", action="store_true", help="end within 5 seconds, roughly")
    run.add_argument("--out", type=Path, metavar="FILE", help="write the run to a file as well")
    run.add_argument("--json", action="store_true", help="stream the run to standard output")
    run.add_argument("--svg", type=Path, metavar="FILE", help="draw the headline view to a file")
    run.add_argument("--no-keep", action="store_true", help="leave the run out of the library")
    run.add_argument(
        "--now", action="store_true", help="do not wait while another measurement is under way"
    )

    where = "Each run prints its id at its end; Runs in the window shows the ids of all."
    run.add_argument(
        "--predict", action="store_true", help="ask what you expect, and explain what came"
    )

    replay = add("replay", "show a recorded run")
    a_run = "a run file, the first letters of a run's id, or an experiment with its own recording"
    replay.epilog = where
    replay.add_argument("file", help=a_run)
    replay.add_argument(
        "--speed", type=_number, metavar="N", help="as it happened, N times as fast"
    )

    compare = add("compare", "hold two runs of one experiment side by side")
    compare.epilog = where
    compare.add_argument("a", help=a_run)
    compare.add_argument("b", help="another")
    compare.add_argument("--json", action="store_true", help="write JSON to standard output")

    checkup = add("checkup", "check whether this machine is sound (about three minutes)")
    checkup.add_argument("--quick", action="store_true", help="end within a minute")
    checkup.add_argument(
        "--soak", type=_number, metavar="MINUTES", help="load everything for so long; it gets hot"
    )
    checkup.add_argument(
        "--stop-at", type=_number, metavar="CELSIUS", help="end the load at this temperature"
    )
    checkup.add_argument(
        "--baseline", type=Path, metavar="FILE", help="compare with this checkup, not the saved one"
    )
    checkup.add_argument(
        "--save-baseline", action="store_true", help="compare later checkups with this one"
    )
    checkup.add_argument("--json", action="store_true", help="write JSON to standard output")
    checkup.add_argument("--out", type=Path, metavar="FILE", help="write JSON to a file")
    checkup.add_argument("--html", type=Path, metavar="FILE", help="write a report as HTML")
    checkup.add_argument("--pdf", type=Path, metavar="FILE", help="write a report as PDF")

    gather = add("gather", "put the checkups of many machines together, with the odd one out")
    gather.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="checkups, or reports of them"
    )
    gather.add_argument("--html", type=Path, metavar="FILE", help="write a report as HTML")
    gather.add_argument("--json", action="store_true", help="write JSON to standard output")

    preflight = add("preflight", "try each item of a lecture here, and record what stands in")
    preflight.epilog = (
        "Exit codes: 0 all are ready, 1 one can be neither run nor shown, "
        "4 some take long, are only recordings, or lack one, 130 stopped."
    )
    preflight.add_argument(
        "file", metavar="FILE", help="a lecture's file, or the name of one, such as ten-things"
    )
    preflight.add_argument("--json", action="store_true", help="write JSON to standard output")

    handout = add("handout", "write what a lecture asked, measured and explained")
    handout.epilog = "Without an option it is written as Markdown to standard output."
    handout.add_argument(
        "file", type=Path, metavar="FILE", help="a lecture, or the record of one that was held"
    )
    handout.add_argument("--html", type=Path, metavar="FILE", help="write one page for a browser")
    handout.add_argument("--pdf", type=Path, metavar="FILE", help="write pages for printing")

    new = add("new", "write an experiment of your own, which runs at once")
    new.add_argument("name", metavar="NAME", help="what it is called, such as call-cost")
    new.add_argument(
        "--in", type=Path, dest="into", metavar="DIR", help="write it there (your data folder)"
    )

    check = add("check", "say what is missing or wrong in an experiment of your own")
    check.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of an experiment")

    add("worker", "do one job over standard input and output")
    return made


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parser.add_argument("--debug", action="store_true", help="tell everything, with tracebacks")
    parser.add_argument("--data", type=Path, metavar="DIR", help="where runs and settings are kept")
    parser.add_argument(
        "--experiments",
        type=Path,
        action="append",
        metavar="DIR",
        help="add a folder of experiments of your own",
    )
    parser.add_argument(
        "--fake-machine", type=Path, metavar="FILE", help="take the machine from a JSON file"
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no number") from None
