from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from app import own_experiments
from app.context import Context
from app.source import script, sources
from experiments import yours
from experiments.core.catalogue import Catalogue
from experiments.core.measured_loop import measured_loop
from experiments.core.problems import UserError
from experiments.core.words import load
from experiments.engine import examine
from tests import ROOT
from tests.app.own import BROKEN, LEAVING, broken, good
from tests.checkout import environment

ENGLISH = load()
SMALL = ("--quick", "--set", "calls=1000")


@pytest.fixture
def shelf(coreopsis) -> Path:
    folder = coreopsis.data / "experiments"
    folder.mkdir(parents=True)
    return folder


# --- new, check, run ------------------------------------------------------------------------


def test_what_new_writes_is_whole_runs_at_once_and_can_be_replayed(coreopsis, inside, shelf):
    written = inside("new", "My-Calls")
    folder = shelf / "my_calls"

    assert written.code == 0
    assert str(folder) in written.out.replace("\n", "")
    checked = coreopsis("check", folder)
    assert (checked.code, checked.err) == (0, "")
    assert inside("run", "my-calls", *SMALL).code == 0
    assert inside("replay", coreopsis.runs[-1]).code == 0


def test_new_writes_where_it_is_told_and_says_how_to_run_it(inside, tmp_path):
    said = inside("new", "calls", "--in", tmp_path / "class")

    assert said.code == 0
    assert f"--experiments {tmp_path / 'class'}" in said.out.replace("\n", "")
    run = inside("--experiments", tmp_path / "class", "run", "calls", "--no-keep", *SMALL)
    assert run.code == 0
    assert inside("check", tmp_path / "class" / "calls").code == 0


@pytest.mark.parametrize(
    ("name", "key"),
    [("a b", "own_name"), ("../x", "own_name"), ("1x", "own_name"), ("stream", "own_id_taken")],
)
def test_new_refuses_a_name_that_cannot_be(inside, name, key):
    said = inside("new", name)

    assert said.code == 2
    assert said.sentence == ENGLISH.say(f"problems.{key}", {"name": name, "id": name})


def test_new_overwrites_nothing(inside, shelf):
    folder = good(shelf)
    (folder / "experiment.py").write_text("mine")

    said = inside("new", "call-cost")

    assert said.code == 2
    assert (folder / "experiment.py").read_text() == "mine"


def test_a_folder_may_be_called_as_its_experiment_is_with_hyphens(coreopsis, inside, shelf):
    folder = good(shelf, "two-calls")

    checked = inside("check", folder)
    assert (checked.code, checked.err) == (0, ""), checked.out
    assert "two-calls" in inside("experiments", "two-calls").out
    assert inside("run", "two-calls", *SMALL).code == 0
    assert inside("replay", coreopsis.runs[-1]).code == 0
    yours.use([shelf])
    name, text = script(Catalogue().load("two-calls"), "Why?")
    assert name == "two_calls.py"
    compile(text, name, "exec")


def test_a_folder_may_have_a_name_as_long_as_the_system_takes(coreopsis, inside, shelf, tmp_path):
    folder = good(shelf, "n" * 255)

    run = inside("run", folder.name, *SMALL)
    assert (run.code, len(coreopsis.runs)) == (0, 1), run.err
    yours.use([shelf])
    name, text = script(Catalogue().load(folder.name), "Why?")
    (tmp_path / "script.py").write_text(text)
    command = [sys.executable, "script.py", "--quick", "--csv", "rows", "calls=1000"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert [path.suffix for path in (tmp_path / "rows").iterdir()] == [".csv"]
    assert len(name) < 200


@pytest.mark.parametrize("name", ["two calls", "2calls", "call.cost"])
def test_a_folder_that_cannot_name_an_experiment_is_told_what_can(inside, shelf, name):
    said = inside("check", good(shelf, name))

    assert (said.code, said.sentence) == (2, ENGLISH.say("problems.own_name", {"name": name}))


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        ("missing", "own_not_there"),
        (".", "own_no_file"),
        ("stream", "own_is_ours"),
        (ROOT / "experiments" / "memory" / "stream", "own_is_ours"),
        ("shelf", "own_several"),
        ("n" * 300, "own_not_there"),
    ],
)
def test_what_is_no_experiment_of_ones_own_is_told_what_is(coreopsis, inside, asked, key):
    first = good(coreopsis.folder / "shelf", "first")
    good(first.parent, "second")
    folder, names = first.parent.relative_to(coreopsis.folder), "first, second"

    said = inside("check", asked)

    values = {"folder": asked, "id": "stream", "names": names, "first": folder / "first"}
    assert (said.code, said.sentence) == (2, ENGLISH.say(f"problems.{key}", values))
    assert inside("--experiments", "missing", "inspect").code == 2


