"""`coreopsis preflight FILE`: how each item of a lecture stands on this machine.

With `--json` one document goes to standard output:

```
{"format": "coreopsis.preflight", "version": 1, "title": "...", "whole": true,
 "items": [{"place": 1, "experiment": "gil-threads",
            "mark": "ready" | "busy" | "long" | "recording" | "neither",
            "seconds": 24.9,                  what its run will take here, null if it cannot run
            "reason": {"key", "text"},        why it cannot run here, or null
            "disturbance": {"key", "text"},   what else used the machine meanwhile, or null
            "fallback": {"origin": "own" | "made" | "shipped" | "library", "path", "machine", "at",
                         "same_settings": true},   what stands in for a run, or null
            "faults": [{"key", "text"}]}]}    what is wrong with recordings that are not taken
```

`whole` is false where it was stopped: then `items` holds those that were tried.
"""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

from rich.progress import BarColumn, TextColumn
from rich.table import Table
from rich.text import Text

from app.context import Context, ExitCode
from app.lecture.fallbacks import Fallback, StandIns
from app.lecture.file import read
from app.lecture.lectures import meant
from app.lecture.preflight import Checked, Mark, Preflight, Step, disturbance_text
from app.report import note_text
from app.runs.library import machine_name
from app.terminal.progress import bar
from app.terminal.stopping import asked_to_stop
from experiments.core.problems import Problem, UserError

FORMAT, VERSION = "coreopsis.preflight", 1
PLACE_WIDTH, ID_WIDTH = 3, 16  # columns of the terminal


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Try each item, and show it in a row. Raises UserError for what is no lecture."""
    path = meant(options.file, context.folder)
    lecture = read(path)
    if not lecture.item:
        raise UserError("lecture_empty", name=path.name)
    if context.has_fake_machine:
        raise UserError("fake_machine_measured")
    runs = context.library.runs() if os.path.isdir(context.folder / "runs") else ()
    stand_ins = StandIns(path, context.folder, context.catalogue, runs, context.machine)
    preflight = Preflight(lecture, stand_ins, earned=context.earned)
    if not options.json:
        context.console.print(Text(lecture.title or path.name, style="bold"))
    with asked_to_stop(preflight.stop):
        found = _follow(preflight, len(lecture.item), context, silent=options.json)
    is_whole = len(found) == len(lecture.item)
    if options.json:
        told = {
            "format": FORMAT,
            "version": VERSION,
            "title": lecture.title,
            "whole": is_whole,
            "items": [_entry(each, context) for each in found],
        }
        context.console.out(json.dumps(told, indent=1), highlight=False)
    elif is_whole:
        ready = sum(each.mark is Mark.READY for each in found)
        key = "preflight.all_ready" if ready == len(found) else "preflight.some_ready"
        context.console.print(context.words.say(key, {"ready": ready, "count": len(found)}))
    else:
        values = {"count": len(lecture.item), "tried": len(found)}
        context.errors.print(context.words.say("preflight.stopped", values))
    return exit_code(found) if is_whole else ExitCode.STOPPED


def exit_code(found: list[Checked]) -> ExitCode:
    """Return the exit code that stands for the items' states."""
    if any(each.mark is Mark.NEITHER for each in found):
        return ExitCode.FAILED
    return ExitCode.DONE if all(each.is_well for each in found) else ExitCode.LOOK


def _follow(preflight: Preflight, count: int, context: Context, *, silent: bool) -> list[Checked]:
    """Read the events to the end, with progress on standard error; show each item at once."""
    found: list[Checked] = []
    shown = bar(
        context,
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        TextColumn("{task.fields[work]}", style="dim"),
    )
    with shown:
        task = shown.add_task("", total=1.0, work="")
        for event in preflight.events():
            if isinstance(event, Step):
                where = f"{event.place + 1} / {count}"
                work = context.words.say(f"preflight.{event.work}")
                shown.update(task, completed=event.fraction, description=where, work=work)
                if event.waits is not None:
                    waits = note_text(context.words, event.waits.key, event.waits.values, "")
                    context.errors.print(waits)
                continue
            found.append(event)
            if not silent:
                shown.stop()  # both would write into one line
                context.console.print(_row(event, context))
                shown.start()
    return found


def _row(checked: Checked, context: Context) -> Table:
    say = context.words.say
    head = say(f"preflight.{checked.mark}", {"duration": checked.seconds})
    lines = [Text(head, style="" if checked.mark is Mark.READY else "bold")]
    if checked.reason is not None:
        lines.append(Text(_sentence(checked.reason, checked, context)))
    if checked.disturbance is not None:
        lines.append(Text(disturbance_text(context.words, checked.disturbance)))
    lines += [Text(_sentence(fault, checked, context)) for fault in checked.faults.values()]
    lines.append(Text(_behind(checked.fallback, context), style="dim"))
    if checked.fallback is not None and not checked.fallback.has_settings:
        lines.append(Text(say("preflight.other_settings"), style="dim"))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=PLACE_WIDTH, justify="right")
    name = "\n".join(filter(None, (checked.item.experiment, checked.item.guess)))
    grid.add_column(width=max(ID_WIDTH, len(checked.item.experiment)), overflow="fold")
    grid.add_column()
    grid.add_row(str(checked.place + 1), Text(name), Text("\n").join(lines))
    return grid


def _behind(fallback: Fallback | None, context: Context) -> str:
    if fallback is None:
        return context.words.say("preflight.nothing")
    values = {
        "name": fallback.path.name,
        "machine": machine_name(fallback.started),
        "date": fallback.started.at[:10],
    }
    return context.words.say(f"preflight.{fallback.origin}", values)


def _entry(checked: Checked, context: Context) -> dict[str, Any]:
    def told(problem: Problem) -> dict[str, str]:
        return {"key": problem.key, "text": _sentence(problem, checked, context)}

    fallback, disturbance = checked.fallback, checked.disturbance
    return {
        "place": checked.place + 1,
        "experiment": checked.item.experiment,
        "guess": checked.item.guess,
        "mark": str(checked.mark),
        "seconds": None if checked.seconds is None else round(checked.seconds, 1),
        "reason": None if checked.reason is None else told(checked.reason),
        "disturbance": None
        if disturbance is None
        else {"key": disturbance.key, "text": disturbance_text(context.words, disturbance)},
        "fallback": None
        if fallback is None
        else {
            "origin": str(fallback.origin),
            "path": str(fallback.path),
            "machine": machine_name(fallback.started),
            "at": fallback.started.at,
            "same_settings": fallback.has_settings,
        },
        "faults": [told(fault) for fault in checked.faults.values()],
    }


def _sentence(problem: Problem, checked: Checked, context: Context) -> str:
    own = f"{checked.item.experiment}.problems.{problem.key}"
    if context.words.has(own):  # not that of an experiment that nobody knows
        return context.words.say(own, problem.values)
    return context.sentence(problem)
