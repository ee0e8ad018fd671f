"""The page of the map with invented numbers: of this machine, or of one in a file."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtWidgets import QWidget

from experiments.core.declare import Part
from experiments.core.words import Words
from experiments.presentation.known import Invitation, KnownValue, KnownValues
from machine.inspect import inspect
from machine.model import from_json
from widgets.map.page import MapPage
from widgets.style.look import Look


def map_page(look: Look, words: Words, file: Path | None = None) -> QWidget:
    machine = from_json(json.loads(file.read_text(encoding="utf-8"))) if file else inspect()
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
    page.show_values(KnownValues(values, invitations, dict.fromkeys(invitations, 1)))
    page.start.offer("cache-ladder", question, 12.0)
    busy = {thread.id: thread.id / 10 for thread in machine.cpu.threads_list}
    page.map.show_load(busy)
    return page
