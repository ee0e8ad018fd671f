"""A way to know never changes the machine."""

from __future__ import annotations

import ast
import re

import pytest

from tests import ROOT

# Commands that configure, load, reset or write.
CHANGING = re.compile(
    r"echo .*>|--gpu-reset|--multi-instance|-mig \d|-pm \d|-pl \d|-e \d|modprobe|rmmod|sysctl -w"
    r"|setpci .*=|systemctl (re)?start|apt |dnf |chmod|swapo(ff|n (?!--show))|tee /|cpupower .*-set"
)
# The doctor mends, and its commands are meant to.
ROOMS = sorted(p for p in (ROOT / "machine").rglob("*.py") if "doctor" not in p.parts)


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: path.stem)
def test_no_sentence_says_to_change_the_machine(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert [t for t in texts if isinstance(t, str) and CHANGING.search(t)] == []
