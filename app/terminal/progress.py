"""The progress bar of all commands, and a run that is followed: both on standard error."""

from __future__ import annotations

from typing import Any, NamedTuple

from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from app.context import Context
from app.report import note_text
from experiments.core.declare import Experiment
from experiments.core.problems import Problem
from experiments.engine import messages
from experiments.engine.jobs import Run
from experiments.engine.run_state import RunState


def bar(context: Context, *columns: ProgressColumn, streams: bool = False) -> Progress:
    """Return a bar that goes when it ends; there is none where standard error is no terminal.

    `streams`: lines of JSON are written meanwhile, which on a terminal would run into the bar.
    """
    errors = context.errors
    return Progress(
        *columns,
        console=errors,
        transient=True,
        disable=not errors.is_terminal or (streams and context.console.is_terminal),
        redirect_stdout=False,  # what is written there may be bytes, for a file
    )


def columns() -> tuple[ProgressColumn, ...]:
    """Return what stands in the bar of a run: name, bar, share, time left."""
    return (
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[left]}", style="dim"),
    )


class Followed(NamedTuple):
    """The end of a run, with the rows of every table and its notes.

    `refused` says that another program measures, where the run must not wait.
    """

    finished: messages.Finished
    tables: dict[str, list[Any]]
    notes: list[messages.Note]
    refused: Problem | None
    started: messages.Started | None


def follow(
    context: Context, experiment: Experiment[Any], run: Run, *, now: bool, silent: bool
) -> Followed:
    """Read the events of a run to the end, and show its progress.

    A killed process sends no finding; then the rows so far give one.
    """
    say, run_state = context.words.say, RunState(experiment)
    notes: list[messages.Note] = []
    refused: Problem | None = None
    with bar(context, *columns(), streams=silent) as shown:
        task = shown.add_task(experiment.id, total=1.0, left="")
        for event in run.events():
            run_state.add(event)
            if isinstance(event, messages.Progress):
                said = say("terminal.time_left", {"duration": event.left_s or 0.0})
                if any(note.key == messages.MORE_ROUNDS for note in notes):
                    said = say("page.more_rounds")
                shown.update(task, completed=event.fraction, left=said)
            elif isinstance(event, messages.Note):
                notes.append(event)
                if event.key in messages.WAITING and now:
                    refused = Problem("machine_busy", event.values)
                    run.stop()
                elif event.key != "machine_was_quiet":
                    _tell(context, event, experiment.id)
    assert run_state.finished is not None  # a run always ends in one
    return Followed(run_state.finished, run_state.tables, notes, refused, run_state.started)


def _tell(context: Context, note: messages.Note, experiment: str) -> None:
    context.errors.print(note_text(context.words, note.key, note.values, experiment))
    if note.key in messages.WAITING:
        context.errors.print(context.words.say("terminal.waiting_hint"))
