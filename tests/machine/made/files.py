"""Which machines are made here, and where do they lie?"""

from __future__ import annotations

from pathlib import Path

from tests.machine.made import laptop, server, unified, workstation

FOLDER = Path(__file__).parents[3] / "resources/machines"
MAKERS = {
    "hybrid-laptop.json": laptop.make,
    "workstation.json": workstation.make,
    "dual-socket-8-gpu.json": server.make,
    "unified.json": unified.make,
}
