"""`coreopsis check FOLDER`: what is missing or wrong in an experiment of the user's own.

It is examined in a process of its own, and then run once, as small as it can be. The same laws hold
for the experiments that come with the program.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from msgspec.structs import replace

from app.context import Context, ExitCode
from app.own_experiments import own_homes
from app.report import note_text, report
from app.source import sources
from experiments import yours
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, Frame, Note, Progress
from experiments.core.judging.trust import is_told
from experiments.core.laws import code, declared, ran, texts
from experiments.core.parameters import to_json
from experiments.core.problems import Problem, UserError
from experiments.core.processes.own_errors import own_problem, said
from experiments.core.rules import broken_rules
from experiments.core.shelves import MAIN, YOURS, Home, can_name, homes, id_of
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.examine import examine
from experiments.engine.jobs import Engine
from experiments.engine.recording import as_record
from machine.memory.host import available_bytes
from machine.model import Machine
from machine.text import plain

FREE_BYTES = 2**33  # where nobody tells how much memory is free
UNKNOWN = Machine()


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Say each thing that is wrong in a sentence; FAILED if there is any. Raises UserError."""
    folder = _folder(options.folder, context)
    if not can_name(folder.name):
        raise UserError("own_name", name=folder.name)
    name, home = id_of(folder.name), Home(YOURS, folder)
    context.words.read_homes({name: home})
    known = {*homes(), name}
    yours.use([folder.parent])  # once the words have looked into the usual folders
    console = context.console  # before standard output is taken from the experiment
    problems, fine = list(examine({name: home})[name]), ""
    if not problems:
        with contextlib.redirect_stdout(io.StringIO()):  # what it prints is no answer
            problems, fine = _try(context, name, known)
    sentences = dict.fromkeys(map(context.sentence, problems))
    for sentence in sentences or (fine,):
        console.out(sentence, highlight=False)
    return ExitCode.FAILED if sentences else ExitCode.DONE


def _folder(asked: Path, context: Context) -> Path:
    """Return the folder of the experiment that is meant, by its path or its id. Raises UserError.

    The path counts if it names a folder with an experiment; otherwise the id counts.
    """
    if asked.name == f"{MAIN}.py":
        asked = asked.parent
    folder, name = asked.resolve(), id_of(str(asked))
    context.use_own_folders()
    ours = {key: home for key, home in homes().items() if home.shelf != YOURS}
    if any(home.folder == folder for home in ours.values()):
        raise UserError("own_is_ours", id=id_of(folder.name))
    if os.path.isfile(folder / f"{MAIN}.py"):  # pathlib's raises for names too long
        return folder
    if (own := own_homes().get(name)) is not None:
        return own.folder.resolve()
    if name in ours:
        raise UserError("own_is_ours", id=name)
    if not os.path.isdir(folder):
        raise UserError("own_not_there", folder=asked)
    held = sorted(
        each for each in os.listdir(folder) if os.path.isfile(folder / each / f"{MAIN}.py")
    )
    if held:
        raise UserError("own_several", folder=asked, names=", ".join(held), first=asked / held[0])
    raise UserError("own_no_file", folder=asked)


def _try(context: Context, name: str, known: Collection[str]) -> tuple[list[Problem], str]:
    """Hold it against the laws, without a run and in one.

    Return what is wrong, and what to say where nothing is.
    """
    experiment, words = Catalogue((YOURS,)).load(name), context.words
    free_bytes = available_bytes() or FREE_BYTES
    laws = {
        "words": texts.broken(experiment, words),
        "analyse": code.broken(experiment, words, sources(experiment)),
        "keys": declared.keys(experiment, words),
        "next": declared.what_is_next(experiment, words, context.machine, known),
        "defaults": declared.runs(experiment, words, context.machine, free_bytes),
    }
    found = [each for where, broken in laws.items() for each in _caught(broken, where)]
    found += _only("own_elsewhere", context, found, _on_unknown(experiment, words, free_bytes))
    smallest = _run(context, experiment)
    finished, finding = smallest.finished, smallest.finished.finding
    told = report(words, experiment, finished, tables=smallest.made.tables(), quick=False)
    if finished.outcome is not messages.Outcome.COMPLETED or finding is None:
        reason = plain(told.problem or told.ending)
        return [*found, Problem("own_run_failed", {"reason": reason})], ""
    found += _caught(ran.broken(smallest.made, words, held=messages.HELD), "analyse")
    in_part = _caught(ran.of_parts(smallest.made, words, [UNKNOWN]), "analyse")
    found += _only("own_in_part", context, found, in_part)
    values = {"id": name, "took_s": smallest.took_s, "finding": told.finding}
    if is_told(finding.message, finding.trust):
        return found, words.say("terminal.own_is_fine", values)
    return found, words.say("terminal.own_is_fine_untold", values)


def _on_unknown(experiment: Experiment[Any], words: Words, free_bytes: int) -> Iterator[Problem]:
    """Yield what is wrong on a machine of which nothing is known."""
    if broken := broken_rules(experiment, words, UNKNOWN):
        yield from broken
    else:
        yield from _caught(declared.runs(experiment, words, UNKNOWN, free_bytes), "defaults")


def _only(
    key: str, context: Context, found: Iterable[Problem], more: Iterable[Problem]
) -> Iterator[Problem]:
    """Yield what is wrong beyond what was found, each with a key that says where."""
    known = {*map(context.sentence, found)}
    for sentence in dict.fromkeys(map(context.sentence, more)):
        if sentence not in known:
            yield Problem(key, {"reason": sentence})


def _caught(problems: Iterable[Problem], function: str) -> Iterator[Problem]:
    """Yield them, and what the experiment raises meanwhile, which ends them."""
    try:
        yield from problems
    except Exception as error:  # noqa: BLE001  (whatever somebody's function raises)
        told = {"function": function, "error": said(error)}
        yield own_problem(error) or Problem("own_raised", told)


class _Smallest(NamedTuple):
    """A smallest run: what it yielded, how it ended, and how long it took once it had begun."""

    made: ran.Ran
    finished: messages.Finished
    took_s: float


def _run(context: Context, experiment: Experiment[Any]) -> _Smallest:
    """Run it once, as small as it can be; its first turn is made to wait, and let go."""
    params = experiment.smallest(experiment.params_for(context.machine, quick=True))
    items, engine, begun_s = list[object](), Engine(), time.monotonic()
    finished = messages.Finished(outcome=messages.Outcome.LOST)  # a run always ends in another
    try:
        running = engine.start(experiment, to_json(params), quick=True, hold=True)
        for event in running.events():
            match event:
                case messages.Started():
                    begun_s = time.monotonic()  # another program's run may have come first
                case messages.Row():  # also a disturbed one: the laws hold for any
                    kind = experiment.tables[event.table]
                    items.append(as_record(replace(event, disturbed=None), kind))
                case messages.Progress():
                    items.append(Progress(event.fraction))
                case messages.Frame():
                    items.append(Frame(event.table, event.shape, b""))
                case messages.Note():
                    items.append(Note(event.key, event.values))
                    if event.key == messages.HELD:
                        running.go()
                    elif event.key in messages.WAITING:
                        waits = note_text(context.words, event.key, event.values, experiment.id)
                        context.errors.print(waits)
                case messages.Finished():
                    finished = event
    finally:
        took_s = time.monotonic() - begun_s
        engine.close()
    made = ran.Ran(experiment=experiment, params=params, machine=context.machine, items=items)
    return _Smallest(made, finished, took_s)
