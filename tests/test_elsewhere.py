"""Every module can be imported where POSIX is missing: nothing of it is asked for in passing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests import ROOT

# The rooms are imported once as they are. Then all that only other systems have than the one that
# is played is taken away, and they are imported anew. What that is stands in mypy's typeshed: the
# names of each module of the standard library, system by system. Compiled loops are left out, since
# they are linked with the library of this machine. `os.name` stays: pathlib goes by it.
PROGRAM = """
import ast, importlib, json, os, pkgutil, shutil, sys, types, unittest.mock
from pathlib import Path
import mypy

SYSTEM, ROOMS = sys.argv[1], ("machine", "experiments", "widgets", "app")
STUBS = Path(mypy.__file__).parent / "typeshed/stdlib"


def imported():
    for room in ROOMS:
        for each in pkgutil.walk_packages(importlib.import_module(room).__path__, room + "."):
            if not each.name.endswith("__main__") and ".kernels" not in each.name:
                yield each.name


def named(body, known):
    for node in body:
        match node:
            case ast.If():
                holds = eval(compile(ast.Expression(node.test), "stub", "eval"), dict(known))
                yield from named(node.body if holds else node.orelse, known)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.AnnAssign(target=ast.Name(name)) | ast.Assign(targets=[ast.Name(name)]):
                yield name
            case ast.ImportFrom(names=names):
                yield from (each.asname for each in names if each.asname)


def names(body, system):
    known = {"sys": types.SimpleNamespace(platform=system, version_info=sys.version_info)}
    return {name for name in named(body, known) if name[0] != "_"}


modules = [*imported()]
for name in modules:
    importlib.import_module(name)
for name in [*sys.modules]:
    if name.partition(".")[0] in ROOMS:
        del sys.modules[name]

taken = []
for name in sorted(sys.stdlib_module_names):
    stubs = [*STUBS.glob(f"{name}.pyi"), *STUBS.glob(f"{name}/__init__.pyi")]
    if not stubs:
        continue
    stub = stubs[0].read_text()
    if "sys.platform" not in stub:
        continue  # the same on every system
    body = ast.parse(stub).body
    here, there = names(body, sys.platform), names(body, SYSTEM)
    if here and not there:
        sys.modules[name] = None
        taken.append(name)
    elif there and not here:
        sys.modules[name] = types.ModuleType(name)
    module = sys.modules.get(name)
    for lacking in here - there if module else ():
        if hasattr(module, lacking):
            delattr(module, lacking)
            taken.append(f"{name}.{lacking}")
    for added in there - here if module else ():
        setattr(module, added, unittest.mock.MagicMock())
sys.platform = SYSTEM
shutil.which = lambda *_, **__: None  # it asks `_winapi`, which stays on Windows

failed = {}
for name in modules:
    try:
        importlib.import_module(name)
    except BaseException as error:
        failed[name] = repr(error)
print(json.dumps([taken, failed]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="plays Windows on Linux")
def test_every_module_can_be_imported_on_windows():
    command = [sys.executable, "-c", PROGRAM, "win32"]
    told = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    taken, failed = json.loads(told.stdout.splitlines()[-1])

    assert {"fcntl", "pwd", "os.fork", "os.O_DIRECT", "signal.SIGKILL"} <= set(taken)
    assert (
        failed.pop("experiments.core.processes.posix_guardian") == "AssertionError()"
    )  # and says so
    assert not failed, "\n".join(f"{name}: {why}" for name, why in failed.items())
