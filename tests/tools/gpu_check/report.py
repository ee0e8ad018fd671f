"""The words and values of a check: printed and saved at once, so that no end loses them."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.tools.gpu_check import facts
from tests.tools.gpu_check.runs import Ran


class Report:
    """Writes STAGE.txt and STAGE.json in `folder`; knows what was found there earlier."""

    def __init__(self, folder: Path, stage: str, *, goes_on: bool = False) -> None:
        """Begin a stage anew; `goes_on` keeps the runs of the last time."""
        folder.mkdir(parents=True, exist_ok=True)
        self.recordings = folder / stage
        self.recordings.mkdir(exist_ok=True)
        self._json, self._text = folder / f"{stage}.json", folder / f"{stage}.txt"
        self.before: dict[str, dict[str, float]] = {}  # values by id, the latest count
        for file in sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime):
            for name, run in _saved(file).get("runs", {}).items():
                self.before[name] = {**self.before.get(name, {}), **run["values"]}
        earlier = _saved(self._json).get("runs", {}) if goes_on else {}
        self.runs = {name: Ran(**run) for name, run in earlier.items()}
        self.facts: list[dict[str, Any]] = []
        self.found: dict[str, Any] = {"stage": stage}
        if not goes_on:
            self._text.unlink(missing_ok=True)

    def say(self, text: str = "") -> None:
        """Print a line, and add it to the text."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        with self._text.open("a") as file:
            file.write(text + "\n")

    def save(self, **found: Any) -> None:
        """Write all that was found so far."""
        self.found |= found
        runs = {name: asdict(ran) for name, ran in self.runs.items()}
        whole = json.dumps({**self.found, "facts": self.facts, "runs": runs}, indent=1)
        new = self._json.with_suffix(".new")
        new.write_text(whole)
        new.replace(self._json)

    def values(self) -> dict[str, dict[str, float]]:
        """Return all values by the id of their experiment or the name of their fact."""
        found = {name: ran.values for name, ran in self.runs.items()}
        return {**found, **{each["fact"]: facts.numbers(each) for each in self.facts}}


def _saved(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
