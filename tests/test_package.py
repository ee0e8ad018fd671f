"""The frozen folder: what a desktop learns of it, and that it works for a user without rights."""

from __future__ import annotations

import configparser
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.lecture import file as lecture
from app.lecture import record
from experiments.checkup import result as checkup
from experiments.engine import recording, report_file
from machine.live import recorded_watch
from tests.opened import check_window, own_home
from tests.tools.package.contents import INSTALL
from tests.tools.share import FOLDER as SHARE

ENTRY = "applications/coreopsis.desktop"
NOBODY = 65534
OF_ENDS = {"jsonl": "json", "json": "json", "gz": "gzip", "toml": "toml"}
linux = pytest.mark.skipif(sys.platform != "linux", reason="of Linux's desktops")


def entry_in(share: Path) -> configparser.SectionProxy:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(share / ENTRY, encoding="utf-8")
    return parser["Desktop Entry"]


def kinds() -> ElementTree.Element:
    return ElementTree.parse(SHARE / "mime/packages/coreopsis.xml").getroot()


def test_a_file_manager_knows_every_kind_of_file_that_opens():
    ours = {
        *recording.SUFFIXES, lecture.SUFFIX, record.SUFFIX, checkup.SUFFIX,
        report_file.JSON_SUFFIX,  # the other one belongs to browsers
        recorded_watch.SUFFIX, f"{recorded_watch.SUFFIX}.gz",
    }  # fmt: skip

    assert {glob.get("pattern") for glob in kinds().findall(".//{*}glob")} == {
        f"*{each}" for each in ours
    }
    # Else a file manager believes the first bytes more than the name.
    for kind in kinds():
        ends = {str(glob.get("pattern")).rpartition(".")[2] for glob in kind.findall("{*}glob")}
        told = {each.get("type") for each in kind.findall("{*}sub-class-of")}
        assert told == {f"application/{OF_ENDS[end]}" for end in ends}
    offered = entry_in(SHARE)["MimeType"].rstrip(";").split(";")
    assert sorted(offered) == sorted(str(kind.get("type")) for kind in kinds())


@linux
@pytest.mark.parametrize(
    "command",
    [
        ["desktop-file-validate", ENTRY],
        # The program has no domain of its own that its name could be a part of.
        ["appstreamcli", "validate", "--no-net", "--override=cid-desktopapp-is-not-rdns=info",
         "metainfo/coreopsis.metainfo.xml"],
    ],
    ids=lambda command: command[0],
)  # fmt: skip
def test_those_who_made_the_formats_find_no_fault(command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")

    said = subprocess.run(command, cwd=SHARE, capture_output=True, text=True, timeout=60)

    assert (said.returncode, said.stderr) == (0, ""), said.stdout


@linux
def test_the_desktop_takes_a_file_for_ours(tmp_path):
    if shutil.which("gio") is None or shutil.which("update-mime-database") is None:
        pytest.skip("gio or update-mime-database is not installed")
    shutil.copytree(SHARE / "mime", tmp_path / "mime")
    subprocess.run(["update-mime-database", tmp_path / "mime"], check=True)
    content = {"jsonl": b"{}\n", "json": b"{}\n", "gz": gzip.compress(b"{}\n"), "toml": b"a = 1\n"}

    for kind in kinds():
        for glob in kind.findall("{*}glob"):
            path = tmp_path / str(glob.get("pattern")).replace("*", "mine")
            path.write_bytes(content[path.suffix[1:]])
            command = ["gio", "info", "-a", "standard::content-type", path]
            environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
            said = subprocess.run(command, env=environment, capture_output=True, text=True)
            assert said.stdout.rstrip().endswith(f": {kind.get('type')}"), said.stdout


@linux
@pytest.mark.parametrize("name", ["coreopsis", "a folder & $HOME `50%` |"])
def test_a_user_installs_it_without_rights_and_removes_it(tmp_path, name):
    home, folder = tmp_path / "home", tmp_path / name
    shutil.copytree(SHARE, folder / "share")
    shutil.copy2(INSTALL, folder)
    program = folder / "coreopsis"
    program.write_text('#!/bin/sh\necho "$0"\n')
    program.chmod(0o755)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}

    def install(*options: str) -> None:
        subprocess.run(
            [folder / "install", *options], env=environment, check=True, capture_output=True
        )

    install()
    share = home / ".local/share"
    quoted, field = entry_in(share)["Exec"].rsplit(" ", 1)
    # Escaped twice, as a value and as an argument; % stands for a field.
    found = re.sub(r"\\(.)", r"\1", re.sub(r"\\(.)", r"\1", quoted)).replace("%%", "%")
    assert (found, field) == (f'"{program}"', "%f")
    assert (home / ".local/bin/coreopsis").resolve() == program
    assert (share / "mime/packages/coreopsis.xml").is_file()

    install("--remove")
    assert [path for path in home.rglob("*coreopsis*") if path.is_file()] == []
    assert program.is_file()


