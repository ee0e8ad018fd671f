"""Make the packages that need no Python: `make package`, or `python -m tests.tools.package`."""

from __future__ import annotations

import compileall
import platform
import py_compile
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from tests import ROOT
from tests.tools.package.contents import INSTALL, NAME, ROOMS
from tests.tools.share import FOLDER as SHARE
from tests.tools.share import version

DIST, BUILD = ROOT / "dist", ROOT / "build" / "package"
SPEC = Path(__file__).with_name(f"{NAME}.spec")
KINDS = {"linux": "linux", "win32": "windows", "darwin": "macos"}


def main() -> int:
    """Freeze the program, and pack the folder; return the exit code."""
    folder = frozen(DIST, BUILD)
    base = f"{NAME}-{version()}-{KINDS[sys.platform]}-{platform.machine().lower()}"
    made = [folder, packed(folder, DIST / base)]
    if sys.platform == "linux":
        if shutil.which("makeself"):
            made.append(self_extracting(folder, DIST / f"{base}.run"))
        else:
            say("No self-extracting file: makeself is missing (sudo apt-get install makeself).")
    for path in made:
        say(f"{_size_bytes(path) / 1e6:6.0f} MB  {path}")
    return 0


def frozen(dist: Path, build: Path) -> Path:
    """Freeze the program into a folder below `dist`, and return it."""
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"]
    places = ["--distpath", str(dist), "--workpath", str(build)]
    subprocess.run([*command, *places, str(SPEC)], cwd=ROOT, check=True)
    folder = dist / NAME
    for room in ROOMS:  # they are sources, which the program shows, and load quickly all the same
        compileall.compile_dir(
            folder / "_internal" / room,
            quiet=1,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
    known = folder / "_internal" / f"{NAME}-{version()}.dist-info"
    known.mkdir()
    known.joinpath("METADATA").write_text(f"Name: {NAME}\nVersion: {version()}\n")
    (plugins,) = folder.glob("_internal/PySide6/**/plugins")
    prefix = plugins.parent.relative_to(folder).as_posix()
    folder.joinpath("qt.conf").write_text(f"[Paths]\nPrefix = {prefix}\n")
    shutil.copy(ROOT / "LICENSE", folder)
    if sys.platform == "linux":
        shutil.copytree(SHARE, folder / "share")
        shutil.copy(INSTALL, folder)
    return folder


def packed(folder: Path, base: Path) -> Path:
    """Pack a folder as this system unpacks it without further programs; return the file."""
    if sys.platform == "win32":
        path = base.with_name(f"{base.name}.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*")):
                archive.write(file, file.relative_to(folder.parent))
        return path
    path = base.with_name(f"{base.name}.tar.gz")
    with tarfile.open(path, "w:gz", compresslevel=6) as archive:
        archive.add(folder, folder.name, filter=_of_nobody)
    return path


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def _of_nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member


def self_extracting(folder: Path, path: Path) -> Path:
    """Pack a folder into a script that installs it for the user who runs it; return the script."""
    title = f"Coreopsis {version()}"
    command = [
        "makeself",
        "--quiet",
        "--tar-quietly",
        "--sha256",
        "--complevel",
        "6",
        str(folder),
        str(path),
        title,
    ]
    subprocess.run([*command, "./install", "--copy"], check=True)
    return path


def _size_bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.lstat().st_size for file in files)


if __name__ == "__main__":
    sys.exit(main())
