"""How does the page of the map look alone? `python -m widgets.map [FILE]`.

FILE is a machine as JSON, such as those in resources/machines; without it, it is this machine.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtWidgets import QWidget

from experiments.core.declare import Part
from experiments.core.words import Words
from machine.inspect import inspect
from machine.model import Machine, from_json
from tests.gallery.preview import preview
from widgets.map.layout.boxes import Invitation, KnownValue
from widgets.map.page import MapPage
from widgets.style.look import Look


def sample(machine: Machine, look: Look, words: Words) -> QWidget:
    """Return the page with invented numbers."""
    page = MapPage(words, look)
    page.show_machine(machine)
    numbers = {Part.L1: "1.41 ns", Part.L3: "11.2 ns", Part.CORES: "89.8 GFLOP/s"}
    values = {
        part: [KnownValue(label=part, text=text, when="just now", experiment="x", unit="s")]
        for part, text in numbers.items()
    }
    question = words.say("cache-ladder.question")
    invitations = {
        part: [Invitation(experiment="cache-ladder", question=question)]
        for part in (Part.CORES, Part.L1, Part.L2, Part.L3, Part.MEMORY)
    }
    page.show_values(values, invitations, dict.fromkeys(invitations, 1))
    page.start.offer("cache-ladder", question, 12.0)
    busy = {thread.id: thread.id / 10 for thread in machine.cpu.threads_list}
    page.show_load(busy)
    return page


def main() -> None:
    """Show it."""
    files = [argument for argument in sys.argv[1:] if argument.endswith(".json")]
    for file in files:
        sys.argv.remove(file)
    text = Path(files[0]).read_text(encoding="utf-8") if files else None
    machine = inspect() if text is None else from_json(json.loads(text))
    preview(lambda look, words: sample(machine, look, words), size=(1360, 830))


if __name__ == "__main__":
    main()
