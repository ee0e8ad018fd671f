"""`coreopsis replay`: a recorded run, at once or as it happened."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from rich.progress import BarColumn, TextColumn
from rich.text import Text

from app.context import Context, ExitCode
from app.report import analysed_anew, note_text, notes_of_file
from app.runs.library import machine_name, meant
from app.terminal.progress import bar
from app.terminal.report import tell
from app.terminal.stopping import asked_to_stop
from experiments.core.declare import Experiment
from experiments.core.problems import UserError
from experiments.core.units import show
from experiments.engine import messages
from experiments.engine.recording import Recording, read

LOOK_S = 0.05  # between two looks whether to stop


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Show a run from a file, from the library, or the recording of an experiment."""
    if options.speed is not None and not options.speed > 0:
        raise UserError("not_a_speed", speed=options.speed)
    recording = read(meant(options.file, context.library, context.catalogue))
    experiment = context.catalogue.load(recording.started.experiment)
    with asked_to_stop() as asked:  # before the first output, so that an early Ctrl-C counts
        introduce(recording, experiment, context)
        if options.speed is not None:
            _play(recording, context, options.speed, asked)
    if asked():
        return ExitCode.STOPPED
    show_end(recording, experiment, context)
    return ExitCode.DONE


def show_end(recording: Recording, experiment: Experiment[Any], context: Context) -> None:
    """Print what a recorded run found."""
    finished, note = analysed_anew(recording, experiment)
    if note is not None:
        context.errors.print(note_text(context.words, note.key, note.values, experiment.id))
    told = [event for event in recording.events if isinstance(event, messages.Note)]
    tell(
        context.console,
        context.words,
        experiment,
        recording.tables(experiment),
        finished,
        quick=recording.started.quick,
        notes=[*told, *notes_of_file(recording)],
        started=recording.started,
    )


def introduce(recording: Recording, experiment: Experiment[Any], context: Context) -> None:
    """Print whose recording it is, and of what."""
    words = context.words
    band = {"machine": machine_name(recording.started), "date": recording.started.at[:10]}
    context.console.print(Text(words.say("terminal.recorded_on", band), style="bold reverse"))
    context.console.print(Text(words.say(f"{experiment.id}.question"), style="bold"))
    for key in recording.notes:
        context.errors.print(note_text(words, key, {}, experiment.id))


def _play(recording: Recording, context: Context, speed: float, asked: Callable[[], bool]) -> None:
    timed = [e for e in recording.events if isinstance(e, messages.Row | messages.Frame)]
    total_s = timed[-1].t_s if timed else 0.0
    start_s = time.monotonic()
    columns = (BarColumn(bar_width=28), TextColumn("{task.description}"))
    with bar(context, *columns) as shown:
        task = shown.add_task("", total=total_s or 1.0)
        for event in timed:
            while (wait_s := event.t_s / speed - (time.monotonic() - start_s)) > 0:
                if asked():
                    return
                time.sleep(min(wait_s, LOOK_S))
            said = f"{show(event.t_s, 's')} of {show(total_s, 's')}"
            shown.update(task, completed=event.t_s, description=said)
