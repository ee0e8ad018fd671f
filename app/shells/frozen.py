"""The way into the frozen program, which is its own Python too: all that it starts begins here.

PyInstaller's program takes no options of Python, but processes are started by `sys.executable`. So
it reads those that we and multiprocessing use: `-P -m MODULE`, `-I -S FILE` and `-c CODE`.
"""

from __future__ import annotations

import os
import runpy
import sys

# There is neither a site nor a user's path here, so most mean nothing.
OPTIONS = frozenset(("-B", "-E", "-I", "-P", "-S", "-s", "-u"))
WITH_VALUE = frozenset(("-W", "-X"))
LOADER = "LD_LIBRARY_PATH"
PYINSTALLERS = "_PYI_"  # how its variables begin


def main() -> None:
    """Be the program, or the Python that its arguments ask for."""
    _prepare()
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if first in ("-c", "-m") or first in OPTIONS or first[:2] in WITH_VALUE:
        _be_python(sys.argv[1:])
    else:
        from app.cli import main as program

        sys.exit(program())


def _be_python(rest: list[str]) -> None:
    """Run a module, code or a file as the main program of this process."""
    while rest[0] in OPTIONS or rest[0][:2] in WITH_VALUE:
        del rest[: 2 if rest[0] in WITH_VALUE else 1]
    if rest[0] == "-m":
        sys.argv = rest[1:]
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
    elif rest[0] == "-c":
        sys.argv = ["-c", *rest[2:]]
        exec(compile(rest[1], "<string>", "exec"), vars(sys.modules["__main__"]))
    else:
        sys.argv = rest
        sys.path.insert(0, os.path.dirname(os.path.abspath(rest[0])))
        runpy.run_path(rest[0], run_name="__main__")


def _prepare() -> None:
    """Do what Python does at its start, and undo what PyInstaller did at its own."""
    # Our modules are plain files, so libraries need no ways for frozen programs: Numba would not
    # see that a kernel has changed, and multiprocessing would want other options.
    del sys.frozen  # type: ignore[attr-defined]
    for name in [name for name in os.environ if name.startswith(PYINSTALLERS)]:
        del os.environ[name]  # else what we start would not look for its libraries anew
    before = os.environ.pop(f"{LOADER}_ORIG", None)
    if before is not None:
        os.environ[LOADER] = before
    else:
        os.environ.pop(LOADER, None)  # other programs take the libraries of the system
    if os.environ.get("PYTHONFAULTHANDLER"):
        import faulthandler

        faulthandler.enable()


if __name__ == "__main__":
    main()
