"""`coreopsis doctor`: why accelerators can or cannot be used, cause by cause, and what to do next.

The JSON is a `Diagnosis` of machine/doctor/diagnosis.py:

```
{"format": "coreopsis.diagnosis", "version": 1,
 "vendor": "nvidia"|"amd"|"intel"|"apple"|"other"|null, "python": PATH, "state": STATE,
 "finding": STEP|null, "headline": SENTENCE,
 "steps": [{"step": STEP, "state": STATE, "key": KEY, "values": {...}, "commands": [TEXT],
            "text": SENTENCES}]}
```

`vendor` is whose accelerator was looked at, null where there is none. STATE is ok, look, wrong,
unknown, or for a step not_reached. `finding` is the step that says what to do, the first that is
wrong, else the first to look at. Commands are typed in order, or are pages to be read. `key` and
`values` stay the same in every language, `text` is for people.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.context import Context, ExitCode
from app.doctor_report import INDENT, MARKS, explained, headline, json_text, sign, title
from experiments.core.problems import UserError
from experiments.core.words import Words
from machine.doctor.diagnosis import Diagnosis, diagnose
from machine.doctor.gather import gather
from machine.doctor.torch_probe import BadPython, find_python
from machine.doctor.verdicts import State

_STYLES = {
    State.OK: "green",
    State.LOOK: "yellow",
    State.WRONG: "red",
    State.UNKNOWN: "yellow",
    State.NOT_REACHED: "dim",
}
_CODES = {State.WRONG: ExitCode.FAILED, State.LOOK: ExitCode.LOOK}


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Examine this machine, and the PyTorch of `--python` or else of this program."""
    if context.has_fake_machine:
        raise UserError("fake_machine_examined")
    try:
        python = find_python(options.python) if options.python else sys.executable
    except BadPython as error:
        raise UserError("python_unusable", reason=str(error)) from None
    if context.errors.is_terminal:
        said = context.words.say("doctor.examining", {"python": python})
        context.errors.print(said, style="dim")
    diagnosis = diagnose(gather(python=python))
    if options.json:
        context.console.out(json_text(diagnosis, context.words), highlight=False)
    else:
        show(context.console, diagnosis, context.words)
    return _CODES.get(diagnosis.state, ExitCode.DONE)


def show(console: Console, diagnosis: Diagnosis, words: Words) -> None:
    """Print the walk as a page. Commands stand on lines of their own, unbroken, to be copied."""
    console.print(Text(headline(diagnosis, words), style="bold"))
    console.print()
    width = max((len(title(step.step, words)) for step in diagnosis.steps), default=0)
    for step in diagnosis.steps:
        is_plain = step.state in (State.OK, State.NOT_REACHED)
        row = Table.grid(padding=(0, 1))
        row.add_column(no_wrap=True)
        row.add_column(no_wrap=True, min_width=width)
        row.add_column()
        name = Text(title(step.step, words), style="dim" if is_plain else "bold")
        text = Text(explained(step, words), style="dim" if step.state is State.NOT_REACHED else "")
        state = sign(step, diagnosis)
        row.add_row(Text(MARKS[state], style=_STYLES[state]), name, text)
        console.print(row)
        if step.commands:
            console.print()
            for command in step.commands:
                console.print(Text(INDENT + command, style="bold"), soft_wrap=True)
            console.print()
