"""The code that an experiment runs: its folder, the shared modules it imports, and all as a script.

Imports are read off the files, those inside functions too; nothing is imported for it.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.core.declare import Experiment
from experiments.core.resources import FOLDER
from experiments.core.shelves import MAIN, YOURS
from experiments.engine.environment import program_version
from machine.text import short_name

ROOT = FOLDER.parent
OURS = ("experiments", "machine")
SHARED = ("experiments.tools", "experiments.kernels", "experiments.devices")
ALONE = "experiments.engine.standalone"
TEXTS = ("common", "problems")  # that an experiment's own words fall back to
OPTIONAL = frozenset({"lightning"})

SCRIPT = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = [{packages}]
# ///
"""{question} The experiment {id}, version {version}, as Coreopsis {program} runs it.

`python {name}.py [--quick] [NAME=VALUE ...] [--csv FOLDER]` measures and prints what it finds.
It needs: {needed}. Its own files come first, then the modules that it shares with others.
"""

FILES = {{}}
{files}

if __name__ == "__main__":
    import os
    import sys
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory(prefix="{name}-") as folder:
        for name, text in FILES.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        sys.path.insert(0, folder)
        os.environ["PYTHONPATH"] = folder  # for the processes that it starts
        os.environ["COREOPSIS_EXPERIMENTS"] = str(Path(folder, "experiments", "yours"))
        from {alone} import main

        sys.exit(main("{module}", sys.argv[1:]))
'''


def sources(experiment: Experiment[Any]) -> Sequence[tuple[str, str]]:
    """Return (name, text) of each file of its folder, then of the shared modules it imports."""
    folder = _folder(experiment)
    files = [(path.relative_to(folder).as_posix(), path) for path in _own_code(folder)]
    files += [
        (_place(module, path).removeprefix("experiments/"), path)
        for module, path in _closure(experiment).items()
        if module.rpartition(".")[0] in SHARED and module not in SHARED
    ]
    return [(name, path.read_text(encoding="utf-8")) for name, path in files]


def shared_with_loop(experiment: Experiment[Any]) -> dict[str, Path]:
    """Return the shared module that holds the measured loop, and those that lead to it.

    Empty where the loop lies in the experiment's own folder.
    """
    closure = {
        module: path for module, path in _closure(experiment).items()
        if module.rpartition(".")[0] in SHARED and module not in SHARED
    }  # fmt: skip
    held = f"experiments/{experiment.loop.partition(':')[0]}"
    found = {module: path for module, path in closure.items() if _place(module, path) == held}
    while more := {
        module: path for module, path in closure.items()
        if module not in found and found.keys() & {*_imports(module, path)}
    }:  # fmt: skip
        found |= more
    return found


@dataclass(frozen=True, slots=True)
class Whole:
    """All that an experiment needs to run on its own."""

    name: str  # for its files
    module: str
    files: Mapping[str, Path]  # by their place below the folder of a script; its own come first
    packages: Sequence[str]  # with their versions


def whole(experiment: Experiment[Any]) -> Whole:
    """Return the files that an experiment runs, the words among them, and the packages."""
    folder, prefix = _folder(experiment), _package(experiment).replace(".", "/")
    files = {f"{prefix}/{path.relative_to(folder).as_posix()}": path
             for path in _own_files(folder)}  # fmt: skip
    for module, path in _closure(experiment, ALONE).items():
        files.setdefault(_place(module, path), path)
    for name in TEXTS:
        files[f"resources/text/en/{name}.toml"] = FOLDER / f"text/en/{name}.toml"
    packages = sorted(_packages(files.values()))
    name = short_name(experiment.id.replace("-", "_"))
    return Whole(name, _module(experiment), files, packages)


def script(experiment: Experiment[Any], question: str) -> tuple[str, str]:
    """Return (file name, text) of a script that runs the experiment on its own, anywhere."""
    found = whole(experiment)
    text = SCRIPT.format(
        packages=", ".join(f'"{each}"' for each in found.packages),
        needed=", ".join(found.packages) or "nothing but Python",
        question=question.replace("\\", "/").replace('"', "'"),  # it stands in a docstring
        id=experiment.id,
        version=experiment.version,
        program=program_version(),
        name=found.name,
        files="\n".join(stored(*each) for each in found.files.items()),
        alone=ALONE,
        module=found.module,
    )
    return f"{found.name}.py", text


def stored(name: str, path: Path) -> str:
    """Return the line of code that puts a file's text into FILES."""
    text = path.read_text(encoding="utf-8")
    is_plain = "'''" not in text and text.endswith("\n")
    return f'FILES["{name}"] = ' + (f"r'''{text}'''" if is_plain else repr(text))


