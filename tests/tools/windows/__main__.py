"""Run the program in a Windows of our own, and print a table: `python -m tests.tools.windows`.

`--only NAME` is for some looks. The exit code is 0 if all ended as they should, 1 if one did not,
and 3 without Windows. Times are Wine's, and mean nothing for a real Windows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence

from tests.tools.windows import wine
from tests.tools.windows.looks import LOOKS, look


def main(arguments: Sequence[str]) -> int:
    """Look, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.windows", description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(LOOKS), choices=list(LOOKS))
    options = parser.parse_args(arguments)
    if reason := wine.lacking():
        sys.stderr.write(f"{reason}\n")
        return 3
    wine.copy_checkout()
    wrong = 0
    try:
        for name in options.only:
            looked = look(name)
            wrong += bool(looked.wrong)
            ended = looked.wrong or looked.said or "as it should"
            print(f"{name:<16} {looked.took_s:6.1f} s  {ended}", flush=True)  # noqa: T201  (the table)
    finally:
        wine.end()
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (subprocess.CalledProcessError, KeyboardInterrupt) as error:
        sys.exit(f"{error}")
