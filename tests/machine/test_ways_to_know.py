"""A way to know never changes the machine."""

from __future__ import annotations

import ast
import re

from tests import ROOT

# Commands that configure, load, reset or write.
CHANGING = re.compile(
    r"echo .*>|--gpu-reset|--multi-instance|-mig \d|-pm \d|-pl \d|-e \d|modprobe|rmmod|sysctl -w"
    r"|setpci .*=|systemctl (re)?start|apt |dnf |chmod|swapo(ff|n (?!--show))|tee /|cpupower .*-set"
)
# The doctor mends, and its commands are meant to.
ROOMS = sorted(p for p in (ROOT / "machine").rglob("*.py") if "doctor" not in p.parts)


def test_no_sentence_says_to_change_the_machine():
    def texts(path):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value

    assert [(path, t) for path in ROOMS for t in texts(path) if CHANGING.search(t)] == []
