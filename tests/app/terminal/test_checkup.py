"""`coreopsis checkup` and `gather`, with a checkup that follows a script in place of a real one."""

import contextlib
import errno
import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.checkup.in_words import MARKS
from app.context import Context
from app.terminal import checkup as command
from experiments.checkup import run_checkup
from experiments.checkup.evidence import Evidence
from experiments.checkup.order import read_order
from experiments.checkup.result import SUFFIX, Word, decode, encode, read
from experiments.checkup.rules import rules
from experiments.core.parameters import from_text
from experiments.core.problems import UserError
from experiments.core.processes.own_environment import own_environment
from experiments.core.words import load
from machine.model import from_json
from machine.system.files import DATA_FOLDER
from tests import ROOT
from tests.app.checkup.made import bandwidth, checkup, fact, measured

say = load().say


@pytest.fixture
def program(tmp_path, monkeypatch, capsys):
    """Run the command line; its checkup ends at once with the given result."""
    from app.cli import main

    asked = {}

    class Scripted:
        result = checkup()

        def __init__(self, kind, **more):
            asked.update(kind=kind, **more)

        def stop(self):
            pass

        def events(self):
            yield run_checkup.Began("looking")
            yield run_checkup.Moved(0.5, 30.0)
            yield run_checkup.Ended(Scripted.result)

    monkeypatch.setattr(command, "Checkup", Scripted)

    def run(*arguments, result=None):
        Scripted.result = result or checkup()
        code = main(["--data", str(tmp_path), *arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    run.asked = asked
    return run


@pytest.mark.parametrize(
    ("word", "reason", "code"),
    [
        (Word.FINE, "clean", 0),
        (Word.LOOK, "old", 4),
        (Word.PROBLEM, "recent", 1),
        (Word.UNCHECKED, "unreadable", 0),
        (Word.ABSENT, "no_gpu", 0),
    ],
)
def test_the_exit_code_says_the_worst_word(program, word, reason, code):
    row = fact(word=word, reason=reason, count=1, example="x", why="y", how="z")
    assert program("checkup", result=checkup(row, bandwidth()))[0] == code


MEANT = "checkup.meaning.no_expectation"
REAL = ROOT / "tests/recorded/h100/gpu-server.coreopsis-checkup.json"


def shown(program, columns, monkeypatch):
    """Return the lines of the checkup that an H100 gave."""
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = program("checkup", result=read(REAL))
    assert code == 0
    return [line.rstrip() for line in out.splitlines()]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_checkup_of_a_real_gpu_is_shown(program, columns, monkeypatch):
    lines = shown(program, columns, monkeypatch)
    told = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= columns
    for each in ("798 TFLOP/s", "54.3 GB/s there, 54.6 GB/s back", "its own power limit only"):
        assert each in told
    assert "✗" not in told


def test_on_a_narrow_page_a_row_is_not_cut_into_columns(program, monkeypatch):
    lines = shown(program, 80, monkeypatch)
    assert "✓ GPU 0 copies           54.3 GB/s there, 54.6 GB/s back" in lines
    at = lines.index("✓ GPU 0 link             Gen5 ×16 while copying")
    assert lines[at + 1].strip() == "Expected: Gen5 ×16, by card and slot"
    assert shown(program, 120, monkeypatch).count("Expected") == 0


@pytest.mark.parametrize("columns", [80, 120])
def test_what_several_rows_mean_and_advise_is_said_once_below_them(program, columns, monkeypatch):
    lines = shown(program, columns, monkeypatch)
    products = [at for at, line in enumerate(lines) if line.startswith("? Products, GPU 0, ")]
    assert products == [*range(products[0], products[0] + 6)]
    assert lines[products[-1] + 1] == "  " + say(MEANT)


def test_a_real_checkup_is_what_its_card_is_held_against():
    """The first reference of its card: what a sound GPU does is known from now on.

    It was measured as today, and judged by earlier limits.
    """
    judged = read(REAL)
    rows = tuple(
        replace(row, version=rule.version)
        for row in judged.rows
        for rule in rules().rule
        if rule.id == row.rule
    )
    good = replace(judged, rows=rows)
    here = Evidence(machine=from_json(good.machine), references=[good])
    for rule in rules().rule:
        if rule.id in ("gpu-memory", "gpu-copy"):
            (row,) = (row for row in good.rows if row.rule == rule.id)
            assert here.elsewhere(rule, "gpu0") == [*row.samples] != []


def test_a_stopped_checkup_tells_what_it_found(program):
    code, out, _ = program("checkup", result=checkup(fact(), outcome="stopped"))
    assert code == 130
    assert "Kernel log" in out


def test_json_is_the_result_and_nothing_else(program):
    result = checkup()
    code, out, _ = program("checkup", "--json", result=result)
    assert code == 0
    assert decode(out.encode(), "x") == result


def test_json_and_file_name_no_folder_of_the_user_and_what_is_kept_does(program, tmp_path):
    home = str(Path.home() / "project/python")
    row = fact("torch-works", Word.LOOK, "found", key="torch_missing", step="torch", python=home)
    path = tmp_path / "mine.json"
    _, out, _ = program("checkup", "--json", "--out", str(path), result=checkup(row))
    assert home not in out
    assert home not in path.read_text()
    (kept,) = (tmp_path / "checkups").iterdir()
    assert home in kept.read_text()


def test_one_that_was_stopped_before_it_measured_is_not_kept(program, tmp_path):
    failed = replace(measured(), outcome="stopped")
    program("checkup", result=checkup(outcome="stopped", measurements=[failed]))
    assert list((tmp_path / "checkups").iterdir()) == []


def test_one_that_was_stopped_later_is_kept_but_no_baseline(program, tmp_path):
    done = replace(measured(), outcome="completed")
    stopped = checkup(outcome="stopped", measurements=[done])
    _, _, err = program("checkup", "--save-baseline", result=stopped)
    assert load().say("problems.checkup_cut_short") in " ".join(err.split())
    assert [path.name.endswith(SUFFIX) for path in (tmp_path / "checkups").iterdir()] == [True]


def test_it_is_kept_and_written_where_asked(program, tmp_path):
    result = checkup(id="12345678")
    program("checkup", "--out", str(tmp_path / "mine.json"), result=result)
    assert decode((tmp_path / "mine.json").read_bytes(), "x") == result
    assert next(p.name for p in (tmp_path / "checkups").iterdir()).endswith(SUFFIX)


def test_a_file_that_cannot_be_written_is_told_before_anything_is_measured(program, tmp_path):
    for option in ("--out", "--html", "--pdf"):
        code, out, err = program("checkup", option, str(tmp_path / "nowhere" / "file"))
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "nowhere" in err
    assert not [*tmp_path.glob("checkups/*")]


def test_what_is_there_stays_whole_where_nothing_was_measured(program, tmp_path):
    (tmp_path / "mine.json").write_text("before")
    program("checkup", "--out", str(tmp_path / "mine.json"), "--pdf", str(tmp_path / "no" / "x"))
    assert (tmp_path / "mine.json").read_text() == "before"


@pytest.fixture
def full(tmp_path, monkeypatch):
    """Fill the disk of the data folder when it is called; the working folder has room."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    write = Path.write_bytes

    def refuse(path, data):
        if data and (tmp_path / "checkups") in path.parents:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return write(path, data)

    return lambda: monkeypatch.setattr(Path, "write_bytes", refuse)


@pytest.mark.parametrize("how", ["full", "a file in its place", "--save-baseline"])
def test_where_nothing_can_be_kept_it_is_said_before_anything_is_measured(
    program, tmp_path, full, how
):
    if how == "a file in its place":
        (tmp_path / "checkups").write_text("")
    else:
        full()
    more = ["--save-baseline", "--out", "x.json"] if how == "--save-baseline" else []

    code, out, err = program("checkup", *more)

    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "--data DIR" in err
    assert not program.asked  # nothing was begun


@pytest.mark.parametrize("more", [["--json"], ["--out", "x.json"], ["--html", "x.html"]])
def test_a_checkup_that_is_written_elsewhere_is_made_all_the_same(program, tmp_path, full, more):
    full()

    code, _, err = program("checkup", *more)

    assert code == 0
    assert err.splitlines()[0].startswith(say("problems.checkups_unwritable").partition("(")[0])
    assert "Traceback" not in err
    assert {path.name for path in Path.cwd().iterdir()} <= {"x.json", "x.html"}


def test_a_checkup_for_which_the_disk_is_full_in_the_end_is_kept_elsewhere(
    program, tmp_path, full, monkeypatch
):
    told = command.tell
    monkeypatch.setattr(command, "tell", lambda *given: (full(), told(*given)))

    code, out, err = program("checkup", result=checkup(fact(), id="precious"))

    (rescued,) = Path.cwd().iterdir()
    assert code == 0
    assert str(rescued) in err.replace("\n", "")
    assert "Kernel log" in out
    assert decode(rescued.read_bytes(), rescued.name).id == "precious"
    assert list((tmp_path / "checkups").iterdir()) == []


def test_a_checkup_for_which_there_is_room_nowhere_is_no_success(
    program, tmp_path, full, monkeypatch
):
    told = command.tell
    monkeypatch.setattr(command, "tell", lambda *given: (full(), told(*given)))
    monkeypatch.setattr(Path, "cwd", lambda: tmp_path / "missing")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "missing"))

    code, _, err = program("checkup")

    assert code == 1
    assert os.strerror(errno.ENOSPC) in err


def test_a_pipe_is_written_to_and_not_replaced(program, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        program("checkup", "--out", str(pipe), result=checkup(id="piped"))
        got = os.read(reader, 1 << 20)
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert decode(got, "x").id == "piped"


def test_a_link_is_followed(program, tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    program("checkup", "--out", str(tmp_path / "link.json"), result=checkup(id="linked"))
    assert (tmp_path / "link.json").is_symlink()
    assert decode((tmp_path / "real.json").read_bytes(), "x").id == "linked"


def test_the_saved_baseline_is_compared_with(program, tmp_path):
    from machine.inspect import inspect

    of_here = {"fingerprint": inspect().fingerprint}
    program("checkup", "--save-baseline", result=checkup(machine=of_here))
    slower = checkup(bandwidth(20e9, word=Word.LOOK), machine=of_here)
    _, out, _ = program("checkup", result=slower)
    assert program.asked["baseline"].machine["fingerprint"] == of_here["fingerprint"]
    assert "2026-11-20" in out


def test_a_given_baseline_counts_before_the_saved_one(program, tmp_path):
    given = tmp_path / "old.json"
    given.write_bytes(encode(checkup(id="old")))
    program("checkup", "--baseline", str(given))
    assert program.asked["baseline"].id == "old"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--soak", "500"], "minutes"),
        (["--soak", "20", "--quick"], "--soak"),
        (["--soak", "20", "--stop-at", "20"], "--stop-at"),
        (["--stop-at", "nan"], "--stop-at"),
        (["--baseline", "/nowhere.json"], "nowhere.json"),
        (["--order", "/nowhere.txt"], "No such file"),
        (["--order", "/dev/null"], "order"),
        (["--fake-machine", "x"], "fake machine"),
    ],
)
def test_what_cannot_be_is_one_sentence(program, arguments, said):
    code, out, err = program("checkup", *arguments)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert not out


def test_soak_asks_for_its_length_and_its_heat(program):
    program("checkup", "--soak", "20", "--stop-at", "90")
    asked = program.asked
    assert (asked["kind"], asked["soak_s"], asked["stop_celsius"]) == ("soak", 1200.0, 90.0)


def test_the_heat_it_may_stop_at_is_what_the_load_takes():
    from experiments.checkup.probes.sustained.experiment import Params

    for celsius, is_fine in ((29, False), (30, True), (130, True), (131, False)):
        least, most = command.STOP_CELSIUS
        assert (least <= celsius <= most) == is_fine
        with contextlib.nullcontext() if is_fine else pytest.raises(UserError):
            from_text(Params(), {"stop_celsius": str(celsius)}, None)


def test_an_order_is_answered_at_once_kept_and_held_against(program, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    path = tmp_path / "invoice.txt"
    path.write_text("999 GPUs\nNoctua NH-D15 \x1b[31m[red]\n", "utf-8")

    _, out, err = program("checkup", "--order", str(path))

    lines = [" ".join(line.split()) for line in err.splitlines()]
    untold = f"{MARKS[Word.UNCHECKED]} {say('checkup.answers.untold')}"
    assert f"{untold} Noctua NH-D15 \ufffd[31m[red]" in lines
    assert any(" 999 GPUs" in line for line in lines)
    assert "\x1b" not in out + err
    assert read_order(tmp_path) == program.asked["order"]
    assert program.asked["order"].lines[0] == "999 GPUs"
    program("checkup")
    assert program.asked["order"].lines[0] == "999 GPUs"


def test_what_strangers_wrote_never_reaches_the_terminal_raw(program, tmp_path):
    nasty = "\x1b[31mred\x07"
    bad = checkup(
        fact(rule=nasty, reason=nasty, part=nasty, word=Word.PROBLEM, example=nasty, count=1),
        fact(word=Word.PROBLEM, reason="recent", example=nasty, count=1),
        name=nasty,
        machine={"cpu": {"model": nasty}, "os": {"release": nasty}},
    )
    path = tmp_path / "bad.json"
    path.write_bytes(encode(bad))
    for arguments in (["checkup", "--baseline", str(path)], ["gather", str(path)]):
        _, out, err = program(*arguments)
        assert "\x1b" not in out + err
        assert "\x07" not in out + err


def gathered(program, tmp_path, *results, more=()):
    paths = []
    for place, result in enumerate(results):
        path = tmp_path / f"node{place}.json"
        path.write_bytes(encode(result))
        paths.append(str(path))
    return program("gather", *paths, *more)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_gather_names_the_odd_one(program, tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    all_ = [checkup(bandwidth(seed=n), id=f"n{n}") for n in range(4)]
    page = tmp_path / "all.html"
    code, out, _ = gathered(
        program, tmp_path, *all_, checkup(bandwidth(20e9)), more=["--html", str(page)]
    )
    assert code == 1
    assert "node4" in out.splitlines()[1]
    (row,) = (line for line in out.splitlines() if " node4 " in line)
    problem, fine = MARKS[Word.PROBLEM], MARKS[Word.FINE]
    assert row.startswith(problem)
    last = say("checkup.rules.memory-bandwidth.title").split()[0]
    assert row.split(" 0 ")[-1].strip().startswith(last)
    assert all(f"{fine}  node{n} " in out for n in range(4))
    assert say("checkup.gathered.slower", {"title": ""}).strip(": ") in page.read_text()


def test_gather_takes_the_same_checkup_once(program, tmp_path):
    code, out, err = gathered(program, tmp_path, checkup(id="a"), checkup(id="b"), checkup(id="a"))
    assert code == 2
    assert "node2" not in out
    assert say("problems.gathered_twice", {"name": "node2", "other": "node0"}) in err


def test_gather_tells_two_folders_apart(program, tmp_path, monkeypatch):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "x.json").write_bytes(encode(checkup(id="a")))
    (tmp_path / "x.json").write_bytes(encode(checkup(id="b")))
    monkeypatch.chdir(tmp_path)
    _, out, _ = program("gather", "lab/x.json", "x.json")
    assert f" {tmp_path.name}/x " in out


def test_gather_names_who_has_no_equals_also_where_none_is_odd(program, tmp_path):
    other = checkup(id="other", machine={"cpu": {"model": "Another"}})
    equals = (checkup(id=name) for name in "abc")
    _, out, _ = gathered(program, tmp_path, *equals, other)
    said = load().say("checkup.gathered.alone", {"names": "node3"})
    assert said in " ".join(out.split())


def test_gather_writes_json(program, tmp_path):
    two = checkup(id="a"), checkup(id="b")
    code, out, _ = gathered(program, tmp_path, *two, more=["--json"])
    assert code == 0
    assert [m["name"] for m in json.loads(out)["machines"]] == ["node0", "node1"]


def test_gather_leaves_out_what_it_cannot_read_and_says_so(program, tmp_path):
    (tmp_path / "broken.json").write_text("{")
    code, out, err = gathered(program, tmp_path, checkup(), more=[str(tmp_path / "broken.json")])
    assert code == 2
    assert "node0" in out
    assert "broken.json" in err


def test_gather_of_nothing_is_one_sentence(program, tmp_path):
    (tmp_path / "broken.json").write_text("{")
    code, out, _err = program("gather", str(tmp_path / "broken.json"))
    assert code == 2
    assert not out


def test_a_report_opens_again_as_the_checkup_it_tells_of(program, tmp_path):
    result = checkup(fact(), bandwidth(), name="Ada's")
    page = tmp_path / "report.html"
    program("checkup", "--html", str(page), result=result)
    again = decode(page.read_bytes(), page.name)
    assert again.rows == result.rows
    assert again.name == ""  # names stay here unless somebody lets them leave
    assert program("gather", str(page))[0] == 0


def test_a_pdf_is_written(program, tmp_path, qapp):
    program("checkup", "--pdf", str(tmp_path / "report.pdf"))
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_gather_writes_a_page(program, tmp_path):
    page = tmp_path / "all.html"
    gathered(program, tmp_path, checkup(), more=["--html", str(page)])
    assert "node0" in page.read_text()


def test_without_a_sensor_it_is_said_that_no_heat_ends_the_load(program, monkeypatch):
    from msgspec.structs import replace as changed

    from app.context import Context
    from machine.condition import Temperature
    from machine.inspect import inspect

    here = inspect()
    bare = changed(here, gpus=(), cpu=changed(here.cpu, temperatures=()))
    warm = changed(
        bare, cpu=changed(here.cpu, temperatures=(Temperature(name="x", now_celsius=40.0),))
    )
    for machine, is_said in ((bare, True), (warm, False)):
        monkeypatch.setattr(Context, "machine", machine)
        _, _, err = program("checkup", "--soak", "1", "--stop-at", "80")
        assert (say("checkup.no_sensor") in err) is is_said


# --- the table of parts ---------------------------------------------------------------------------

SERVER = ROOT / "resources/machines/dual-socket-8-gpu.json"
WORKSTATION = ("--fake-machine", str(ROOT / "resources/machines/workstation.json"))
ACME = "[[disk]]\npattern = 'Samsung SSD 990 PRO 2TB'\nsource = 'my box'\nread_bytes_per_s = 6e9\n"


@pytest.fixture
def own_parts(tmp_path, monkeypatch):
    """Return a function that writes the user's own lines into the data folder of `program`."""
    monkeypatch.setenv(DATA_FOLDER, "")  # and is again what it was
    return lambda text: (tmp_path / "parts.toml").write_text(text)


def test_part_facts_names_each_part_with_facts_sources_and_what_is_unknown(program, own_parts):
    code, out, err = program(*WORKSTATION, "checkup", "--part-facts")
    told = " ".join(out.split())
    assert (code, err, program.asked) == (0, "", {})  # nothing was measured
    assert "Processor · AMD Ryzen 9 9950X3D 16-Core Processor" in told
    assert "memory channels 2" in told
    assert "5600 MT/s AMD, product specifications" in told
    assert "GPU · 0, 1 · NVIDIA GeForce RTX 5090" in told
    assert "large reads in order 7.45 GB/s" in told
    assert "Memory module · DIMM_A2 P0 CHANNEL A, DIMM_B2 P0 CHANNEL B · F5-6400J3239G32G" in told
    assert "rated memory speed 6400 MT/s G.Skill" in told
    assert say("part_facts.facts.product_fraction") in told
    assert "parts.toml" in told


def test_part_facts_says_what_the_table_does_not_know_and_what_tells_no_name(program, own_parts):
    _, out, _ = program("--fake-machine", str(SERVER), "checkup", "--part-facts")
    told = " ".join(out.split())
    assert say("part_facts.no_line") in told
    assert say("part_facts.nothing_to_look_up") in told


def test_part_facts_as_json(program, own_parts):
    own_parts(f"{ACME}[[disk]]\npattern = 'X'\n")
    code, out, err = program(*WORKSTATION, "checkup", "--part-facts", "--json")
    told = json.loads(out)
    (disk,) = [part for part in told["parts"] if part["kind"] == "disk"]
    assert (code, disk["places"], disk["facts"]["read_bytes_per_s"]) == (0, ["nvme0n1"], 6e9)
    assert disk["facts"]["generation"] == 4
    assert "my box" in disk["sources"]["read_bytes_per_s"]
    (left_out,) = told["left_out"]
    assert left_out in err
    assert "number 2 of parts.toml" in err


def test_a_checkup_goes_on_without_a_bad_line_and_says_so(program, own_parts):
    own_parts("[[gpu]]\npattern = 'X'\nsource = 'me'\nlane = 16\n")
    code, _, err = program("checkup")
    assert code == 0
    assert "[[gpu]] number 1 of parts.toml is left out: lane is not among lanes" in err


def test_workers_find_the_lines_of_the_data_folder(own_parts, tmp_path):
    Context(data=tmp_path).use_own_folders()
    assert own_environment()[DATA_FOLDER] == str(tmp_path)
