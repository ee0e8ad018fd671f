"""`coreopsis experiments`: what can be measured, how long it takes here, and why not."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.context import Context, ExitCode
from experiments.declare import Experiment, specs
from experiments.needs import missing_need
from experiments.parameters import to_json, to_text


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """List the catalogue."""
    if options.json:
        entries = [_entry(context, experiment) for experiment in context.catalogue]
        context.console.out(json.dumps(entries, indent=1), highlight=False)
        return ExitCode.DONE
    _ = context.machine  # a machine that cannot be read is told before anything is shown
    shelf = None
    for experiment in context.catalogue:
        if experiment.shelf != shelf:
            shelf = experiment.shelf
            context.console.print()
            context.console.print(Text(context.words.say(f"shelves.{shelf}"), style="bold"))
        context.console.print(_card(context, experiment))
    return ExitCode.DONE


def _entry(context: Context, experiment: Experiment[Any]) -> dict[str, Any]:
    params = experiment.params_for(context.machine, quick=False, earned=context.earned(experiment))
    need = missing_need(experiment, context.machine)
    return {
        "id": experiment.id,
        "version": experiment.version,
        "shelf": str(experiment.shelf),
        "question": context.words.say(f"{experiment.id}.question"),
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
    words = context.words
    params = experiment.params_for(context.machine, quick=False, earned=context.earned(experiment))
    need = missing_need(experiment, context.machine)
    about = words.say("terminal.seconds_here", {"seconds_s": round(experiment.seconds(params))})
    question = Text(experiment.id, style="bold")
    question.append("  " + words.say(f"{experiment.id}.question"), style="not bold")
    reason = words.say(f"problems.needs_{need}") if need else about
    table = Table(box=None, pad_edge=False, show_header=False, style="dim")
    for width in (19, 22, None):
        table.add_column(style="dim", max_width=width)
    for name, spec in specs(experiment.params).items():
        default = getattr(params, name)
        choices = spec.known_choices(context.machine)
        among = f" ({', '.join(choices)})" if choices and default != choices else ""
        table.add_row(
            name, to_text(default, spec.unit), words.say(f"{experiment.id}.help.{name}") + among
        )
    return Group(question, Padding(Text(reason, style="dim"), (0, 2)), Padding(table, (0, 2)))
