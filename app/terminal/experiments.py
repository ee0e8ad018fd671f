"""`coreopsis experiments`: what can be measured, how long it takes here, and why not.

All of them in a line each, or those that are found by other words; named by its id, each with what
can be set.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from app.context import Context, ExitCode
from app.output import write_styled
from experiments.core.declare import Experiment, specs
from experiments.core.found_by import found_by, is_found
from experiments.core.needs import missing_need
from experiments.core.parameters import to_json, to_text
from experiments.core.units import DURATION, show

if TYPE_CHECKING:
    from rich.console import RenderableType

ID_WIDTH, TIME_WIDTH, WIDTH_AT_LEAST = 16, 10, 60  # columns of the terminal
BOLD, DIM = "\x1b[1m", "\x1b[2m"


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """List the catalogue, or show a few of it. Raises UserError for an id that is not in it."""
    found = _found(options.ids, context)
    chosen = found or [context.catalogue.load(name) for name in options.ids] or [*context.catalogue]
    if options.json:
        entries = [_entry(context, experiment) for experiment in chosen]
        context.console.out(json.dumps(entries, indent=1), highlight=False)
        return ExitCode.DONE
    _ = context.machine  # a machine that cannot be read is told before anything is shown
    if options.ids and not found:
        for experiment in chosen:
            context.console.print(_card(context, experiment))
        return ExitCode.DONE
    say = context.words.say
    for shelf, experiments in groupby(chosen, context.catalogue.shelf):
        _write("", f"\n{say(f'shelves.{shelf}')}\n", BOLD)
        for experiment in experiments:
            _list(context, experiment)
    for name, problem in () if found else context.catalogue.refused.items():
        values = {"id": name, "reason": context.sentence(problem)}
        _write("", say("terminal.own_left_out", values), DIM)
    _write("", "\n" + say("terminal.more_of_each"), DIM)
    sys.stdout.flush()  # a reader that has gone is noticed here
    return ExitCode.DONE


def _found(typed: Sequence[str], context: Context) -> list[Experiment[Any]]:
    """Return the experiments that are found by these words; none if they are ids, or nothing."""
    known = context.catalogue.homes
    if not typed or all(word in known or word in context.catalogue.own for word in typed):
        return []
    return [
        experiment
        for experiment in context.catalogue
        if is_found(" ".join(typed), _names(context, experiment))
    ]


def _names(context: Context, experiment: Experiment[Any]) -> tuple[str, ...]:
    words, kinds = context.words, (*experiment.parts, *experiment.needs)
    names = found_by(words, experiment.id, kinds, has_lesson=_has_lesson(context, experiment))
    return experiment.id, words.say(f"{experiment.id}.question"), *names


def _has_lesson(context: Context, experiment: Experiment[Any]) -> bool:
    return context.catalogue.homes[experiment.id].has_lesson


def _list(context: Context, experiment: Experiment[Any]) -> None:
    """Write an experiment in a line; a follow-up is indented below its lesson."""
    seconds_s = _seconds_here(context, experiment)
    time = "–" if seconds_s is None else show(seconds_s, DURATION)
    home = context.catalogue.homes[experiment.id]
    name = f"  {experiment.id}" if home.follows else experiment.id
    head = f"  {name:<{ID_WIDTH}} {time:>{TIME_WIDTH}}  "
    question = context.words.say(f"{experiment.id}.question")
    key = "catalogue.lesson" * home.has_lesson or "catalogue.tool" * home.is_tool
    mark = f" ({context.words.say(key)})" if key else ""
    _write(head, question + mark)
    if seconds_s is None:
        _write(" " * len(head), _why_not(context, experiment), DIM)


def _write(head: str, text: str, style: str = "") -> None:
    """Write a text behind a head, as wide as the terminal; importing rich would take longer."""
    width = max(WIDTH_AT_LEAST, shutil.get_terminal_size().columns) - len(head)
    for line in text.split("\n"):
        for place, part in enumerate(textwrap.wrap(line, width) or [""]):
            sys.stdout.write(head if place == 0 else " " * len(head))
            write_styled(part, style)
            sys.stdout.write("\n")


def _seconds_here(context: Context, experiment: Experiment[Any]) -> float | None:
    """Return how long it takes here, roughly; None where it cannot run."""
    if missing_need(experiment, context.machine):
        return None
    params = experiment.params_for(context.machine, quick=False, earned=context.earned(experiment))
    return experiment.seconds(params)


def recording_hints(context: Context, experiment: Experiment[Any]) -> Sequence[str]:
    """Return what shows the recording of an experiment that cannot run here, or that none is."""
    catalogue, say, values = context.catalogue, context.words.say, {"id": experiment.id}
    if catalogue.recording(experiment.id) is None:
        return (say("page.no_recording"),)
    keys = ["terminal.recording_there"]
    if catalogue.lacks_lesson(experiment) is None:
        keys.append("terminal.recorded_lesson")
    return [say(key, values) for key in keys]


def _why_not(context: Context, experiment: Experiment[Any]) -> str:
    return context.words.say(f"problems.needs_{missing_need(experiment, context.machine)}")


def _entry(context: Context, experiment: Experiment[Any]) -> dict[str, Any]:
    params = experiment.params_for(context.machine, quick=False, earned=context.earned(experiment))
    need = missing_need(experiment, context.machine)
    return {
        "id": experiment.id,
        "version": experiment.version,
        "shelf": str(experiment.shelf),
        "question": context.words.say(f"{experiment.id}.question"),
        "lesson": _has_lesson(context, experiment),
        "follows": context.catalogue.homes[experiment.id].follows or None,
        "needs": [str(need) for need in experiment.needs],
        "runnable": need is None,
        "why_not": context.words.say(f"problems.needs_{need}") if need else None,
        "seconds": experiment.seconds(params),
        "params": {
            name: {
                "default": to_json(params)[name],
                "unit": spec.unit,
                "minimum": spec.minimum,
                "maximum": spec.maximum,
                "choices": list(spec.known_choices(context.machine)),
            }
            for name, spec in specs(experiment.params).items()
        },
        "values": [
            {"name": value.name, "unit": value.unit, "part": value.part}
            for value in experiment.values
        ],
    }


def _card(context: Context, experiment: Experiment[Any]) -> RenderableType:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from app.report import without  # not for a list

    words = context.words
    params = experiment.params_for(context.machine, quick=False, earned=context.earned(experiment))
    seconds_s = _seconds_here(context, experiment)
    about = words.say("terminal.seconds_here", {"duration": seconds_s})
    if seconds_s is None:
        hints = recording_hints(context, experiment)
        about = "\n".join((_why_not(context, experiment), *hints))
    elif lacks := without(words, experiment, context.machine.os.kind):
        about = f"{about}\n{lacks}"
    question = Text(experiment.id, style="bold")
    question.append("  " + words.say(f"{experiment.id}.question"), style="not bold")
    table = Table(box=None, pad_edge=False, show_header=False, style="dim")
    for width in (19, 22, None):
        table.add_column(style="dim", max_width=width)
    for name, spec in specs(experiment.params).items():
        default = getattr(params, name)
        choices = spec.known_choices(context.machine)
        among = f" ({', '.join(choices)})" if choices and default != choices else ""
        label, help_ = f"{experiment.id}.params.{name}", f"{experiment.id}.help.{name}"
        said = ": ".join(words.say(key) for key in (label, help_) if words.has(key))
        table.add_row(name, to_text(default, spec.unit), said + among)
    return Group(question, Padding(Text(about, style="dim"), (0, 2)), Padding(table, (0, 2)))
