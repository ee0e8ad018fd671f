"""`coreopsis new NAME`: writes an experiment of the user's own, which runs at once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

from app.context import Context, ExitCode, quoted
from app.own_experiments import FOLDER
from experiments.core.problems import UserError
from experiments.core.resources import FOLDER as RESOURCES
from experiments.core.shelves import homes, id_of

TEMPLATE = RESOURCES / "new"


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Write the folder and say what comes next. Raises UserError."""
    name, into = options.name.lower().replace("-", "_"), options.into
    if not (name.isascii() and name.isidentifier()):
        raise UserError("own_name", name=options.name)
    context.use_own_folders()
    if id_of(name) in homes():
        raise UserError("own_id_taken", id=id_of(name))
    folder = (into or context.folder / FOLDER) / name
    if os.path.exists(folder):
        raise UserError("own_there", folder=folder)
    try:
        write(folder)
    except OSError as error:
        raise UserError("own_not_written", folder=folder, reason=error.strerror or "?") from None
    place = f" --experiments {quoted(str(into))}" if into is not None else ""
    values = {"folder": folder, "id": id_of(name), "given": context.given + place}
    context.console.out(context.words.say("terminal.own_written", values), highlight=False)
    context.console.out(context.words.say("terminal.own_next", values), highlight=False)
    return ExitCode.DONE


def write(folder: Path) -> None:
    """Write the experiment that one begins with. Raises OSError."""
    folder.mkdir(parents=True)
    for source in TEMPLATE.iterdir():
        shutil.copyfile(source, folder / source.name.removesuffix(".txt"))
    (folder / "__init__.py").touch()
