"""`coreopsis run NAME --beside`: a copy and its original in one run, compared round by round."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from app.context import Context, ExitCode
from app.mine import original_of
from app.report import problem_text
from app.runs.beside import verdict_of
from app.runs.comparison import compare
from app.runs.run_writer import RunWriter
from app.terminal import compare as comparing
from app.terminal.progress import bar, columns
from app.terminal.stopping import asked_to_stop
from experiments.core.declare import Experiment
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.jobs import Engine, Keep
from experiments.engine.recording import recording_of
from experiments.engine.side_by_side import SideBySide, check_alike, to_tell
from experiments.engine.sweep import sweep

ALONE = ("out", "svg", "predict")  # options that mean one run


def original(context: Context, copy: Experiment[Any]) -> Experiment[Any]:
    """Return what an experiment is a copy of. Raises UserError where they cannot be compared."""
    name = original_of(context.catalogue, copy.id)
    found = context.catalogue.load(name)
    check_alike(found, copy)
    return found


def measure_beside(
    options: SimpleNamespace,
    context: Context,
    both: tuple[Experiment[Any], Experiment[Any]],
    params: Mapping[str, Any],
) -> ExitCode:
    """Run an original and its copy in turns, and say which is faster. Raises UserError."""
    if given := [f"--{name}" for name in ALONE if getattr(options, name)]:
        raise UserError("beside_one_run", options=", ".join(given))
    if not options.no_keep:
        context.library.check_writable()
    sweep()
    lines: tuple[list[bytes], list[bytes]] = ([], [])
    writers = [] if options.no_keep else [RunWriter(context.library) for _ in both]

    def keep(place: int) -> Keep:
        def each_line(event: messages.Event, line: bytes) -> None:
            lines[place].append(line)
            if writers:
                writers[place].keep(event, line)

        return each_line

    engine = Engine()
    ended: dict[int, messages.Finished] = {}
    running = SideBySide(
        engine, both, params, quick=options.quick, keep=[keep(place) for place in range(2)]
    )
    try:
        with asked_to_stop(running.stop):
            _follow(context, both, running, ended, options)
    finally:
        engine.close()
        wrong = to_tell(ended)
        for writer in writers:
            writer.is_wanted = wrong is None  # a pair of which one is missing compares nothing
            writer.close()
            if writer.problem is not None:
                context.complain(writer.problem.problem)
    if wrong is not None:
        place, finished = wrong
        if finished.problem is not None:
            text = problem_text(context.words, finished.problem, both[place].id)
            context.errors.print(text, markup=False, highlight=False)
            return ExitCode.FAILED
        return ExitCode.STOPPED
    a, b = (recording_of(each.id, told) for each, told in zip(both, lines, strict=True))
    compared = compare(both[0], a, b)
    if options.json:
        told = {"verdict": verdict_of(context.words, both[0], compared)}
        text = json.dumps(told | comparing.as_json(compared), indent=1)
        context.console.out(text, highlight=False)
        return ExitCode.DONE
    say = context.words.say
    names = [
        say("beside.original", {"id": both[0].id}),
        say("beside.copy", {"id": both[1].id}),
    ]
    comparing.tell(context, both[0], compared, names)
    context.console.print(verdict_of(context.words, both[0], compared), style="bold")
    return ExitCode.DONE


def _follow(
    context: Context,
    both: tuple[Experiment[Any], Experiment[Any]],
    running: SideBySide,
    ended: dict[int, messages.Finished],
    options: SimpleNamespace,
) -> None:
    """Hear both to their ends, and show how far the slower of them is."""
    done = [0.0, 0.0]
    with bar(context, *columns(), streams=options.json) as shown:
        task = shown.add_task(both[1].id, total=2.0, left="")
        for place, event in running.events():
            if isinstance(event, messages.Progress):
                done[place] = event.fraction
                shown.update(task, completed=sum(done))
            elif isinstance(event, messages.Note) and event.key in messages.WAITING:
                if options.now:
                    running.stop()
                    raise UserError("machine_busy", **event.values)
                said = context.words.say(f"notes.{event.key}", event.values)
                context.errors.print(said)
            elif isinstance(event, messages.Finished):
                ended[place] = event
