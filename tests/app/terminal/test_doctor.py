from __future__ import annotations

import argparse
import ast
import io
import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from app.context import Context, ExitCode
from app.doctor_report import as_json, as_text, headline
from app.terminal import doctor
from app.terminal.doctor import show
from experiments.core import words
from machine.doctor.diagnosis import STEPS, diagnose, from_json
from machine.doctor.evidence import Card, Evidence, Nvml, Vendor
from tests import ROOT
from tests.cases import in_one
from tests.machine.doctor.made import (
    CPU_TORCH,
    PYTHON,
    amd,
    apple,
    intel,
    nvidia,
    unproven,
    with_device,
)

ENGLISH = words.load("en")
ROOM = ROOT / "machine/doctor"
BARE = Evidence(torch=CPU_TORCH)
TOLD = {"capability", "built"}  # what a verdict gets as **told
UNTOLD = Evidence(cards=(Card(vendor=Vendor.OTHER, name="Gaudi", needs="x"),), torch=CPU_TORCH)


def page(evidence, width=80):
    console = Console(file=io.StringIO(), width=width, markup=False, emoji=False)
    show(console, diagnose(evidence), ENGLISH)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


# --- the page -----------------------------------------------------------------------------------


def test_what_is_wrong_stands_at_the_top_and_what_mends_it_below_its_step():
    lines = page(unproven(nvidia()))

    assert lines[0] == "The accelerator cannot be used yet: its build."
    wrong = next(n for n, line in enumerate(lines) if line.startswith("✗"))
    assert lines[wrong].startswith("✗ Its build")
    command = next(n for n, line in enumerate(lines) if "-m pip install" in line)
    assert lines[command].startswith(f"    {PYTHON} -m pip install")
    assert wrong < command


def test_a_command_is_never_broken_into_lines():
    (command,) = diagnose(unproven(nvidia())).found.commands
    assert len(command) > 80

    assert f"    {command}" in page(unproven(nvidia()), width=40)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_all_but_commands_fits_the_terminal(width):
    lines = page(unproven(nvidia()), width)

    assert max(len(line) for line in lines if not line.startswith("    /home")) <= width


def test_steps_that_were_not_reached_are_marked():
    lines = page(unproven(nvidia(nvml=Nvml(code=18))))

    assert any(line.startswith("· Its build") and "comes after that" in line for line in lines)


def test_what_is_not_there_is_not_marked_as_fine():
    missing = replace(CPU_TORCH, is_missing=True)
    lines = page(Evidence(torch=missing))

    assert [line[0] for line in lines if line[:9] in ("· Card   ", "· PyTorch")] == ["·", "·"]
    assert "✓" not in as_text(diagnose(Evidence(torch=missing)), ENGLISH)
    assert any(line.startswith("✓ PyTorch") for line in page(BARE))


@in_one(
    ("evidence", "sentence"),
    [
        (BARE, "No accelerator is visible here; PyTorch computes on the processor."),
        (
            replace(BARE, torch=replace(CPU_TORCH, is_missing=True)),
            "No accelerator is visible here, and this Python has no PyTorch.",
        ),
        (nvidia(), "Nothing is wrong: PyTorch can use the GPU of NVIDIA."),
        (apple(), "Nothing is wrong: PyTorch can use the GPU of this Mac."),
        (
            with_device(nvidia(), is_remap_pending=True),
            "The accelerator can be used, but look at this: health.",
        ),
        (
            replace(BARE, torch=replace(CPU_TORCH, import_problem="ImportError: x")),
            "No accelerator is visible here, and look at this: PyTorch.",
        ),
        (UNTOLD, "It stays unknown if an accelerator can be used: made for it."),
    ],
)
def test_the_whole_is_said_in_a_sentence(evidence, sentence):
    assert headline(diagnose(evidence), ENGLISH) == sentence


# --- the command --------------------------------------------------------------------------------


def run(monkeypatch, capsys, evidence, **options):
    monkeypatch.setattr(doctor, "gather", lambda python: evidence)
    code = doctor.run(argparse.Namespace(json=False, python=None, **options), Context())
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("evidence", "code"),
    [
        (BARE, ExitCode.DONE),
        (nvidia(), ExitCode.DONE),
        (UNTOLD, ExitCode.DONE),
        (unproven(nvidia()), ExitCode.FAILED),
        (with_device(nvidia(), is_remap_pending=True), ExitCode.LOOK),
    ],
)
def test_the_exit_code_says_whether_something_is_wrong(monkeypatch, capsys, evidence, code):
    assert run(monkeypatch, capsys, evidence)[0] == code