@pytest.mark.parametrize("asked", ["two-calls", "two_calls", "experiments/two_calls/experiment.py"])
def test_an_experiment_is_checked_by_its_id_or_its_file_too(coreopsis, inside, shelf, asked):
    folder = good(shelf, "two_calls")
    (folder / "words.en.toml").write_text("")

    said = inside("check", coreopsis.data / asked if "/" in asked else asked)

    assert (said.code, said.err) == (1, "")
    assert "words.en.toml lacks: question" in said.out


def test_one_of_ones_own_that_is_not_found_is_told_where_it_may_lie(inside, tmp_path):
    good(tmp_path / "class", "sum_order")

    assert "--experiments DIR" in inside("run", "sum-order").sentence
    assert "--experiments DIR" in inside("run", "zzz").sentence


# Each passed unseen when a check only looked at the declaration, and ran two rounds.
WRONG = [
    ("experiment.py", '= "calls_cost" if', '= "call_costs" if', "lacks: findings.call_costs"),
    ("experiment.py", '{"calling_over_', '{"calls_over_', "reports the value calls_over_empty"),
    ("words.en.toml", "takes {call_s}", "takes {cal_s}", "asks for cal_s"),
    ("experiment.py", 'loops = {', 'loops = {"idle": nothing, ', "lacks: choices.idle"),
    ("experiment.py", "measure.calling", "measure.called", "measure.called"),
    ("experiment.py", "params.calls * params.rounds * 100e-9", "900", "takes 15 min"),
    ("experiment.py", "    loops = {", "    print(1)\n    loops = {", "line 41: print"),
    ("experiment.py", "yield x.Progress(turn.fraction)", "pass", "how far it is"),
    ("experiment.py", 'if "empty" not in of or', "if not of or", "Of some of the rows"),
    ("experiment.py", "machine: Params()", "machine: Params(rounds=machine.cpu.cores + 9)",
     "of which nothing is known"),
]  # fmt: skip


def test_a_check_names_all_that_is_wrong_at_once(inside, shelf):
    folder = good(shelf)
    for file, old, new, _ in WRONG:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))

    said = inside("check", "call-cost")

    assert (said.code, said.err) == (1, "")
    assert [sign for *_, sign in WRONG if sign not in said.out] == [], said.out
    assert len(said.lines) == len({*said.lines})
    assert "KeyError" in said.out  # of some of the rows


def test_a_run_without_a_row_is_told(inside, shelf):
    file = good(shelf) / "experiment.py"
    file.write_text(file.read_text().replace("yield Loop", "Loop"))

    said = inside("check", "call-cost")

    assert (said.code, said.out.strip()) == (1, ENGLISH.say("problems.own_no_rows"))


# --- examined first -------------------------------------------------------------------------


def test_broken_ones_give_a_sentence_each_and_the_others_run(inside, shelf):
    good(shelf)
    # One of each sentence; the endless one is examined below.
    kinds = {key: what for what, (_, _, key) in BROKEN.items() if what != "endless"}
    for what in kinds.values():
        broken(shelf, what)

    listed = inside("experiments")

    assert listed.code == 0
    for key, what in kinds.items():
        name = BROKEN[what][0]
        line = ENGLISH.text(f"problems.{key}").partition("{")[0]
        assert name.replace("_", "-") in listed.out
        assert line.split(",")[0].strip() in listed.out.replace("\n", " ")
    assert inside("run", "call-cost", "--no-keep", *SMALL).code == 0
    assert inside("run", "odd-syntax").code == 2


