"""The machines that are made here, and their files."""

from __future__ import annotations

from tests import ROOT
from tests.tools.made_machines import laptop, server, unified, workstation

FOLDER = ROOT / "resources/machines"
MAKERS = {
    "hybrid-laptop.json": laptop.make,
    "workstation.json": workstation.make,
    "dual-socket-8-gpu.json": server.make,
    "unified.json": unified.make,
}
