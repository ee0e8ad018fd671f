"""`coreopsis check FOLDER`: what is missing or wrong in an experiment of the user's own.

It is examined in a process of its own, and then run once, as small as it can be.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

from app.context import Context, ExitCode
from app.report import report
from experiments import yours
from experiments.core.catalogue import Catalogue
from experiments.core.parameters import to_json
from experiments.core.problems import Problem, UserError
from experiments.core.shelves import MAIN, YOURS, Home, can_name, id_of
from experiments.engine.examine import examine
from experiments.engine.jobs import Engine
from experiments.engine.messages import Outcome
from experiments.engine.run_state import RunState
from machine.text import plain


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Say each thing that is wrong in a sentence; FAILED if there is any. Raises UserError."""
    folder: Path = options.folder.resolve()
    if not os.path.isfile(folder / f"{MAIN}.py"):  # pathlib's raises for names too long
        raise UserError("own_no_file", folder=options.folder)
    if not can_name(folder.name):
        raise UserError("own_name", name=folder.name)
    name, home = id_of(folder.name), Home(YOURS, folder)
    context.words.read_homes({name: home})
    yours.use([folder.parent])  # once the words have looked into the usual folders
    problems = examine({name: home})[name]
    sentences = [context.sentence(problem) for problem in problems] or _try(context, name)
    for sentence in sentences:
        context.console.out(sentence, highlight=False)
    return ExitCode.FAILED if sentences else ExitCode.DONE


def _try(context: Context, name: str) -> list[str]:
    """Run it once, as small as it can be; return what went wrong, or tell how it went."""
    experiment = Catalogue((YOURS,)).load(name)
    params = experiment.smallest(experiment.params_for(context.machine, quick=True))
    engine, state = Engine(), RunState(experiment)
    start_s = time.monotonic()
    try:
        for event in engine.start(experiment, to_json(params), quick=True).events():
            state.add(event)
    finally:
        engine.close()
    finished = state.finished
    assert finished is not None
    told = report(context.words, experiment, finished, tables=state.tables, quick=False)
    if finished.outcome is not Outcome.COMPLETED:
        problem = Problem("own_run_failed", {"reason": plain(told.problem or told.ending)})
        return [context.sentence(problem)]
    said = f"findings.{finished.finding.message}" if finished.finding else ""
    if said and not context.words.has(f"{name}.{said}"):
        return [context.sentence(Problem("own_words_missing", {"keys": said}))]
    duration_s = time.monotonic() - start_s
    values = {"id": name, "duration": duration_s, "finding": told.finding}
    context.console.out(context.words.say("terminal.own_is_fine", values), highlight=False)
    return []
