"""The way into the program, before anything else is imported: Ctrl-C ends it well from here on."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from app.ending_signals import end_at_once, end_in_order

CANNOT_RUN_HERE = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    end_at_once()
    if arguments is None:  # in a process of its own
        from app import garbage

        garbage.seldom()
    from experiments.core.processes.libraries import missing_sentence

    # In a bare checkout nothing is installed, and most modules import some of these.
    if sentence := missing_sentence():
        sys.stderr.write(f"{sentence}\n")
        return CANNOT_RUN_HERE
    from app.command_line import run

    try:
        return run(sys.argv[1:] if arguments is None else arguments)
    finally:  # of the program; where it was called, its caller goes on
        (end_at_once if arguments is None else end_in_order)()
