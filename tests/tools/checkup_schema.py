"""Write the JSON Schema of a checkup's file: `python -m tests.tools.checkup_schema`."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from experiments.checkup.result import FORMAT, VERSION, Result
from tests import ROOT

FILE = ROOT / "experiments/checkup/schema.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def text() -> str:
    """Return the schema as it stands in the file."""
    made = {"$schema": DIALECT, "title": f"{FORMAT}, version {VERSION}"}
    return json.dumps(made | _on_one_line(msgspec.json.schema(Result)), indent=1) + "\n"


def _on_one_line(part: Any) -> Any:
    """Return the schema with each description, a docstring, on one line."""
    if isinstance(part, dict):
        return {
            key: " ".join(value.split()) if key == "description" else _on_one_line(value)
            for key, value in part.items()
        }
    return [_on_one_line(each) for each in part] if isinstance(part, list) else part


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
