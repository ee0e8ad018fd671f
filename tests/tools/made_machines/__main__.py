"""Write the fake machines: `python -m tests.tools.made_machines`."""

from __future__ import annotations

from tests.tools.made_machines import parts
from tests.tools.made_machines.files import FOLDER, MAKERS

for name, make in MAKERS.items():
    (FOLDER / name).write_text(parts.text(make()), encoding="utf-8")
