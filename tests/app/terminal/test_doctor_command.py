"""The doctor from outside: on this machine, and on other Pythons of it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from machine.doctor.diagnosis import from_json

OTHERS = sorted(Path.home().glob(".pyenv/versions/3.1*/bin/python"))
HAS_GPU = any(Path("/dev").glob("nvidia[0-9]*")) or os.path.exists("/dev/kfd")

no_gpu_here = pytest.mark.skipif(HAS_GPU, reason="there is a GPU here")


@no_gpu_here
@pytest.mark.torch
def test_our_own_pytorch_is_examined_where_no_other_is_given(coreopsis):
    said = coreopsis("doctor", "--json")
    told = json.loads(said.out)

    assert said.code == 0
    assert told["python"] == sys.executable
    assert from_json(told).state == "ok"
    assert [step["step"] for step in told["steps"]] == ["card", "torch"]
    assert told["steps"][-1]["key"] != "torch_missing_here"
    assert said.out.count("\n") > 10


@no_gpu_here
@pytest.mark.skipif(not OTHERS, reason="there is no other Python here")
def test_another_python_is_examined_instead(inside):
    folder = OTHERS[-1].parent.parent  # without this program's own path, as its user runs it
    said = inside("doctor", "--python", folder, PYTHONPATH="")
    told = json.loads(inside("doctor", "--json", "--python", folder, PYTHONPATH="").out)

    assert (said.code, said.err) == (0, "")
    assert said.lines[0] == "No accelerator is visible here, and this Python has no PyTorch."
    commands = [line for line in said.lines if line.startswith("    ") and "  # " in line]
    assert max(len(line) for line in said.lines if line not in commands) <= 80  # those stay whole

    assert told["python"] == str(folder / "bin/python")
    assert told["steps"][-1]["key"] == "torch_missing_here"


@pytest.mark.parametrize("given", ["/nowhere/at/all", "/bin/ls", "/proc"])
def test_what_is_no_python_is_one_sentence(inside, given):
    said = inside("doctor", "--python", given)

    assert (said.code, said.out) == (2, "")
    assert given in said.sentence


def test_a_fake_machine_is_not_examined(inside, machine_file):
    said = inside("--fake-machine", machine_file, "doctor")

    assert (said.code, said.out) == (2, "")
    assert "--fake-machine" in said.sentence


def test_the_doctor_explains_itself(inside):
    said = inside("doctor", "--help")

    assert said.code == 0
    assert "--python" in said.out
    assert "4 something to look at" in " ".join(inside("--help").out.split())


@pytest.mark.gpu
@pytest.mark.skipif(not HAS_GPU, reason="there is no GPU here")
def test_a_gpu_is_found_and_judged(coreopsis):
    said = coreopsis("doctor", "--json")
    told = json.loads(said.out)

    assert told["vendor"] in ("nvidia", "amd")
    assert told["steps"][0]["state"] == "ok"
    assert said.code == {"ok": 0, "unknown": 0, "wrong": 1, "look": 4}[told["state"]]