def test_what_is_wrong_is_found_in_a_process_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(examine, "CPU_S", 1)
    kinds = LEAVING | {"endless": BROKEN["endless"]}
    good(tmp_path)
    for what in kinds:
        broken(tmp_path, what)
    yours.use([tmp_path])

    found = own_experiments.refusals(own_experiments.own_homes())

    expected = {name.replace("_", "-"): key for name, _, key in kinds.values()}
    assert {name: problem.key for name, problem in found.items()} == expected
    assert found["endless"].values["limit_s"] == 1
    for problem in found.values():
        assert "{" not in ENGLISH.say(f"problems.{problem.key}", problem.values)


def test_hundreds_are_examined_a_few_at_a_time(tmp_path):
    """Each says when it begins and ends to load; that costs as much as an experiment that fails."""
    told = tmp_path / "told"
    for number in range(6):
        folder = tmp_path / "shelf" / f"slow_{number}"
        folder.mkdir(parents=True)
        (folder / "experiment.py").write_text(SLOW.format(told=str(told)))
    yours.use([tmp_path / "shelf"])

    found = own_experiments.refusals(own_experiments.own_homes())

    assert {problem.key for problem in found.values()} == {"own_error"}
    assert list(found) == [f"slow-{number}" for number in range(6)]
    at_once = itertools.accumulate(map(int, told.read_text().split()))
    assert 1 < max(at_once) <= 4


SLOW = """
import time
def tell(what):
    with open({told!r}, "a") as file:
        file.write(what)
tell("1 ")
time.sleep(0.1)
tell("-1 ")
raise ValueError
"""


def test_what_sleeps_while_it_is_loaded_is_ended_with_all_that_it_started(tmp_path, monkeypatch):
    monkeypatch.setattr(examine, "WAIT_S", 2.0)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    pids, shelf = tmp_path / "pids", tmp_path / "shelf"
    for folder in (shelf / "sleeps_1", shelf / "sleeps_2", tmp_path / "tmp"):
        folder.mkdir(parents=True)
        (folder / "experiment.py").write_text(SLEEPS.format(pids=str(pids)))
    (tmp_path / "tmp" / "experiment.py").unlink()
    yours.use([shelf])

    found = own_experiments.refusals(own_experiments.own_homes())

    assert {problem.key for problem in found.values()} == {"own_silent"}
    started = [int(pid) for pid in pids.read_text().split()]
    assert started  # all four, where the machine has time for them
    assert not any(map(psutil.pid_exists, started))
    assert list((tmp_path / "tmp").iterdir()) == []


# It sleeps, and so does a process that has left its group and its parent.
SLEEPS = """
import os, tempfile, time
def tell():
    with open({pids!r}, "a") as file:
        file.write(str(os.getpid()) + " ")
tell()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        tell()
        time.sleep(60)
    os._exit(0)
tempfile.mkdtemp()
time.sleep(60)
"""


@pytest.mark.parametrize(
    "says", ["print('[[\"own_error\", {}]]')", "import sys; sys.stderr.write('x' * 10**7)"]
)
def test_what_it_prints_is_not_believed(tmp_path, says):
    folder = good(tmp_path)
    file = folder / "experiment.py"
    file.write_text(
        file.read_text().replace(
            "from experiments import api", f"{says}\nfrom experiments import api"
        )
    )
    yours.use([tmp_path])

    assert own_experiments.refusals(own_experiments.own_homes()) == {}


def test_neither_a_print_nor_a_thread_spoils_what_a_command_says(coreopsis, shelf):
    file = good(shelf) / "experiment.py"
    first = "from __future__ import annotations\n"
    file.write_text(file.read_text().replace(first, f"{first}print('loaded')\n"))
    broken(shelf, "thread")

    said = coreopsis("experiments", "--json")  # which ends, though a thread would sleep on

    listed = {each["id"] for each in json.loads(said.out)}
    assert listed & {"call-cost", "threads"} == {"call-cost"}
    assert (said.code, said.err) == (0, "")


def test_what_a_file_says_reaches_no_terminal_raw(tmp_path):
    folder = good(tmp_path)
    file = folder / "experiment.py"
    file.write_text("raise ValueError('\\x1b[2J' + 'y' * 9999)\n" + file.read_text())
    yours.use([tmp_path])

    (problem,) = own_experiments.refusals(own_experiments.own_homes()).values()

    assert "\x1b" not in problem.values["error"]
    assert len(problem.values["error"]) < 500


