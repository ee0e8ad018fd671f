"""The command line from outside: what each command says, and how it ends."""

from __future__ import annotations

import functools
import gzip
import json
import os
import re
import signal
from types import SimpleNamespace

import pytest

from app.cli import main
from app.terminal import replay
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.engine import messages
from machine.inspect import portable
from machine.memory.host import available_bytes
from machine.model import Machine, OperatingSystem, from_json, to_json
from tests.app.program import HIDE, Program, Said
from tests.app.recordings import burst, ladder, threads

GIB = 2**30


@functools.cache
def runs() -> dict[str, bytes]:
    return {"burst": burst().data, "ladder": ladder().data, "threads": threads().data}


@pytest.fixture
def files(coreopsis):
    """Write runs into the folder that the program works in."""
    return with_runs(coreopsis.folder)


def with_runs(folder):
    for name, data in runs().items():
        (folder / f"{name}.coreopsis.jsonl").write_bytes(data)
    return folder


def widest(said) -> int:
    return max(len(line) for line in said.out.splitlines())


# --- what only shows ----------------------------------------------------------------------------


def test_the_machine_is_shown_as_a_page(inside):
    said = inside("inspect")

    assert said.code == 0
    assert said.err == ""
    assert re.search(r"^processor +\d+ package.*\d+ hardware thread", said.out, re.MULTILINE)
    assert "(s)" not in said.out
    assert widest(said) <= 80


def test_the_machine_is_told_as_json(coreopsis, inside):
    said = inside("inspect", "--json", "--out", "machine.json")

    machine = from_json(json.loads(said.out))
    assert said.code == 0
    assert machine.cpu.threads
    kept = from_json(json.loads((coreopsis.folder / "machine.json").read_text()))
    assert kept == portable(machine)


def test_a_page_and_a_file_can_be_had_together(coreopsis, inside):
    said = inside("inspect", "--out", "machine.json")

    assert said.out.count("Not known here") == 1
    assert from_json(json.loads((coreopsis.folder / "machine.json").read_text()))


def test_a_machine_that_is_not_this_one_can_be_shown(inside, machine_file):
    said = inside("--fake-machine", machine_file, "inspect")
    after = inside("inspect", "--fake-machine", machine_file)

    assert said.lines[0] == "Test CPU"
    assert "12 cores" in said.out
    assert "a virtual machine (kvm)" in said.out
    assert after.out == said.out


def test_the_catalogue_is_listed_in_a_line_each_with_its_time_or_why_not(inside):
    said = inside("experiments")

    assert said.code == 0
    for experiment in Catalogue():
        indent = "    " if Catalogue().homes[experiment.id].follows else "  "
        line = rf"^{indent}{experiment.id} +(–|\d+ (s|min))  \S"
        assert re.search(line, said.out, re.MULTILINE), experiment.id
    assert "rounds" not in said.out
    assert widest(said) <= 80


def test_those_that_are_named_are_shown_with_what_can_be_set(inside):
    said = inside("experiments", *Catalogue().ids())

    assert said.code == 0
    for experiment in Catalogue():
        assert re.search(rf"^{experiment.id}  \S", said.out, re.MULTILINE)
    assert re.search(r"^  about \d+(\.\d+)? (s|min) here", said.out, re.MULTILINE)
    assert re.search(r"^  switch_interval_s +5 ms ", said.out, re.MULTILINE)
    assert widest(said) <= 80

    one = json.loads(inside("experiments", "race", "--json").out)
    assert [entry["id"] for entry in one] == ["race"]
    unknown = inside("experiments", "rase")
    assert unknown.code == 2
    assert "did you mean 'race'?" in unknown.err


def test_what_the_system_cannot_do_is_said_of_an_experiment_that_is_named(inside, tmp_path):
    def said_on(kind):
        path = tmp_path / f"{kind}.json"
        path.write_text(json.dumps(to_json(Machine(os=OperatingSystem(kind=kind)))))
        return " ".join(inside("--fake-machine", path, "experiments", "false-sharing").out.split())

    assert "macOS cannot keep a thread on one core" in said_on("macos")
    assert " cannot " not in said_on("linux")


def test_a_word_that_is_no_id_lists_what_it_finds(inside):
    listed = inside("experiments", "tensor", "core")

    assert listed.code == 0
    assert re.search(r"^  amp ", listed.out, re.MULTILINE)
    assert not re.search(r"^  race ", listed.out, re.MULTILINE)
    assert widest(listed) <= 80
    found = json.loads(inside("experiments", "hyperthreading", "--json").out)
    assert [entry["id"] for entry in found] == ["smt"]