class Frozen:
    """The folder, unpacked elsewhere, and a user without rights, at home beside it."""

    def __init__(self, packed: Path, place: Path) -> None:
        with tarfile.open(packed) as archive:
            archive.extractall(place, filter="data")
        self.program = place / "coreopsis" / "coreopsis"
        self.home = own_home(place / "home of a user")
        self.home["PATH"] = "/usr/bin:/bin"
        self.user: list[str | Path] = []
        if sys.platform != "win32" and os.getuid() == 0:
            self.user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            os.chown(self.home["HOME"], NOBODY, NOBODY)

    def __call__(self, *arguments: str) -> str:
        said = subprocess.run(
            [*self.user, self.program, *arguments],
            env=self.home, cwd=self.home["HOME"], capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert said.returncode == 0, said.stderr
        return said.stdout

    def rows(self, *arguments: str) -> list[dict[str, object]]:
        """Run an experiment quickly; return its rows once it is complete."""
        events = [
            json.loads(line) for line in self("run", *arguments, "--quick", "--json").splitlines()
        ]
        assert events[-1]["outcome"] == "completed", events[-1]
        return [event["row"] for event in events if event["type"] == "row"]


@pytest.fixture(scope="module")
def folder():
    """A folder that everybody may enter; that of pytest belongs to this user alone."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield Path(made)


@pytest.fixture(scope="module")
def packages(folder):
    """Return the folder and the archive that were made of the program."""
    pytest.importorskip(
        "PyInstaller", reason="PyInstaller is not installed; `make package` adds it"
    )
    from tests.tools.package.__main__ import frozen, packed

    made = frozen(folder / "dist", folder / "build")
    return made, packed(made, folder / "dist" / "packed")


@pytest.fixture(scope="module")
def coreopsis(packages, folder):
    place = folder / "a place with spaces"
    place.mkdir()
    return Frozen(packages[1], place)


@pytest.mark.slow
def test_its_window_opens_with_the_fonts_that_come_along(coreopsis):
    check_window([*coreopsis.user, coreopsis.program], coreopsis.home)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "what", "arms"),
    [
        ("gil-threads", "method", {"serial", "threads", "processes"}),
        ("start-cost", "method", {"thread", "posix_spawn", "forkserver", "spawn"}),
        ("cache-ladder", "", set()),  # Numba compiles it
        ("storage", "", set()),
    ],
)
def test_it_measures(coreopsis, experiment, what, arms):
    rows = coreopsis.rows(experiment)

    assert rows
    assert arms <= {row.get(what) for row in rows}


@pytest.mark.slow
def test_it_measures_in_other_pythons(coreopsis):
    settings = {one["id"]: one for one in json.loads(coreopsis("experiments", "--json"))}
    others = settings["race"]["params"]["pythons"]["choices"]
    if not others:
        pytest.skip("there is no other Python that this user may run")

    rows = coreopsis.rows("race", "--set", f"pythons={others[0]}")

    assert others[0] in {row.get("python") for row in rows}


@pytest.mark.slow
def test_experiments_of_a_users_own_have_all_of_python(coreopsis):
    names = "concurrent.futures, decimal, email.mime.text, sqlite3, statistics, xml.dom.minidom"

    assert coreopsis("-I", "-S", "-c", f"import {names}; print('all')") == "all\n"


@pytest.mark.slow
def test_what_was_compiled_is_kept_in_the_users_cache(coreopsis):
    coreopsis.rows("stream")

    assert [*Path(coreopsis.home["HOME"], ".cache/coreopsis/numba").rglob("*.nbi")]
    assert [*coreopsis.program.parent.rglob("*.nbi")] == []


@pytest.mark.slow
def test_it_replays_and_says_why_it_has_no_pytorch(coreopsis):
    assert "GB/s" in coreopsis("replay", "stream")
    assert "coreopsis-" in coreopsis("doctor")
    known = json.loads(coreopsis("experiments", "--json"))
    why = {one["why_not"] for one in known if one["needs"] == ["torch"]}  # not a GPU, too
    assert len(why) == 1
    assert "this folder cannot take" in why.pop()


@pytest.mark.slow
def test_the_self_extracting_script_puts_it_into_the_home_of_a_user(packages, folder):
    if shutil.which("makeself") is None:
        pytest.skip("makeself is not installed")
    from tests.tools.package.__main__ import self_extracting

    script = self_extracting(packages[0], folder / "coreopsis.run")
    home = own_home(folder / "another home")
    subprocess.run(["sh", script], env=home, cwd=folder, check=True, capture_output=True)

    program = Path(home["HOME"], ".local/bin/coreopsis")
    said = subprocess.run([program, "--version"], env=home, capture_output=True, text=True)
    assert re.fullmatch(r"coreopsis \d+\.\d+\.\d+\n", said.stdout)
