"""The test module of an experiment, and what its `analyse` may say, read off the source."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from experiments.core.declare import Experiment


def own_tests(experiment: Experiment[Any]) -> ModuleType:
    """Return the test module of an experiment.

    Its `AGREED` names the values, and `AGREED_COLUMNS` the columns of tables, that reports,
    comparisons and outside checks rely on.
    """
    home, _, _ = experiment.params.__module__.rpartition(".")
    shelf, _, name = home.rpartition(".")
    return importlib.import_module(f"tests.{shelf}.test_{name}")


class Said:
    """The message and limit keys in the source of a module; `{...}` of an f-string is a pattern."""

    def __init__(self, module: ModuleType) -> None:
        tree = ast.parse(inspect.getsource(module))
        self._functions = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}
        self.messages: set[str] = set()
        self.limits: set[str] = set()
        for function in self._functions.values():
            for call in _calls(function, "Finding"):
                self.messages |= set(self._texts(call.args[0], function))
            self.limits |= set(_limits(function))

    def _texts(self, value: ast.expr, function: ast.FunctionDef) -> Iterator[str]:
        """Yield the texts that an expression may be: also through a variable or a function."""
        if isinstance(value, ast.Constant):
            yield str(value.value)
        elif isinstance(value, ast.Attribute):
            return  # x.TOO_FEW and x.CANNOT_TELL are said for all experiments
        elif isinstance(value, ast.BoolOp):
            for part in value.values:
                yield from self._texts(part, function)
        elif isinstance(value, ast.IfExp):
            yield from self._texts(value.body, function)
            yield from self._texts(value.orelse, function)
        elif isinstance(value, ast.Name):
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and _names(node.targets[0]) == {value.id}:
                    yield from self._texts(node.value, function)
        elif isinstance(value, ast.Call) and ast.unparse(value.func) == "x.unsure":
            return
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            called = self._functions[value.func.id]
            for node in ast.walk(called):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield from self._texts(node.value, called)
        else:
            raise AssertionError(f"say more plainly what is said: {ast.unparse(value)}")


def matches(key: str, pattern: str) -> bool:
    """Is `key` what a constant or an f-string of the source may become?"""
    return re.fullmatch(pattern, key) is not None


def _limits(function: ast.FunctionDef) -> Iterator[str]:
    """Yield what is put into the variable `limits`."""
    for node in ast.walk(function):
        targets = getattr(node, "targets", None) or [getattr(node, "target", node)]
        if isinstance(node, ast.Assign | ast.AugAssign) and _names(targets[0]) == {"limits"}:
            yield from _patterns(node.value)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("append", "add")
            and _names(node.func.value) == {"limits"}
        ):
            yield from _patterns(node.args[0])


def _patterns(value: ast.expr) -> Iterator[str]:
    parts: list[ast.AST] = [value]
    while parts:
        part = parts.pop()
        if isinstance(part, ast.JoinedStr):
            yield "".join(
                re.escape(str(p.value)) if isinstance(p, ast.Constant) else ".+"
                for p in part.values
            )
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield re.escape(part.value)
        elif not isinstance(part, ast.Compare | ast.comprehension):  # conditions say nothing
            parts += ast.iter_child_nodes(part)


def _calls(function: ast.FunctionDef, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == name:  # x.Finding
            yield node


def _names(node: ast.AST) -> set[str]:
    return {node.id} if isinstance(node, ast.Name) else set()
