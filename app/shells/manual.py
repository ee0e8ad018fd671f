"""The manual page, made of what the parser declares: `python -m app.shells.manual` prints it."""

from __future__ import annotations

import argparse
import sys

from app.context import NAME
from app.parser import commands, parser


def manual(version: str) -> str:
    """Return the page as roff, for `man`. Source: man-pages(7), groff_man(7)."""
    made = parser()
    lines = [
        f'.TH {NAME.upper()} 1 "" "{NAME} {version}"',
        ".SH NAME",
        f"{NAME} \\- {_escaped((made.description or '').partition('.')[0])}",
        ".SH SYNOPSIS",
        f".B {NAME}",
        "[OPTION...] [COMMAND | FILE] [ARGUMENT...]",
        ".SH DESCRIPTION",
        _escaped(made.description or ""),
        ".SH OPTIONS",
        *_listed(made),
        ".SH COMMANDS",
    ]
    common = frozenset(name for each in options_of(made) for name in each.option_strings)
    for name, command in commands(made).items():
        lines += [f".SS {NAME} {_escaped(name)}", _escaped(command.description or "") + "."]
        lines += _listed(command, apart_from=common)
        if command.epilog:
            lines += [".PP", _escaped(command.epilog)]
    return "\n".join((*lines, ".SH EXIT STATUS", _escaped(made.epilog or ""), ""))


def options_of(command: object) -> list[argparse.Action]:
    """Return the options and arguments of a parser, without its commands."""
    assert isinstance(command, argparse.ArgumentParser)
    actions = command._actions  # noqa: SLF001
    return [each for each in actions if each.dest != "command" and each.help != argparse.SUPPRESS]


def _listed(
    command: argparse.ArgumentParser, apart_from: frozenset[str] = frozenset()
) -> list[str]:
    lines = []
    for action in options_of(command):
        if apart_from.intersection(action.option_strings):
            continue
        value = action.metavar or action.dest.upper()
        shown = ", ".join(action.option_strings) or str(value)
        if action.option_strings and action.nargs != 0:
            shown += f" {value}"
        lines += [".TP", f".B {_escaped(shown)}", _escaped(action.help or "")]
    return lines


def _escaped(text: str) -> str:
    """Return a text that roff takes as it is: a hyphen to copy, no line that is a request."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("\n", " ")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


if __name__ == "__main__":
    from experiments.engine.environment import program_version

    sys.argv[0] = NAME  # else the texts name the file of this module
    sys.stdout.write(manual(program_version()))
