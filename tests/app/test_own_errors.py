"""An error in an experiment of one's own names its file, its line and what was raised."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.app.own import good

SMALL = ("--quick", "--no-keep", "--set", "calls=1000")
LOST = "NameError: name 'lost' is not defined"
ANALYSE = "def analyse(params"
RETURNS = """~def analyse(params, tables, machine):
    return {} if tables["loops"] else x.Finding(x.TOO_FEW)


def unused(params"""
BEFORE_ALL, BEFORE_LOOPS = "EXPERIMENT = ", "    def nothing()"


@dataclass(frozen=True)
class Wrong:
    """One error: what stands in place of what, `~` on the wrong line, and what is said."""

    old: str
    new: str
    said: str = LOST
    file: str = "experiment.py"

    def made(self, folder: Path) -> int:
        """Write it into the experiment in a folder, and return its line."""
        path = folder / self.file
        text = path.read_text()
        assert self.old in text
        text = text.replace(self.old, self.new, 1)
        path.write_text(text.replace("~", "", 1))
        return text.partition("~")[0].count("\n") + 1


LOADED = {
    "a name": Wrong(BEFORE_ALL, "~lost()\nEXPERIMENT = "),
    "syntax": Wrong("def measure(", "~def measure(:", "invalid syntax"),
    "a package": Wrong(BEFORE_ALL, "~import not_there\nEXPERIMENT = ", "not_there"),
    "an end": Wrong(BEFORE_ALL, "~raise SystemExit(3)\nEXPERIMENT = ", "SystemExit: 3"),
    "a type": Wrong("kind: str", "~kind: lost"),
    "seconds": Wrong("seconds=lambda params:", "~seconds=lambda params: lost +"),
    "analyse without rows": Wrong('    if "empty" not in of', "    ~if lost is None"),
    "words": Wrong('calls_cost = "', '~calls_cost = A "', "Invalid value", "words.en.toml"),
    "braces in words": Wrong(
        'calls_cost = "A call takes {call_s}', '~calls_cost = "A call takes {call_s',
        "expected '}'", "words.en.toml",
    ),
    "a format in words": Wrong(
        'call_s = "one call"', '~call_s = "one call {x:.2f}"', "format code", "words.en.toml"
    ),
}  # fmt: skip
RUN = {
    "a name": Wrong(BEFORE_LOOPS, f"    ~lost()\n{BEFORE_LOOPS}"),
    "a package": Wrong(BEFORE_LOOPS, f"    ~import not_there\n{BEFORE_LOOPS}", "not_there"),
    "a name of ours": Wrong(
        BEFORE_LOOPS, f"    ~from experiments.api import lost\n{BEFORE_LOOPS}",
        "ImportError: cannot import name 'lost'",
    ),
    "an end": Wrong(BEFORE_LOOPS, f"    ~raise SystemExit(3)\n{BEFORE_LOOPS}", "SystemExit: 3"),
    "in a call of ours": Wrong("            nothing()", "            ~lost()"),
    "no row": Wrong("        yield Loop(", "        ~yield dict(", "measure yields dict"),
    "no number": Wrong(
        "        yield Loop(kind=kind, repeat=turn.round, turn_s=",
        "        ~yield Loop(kind=kind, repeat=turn.round, turn_s=float('nan') * ", "turn_s",
    ),
    "analyse": Wrong(
        "    limits = x", '    if tables["loops"]:\n        ~lost()\n    limits = x'
    ),
    "analyse, no finding": Wrong(ANALYSE, RETURNS.format("5"), "analyse returns int"),
    "analyse, no number": Wrong(
        ANALYSE, RETURNS.format("x.Finding('calls_cost', dict(call_s=float('nan')))"),
        "call_s is nan",
    ),
}  # fmt: skip


@pytest.fixture
def folder(coreopsis) -> Path:
    return good(coreopsis.data / "experiments")


def names(said: str, wrong: Wrong, line: int) -> bool:
    """Does a sentence name the place and the error, and ask for no report?"""
    told = " ".join(said.split())
    has_all = wrong.file in told and wrong.said in told and re.search(rf"line {line}\b", told)
    return bool(has_all) and "report" not in told and "Traceback" not in told


@pytest.mark.parametrize("where", LOADED)
def test_check_names_the_line_that_cannot_be_loaded(inside, folder, where):
    wrong = LOADED[where]
    line = wrong.made(folder)

    checked = inside("check", folder)

    assert checked.code == 1
    assert names(checked.out, wrong, line), checked.out


@pytest.mark.parametrize("where", ["syntax", "seconds", "words"])  # a sentence each
def test_a_run_names_the_line_that_cannot_be_loaded(inside, folder, where):
    wrong = LOADED[where]
    line = wrong.made(folder)

    run = inside("run", "call-cost", *SMALL)

    assert run.code == 2
    assert names(run.sentence, wrong, line), run.err


@pytest.mark.parametrize("where", RUN)
def test_check_names_the_line_that_fails_in_a_run(inside, folder, where):
    wrong = RUN[where]
    line = wrong.made(folder)

    checked = inside("check", folder)

    assert checked.code == 1
    assert names(checked.out, wrong, line), checked.out


@pytest.mark.parametrize("where", ["an end", "analyse"])
def test_a_run_names_the_line_that_fails_in_it(inside, folder, where):
    wrong = RUN[where]
    line = wrong.made(folder)

    run = inside("run", "call-cost", *SMALL)

    assert run.code == 1
    assert names(run.out, wrong, line), run.out


def test_the_line_of_a_file_beside_it_is_named(inside, folder):
    (folder / "beside.py").write_text("def help_out():\n    return 1 +\n")
    Wrong(BEFORE_LOOPS, f"    from .beside import help_out~\n{BEFORE_LOOPS}").made(folder)

    said = inside("check", folder)

    assert said.code == 1
    assert names(said.out, Wrong("", "", "invalid syntax", "beside.py"), 2), said.out


def test_what_only_this_run_asks_of_it_names_its_line_too(inside, folder):
    """`seconds` and its like are called by the program itself, with whatever settings."""
    wrong = Wrong(
        "seconds=lambda params:", "~seconds=lambda params: lost if params.calls == 1000 else"
    )
    line = wrong.made(folder)

    said = inside("run", "call-cost", "--quick", "--no-keep", "--set", "calls=1000")

    assert said.code == 1
    assert names(said.out + said.err, wrong, line), said.err


def test_an_error_of_ours_is_still_one_to_report(inside, monkeypatch, capfd):
    def fail(*_: object) -> Callable[[], None]:
        raise ValueError("quite unexpected")

    monkeypatch.setattr("app.terminal.experiments.run", fail)
    with pytest.raises(ValueError, match="quite unexpected"):
        inside("experiments")


def test_check_names_the_words_that_only_a_run_asks_for(inside, folder):
    Wrong(ANALYSE, RETURNS.format("x.Finding('unheard_of')")).made(folder)

    said = inside("check", folder)

    assert said.code == 1
    assert "words.en.toml lacks: findings.unheard_of" in " ".join(said.out.split())
