"""The page of `coreopsis checkup --part-facts`: what the table of parts knows of this machine."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from app.checkup.part_facts import fact_name, fact_text, known_parts, not_known, title, unread
from experiments.core.words import Words
from experiments.presentation.grouped import grouped
from machine.model import Machine
from machine.parts import KINDS, OWN_FILE, SHIPPED, shipped


def show_part_facts(console: Console, words: Words, machine: Machine, folder: Path) -> None:
    """Print each part with its facts, grouped by their source, and what is not known of it.

    `folder` is the user's data folder.
    """
    for part in known_parts(machine):
        console.print(Text(title(words, part), style="bold"))
        for source, facts in grouped((part.sources[fact], fact) for fact in part.facts).items():
            table = Table(box=None, pad_edge=False, show_header=False)
            for fact in facts:
                table.add_row(fact_name(words, fact), fact_text(fact, part.facts[fact]))
            console.print(Padding(table, (0, 0, 0, 2)))
            console.print(Padding(Text(source, style="dim"), (0, 0, 0, 4)))
        if untold := not_known(words, part):
            console.print(Padding(Text(untold, style="dim"), (0, 0, 0, 2)))
        console.print()
    for sentence in unread(words, machine):
        console.print(Text(sentence, style="dim"))
    dates = max(shipped(kind)["date"] for kind in KINDS)
    told = {"date": dates.isoformat(), "path": folder / OWN_FILE, "tables": SHIPPED}
    console.print(Text(words.say("part_facts.own", told), style="dim"), soft_wrap=True)
