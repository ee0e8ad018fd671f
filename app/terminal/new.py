"""`coreopsis new NAME`: writes an experiment of the user's own, or a copy of one, to be changed."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

from app.context import Context, ExitCode, quoted
from app.mine import folder_for, make_mine
from app.own_experiments import FOLDER
from experiments.core.problems import UserError
from experiments.core.resources import FOLDER as RESOURCES
from experiments.core.shelves import id_of

TEMPLATE = RESOURCES / "new"


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Write the folder and say what comes next. Raises UserError."""
    context.use_own_folders()
    into = options.into
    if options.original:
        name, start = options.name, options.start
        folder = make_mine(
            context.catalogue, options.original, name, context.folder, start=start, into=into
        )
    elif options.start:
        raise UserError("start_without_from")
    else:
        folder = _written(folder_for(options.name, into or context.folder / FOLDER))
    place = f" --experiments {quoted(str(into))}" if into is not None else ""
    written = context.words.say("terminal.own_written", {"folder": folder})
    context.console.out(written, highlight=False)
    key = "terminal.mine_next" if options.original else "terminal.own_next"
    id_, given = id_of(folder.name), context.given + place
    said = context.words.say(key, {"folder": quoted(str(folder)), "id": id_, "given": given})
    context.console.out(said, highlight=False)
    return ExitCode.DONE


def _written(folder: Path) -> Path:
    try:
        write(folder)
    except OSError as error:
        raise UserError("own_not_written", folder=folder, reason=error.strerror or "?") from None
    return folder


def write(folder: Path) -> None:
    """Write the experiment that a user begins with. Raises OSError."""
    folder.mkdir(parents=True)
    for source in TEMPLATE.iterdir():
        shutil.copyfile(source, folder / source.name.removesuffix(".txt"))
    (folder / "__init__.py").touch()
