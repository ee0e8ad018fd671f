"""`coreopsis` where no window can open: this machine, and a short tour of quick measurements."""

from __future__ import annotations

from rich.rule import Rule
from rich.text import Text

from app.context import Context, ExitCode
from app.terminal.inspect import gaps, show_machine
from app.terminal.run import measure
from experiments.core.needs import missing_need
from experiments.core.parameters import to_json
from experiments.core.problems import UserError


def run(context: Context) -> ExitCode:
    """Show the machine, then run the experiments of the tour quickly; Ctrl-C ends it."""
    console, words = context.console, context.words
    console.print(words.say("terminal.tagline"))
    console.print(words.say("terminal.tour_instead"))
    console.print()
    show_machine(console, context.machine)
    console.print(words.say("terminal.tour_unknown", {"count": len(gaps(context.machine))}))
    if context.has_fake_machine:
        raise UserError("fake_machine_measured")
    stops = [
        experiment
        for experiment in context.catalogue
        if experiment.is_in_tour and missing_need(experiment, context.machine) is None
    ]
    console.print()
    console.print(words.say("terminal.tour_head", {"count": len(stops)}))
    worst, found = ExitCode.DONE, []
    for experiment in stops:
        question = words.say(f"{experiment.id}.question")
        console.print()
        console.print(Rule(question, style="dim", align="left"))
        params = experiment.params_for(context.machine, quick=True)
        ended = measure(context, experiment, to_json(params), quick=True, is_named=False)
        if ended.code is ExitCode.STOPPED:
            return ended.code
        worst = max(worst, ended.code)
        if (told := ended.told) is not None and told.finding:
            said = " ".join(filter(None, (told.lead, told.finding, told.because)))
            found.append((question, said))
    if found:
        console.print()
        console.print(Rule(words.say("terminal.tour_found"), style="dim", align="left"))
    for question, finding in found:
        console.print()
        console.print(Text(question, style="bold"))
        console.print(finding)
    console.print()
    console.print(words.say("terminal.tour_end"))
    return worst