def test_the_list_marks_lessons(inside):
    mark = re.escape(f"({words.load('en').say('catalogue.lesson')})")
    listed = inside("experiments").out

    assert re.search(rf"^  amdahl .*{mark}$", listed, re.MULTILINE)
    assert not re.search(rf"^    counters .*{mark}$", listed, re.MULTILINE)


def test_a_follow_up_is_listed_below_its_lesson_and_a_tool_is_marked(inside):
    lines = inside("experiments").out.splitlines()
    names = [line.split()[0] for line in lines if re.match(r"^ {2,4}[a-z0-9-]+ +(–|\d)", line)]

    homes = Catalogue().homes
    assert names == list(homes)
    tools = [name for name, home in homes.items() if home.is_tool]
    mark = f"({words.load('en').say('catalogue.tool')})"
    assert [line.split()[0] for line in lines if mark in line] == tools


def test_the_catalogue_is_told_as_json(inside):
    entries = json.loads(inside("experiments", "--json").out)
    followed = {entry["id"]: entry["follows"] for entry in entries}
    assert followed["isolation"] == "start-cost"
    assert followed["start-cost"] is None

    assert [entry["id"] for entry in entries] == list(Catalogue().ids())
    for entry in entries:
        assert entry["runnable"] is (entry["why_not"] is None)
        assert entry["question"].endswith("?")
        assert entry["seconds"] > 0
        assert entry["params"]["rounds"]["minimum"] == 1


def test_the_catalogue_says_what_a_machine_lacks(coreopsis):
    said = coreopsis("experiments", "--json", **{HIDE: "numba"})
    entries = {entry["id"]: entry for entry in json.loads(said.out)}

    assert entries["cache-ladder"]["runnable"] is False
    assert "This needs the library numba" in entries["cache-ladder"]["why_not"]
    assert entries["gil-threads"]["runnable"] is True


@pytest.mark.parametrize("command", ["", "inspect", "doctor", "watch", "experiments", "run",
                                     "replay", "compare", "guess", "worker"])  # fmt: skip
def test_every_command_explains_itself(coreopsis, inside, command):
    arguments = [command, "--help"] if command else ["--help"]
    if command == "worker":
        arguments = ["--help"]  # the worker itself only speaks JSON

    said = inside(*arguments)

    assert said.code == 0
    assert said.out.startswith("usage: coreopsis")
    assert widest(said) <= 80


@pytest.mark.parametrize("arguments", [["--version"], ["run", "--version"]])
def test_the_version_is_told(coreopsis, inside, arguments):
    said = inside(*arguments)

    assert (said.code, said.err) == (0, "")
    assert re.fullmatch(r"coreopsis \d+\.\d+\.\d+\S*\n", said.out)


# --- watch --------------------------------------------------------------------------------------


def test_the_load_is_told_as_json_lines(inside):
    said = inside("watch", "--json", "--hz", "20", "--for", "1")
    samples = [messages.decode_event(line.encode() + b"\n") for line in said.lines]

    assert said.code == 0
    assert said.err == ""
    assert len(samples) >= 2
    assert all(isinstance(sample, messages.Sample) for sample in samples)
    assert [s.t_s for s in samples] == sorted(s.t_s for s in samples)


def test_the_load_is_told_line_by_line_where_nobody_looks(inside):
    said = inside("watch", "--hz", "20", "--for", "0.3")

    assert said.code == 0
    assert all(re.match(r"\d+\.\d s  0:", line) for line in said.lines)
    assert widest(said) <= 80


def test_a_slow_watch_ends_when_it_should(inside):
    said = inside("watch", "--json", "--hz", "0.1", "--for", "0.2")

    assert (said.code, len(said.lines)) == (0, 1)


def test_a_watch_goes_on_until_it_is_stopped(coreopsis):
    process = coreopsis.start("watch", "--json", "--hz", "20")
    assert process.stdout.readline()

    os.killpg(process.pid, signal.SIGINT)

    said = coreopsis.end(process)
    assert (said.code, said.err) == (130, "")


