"""The progress bar of all commands, and a run that is followed: both on standard error."""

from __future__ import annotations

from typing import Any

from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

from app.context import Context
from app.report import note_text
from experiments.core.declare import Experiment
from experiments.core.problems import Problem
from experiments.engine import messages
from experiments.engine.jobs import Run
from experiments.engine.run_state import RunState


def bar(context: Context, *columns: ProgressColumn, streams: bool = False) -> Progress:
    """Return a bar that goes when it ends; there is none where nobody can see it.

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


class Follow:
    """Reads the events of a run to the end, and shows its progress.

    `refused` is set if another program measures and the run must not wait.
    """

    def __init__(
        self, context: Context, experiment: Experiment[Any], run: Run, *, now: bool, silent: bool
    ) -> None:
        self._context, self._experiment, self._run = context, experiment, run
        self._now, self._silent = now, silent
        self.refused: Problem | None = None
        self.notes: list[messages.Note] = []

    def to_the_end(self) -> tuple[messages.Finished, dict[str, list[Any]]]:
        """Return the last line and the rows of every table.

        A killed process sends no finding; its rows tell one.
        """
        run_state = RunState(self._experiment)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[left]}", style="dim"),
        )
        with bar(self._context, *columns, streams=self._silent) as shown:
            task = shown.add_task(self._experiment.id, total=1.0, left="")
            for event in self._run.events():
                run_state.add(event)
                if isinstance(event, messages.Progress):
                    left = {"duration": event.left_s or 0.0}
                    said = self._context.words.say("terminal.time_left", left)
                    if any(note.key == messages.MORE_ROUNDS for note in self.notes):
                        said = self._context.words.say("page.more_rounds")
                    shown.update(task, completed=event.fraction, left=said)
                elif isinstance(event, messages.Note):
                    self._note(event)
        finished = run_state.finished
        assert finished is not None  # a run always ends in one
        return finished, run_state.tables

    def _note(self, note: messages.Note) -> None:
        self.notes.append(note)
        if note.key == "machine_was_quiet":
            return
        if note.key in messages.WAITING and self._now:
            self.refused = Problem("machine_busy", note.values)
            self._run.stop()
            return
        said = note_text(self._context.words, note.key, note.values, self._experiment.id)
        self._context.errors.print(said)
        if note.key in messages.WAITING:
            self._context.errors.print(self._context.words.say("terminal.waiting_hint"))