def test_the_codes_are_those_that_others_rely_on():
    assert (ExitCode.DONE, ExitCode.FAILED, ExitCode.LOOK) == (0, 1, 4)


@in_one("evidence", [BARE, nvidia(), unproven(amd()), unproven(intel()), UNTOLD])
def test_the_json_holds_the_diagnosis_and_its_sentences(evidence):
    told = json.loads(json.dumps(as_json(diagnose(evidence), ENGLISH)))

    assert from_json(told) == diagnose(evidence)
    assert (told["format"], told["version"]) == ("coreopsis.diagnosis", 1)
    assert told["headline"] == headline(diagnose(evidence), ENGLISH)
    assert all(step["text"] for step in told["steps"])


def test_the_text_to_copy_says_all_that_the_page_says():
    diagnosis = diagnose(unproven(nvidia()))

    lines = as_text(diagnosis, ENGLISH).splitlines()

    assert lines[0] == headline(diagnosis, ENGLISH)
    assert f"    {diagnosis.found.commands[0]}" in lines
    assert [line[0] for line in lines if line[:1] not in ("", " ", "T")] == [
        {"ok": "✓", "wrong": "✗", "not_reached": "·"}[step.state] for step in diagnosis.steps
    ]


# --- words --------------------------------------------------------------------------------------


def calls():
    """Yield each key of a verdict in the source, the names of its values, and: any commands?"""
    for path in sorted((ROOM / "steps").glob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(getattr(call, "func", None), "id", "")
            if name in ("fine", "look", "wrong", "unknown", "how"):
                given = {keyword.arg for keyword in call.keywords}
                given |= TOLD if None in given else set()
                for part in ast.walk(call.args[0]):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.value, given, len(call.args) > 1


VERDICTS = [*((key, given) for key, given, _ in calls()), ("proved", set())]


def test_the_source_of_the_verdicts_is_understood():
    assert len({key for key, _ in VERDICTS}) > 100
    assert ("hidden", {"name", "value"}) in VERDICTS


def test_every_verdict_has_words_that_know_their_values():
    def is_right(key, given):
        text = ENGLISH.text(f"doctor.{key}") if ENGLISH.has(f"doctor.{key}") else ""
        asked = {*words.asked(text)}
        begins = text[:1].isupper() or text.startswith("{")
        return asked <= given and begins and text.endswith((".", ":"))

    assert [key for key, given in VERDICTS if not is_right(key, given)] == []


def test_a_sentence_has_twenty_words_at_most():
    assert [
        sentence
        for key in ENGLISH.keys("doctor.")
        for sentence in re.split(r"(?<=[.:;])\s+", ENGLISH.text(key))
        if len(sentence.split()) > 20
    ] == []


def test_every_word_of_a_verdict_is_said():
    about = {"steps", "vendors", "page", "more"} | {
        "all_well", "no_accelerator", "no_torch_either", "is_wrong", "is_odd",
        "is_odd_without_card", "is_untold", "comes_later", "examining",
    }  # fmt: skip
    said = {key.split(".")[1] for key in ENGLISH.keys("doctor.")} - about

    assert said == {key for key, _ in VERDICTS}


def test_what_more_is_said_belongs_to_a_verdict_and_is_said_without_its_values():
    more = {key.removeprefix("doctor.more."): key for key in ENGLISH.keys("doctor.more.")}

    assert more
    assert more.keys() <= {key for key, _ in VERDICTS}
    assert not [key for key in more.values() if "{" in ENGLISH.text(key)]


def test_every_verdict_is_the_end_of_some_test():
    tests = (ROOT / "tests/machine/doctor").rglob("*.py")
    command = Path(__file__).with_name("test_doctor_command.py")
    known = "".join(path.read_text(encoding="utf-8") for path in (*tests, command))

    assert [key for key, _ in VERDICTS if f'"{key}"' not in known] == []


def test_every_step_and_vendor_has_a_name():
    for name, _, _ in STEPS:
        assert ENGLISH.has(f"doctor.steps.{name}")
    for vendor in Vendor:
        assert ENGLISH.has(f"doctor.vendors.{vendor}")


def test_what_ends_in_a_colon_is_followed_by_commands():
    announced = {key for key, _ in VERDICTS if ENGLISH.text(f"doctor.{key}").endswith(":")}

    assert announced
    for evidence in (*map(unproven, (nvidia(), amd(), intel())), UNTOLD):
        for step in diagnose(evidence).steps:
            assert (step.key not in announced) or step.commands
    assert announced <= {key for key, _, has_commands in calls() if has_commands}