def test_a_watch_whose_reader_dies_says_so(coreopsis):
    process = coreopsis.start("watch", "--json", "--hz", "20")
    assert process.stdout.readline()
    (reader,) = (pid for pid in coreopsis.living() if pid != process.pid)

    os.kill(reader, signal.SIGKILL)

    said = coreopsis.end(process)
    assert said.code == 1
    assert said.sentence.startswith("The process that reads the load has ended")


# --- replay and compare -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["burst", "ladder", "threads"])
def test_a_run_is_replayed_from_a_file(coreopsis, inside, files, name):
    said = inside("replay", f"{name}.coreopsis.jsonl")

    assert (said.code, said.err) == (0, "")
    assert said.lines[0] == "RECORDED · Test CPU · 2026-05-04"
    assert "█" in said.out
    assert widest(said) <= 80


@pytest.mark.parametrize("columns", ["80", "100", "200"])
def test_a_replay_fits_the_terminal(coreopsis, inside, files, columns):
    said = inside("replay", "threads.coreopsis.jsonl", COLUMNS=columns)

    assert said.code == 0
    assert widest(said) <= int(columns)


def test_a_run_is_replayed_as_it_happened(inside, files, monkeypatch):
    slept_s: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: sum(slept_s), sleep=slept_s.append)
    monkeypatch.setattr(replay, "time", clock)
    said = inside("replay", "burst.coreopsis.jsonl", "--speed", "100")

    assert (said.code, said.err) == (0, "")
    rows = [row for row, _ in burst().events() if isinstance(row, messages.Row)]
    assert sum(slept_s) == pytest.approx(rows[-1].t_s / 100)
    assert said.out == inside("replay", "burst.coreopsis.jsonl").out


def test_a_replay_can_be_stopped(coreopsis, files):
    process = coreopsis.start("replay", "burst.coreopsis.jsonl", "--speed", "0.001")
    assert process.stdout.readline()

    os.killpg(process.pid, signal.SIGINT)

    assert coreopsis.end(process).code == 130


