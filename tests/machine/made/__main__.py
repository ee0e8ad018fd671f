"""Write the fake machines: `python -m tests.machine.made`."""

from __future__ import annotations

from tests.machine.made import parts
from tests.machine.made.files import FOLDER, MAKERS

for name, make in MAKERS.items():
    (FOLDER / name).write_text(parts.text(make()), encoding="utf-8")
