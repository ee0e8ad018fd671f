"""Texts of strangers reach no terminal as a command; only files are read."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket

import pytest
from msgspec.structs import replace

from app.cli import main
from app.context import Context
from app.doctor_report import as_text
from app.terminal.doctor import show
from app.window.core.listing import Listing
from app.window.runs.importing import look_inside
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.engine import messages
from machine.doctor.diagnosis import diagnose
from machine.inspect import inspect
from machine.model import to_json
from tests import hostile
from tests.app.recordings import burst
from tests.hostile import EVIL, OBEYED, SECRET, told
from tests.machine.doctor.made import nvidia
from tests.machine.trees import Tree

EVIL_JSON = EVIL[:-1]  # JSON cannot hold half of a letter


@pytest.fixture
def run_file(tmp_path):
    """Return the file of a run whose machine, versions and notes have evil names."""
    lines = [json.loads(line) for line in burst().lines]
    lines[0]["machine"]["cpu"]["model"] = f"Model {EVIL_JSON}"
    lines[0]["at"] = EVIL_JSON
    lines[0]["environment"]["python"] = EVIL_JSON
    lines[0]["environment"]["libraries"] = {EVIL_JSON: EVIL_JSON}
    lines.insert(1, {"type": "note", "key": EVIL_JSON, "values": {"x": EVIL_JSON}})
    path = tmp_path / f"run {EVIL_JSON.replace('/', '')}.coreopsis.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def evil_machine(tmp_path):
    """Return the file of a machine with evil names and a recorded watch beside it."""
    data = hostile.PLAIN["dual-socket-8-gpu"] | {
        "virtualization": EVIL_JSON,
        "container": EVIL_JSON,
    }
    data = json.loads(json.dumps(data))
    data["cpu"]["model"] = data["os"]["distribution"] = EVIL_JSON
    data["missing"] = [{"what": EVIL_JSON, "why": EVIL_JSON, "how": EVIL_JSON}]
    data["storage"][0]["model"] = data["network"][0]["name"] = data["gpus"][0]["name"] = EVIL_JSON
    data["peaks"]["memory"]["formula"] = data["peaks"]["memory"]["source"] = EVIL_JSON
    path = tmp_path / "evil.json"
    path.write_text(json.dumps(data))
    return path


def test_a_terminal_obeys_no_run_of_a_stranger(run_file, tmp_path):
    data = ["--data", str(tmp_path / "data")]
    for command in (["replay"], ["replay", "--speed", "1e9"], ["--debug", "replay"]):
        with told(traces=True) as terminal:
            assert main([*data, *command, str(run_file)]) == 0
        assert "Model \N{REPLACEMENT CHARACTER}" in terminal.getvalue()
    for more in ([], ["--json"]):
        with told():
            assert main([*data, "compare", str(run_file), str(run_file), *more]) == 0


def test_a_terminal_obeys_no_machine_of_a_stranger(evil_machine, tmp_path):
    for command in (["inspect"], ["inspect", "--json"], ["experiments"], ["experiments", "--json"]):
        with told():
            assert main(["--fake-machine", str(evil_machine), *command]) == 0


COMMANDS = (
    ["replay"],
    ["compare", "x"],
    ["run"],
    ["run", "race", "--set"],
    ["run", "race", "--out"],
    ["inspect", "--root"],
    ["inspect", "--out"],
    ["inspect", "--fake-machine"],
    ["doctor", "--python"],
    ["check"],
    ["new"],
    ["watch", "--hz"],
    ["experiments", "--experiments"],
    ["checkup", "--baseline"],
    ["checkup", "--out"],
    ["checkup", "--data"],
    ["run", "race", "--data"],
    ["run", "storage", "--set", "rounds=2", "--set", "folder=/"],
    ["gather"],
    ["preflight"],
    ["handout"],
    ["handout", "ten-things", "--html"],
)


def test_a_terminal_obeys_no_argument_and_no_error(tmp_path):
    name = EVIL_JSON.replace("/", "")
    for arguments in (
        [EVIL_JSON],
        ["replay", EVIL_JSON],
        ["replay", f"{EVIL_JSON}/x"],
        ["--debug", "replay", EVIL_JSON],
        ["run", EVIL_JSON],
        ["run", "race", "--set", f"{EVIL_JSON}=1"],
        ["run", "race", "--set", f"rounds={EVIL_JSON}"],
        ["inspect", "--root", EVIL_JSON],
        ["inspect", "--out", f"{EVIL_JSON}/x"],
        ["inspect", "--fake-machine", EVIL_JSON],
        ["doctor", "--python", EVIL_JSON],
        ["check", EVIL_JSON],
        ["new", EVIL_JSON],
        ["watch", "--hz", EVIL_JSON],
        ["replay", str(tmp_path / name)],
        *(
            [*command[:-1], command[-1] + "n" * 5000]
            if "=" in command[-1]
            else [*command, "n" * 5000]
            for command in COMMANDS
        ),
    ):
        with told(traces="--debug" in arguments) as terminal:
            code = main(["--data", str(tmp_path / "data"), *arguments])
        assert code in (1, 2), arguments
        assert terminal.getvalue().endswith("\n")


def test_names_of_300_letters_are_no_trouble(tmp_path):
    long = "n" * 300
    item = {"experiment": "race", "recording": long, "run": long[:100]}
    record = {"format": "coreopsis.lecture-record", "version": 1, "name": long, "title": long}
    record |= {"at": "2026-05-04T03:02:01+00:00", "item": [item, item | {"experiment": long}]}
    held, machine = tmp_path / "held.json", tmp_path / f"{'n' * 250}.json"
    held.write_text(json.dumps(record))
    machine.write_text(json.dumps(hostile.PLAIN["dual-socket-8-gpu"]))
    for arguments, code in (
        (["handout", str(held)], 4),  # its runs are not here
        (["--fake-machine", str(machine), "watch", "--for", "1"], 2),
        (["--fake-machine", str(machine), "inspect"], 0),
    ):
        with told():
            assert main(["--data", str(tmp_path / "data"), *arguments]) == code, arguments


def test_a_terminal_obeys_nothing_that_libraries_say():
    torch = replace(nvidia().torch, version=EVIL, detail=EVIL, import_problem=EVIL)
    evidence = replace(nvidia(), torch=torch)
    diagnosis = diagnose(evidence)
    with told():
        show(Context().console, diagnosis, words.load())
    assert not OBEYED.search(as_text(diagnosis, words.load()))


def test_json_is_the_same_with_and_without_the_guard(evil_machine):
    with told() as terminal:
        main(["--fake-machine", str(evil_machine), "inspect", "--json"])

    data = json.loads(terminal.getvalue())
    assert data == to_json(Context(fake_machine=evil_machine).machine)


def test_a_line_of_json_holds_no_character_that_is_obeyed_and_says_the_same():
    note = messages.Note(key="waiting_for_machine", values={"holder": EVIL_JSON})

    line = messages.encode(note)

    assert not OBEYED.search(line.decode().rstrip("\n"))
    assert messages.decode_event(line) == note


def test_who_holds_the_lock_gives_no_command(coreopsis, inside):
    coreopsis.lock.write_text(json.dumps({"experiment": EVIL_JSON, "since": EVIL_JSON}))
    with coreopsis.lock.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        said = inside("run", "race", "--quick", "--now")

    assert said.code == 3
    assert "\N{REPLACEMENT CHARACTER}" in said.err
    assert not OBEYED.search(said.err)


# --- what is no file ------------------------------------------------------------------------------


def odd_files(folder):
    """Yield paths that are no files, or endless, or larger than any."""
    os.mkfifo(folder / "pipe")
    (folder / "zeros").symlink_to("/dev/zero")
    (folder / "terminal").symlink_to("/dev/tty")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
    with (folder / "sparse").open("wb") as file:
        file.truncate(10 * 2**30)
    (folder / "itself").symlink_to("itself")
    return ("pipe", "zeros", "terminal", "socket", "sparse", "itself", "n" * 5000)


def test_what_is_no_file_is_refused_in_a_sentence(inside, coreopsis):
    burst().write(coreopsis.folder / "run.coreopsis.jsonl")
    for name in odd_files(coreopsis.folder):
        for arguments in (
            ["replay", name],
            ["compare", "run.coreopsis.jsonl", name],
            ["inspect", "--fake-machine", name],
        ):
            said = inside(*arguments)
            assert said.code == 2
            assert said.sentence
    assert "it is a pipe or a device" in inside("replay", "pipe").sentence
    assert "it is a pipe or a device" in inside("inspect", "--fake-machine", "zeros").sentence
    assert "larger than 64 MiB" in inside("inspect", "--fake-machine", "sparse").sentence


def test_a_watch_that_is_no_file_is_refused_in_a_sentence(inside, coreopsis, machine_file):
    for name in odd_files(coreopsis.folder)[:4]:
        beside = machine_file.with_suffix(".watch.jsonl")
        beside.unlink(missing_ok=True)
        beside.symlink_to(coreopsis.folder / name)
        said = inside("watch", "--fake-machine", machine_file)
        assert said.code == 2
        assert said.sentence


def test_what_is_no_file_is_not_imported_into_the_window(tmp_path):
    texts = words.load()
    for name in odd_files(tmp_path):
        path = tmp_path / f"{name[:9]}.coreopsis.jsonl"
        with contextlib.suppress(OSError):
            (tmp_path / name).rename(path)
            (brought,) = look_inside([path], [], texts, Listing(texts, Catalogue(), {}))
            assert brought.experiment == ""
            assert brought.inside.problem.endswith(".")


# --- numbers and names of five thousand -----------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ('"threads": 8', '"threads": ' + "9" * 5000),
        ('"threads": 8', '"threads": -' + "9" * 5000),
        ('"threads": 8', '"threads": 1e999'),
        ('"threads": 8', '"threads": NaN'),
        ('"kind": "data"', f'"kind": "{"k" * 5000}"'),
        ('"format": "coreopsis.machine"', f'"format": "{"k" * 5000}"'),
    ],
)
def test_a_number_of_5000_digits_and_a_word_of_5000_letters_are_refused(
    inside, coreopsis, change, says
):
    data = {
        "format": "coreopsis.machine",
        "version": 1,
        "cpu": {"threads": 8, "caches": [{"kind": "data"}]},
    }
    text = json.dumps(data)
    assert change in text
    path = coreopsis.folder / "machine.json"
    path.write_text(text.replace(change, says))

    said = inside("inspect", "--fake-machine", path)

    assert said.code == 2
    assert len(said.sentence) < 1000


def test_a_name_of_5000_letters_is_cut_where_it_is_shown(inside, coreopsis):
    data = to_json(inspect())
    data["cpu"]["model"] = data["os"]["distribution"] = "N" * 5000
    path = coreopsis.folder / "machine.json"
    path.write_text(json.dumps(data))

    said = inside("inspect", "--fake-machine", path)

    assert said.code == 0
    assert said.out.count("N") < 1000


def test_more_parts_than_a_machine_has_are_refused(inside, coreopsis):
    path = coreopsis.folder / "machine.json"
    for key, part in (("threads_list", {"id": 0}), ("caches", {})):
        data = {"format": "coreopsis.machine", "version": 1, "cpu": {key: [part] * 20_000}}
        path.write_text(json.dumps(data))
        said = inside("inspect", "--fake-machine", path)
        assert said.code == 2
        assert f"cpu.{key}: no machine has as many" in said.sentence


# --- recordings -----------------------------------------------------------------------------------


@pytest.fixture
def recording(tmp_path):
    return hostile.base(tmp_path / "root")


def swap(tree: Tree, path: str, target) -> None:
    file = tree.root / path
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)
    file.symlink_to(target)


@pytest.mark.parametrize(
    "path",
    [
        "sys/class/dmi/id/product_name",
        "proc/cpuinfo",
        "sys/devices/system/cpu/online",
        "sys/devices/system/node/node0/meminfo",
        "sys/devices/system/edac/mc/mc0/dimm0/dimm_label",
    ],
)
def test_a_recording_is_not_left_by_links(recording, tmp_path, path):
    outside = tmp_path / "secret"
    outside.write_text(f"model name : {SECRET}\n")
    for target in (outside, os.path.relpath(outside, (recording.root / path).parent)):
        swap(recording, path, target)
        assert SECRET not in json.dumps(to_json(inspect(recording.root)))


def test_folders_outside_are_not_listed(recording, tmp_path):
    elsewhere = hostile.base(tmp_path / "other")
    elsewhere.write("/sys/devices/system/edac/mc/mc0/dimm0/dimm_label", SECRET)
    for path in (
        "sys/devices/system/edac/mc/mc0",
        "sys/devices/system/edac",
        "sys/bus/pci/devices",
    ):
        swap(recording, path, elsewhere.root / path)
    machine = inspect(recording.root)
    assert SECRET not in json.dumps(to_json(machine))
    assert machine.pci == ()
    assert machine.memory.modules == ()


def test_links_within_a_recording_are_followed(recording):
    assert {disk.name for disk in inspect(recording.root).storage} == {"nvme0n1", "sda"}
    assert len(inspect(recording.root).gpus) == 2


def test_the_existence_of_files_outside_is_not_told(recording, tmp_path):
    for target in (tmp_path / "there", tmp_path / "not-there"):
        swap(recording, ".dockerenv", target)
        (tmp_path / "there").touch()
        assert inspect(recording.root).container != "docker"


@pytest.mark.parametrize(
    "path", ["proc/cpuinfo", "sys/devices/system/cpu/online", "sys/class/dmi/id/product_name"]
)
def test_a_recording_with_a_pipe_a_device_or_an_endless_file_is_told_without_it(recording, path):
    file = recording.root / path
    file.unlink()
    os.mkfifo(file)
    before = inspect(recording.root)
    swap(recording, path, "/dev/zero")
    assert inspect(recording.root) == before
    file.unlink()
    file.mkdir()
    assert inspect(recording.root) == before
    file.rmdir()
    with file.open("wb") as sparse:
        sparse.truncate(10 * 2**30)
    assert inspect(recording.root).memory == before.memory


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, "9" * 30])
def test_a_number_of_5000_digits_anywhere_is_unknown(recording, digits):
    for folder, _, names in os.walk(recording.root / "sys"):
        for name in names:
            file = os.path.join(folder, name)
            if not os.path.islink(file):
                with open(file, "w") as numbers:
                    numbers.write(f"{digits}\n")
    recording.write("/proc/meminfo", f"MemTotal: {digits} kB\n")
    recording.write("/proc/cpuinfo", f"processor : {digits}\nmodel name : {digits}\n")

    machine = inspect(recording.root)

    assert json.loads(json.dumps(to_json(machine))) == to_json(machine)
    assert machine.memory.total_bytes is None


def test_a_root_of_a_name_too_long_and_an_unreadable_sys_are_a_sentence(inside, recording):
    assert "neither proc nor sys" in inside("inspect", "--root", "n" * 5000).sentence
    for name in ("proc", "sys"):
        shutil.rmtree(recording.root / name)
        (recording.root / name).symlink_to(name)  # neither can be opened
    assert "neither proc nor sys" in inside("inspect", "--root", recording.root).sentence
    (recording.root / "sys").unlink()
    (recording.root / "sys").mkdir()
    said = inside("inspect", "--root", recording.root)
    assert said.code == 0
    assert "Not known here" in said.out