def test_a_run_that_was_cut_off_is_replayed_as_far_as_it_goes(coreopsis, inside, files):
    data = (files / "burst.coreopsis.jsonl").read_bytes()
    (files / "cut.coreopsis.jsonl").write_bytes(data[: len(data) // 2])

    said = inside("replay", "cut.coreopsis.jsonl")

    assert said.code == 0
    assert "Cut short: its process vanished." in said.out
    assert "cut off" in said.err
    assert "Traceback" not in said.err


def test_two_runs_are_held_side_by_side(coreopsis, inside, files):
    burst(1.5).write(files / "slower.coreopsis.jsonl")

    said = inside("compare", "burst.coreopsis.jsonl", "slower.coreopsis.jsonl")

    assert (said.code, said.err) == (0, "")
    assert re.search(r"^chained, per element .* 1\.50× +higher *$", said.out, re.MULTILINE)
    assert "same, ± 5 %: " in said.out
    assert widest(said) <= 80


@pytest.mark.parametrize("name", ["burst", "ladder", "threads"])
def test_every_line_of_a_comparison_is_one_value(coreopsis, inside, files, name):
    said = inside("compare", f"{name}.coreopsis.jsonl", f"{name}.coreopsis.jsonl")

    footnotes = ("same, ± 5 %: ", "cannot tell: ", "–: no verdict for ")
    lines = [line for line in said.lines[4:] if not line.startswith(footnotes)]
    values = [line for line in lines if "  " in line.strip()]  # a long name goes on below
    assert values
    value, verdict = r"(on|cannot tell|\d\S*(?: \S+)?)", "(?: +(?:same, ± 5 %|cannot tell))?"
    twice = re.compile(rf" {value} +\1 +(?:1×|–|no ratio){verdict} *$")
    assert [line for line in values if not twice.search(line)] == []
    assert widest(said) <= 80


def test_a_comparison_says_which_run_was_stopped(coreopsis, inside, files):
    burst(1.5, outcome="stopped").write(files / "stopped.coreopsis.jsonl")
    said = inside("compare", "stopped.coreopsis.jsonl", "burst.coreopsis.jsonl")

    assert "A was cut short" in said.out


def test_a_comparison_is_told_as_json(coreopsis, inside, files):
    burst(1.5).write(files / "slower.coreopsis.jsonl")
    said = inside("compare", "burst.coreopsis.jsonl", "slower.coreopsis.jsonl", "--json")
    told = json.loads(said.out)
    values = {value["name"]: value for value in told["values"]}

    assert (told["params_differ"], told["cut_short"]) == ({}, [])
    assert values["random_s"]["verdict"] == "higher"
    assert values["random_s"]["ratio"] == pytest.approx(1.5)


def test_runs_with_other_parameters_are_not_judged(coreopsis, inside, files):
    from experiments.memory.burst_random.experiment import Params

    both = Params(largest_bytes=2**21, rounds=5, huge_pages=True)
    burst(params=both).write(files / "larger.coreopsis.jsonl")

    said = inside("compare", "burst.coreopsis.jsonl", "larger.coreopsis.jsonl")

    assert said.code == 0
    assert "The runs differ in Huge pages (A no, B yes), Largest array (A 1 MiB," in said.out
    assert "noise" not in said.out


def test_one_other_parameter_is_named_as_what_may_make_the_difference(coreopsis, inside, files):
    from experiments.memory.burst_random.experiment import Params

    params = Params(largest_bytes=2**20, rounds=5, huge_pages=True)
    burst(1.5, params=params).write(files / "huge.coreopsis.jsonl")

    said = inside("compare", "burst.coreopsis.jsonl", "huge.coreopsis.jsonl")

    assert "The runs differ in one setting, Huge pages (A no, B yes)" in said.out
    assert "higher" in said.out


def test_a_machine_with_brackets_in_its_name_is_shown_as_it_is(coreopsis, inside):
    from msgspec.structs import replace

    from tests.experiments.machines import machine

    here = machine()
    odd = replace(here, cpu=replace(here.cpu, model="CPU [/bold] [red]X :smile:"))
    burst(here=odd).write(coreopsis.folder / "odd.coreopsis.jsonl")

    for command in (["replay", "odd.coreopsis.jsonl"], ["compare"] + ["odd.coreopsis.jsonl"] * 2):
        said = inside(*command)
        assert said.code == 0
        assert "CPU [/bold] [red]X :smile:" in said.out


# --- where nobody sees colours, or reads on -----------------------------------------------------


@pytest.mark.parametrize(
    "command", [["experiments"], ["replay", "threads.coreopsis.jsonl"]], ids=" ".join
)
def test_a_terminal_without_letters_beyond_ascii_will_do(coreopsis, files, command):
    said = coreopsis(*command, PYTHONIOENCODING="ascii")

    assert (said.code, said.err) == (0, "")
    assert said.out.isascii()


@pytest.mark.parametrize(
    "environment",
    [{"TERM": "dumb"}, {"NO_COLOR": "1"}, {"TERM": ""}],
    ids=["dumb", "no colour", "no terminal"],
)
def test_a_terminal_without_colours_will_do(inside, files, environment):
    said = inside("replay", "threads.coreopsis.jsonl", **environment)

    assert (said.code, said.err) == (0, "")


@pytest.mark.parametrize(
    "command",
    [
        ["inspect"],
        ["experiments", "--json"],
        ["replay", "burst.coreopsis.jsonl"],
        ["watch", "--hz", "20"],
        ["watch", "--hz", "20", "--json"],
    ],
    ids=" ".join,
)
def test_a_reader_who_has_enough_is_no_failure(coreopsis, files, command):
    reads, writes = os.pipe()
    process = coreopsis.start(*command, stdout=writes)
    os.close(writes)
    os.close(reads)  # as `head` does

    said = coreopsis.end(process)

    assert (said.code, said.err) == (0, "")


# --- wrong usage --------------------------------------------------------------------------------


WRONG = [
    (["run", "gil-threads", "--set", "workers=0"], "workers must be at least 1"),
    (["run", "gil-threads", "--set", "workers=four"], "whole number such as"),
    (["run", "gil-threads", "--set", "workers=1e999"], "whole number such as"),
    (["run", "gil-threads", "--set", "workers="], "whole number such as"),
    (["run", "gil-threads", "--set", "job_s=1e999"], "at most 10 s"),
    (["run", "gil-threads", "--set", "job_s=nan"], "a number such as"),
    (["run", "gil-threads", "--set", "job_s=5 parsec"], "a number such as"),
    (["run", "gil-threads", "--set", "wrkers=2"], "there are: workers (Workers), job_s (One job)"),
    (["run", "gil-threads", "--set", "job=dance"], "there are: loop, sort, sleep"),
    (["run", "gil-threads", "--set", "methods=serial,dance"], "there are: serial, threads"),
    (["run", "gil-threads", "--set", "pythons=2.7"], "pythons cannot be '2.7'"),
    (["run", "cache-ladder", "--set", "largest_bytes=1KiB"], "at least 1 MiB"),
    (["run", "cache-ladder", "--set", "largest_bytes=1TiB"], "at most 64 GiB"),
    (["run", "cache-ladder", "--set", "huge_pages=perhaps"], "yes or no"),
    (["run", "cache-ladder", "--set", "rounds"], "--set NAME=VALUE"),
    (["run", "cache-ladder", "--set", "=3"], "--set NAME=VALUE"),
    (["run", "cache-ladder", "--set", "rounds=1", "--set", "rounds=2"], "given twice"),
    (["run", "gil-thread"], "did you mean 'gil-threads'?"),
    (["run", "cach"], "did you mean 'cache-ladder'?"),
    (["run", "xyzzy"], "`coreopsis experiments` lists them"),
    (["run"], "`coreopsis run --help`"),
    (["run", "gil-threads", "cache-ladder"], "--help"),
    (["run", "cache-ladder", "--out", "nowhere/x.jsonl"], "Choose another place for --out"),
    (["run", "cache-ladder", "--out", "."], "Choose another place for --out"),
    (["inspect", "--out", "nowhere/x.json"], "Choose another place for --out"),
    (["inspect", "--root", "nowhere"], "neither proc nor sys"),
    (["inspect", "--root", "text.txt"], "neither proc nor sys"),
    (["inspect", "--fake-machine", "nowhere"], "`coreopsis inspect --out FILE` writes"),
    (["inspect", "--fake-machine", "."], "Is a directory"),
    (["inspect", "--fake-machine", "text.txt"], "it is no JSON"),
    (["inspect", "--fake-machine", "burst.coreopsis.jsonl"], "no JSON"),
    (["inspect", "--fake-machine", "empty.json"], "This is not a machine file"),
    (["experiments", "--fake-machine", "nowhere"], "Cannot read a machine"),
    (["run", "gil-threads", "--fake-machine", "empty.json"], "leave --fake-machine out"),
    (["watch", "--hz", "0"], "0.1 to 20 samples a second"),
    (["watch", "--hz", "nan"], "0.1 to 20 samples a second"),
    (["watch", "--hz", "often"], "'often' is no number"),
    (["watch", "--for", "0"], "choose more than 0"),
    (["watch", "--for", "nan"], "choose more than 0"),
    (["replay", "burst.coreopsis.jsonl", "--speed", "0"], "choose more than 0"),
    (["replay", "burst.coreopsis.jsonl", "--speed", "nan"], "choose more than 0"),
    (["replay", "burst.coreopsis.jsonl", "--speed", "fast"], "'fast' is no number"),
    (["replay"], "`coreopsis replay --help`"),
    (["replay", "nowhere.jsonl"], "Runs in the window shows all"),
    (["replay", "ab"], "run or recorded experiment 'ab'"),
    (["replay", "."], "is a folder"),
    (["replay", "load.watch.jsonl"], "the window opens it in Live"),
    (["replay", "text.txt"], "is not a run of Coreopsis"),
    (["replay", "empty.txt"], "holds no run"),
    (["replay", "newer.coreopsis.jsonl"], "update to open it"),
    (["replay", "damaged.coreopsis.jsonl"], "is damaged at line 5"),
    (["replay", "torn.coreopsis.jsonl.gz"], "is damaged"),
    (["replay", "unknown.coreopsis.jsonl"], "There is no experiment called 'unheard-of'"),
    (["compare", "burst.coreopsis.jsonl"], "`coreopsis compare --help`"),
    (["compare", "burst.coreopsis.jsonl", "nowhere"], "run or recorded experiment 'nowhere'"),
    (["compare", "text.txt", "burst.coreopsis.jsonl"], "is not a run of Coreopsis"),
    (["compare", "burst.coreopsis.jsonl", "ladder.coreopsis.jsonl"], "two different exp"),
    (["dance"], "`coreopsis --help`"),
    (["--dance"], "`coreopsis --help`"),
    (["run", "cache-ladder", "--dance"], "--help`"),
    (["inspect", "more"], "--help`"),
]  # fmt: skip


@pytest.fixture(scope="module")
def beside_odd_files(tmp_path_factory):
    """Return the program in a folder with runs, and files that are no runs, or no longer."""
    program = Program(tmp_path_factory.mktemp("odd"))
    files = with_runs(program.folder)
    data = (files / "burst.coreopsis.jsonl").read_bytes()
    (files / "text.txt").write_text("hello\n")
    (files / "load.watch.jsonl").write_text('{"type":"watch","format":"coreopsis.watch"}\n')
    (files / "empty.txt").write_text("")
    (files / "empty.json").write_text("{}")
    (files / "newer.coreopsis.jsonl").write_bytes(data.replace(b'"version":1', b'"version":2', 1))
    (files / "damaged.coreopsis.jsonl").write_bytes(data.replace(b'"n":3,', b'"n":7,', 1))
    (files / "torn.coreopsis.jsonl.gz").write_bytes(gzip.compress(data)[:-20])
    (files / "unknown.coreopsis.jsonl").write_bytes(data.replace(b"burst-random", b"unheard-of"))
    yield program
    program.close()


def in_words(value):
    return " ".join(value) if isinstance(value, list) else ""


@pytest.mark.parametrize(("arguments", "says"), WRONG, ids=in_words)
def test_wrong_usage_is_answered_with_one_sentence_that_says_what_to_do(
    beside_odd_files, arguments, says, monkeypatch, capfd
):
    program = beside_odd_files
    monkeypatch.chdir(program.folder)
    before = sorted(program.folder.rglob("*"))

    code = main(["--data", str(program.data), *arguments])

    said = Said(code, *capfd.readouterr())
    assert said.code == 2
    assert says in said.sentence
    assert said.out == ""
    assert sorted(program.folder.rglob("*")) == before  # nothing was made, and nothing taken away
    assert program.runs == []


@pytest.mark.parametrize(("arguments", "says"), WRONG[::36], ids=in_words)
def test_wrong_usage_ends_the_program_with_two(beside_odd_files, arguments, says):
    said = beside_odd_files(*arguments)

    assert said.code == 2
    assert says in said.sentence
    assert said.out == ""


def test_more_memory_than_is_free_is_refused_before_it_is_taken(inside):
    if (available_bytes() or 0) > 60 * GIB:
        pytest.skip("there is too much memory here")

    said = inside("run", "cache-ladder", "--set", "largest_bytes=64GiB")

    assert said.code == 2
    assert "are free; choose a smaller size" in said.sentence


def test_a_library_that_cannot_be_written_is_told_before_anything_is_measured(coreopsis, inside):
    coreopsis.data.write_text("a file")

    said = inside("run", "cache-ladder", "--quick")

    assert said.code == 2
    assert "--data DIR" in said.sentence
    assert said.out == ""


def test_a_run_that_several_could_be_meant_by_is_refused(coreopsis, inside):
    for digit in "12":
        made = burst(run=f"abcd{digit}000-0000-0000-0000-000000000000")
        made.write(coreopsis.data / "runs" / f"{digit}.coreopsis.jsonl")

    said = inside("replay", "abcd")

    assert said.code == 2
    assert said.sentence == "Several runs begin with 'abcd'; write more letters."
    assert inside("replay", "abcd1").code == 0


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_where_it_went_wrong(inside, place):
    command = ["run", "xyzzy"]
    command = ["--debug", *command] if place == "before" else [*command, "--debug"]

    said = inside(*command)

    assert said.code == 2
    assert said.err.startswith("Traceback")
    assert "There is no experiment called 'xyzzy'" in said.err.splitlines()[-1]


def test_what_this_machine_cannot_do_ends_with_three(coreopsis):
    said = coreopsis("run", "cache-ladder", "--quick", **{HIDE: "numba"})

    assert said.code == 3
    assert "-m pip install numba`" in said.sentence or "make " in said.sentence
    assert coreopsis.runs == []


# --- the window, where none can open --------------------------------------------------------------


def test_a_fake_machine_that_cannot_be_read_opens_no_window(coreopsis):
    said = coreopsis("--fake-machine", "missing.json", QT_QPA_PLATFORM="offscreen")

    assert said.code == 2
    assert said.err.startswith("Cannot read a machine from missing.json")
    assert said.out == ""


def test_a_fake_machine_is_shown_and_not_measured_in_the_tour(coreopsis, machine_file):
    said = coreopsis("--fake-machine", machine_file, **{HIDE: "PySide6"})

    assert said.code == 2
    assert "The window needs PySide6" in said.err
    assert "12 cores" in said.out
    assert "can be looked at, not measured" in said.err
    assert coreopsis.runs == []
