"""All commands and options, as argparse reads them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from app.context import ExitCode, called

# What several options have in common.
JSON: dict[str, Any] = {"action": "store_true", "help": "write JSON to standard output"}
FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}
SHELLS = ("bash", "zsh", "fish", "powershell")
COMPLETES_IDS = ("experiments", "run", "replay", "worksheet", "check")
FOLDER: dict[str, Any] = {"type": Path, "metavar": "DIR"}


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

    def add(name: str, text: str, epilog: str | None = None) -> Callable[..., object]:
        """Add a command; return what adds an argument to it."""
        command = commands.add_parser(
            name, help=text, description=text, epilog=epilog, parents=[common]
        )
        return command.add_argument

    inspect = add("inspect", "show this machine")
    inspect("--json", **JSON)
    inspect("--out", **FILE, help="write JSON to a file, without what names the owner")
    inspect("--root", **FOLDER, help="read a recorded /sys and /proc")

    doctor = add("doctor", "say why accelerators can or cannot be used, and what to do")
    doctor("--json", **JSON)
    doctor("--python", metavar="PATH", help="examine the PyTorch of that Python or environment")

    watch = add("watch", "show the load as it changes")
    watch("--json", action="store_true", help="write each sample as a line of JSON")
    watch("--hz", type=_number, default=2.0, metavar="N", help="samples a second (2)")
    watch("--for", type=_number, dest="seconds", metavar="SECONDS", help="end after so long")

    experiments = add("experiments", "list what can be measured, or show what one can be set to")
    found = "show what can be set in it; any other word finds experiments"
    experiments("ids", nargs="*", metavar="ID", help=found)
    experiments("--json", **JSON)

    where = "Each run prints its id at its end; Runs in the window shows the ids of all."
    run = add("run", "run one experiment")
    run("id", help=f"which one; `{called()} experiments` lists them")
    run("--set", action="append", default=[], metavar="NAME=VALUE", help="change a setting")
    run("--quick", action="store_true", help="end within 5 seconds, roughly")
    run("--out", **FILE, help="write the run to a file as well")
    run("--json", action="store_true", help="stream the run to standard output")
    run("--svg", **FILE, help="draw the headline view to a file")
    run("--no-keep", action="store_true", help="leave the run out of the library")
    run("--now", action="store_true", help="do not wait while another measurement is under way")
    beside = "measure a copy and its original in turns, and compare them"
    run("--beside", action="store_true", help=beside)
    run("--predict", action="store_true", help="ask what you expect, and explain what came")

    add("guess", "ask ten quick questions about this machine, and let it answer them")

    replay = add("replay", "show a recorded run", where)
    a_run = "a run file, the first letters of a run's id, or an experiment with its own recording"
    replay("file", help=a_run)
    replay("--speed", type=_number, metavar="N", help="as it happened, N times as fast")

    compare = add("compare", "hold two runs of one experiment side by side", where)
    compare("a", help=a_run)
    compare("b", help="another")
    compare("--json", **JSON)

    checkup = add("checkup", "check whether this machine is sound (about three minutes)")
    loaded = "load everything for so long; it gets hot"
    checkup("--quick", action="store_true", help="end within a minute")
    checkup("--soak", type=_number, metavar="MINUTES", help=loaded)
    checkup("--stop-at", type=_number, metavar="CELSIUS", help="end the load at this temperature")
    checkup("--baseline", **FILE, help="compare with this checkup, not the saved one")
    checkup("--save-baseline", action="store_true", help="compare later checkups with this one")
    known = "measure nothing: show what the table of parts knows of this machine's parts"
    checkup("--part-facts", action="store_true", help=known)
    bought = "compare with what was bought, a line each as on the invoice; - reads standard input"
    checkup("--order", **FILE, help=bought)
    checkup("--json", **JSON)
    checkup("--out", **FILE, help="write JSON to a file")
    checkup("--html", **FILE, help="write a report as HTML")
    checkup("--pdf", **FILE, help="write a report as PDF")

    gather = add("gather", "put the checkups of many machines together, with the odd one out")
    gather("files", nargs="+", **FILE, help="checkups, or reports of them")
    gather("--html", **FILE, help="write a report as HTML")
    gather("--json", **JSON)

    opened = add("open", "open a run, a report, a checkup or a lecture; `open` may be left out")
    opened("file", **FILE, help="what the window or the terminal wrote, or somebody gave you")

    preflight = add(
        "preflight",
        "try each item of a lecture here, and record what stands in",
        "Exit codes: 0 all are ready, 1 one can be neither run nor shown, "
        "4 some take long, are only recordings, or lack one, 130 stopped.",
    )
    lecture = "a lecture's file, or the name of one, such as ten-things"
    preflight("file", metavar="FILE", help=lecture)
    preflight("--json", **JSON)

    plain = "Without an option it is written as Markdown to standard output."
    handout = add("handout", "write what a lecture asked, measured and explained", plain)
    handout("file", **FILE, help="a lecture, or the record of one that was held")
    handout("--html", **FILE, help="write one page for a browser")
    handout("--pdf", **FILE, help="write pages for printing")

    worksheet = add("worksheet", "write a page to hand in, or its answer sheet", f"{plain} {where}")
    worksheet("runs", nargs="+", metavar="RUN", help=a_run)
    worksheet("--answers", action="store_true", help="write the sheet for who marks it")
    worksheet("--html", **FILE, help="write one page for a browser")
    worksheet("--pdf", **FILE, help="write pages for printing")

    new = add("new", "write an experiment of your own, which runs at once")
    new("name", metavar="NAME", help="what it is called, such as call-cost")
    new(
        "--from",
        metavar="ID",
        dest="original",
        default="",
        help="copy this one, to change its loop",
    )
    new(
        "--start", action="store_true", help="with --from: begin with what its exercise begins with"
    )
    new("--in", **FOLDER, dest="into", help="write it there (your data folder)")

    check = add("check", "say what is missing or wrong in an experiment of your own")
    check("folder", type=Path, metavar="FOLDER", help="the folder of an experiment")

    completion = add("completion", "write a script that lets a shell complete commands")
    completion("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))

    add("worker", "do one job over standard input and output")
    return made


def with_command(made: argparse.ArgumentParser, arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments with `open` before a file that stands where a command is expected."""
    known = commands(made)
    if arguments[0] in known:
        return arguments
    common = _Parser(add_help=False)
    _add_common(common)
    left = common.parse_known_args(arguments)[1]
    first = next((each for each in left if not each.startswith("-")), None)
    if first is None or first in known or not os.path.isfile(first):
        return arguments
    place = list(arguments).index(first)
    return [*arguments[:place], "open", *arguments[place:]]


def commands(made: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of all commands."""
    (action,) = (each for each in made._actions if each.dest == "command")  # noqa: SLF001
    return dict(action.choices or {})


def _add_common(parser: argparse.ArgumentParser) -> None:
    add, own = parser.add_argument, "add a folder of experiments of your own"
    add("--version", action=_Version, nargs=0, help="show the version and exit")
    add("--debug", action="store_true", help="tell everything, with tracebacks")
    add("--data", **FOLDER, help="where runs and settings are kept")
    add("--experiments", **FOLDER, action="append", help=own)
    add("--fake-machine", **FILE, help="take the machine from a JSON file")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no number") from None
