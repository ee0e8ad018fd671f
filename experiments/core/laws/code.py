"""Laws of an experiment's code: its words are complete, none is left over, the bench times.

The code is read, not run: so every branch of `analyse` counts, also one that no run has taken.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from experiments.core.declare import Experiment, specs
from experiments.core.measured_loop import measured_loop
from experiments.core.problems import Problem
from experiments.core.rules import lacking_words
from experiments.core.shelves import MAIN
from experiments.core.views import Code
from experiments.core.words import Words

# What the bench does, or nobody while something is measured.
BENCH_DOES = re.compile(r"print|time\.(sleep|(time|monotonic|perf_counter|process_time)(_ns)?)")
ALLOWED = "noqa: T201"  # a line that prints because printing is what it measures
Scope = ast.FunctionDef | ast.AsyncFunctionDef


def broken(
    experiment: Experiment[Any], words: Words, files: Sequence[tuple[str, str]]
) -> Iterator[Problem]:
    """Yield what is wrong with its code, and with its words beside it; files are (name, text)."""
    yield from said_and_worded(experiment, words)
    yield from words_left_over(experiment, words)
    yield from without_loop(experiment, files)
    yield from beside_the_bench(dict(files).get(f"{MAIN}.py", ""))


def said_and_worded(experiment: Experiment[Any], words: Words) -> Iterator[Problem]:
    """Yield findings and limits that `analyse` says without words, and words that it never says."""
    said = Said(inspect.getsource(sys.modules[experiment.analyse.__module__]))
    for line in sorted(said.unclear):
        yield Problem("own_said_unclear", {"file": _file(experiment), "line": line})
    if said.unclear:  # what else is said cannot be known
        return
    findings, limits = (
        {key.rpartition(".")[2] for key in words.keys(f"{experiment.id}.{section}.")}
        for section in ("findings", "limits")
    )
    unmet = [each for each in said.limits if not any(re.fullmatch(each, key) for key in limits)]
    met = [key for key in limits if any(re.fullmatch(each, key) for each in said.limits)]
    lacking = [f"findings.{key}" for key in said.messages - findings]
    lacking += [f"limits.{pattern.replace('.+', '...')}" for pattern in unmet]
    unsaid = [f"findings.{key}" for key in findings - said.messages]
    unsaid += [f"limits.{key}" for key in limits.difference(met)]
    yield from lacking_words(experiment, words, sorted(lacking))
    if unsaid:
        yield Problem("own_words_left_over", {"keys": ", ".join(sorted(unsaid))})


def words_left_over(experiment: Experiment[Any], words: Words) -> Iterator[Problem]:
    """Yield the words that belong to nothing that is declared, all in one Problem."""
    start = f"{experiment.id}."
    keys = (key.removeprefix(start) for key in words.keys(start))
    if unused := [key for key in keys if is_declared(experiment, key) is False]:
        yield Problem("own_words_left_over", {"keys": ", ".join(unused)})


def is_declared(experiment: Experiment[Any], name: str) -> bool | None:
    """Does a word name something that is declared? None where only the code can show it."""
    section, _, key = name.partition(".")
    match section:
        case "question" | "topic" | "method" | "in_short" | "found_by":
            return not key
        case "params" | "help":
            live = specs(experiment.live.params) if experiment.live is not None else {}
            return key in specs(experiment.params) | live
        case "columns":
            return any(key in specs(table) for table in experiment.tables.values())
        case "views":
            return key in {view.key for view in experiment.views}
        case "tables":
            return key in experiment.tables.keys() - {view.table for view in experiment.views}
        case "pieces":
            return key in {piece.key for piece in _pieces(experiment)}
        case "faults":
            return key in {fault for piece in _pieces(experiment) for fault in piece.faults}
        case "lines":
            return key in {limit.key for view in experiment.views for limit in view.limits}
        case "values" | "about":
            return key in {value.name for value in experiment.values}
        case "next" if key in ("experiment", "setting"):
            following = experiment.next
            return following is not None and (key == "experiment" or bool(following.setting))
        case "choices" | "findings" | "because" | "limits" | "notes" | "problems":
            return None
        case _:
            return False


def without_loop(
    experiment: Experiment[Any], files: Sequence[tuple[str, str]]
) -> Iterator[Problem]:
    """Yield that `loop` names no function of these files, (name, text)."""
    if measured_loop(experiment.loop, files) is None:
        yield Problem("own_no_loop", {"loop": experiment.loop})


def beside_the_bench(text: str) -> Iterator[Problem]:
    """Yield where a module prints, sleeps or reads a clock."""
    lines, nodes = text.splitlines(), list(ast.walk(ast.parse(text)))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "time"]
    short = {each.asname or each.name: f"time.{each.name}" for i in imports for each in i.names}
    for node in nodes:
        if not isinstance(node, ast.Call) or ALLOWED in lines[node.lineno - 1]:
            continue
        call = ast.unparse(node.func)
        if BENCH_DOES.fullmatch(short.get(call, call)):
            values = {"file": f"{MAIN}.py", "line": node.lineno, "call": call}
            yield Problem("own_beside_the_bench", values)


def _file(experiment: Experiment[Any]) -> str:
    return f"{experiment.analyse.__module__.rpartition('.')[2]}.py"


def _pieces(experiment: Experiment[Any]) -> list[Any]:
    return [p for view in experiment.views if isinstance(view, Code) for p in view.pieces]


class Said:
    """The message and limit keys in a source; `{...}` of an f-string is a pattern.

    `unclear` are the lines that say a message which cannot be read off them.
    """

    def __init__(self, source: str) -> None:
        self._tree = ast.parse(source)
        scopes = [node for node in ast.walk(self._tree) if isinstance(node, Scope)]
        self._functions = {scope.name: scope for scope in scopes}
        self.messages: set[str] = set()
        self.limits: set[str] = set()
        self.unclear: set[int] = set()
        for scope in scopes:
            self.limits |= set(_limits(scope))
            for call in _findings(scope):
                given = {each.arg: each.value for each in call.keywords}
                message = call.args[0] if call.args else given.get("message")
                self.messages |= set(self._texts(message or call, scope))
                limits = call.args[2] if len(call.args) > 2 else given.get("limits")
                if isinstance(limits, ast.Tuple | ast.List):
                    self.limits |= set(_patterns(limits))

    def _texts(
        self, value: ast.expr, scope: Scope, seen: frozenset[str] = frozenset()
    ) -> Iterator[str]:
        """Yield the texts that an expression may be: also through a variable or a function.

        `seen` are the names of those that led here.
        """
        match value:
            case ast.Constant():
                yield str(value.value)
            case ast.Attribute():
                return  # x.TOO_FEW and x.CANNOT_TELL are said for all experiments
            case ast.BoolOp():
                for part in value.values:
                    yield from self._texts(part, scope, seen)
            case ast.IfExp():
                yield from self._texts(value.body, scope, seen)
                yield from self._texts(value.orelse, scope, seen)
            case ast.NamedExpr():
                yield from self._texts(value.value, scope, seen)
            case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)) if name in seen:
                return
            case ast.Name(id=name) if given := self._given(name, scope):
                for each in given:
                    yield from self._texts(each, scope, seen | {name})
            case ast.Call() if ast.unparse(value.func) in ("x.unsure", "unsure"):
                return
            case ast.Call(func=ast.Name(id=name)) if called := self._functions.get(name):
                for node in ast.walk(called):
                    if isinstance(node, ast.Return) and node.value is not None:
                        yield from self._texts(node.value, called, seen | {name})
            case _:
                self.unclear.add(value.lineno)

    def _given(self, name: str, scope: Scope) -> list[ast.expr]:
        """Return what a variable is set to in a function, or else in the whole module."""
        for where in (scope, self._tree):
            found = [
                node.value
                for node in ast.walk(where)
                if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr)
                and name
                in (_names(node.targets[0] if isinstance(node, ast.Assign) else node.target))
            ]
            if any(found):
                return [each for each in found if each is not None]
        return []


def _limits(scope: Scope) -> Iterator[str]:
    """Yield what is put into the variable `limits`."""
    for node in ast.walk(scope):
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


def _findings(scope: Scope) -> Iterator[ast.Call]:
    """Yield each call of `x.Finding`."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("x.Finding", "Finding"):
            yield node


def _names(node: ast.AST) -> set[str]:
    return {node.id} if isinstance(node, ast.Name) else set()