def _module(experiment: Experiment[Any]) -> str:
    return experiment.params.__module__


def _folder(experiment: Experiment[Any]) -> Path:
    return Path(sys.modules[_module(experiment)].__file__ or "").parent


def _package(experiment: Experiment[Any]) -> str:
    return _module(experiment).rpartition(".")[0]


def _own_files(folder: Path) -> list[Path]:
    """Return the files of a folder, the declaration first; caches and recordings are left out."""
    found = (
        path for pattern in ("*.py", "*/*.py", "*.toml") for path in sorted(folder.glob(pattern))
    )
    kept = [path for path in found if "__pycache__" not in path.parts and path.stat().st_size]
    return sorted(kept, key=lambda path: (path.stem != MAIN, path.name == "__init__.py"))


def _own_code(folder: Path) -> list[Path]:
    """Return the modules of a folder, also those that are programs and never imported."""
    files = _own_files(folder)
    return [path for path in files if path.suffix == ".py" and path.name != "__init__.py"]


def _closure(experiment: Experiment[Any], *others: str) -> dict[str, Path]:
    """Return the modules of its folder and these others, and all of ours that they import.

    With them come the packages they lie in, each with its file.
    """
    folder, package = _folder(experiment), _package(experiment)
    names = (path.relative_to(folder).with_suffix("").parts for path in _own_code(folder))
    wanted = [".".join((package, *parts)) for parts in names] + list(others)
    found: dict[str, Path] = {}
    seen: set[str] = set()  # with names that are no modules
    while wanted:
        module = wanted.pop(0)
        if module not in seen and (path := _path(experiment, module)) is not None:
            found[module] = path
            wanted += (each for each in _imports(module, path) if each.split(".")[0] in OURS)
            wanted.append(module.rpartition(".")[0])
        seen.add(module)
    return found


def _imports(module: str, path: Path) -> Iterator[str]:
    """Yield what a module imports by name; of `from a import b` both `a` and `a.b`."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for base, is_near, names in _statements(path.read_text(encoding="utf-8")):
        whole = ".".join(filter(None, (package if is_near else "", base)))
        yield whole
        yield from (f"{whole}.{name}" for name in names)


@functools.lru_cache(maxsize=512)
def _statements(text: str) -> tuple[tuple[str, bool, tuple[str, ...]], ...]:
    """Return (module, whether it is relative, names) of each import; most files come again.

    A user's folder may hold what is no Python of this version: it imports nothing.
    """
    found: list[tuple[str, bool, tuple[str, ...]]] = []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = tuple(each.name for each in node.names)
            found.append((node.module or "", node.level > 0, names))
        elif isinstance(node, ast.Import):
            found += ((each.name, False, ()) for each in node.names)
    return tuple(found)


def _place(module: str, path: Path) -> str:
    """Return where a module lies below the folder of a script."""
    name = module.replace(".", "/")
    return f"{name}/__init__.py" if path.name == "__init__.py" else f"{name}.py"


def _path(experiment: Experiment[Any], module: str) -> Path | None:
    """Return the file of one of our modules, None where it is something in a module."""
    own = _package(experiment)
    if module.startswith(YOURS) and f"{module}.".startswith(f"{own}."):
        base = _folder(experiment).joinpath(*module.removeprefix(own).split("."))
    else:
        base = ROOT.joinpath(*module.split("."))
    for path in (base.with_name(f"{base.name}.py"), base / "__init__.py"):
        if os.path.isfile(path):  # a folder may have the longest name there is
            return path
    return None


@functools.cache
def _installed() -> Mapping[str, list[str]]:
    """Return the packages that each installed module is of: asked once, for it takes 50 ms."""
    from importlib import metadata  # which loads `email`: not at each start of the program

    return metadata.packages_distributions()


def _packages(paths: Iterator[Path] | Sequence[Path] | Any) -> set[str]:
    """Return the packages that files import, each with the version that is installed here."""
    from importlib import metadata

    names = {
        module.split(".")[0]
        for path in paths if path.suffix == ".py"
        for module, is_near, _ in _statements(path.read_text(encoding="utf-8")) if not is_near
    } - OPTIONAL  # fmt: skip
    known = _installed()
    foreign = {known[name][0] for name in names - sys.stdlib_module_names if name in known}
    lacking = names & {"torch"} - known.keys()  # left out here, but the script needs it
    return lacking | {
        f"{each}=={metadata.version(each).partition('+')[0]}"
        for each in foreign - {"coreopsis"}
    }  # fmt: skip
