"""Write the manual page and the completions of `resources/share`: `python -m tests.tools.share`."""

from __future__ import annotations

import sys
import tomllib

from app.context import NAME
from app.shells.completion import SCRIPTS, offers
from app.shells.manual import manual
from experiments.core.catalogue import Catalogue
from tests import ROOT

FOLDER = ROOT / "resources/share"  # what lies below `share` of a system or a user
COMPLETIONS = {  # where each shell looks, below `share`
    "bash": f"bash-completion/completions/{NAME}",
    "zsh": f"zsh/site-functions/_{NAME}",
    "fish": f"fish/vendor_completions.d/{NAME}.fish",
}


def version() -> str:
    """Return the version of the program, as `pyproject.toml` gives it."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["version"])


def texts() -> dict[str, str]:
    """Return what each file should hold, by its name below `share`."""
    before, sys.argv[0] = sys.argv[0], NAME  # else the texts name the file of this module
    try:
        offered = offers(Catalogue().ids())
        scripts = {name: SCRIPTS[shell](offered) for shell, name in COMPLETIONS.items()}
        return {f"man/man1/{NAME}.1": manual(version())} | scripts
    finally:
        sys.argv[0] = before


if __name__ == "__main__":
    for name, text in texts().items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")
