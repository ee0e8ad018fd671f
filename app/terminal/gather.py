"""`coreopsis gather`: the checkups of many machines as one table, with the odd one out.

The JSON is as follows, where NAME is that of a machine's file:

```
{"format": "coreopsis.gathered", "version": 1, "word": WORD, "kinds": n, "alone": [NAME],
 "machines": [{"name", "id", "at", "word", "counts", "rows": [{"rule", "part", "word"}]}],
 "odd": [{"name", "rule", "part", "word", "ratio", "low", "high"}]}
```
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.checkup.gather import Gathered, Node, gather, to_json
from app.checkup.in_words import MARKS, gathered_title, odd_text, row_text, slower_text
from app.context import Context, ExitCode
from app.reports.checkup_report import gathered_report
from app.terminal.checkup import STYLES, write_report
from experiments.checkup.result import SUFFIX, Word, read
from experiments.core.problems import Problem, UserError
from experiments.core.words import Words

COUNTED = [word for word in Word if word is not Word.ABSENT]
WHAT_WIDTH = 18  # at least, of what is to be looked at
CODES = {Word.PROBLEM: ExitCode.FAILED, Word.LOOK: ExitCode.LOOK}


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Show many machines' checkups together. Raises UserError if none can be read."""
    nodes: list[Node] = []
    for path in options.files:
        try:
            node = Node(_name(path, {node.name for node in nodes}), read(path))
            for same in nodes:
                if same.result.id == node.result.id:
                    raise UserError("gathered_twice", name=node.name, other=same.name)
        except UserError as trouble:
            context.complain(trouble.problem)
        else:
            nodes.append(node)
    if not nodes:
        raise UserError("nothing_to_gather")
    gathered = gather(nodes)
    if options.json:
        context.console.out(json.dumps(to_json(gathered), indent=1), highlight=False)
    else:
        tell(context.console, context.words, gathered)
    if options.html is not None:
        write_report(context, gathered_report(context.words, gathered), "html", options.html)
    left_out = len(options.files) - len(nodes)
    if left_out:
        context.complain(Problem("some_not_gathered", {"count": left_out}))
    return ExitCode.USAGE if left_out else CODES.get(gathered.word, ExitCode.DONE)


def _name(path: Path, taken: set[str]) -> str:
    """Return the name of a machine: its file's, with the folder's before where two are alike."""
    name = path.name.removesuffix(SUFFIX).removesuffix(".json")
    if name in taken:
        name = f"{path.absolute().parent.name}/{name}"
    while name in taken:
        name += "'"
    return name


def tell(console: Console, words: Words, gathered: Gathered) -> None:
    """Print the odd ones first, then a row for each machine."""
    say = words.say
    console.print(Text(gathered_title(words, gathered), style="bold"))
    for each in gathered.odd:
        mark = Text(f"{MARKS[each.word]} ", style=STYLES[each.word])
        console.print(mark + Text(odd_text(words, each)))
    if not gathered.odd:
        nobody = "none_odd" if len(gathered.alone) < len(gathered.nodes) else "none_compared"
        console.print(say(f"checkup.gathered.{nobody}"))
    if 0 < len(gathered.alone) < len(gathered.nodes):
        console.print(say("checkup.gathered.alone", {"names": ", ".join(gathered.alone)}))
    console.print()
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in ("", say("checkup.gathered.machine")):
        table.add_column(head, no_wrap=True)
    for word in COUNTED:
        table.add_column(say(f"checkup.words.{word}"), justify="right")
    table.add_column(say("checkup.gathered.what"), min_width=WHAT_WIDTH)
    for node in gathered.nodes:
        bad = [row for row in node.result.rows if row.word in (Word.LOOK, Word.PROBLEM)]
        what = [slower_text(words, odd) for odd in gathered.odd_in(node)]
        what += [f"{row_text(words, row).title}: {row_text(words, row).word}" for row in bad]
        worst = gathered.word_of(node)
        table.add_row(
            Text(MARKS[worst], style=STYLES[worst]),
            node.name,
            *(str(node.result.count(word)) for word in COUNTED),
            ", ".join(dict.fromkeys(what)),
        )
    console.print(table)
