"""Which code does an experiment run? Its module, and what that has of its own beside it."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.core.declare import Experiment
from experiments.core.views import BROKEN, MENDED, Code

KERNELS = "experiments.kernels"
METHOD_WORDS = 30  # so many are enough to know what will be done


def method(experiment: Experiment[Any]) -> str:
    """Return how it is measured: the first sentences of the method in the module's docstring."""
    text = sys.modules[experiment.params.__module__].__doc__ or ""
    found = re.search(r"^Method: (.+?)(?:^\s*$|^Source:|\Z)", text, re.MULTILINE | re.DOTALL)
    said = ""
    for sentence in re.split(r"(?<=\.)\s+", " ".join(found[1].split())) if found else ():
        if len(said.split()) < METHOD_WORDS:
            said = f"{said} {sentence}".lstrip()
    return said[:1].upper() + said[1:].replace("`", "")


def sources(experiment: Experiment[Any]) -> Sequence[tuple[str, str]]:
    """Return (file name, text) of the experiment's module, then of its helpers and kernels.

    What every experiment has in common, such as the bench, is left out; programs that it shows and
    runs come last.
    """
    name = experiment.params.__module__
    shelf = name.rpartition(".")[0]
    found: dict[str, Path] = {}
    wanted = [name]
    while wanted:
        module = wanted.pop(0)
        path = _path(module)
        if module in found or path is None:
            continue
        found[module] = path
        used = (*_imports(path), *(f"{shelf}.{name}" for name in _files_named(path)))
        wanted += (each for each in used if each.rpartition(".")[0] in (shelf, KERNELS))
    files = [(path.name, path.read_text(encoding="utf-8")) for path in found.values()]
    for view in experiment.views:
        for piece in view.pieces if isinstance(view, Code) else ():
            files += [(f"{piece.key}_{each}.py", piece.text(each)) for each in (BROKEN, MENDED)]
    return files


def _imports(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def _files_named(path: Path) -> Iterator[str]:
    """Yield the modules beside it whose files it names, to run them in other processes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and str(node.value).endswith(".py"):
            yield str(node.value).removesuffix(".py")


def _path(module: str) -> Path | None:
    """Return the file of a module without importing it; None where it is no such file."""
    loaded = sys.modules.get(module)
    if loaded is not None and getattr(loaded, "__file__", None):
        return Path(str(loaded.__file__))
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # a name in a module, not a module in a package
        return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None