def test_a_folder_is_looked_into_only_if_it_was_named(tmp_path):
    good(tmp_path / "elsewhere")

    catalogue = Context(data=tmp_path / "data").catalogue

    assert "call-cost" not in catalogue.ids()
    with pytest.raises(UserError):
        catalogue.load("call-cost")


def test_none_is_examined_for_the_sake_of_one_of_ours(tmp_path, monkeypatch):
    good(tmp_path / "experiments")
    asked = []
    monkeypatch.setattr(own_experiments, "refusals", lambda own: asked.append(own) or {})
    catalogue = Context(data=tmp_path).catalogue

    assert catalogue.load("stream").id == "stream"
    assert catalogue.recording("stream") is not None
    assert asked == []
    assert catalogue.load("call-cost").is_own
    assert len(asked) == 1


def test_a_file_in_a_folder_of_its_own_counts_as_well(tmp_path):
    folder = good(tmp_path)
    (folder / "data").mkdir()
    yours.use([tmp_path])
    before = own_experiments.fingerprint(own_experiments.own_homes())

    (folder / "data" / "rows.csv").write_text("1")

    assert own_experiments.fingerprint(own_experiments.own_homes()) != before


# --- over a pipe ----------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["--data", "--experiments", "after"])
def test_a_worker_takes_the_options_of_every_command(coreopsis, tmp_path, place):
    good(tmp_path / "experiments")
    options = ["--experiments", tmp_path / "experiments"]
    arguments = {
        "--data": ["--data", tmp_path, "worker"],
        "--experiments": [*options, "worker"],
        "after": ["worker", *options],
    }[place]
    measure = {"type": "measure", "experiment": "call-cost", "params": {}, "quick": True}
    told = json.dumps({**measure, "run": "1"}).encode() + b"\n"
    with subprocess.Popen(
        [sys.executable, "-m", "app", *map(str, arguments)],
        cwd=coreopsis.folder,
        env=coreopsis.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as worker:
        worker.stdin.write(told)
        worker.stdin.flush()
        said = [json.loads(worker.stdout.readline() or b"{}") for _ in range(2)]
        worker.stdin.close()
        worker.wait()

    assert [each.get("type") for each in said] == ["hello", "started"]
    assert said[1]["experiment"] == "call-cost"


# --- installed packages ---------------------------------------------------------------------


def test_the_experiment_of_an_installed_package_is_found_runs_and_replays(tmp_path):
    source = tmp_path / "package"
    good(source / "classroom" / "experiments", "hand_out")
    (source / "classroom" / "__init__.py").write_text("raise SystemExit('never imported')\n")
    (source / "pyproject.toml").write_text(PYPROJECT)
    python = environment(tmp_path / "venv", ROOT)
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index"]
    pip += ["--no-deps", "--no-build-isolation", "--no-compile", str(source)]
    subprocess.run(pip, check=True, timeout=300)

    def coreopsis(*arguments: str) -> str:
        command = [python, "-m", "app", "--data", str(tmp_path / "data"), *arguments]
        said = subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=120, cwd=tmp_path
        )
        return said.stdout

    (listed,) = json.loads(coreopsis("experiments", "hand-out", "--json"))
    assert listed["shelf"] == "yours"
    out = str(tmp_path / "run.coreopsis.jsonl")
    coreopsis("run", "hand-out", "--quick", "--set", "calls=1000", "--out", out)
    assert coreopsis("replay", out)


PYPROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "classroom"
version = "1"

[project.entry-points."coreopsis.experiments"]
mine = "classroom.experiments"

[tool.setuptools]
packages = ["classroom", "classroom.experiments", "classroom.experiments.hand_out"]

[tool.setuptools.package-data]
"*" = ["*.toml"]
"""


def test_its_code_has_its_loop_also_beside_a_file_that_is_no_python(tmp_path):
    folder = good(tmp_path, "beside_python_2")
    (folder / "old.py").write_text("print 'of Python 2'\n")
    yours.use([tmp_path])
    experiment = Catalogue().load("beside-python-2")

    files = sources(experiment)
    loop = measured_loop(experiment.loop, files)

    assert "old.py" in [name for name, _ in files]
    assert loop.text.splitlines()[0].strip() == "def calling() -> None:"
    assert "print 'of Python 2'" in script(experiment, "Why?")[1]
