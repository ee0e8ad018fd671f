"""The rules that every experiment must keep, ours and a user's own: each broken one is a Problem.

The keys are those of `problems.own_*`; an empty list means that catalogue, engine, window and
terminal can take the experiment.
"""

from __future__ import annotations

import math
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from experiments.core.declare import (
    Experiment,
    Finding,
    Key,
    Live,
    Need,
    Next,
    Params,
    Part,
    Row,
    Use,
    Value,
    specs,
)
from experiments.core.problems import Problem
from experiments.core.processes.own_errors import own_problem, problem_at, said
from experiments.core.shelves import PROBES
from experiments.core.views import Bars, Code, Heatmap, Lines, Ruler, Timeline, View
from experiments.core.words import Words
from machine.model import Machine
from machine.processor.counters import EVENTS

PROBE = PROBES.rpartition(".")[2]  # the name of that shelf
UNITS = frozenset(
    {"", "s", "bytes", "bytes/s", "flop/s", "hz", "per_s", "ratio", "watts", "celsius", "fraction"}
    | {"switch"}
)
PLAIN = (int, float, str, bool)
FUNCTIONS = (
    "measure",
    "analyse",
    "defaults",
    "quick",
    "smallest",
    "seconds",
    "memory_bytes",
)


def broken_rules(experiment: object, words: Words, machine: Machine) -> list[Problem]:
    """Return what is wrong with a declaration; its functions but `measure` are called once."""
    if not isinstance(experiment, Experiment):
        return [_wrong("EXPERIMENT", "x.Experiment(...)", experiment)]
    if found := [*_types(experiment)]:
        return found
    found = [*_records(experiment), *_views(experiment), *_values(experiment)]
    return [*(found or _calls(experiment, words, machine)), *missing_words(experiment, words)]


def columns_of(view: View) -> set[str]:
    """Return the columns of its table that a view shows."""
    named: set[str | None] = set()
    match view:
        case Bars():
            named = {view.label, view.value, view.detail}
        case Lines():
            named = {view.x.column, view.y.column, view.series, view.point}
        case Timeline():
            named = {view.lane, view.start, view.end, view.group, view.detail}
        case Heatmap():
            named = {view.row, view.column, view.value}
        case Ruler():
            named = {view.label, view.value}
        case Code():
            named = {view.piece, view.version, *view.about}
    return {name for name in named if name}


def missing_words(experiment: Experiment[Any], words: Words) -> Iterator[Problem]:
    """Yield the words that the declaration asks for and that are not there, in one Problem."""
    yield from lacking_words(experiment, words, wanted_words(experiment))


def lacking_words(
    experiment: Experiment[Any], words: Words, keys: Iterable[str]
) -> Iterator[Problem]:
    """Yield which of these words of an experiment are not there, all in one Problem.

    Of a probe nothing is said but what it asks: the checkup has words of its own.
    """
    lacking = [key for key in dict.fromkeys(keys) if not words.has(f"{experiment.id}.{key}")]
    if lacking and experiment.shelf != PROBE:
        yield Problem("own_words_missing", {"keys": ", ".join(lacking)})


def wanted_words(experiment: Experiment[Any]) -> Iterator[str]:
    """Yield the key of every word that the declaration asks for."""
    yield from ("question", "topic", "method")
    live = specs(experiment.live.params) if experiment.live is not None else {}
    for name, spec in [*specs(experiment.params).items(), *live.items()]:
        yield f"params.{name}"
        if not callable(spec.choices):
            yield from (f"choices.{choice}" for choice in spec.choices)
    for table in experiment.tables.values():
        yield from (f"columns.{name}" for name in specs(table))
    for view in experiment.views:
        yield f"views.{view.key}"
        yield from (f"lines.{limit.key}" for limit in view.limits)
        yield from (f"choices.{label}" for label in getattr(view, "order", ()))
        for piece in view.pieces if isinstance(view, Code) else ():
            yield from (f"pieces.{piece.key}", *(f"faults.{key}" for key in piece.faults))
    seen = {view.table for view in experiment.views}
    yield from (f"tables.{name}" for name in experiment.tables if name not in seen)
    yield from (f"values.{value.name}" for value in experiment.values)


def _wrong(what: str, wanted: str, found: object) -> Problem:
    said = found.__name__ if isinstance(found, type) else type(found).__name__
    return Problem("own_wrong_type", {"what": what, "wanted": wanted, "found": said})


def _raised(function: str, error: Exception) -> Problem:
    return Problem("own_raised", {"function": function, "error": said(error)})


def _types(experiment: Experiment[Any]) -> Iterator[Problem]:
    """Yield the fields of the declaration that hold something of another kind."""
    for name in FUNCTIONS:
        if not callable(given := getattr(experiment, name)):
            yield _wrong(name, "a function", given)
    if not _is_a(Params, experiment.params):
        yield _wrong("params", "a subclass of x.Params", experiment.params)
    elif not {*experiment.budget.full, *experiment.budget.quick} <= {*specs(experiment.params)}:
        yield _wrong("budget", "x.Budget of names of parameters", experiment.budget)
    live, loop = typing.cast("tuple[object, object]", (experiment.live, experiment.loop))
    following = typing.cast("object", experiment.next)
    if following is not None and not isinstance(following, Next):
        yield _wrong("next", "x.Next(an id)", following)
    if live is not None and not (
        isinstance(live, Live) and _is_a(Params, live.params) and callable(live.prepare)
    ):
        yield _wrong("live", "x.Live(a subclass of x.Params, a function)", live)
    version, tables = typing.cast("tuple[object, object]", (experiment.version, experiment.tables))
    if not isinstance(loop, str):
        yield _wrong("loop", 'a text "FILE:NAME"', loop)
    if experiment.confirmed_by not in ("", *EVENTS):
        yield _wrong("confirmed_by", f"one of {', '.join(EVENTS)}", experiment.confirmed_by)
    if not isinstance(version, int):
        yield _wrong("version", "a whole number", version)
    if not isinstance(tables, Mapping):
        yield _wrong("tables", "a dict of a name to a subclass of x.Row", tables)
        return
    for name, row in tables.items():
        if not _is_a(Row, row):
            yield _wrong(f"the table {name}", "a subclass of x.Row", row)
    for name, kinds, wanted in (
        ("views", typing.get_args(View), "a tuple of views such as x.Lines(...)"),
        ("values", (Value,), "x.values(...)"),
        ("keys", (Key,), "a tuple of x.Key"),
        ("parts", (Part,), "a tuple of x.Part"),
        ("needs", (Need,), "a tuple of x.Need"),
        ("uses", (Use,), "a tuple of x.Use"),
        ("imports", (str,), "a tuple of module names"),
    ):
        given = getattr(experiment, name)
        if not isinstance(given, tuple):
            yield _wrong(name, wanted, given)
            continue
        yield from (_wrong(name, wanted, each) for each in given if not isinstance(each, kinds))


def _is_a(base: type, kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)


def _records(experiment: Experiment[Any]) -> Iterator[Problem]:
    """Yield what a form, the recorder or an axis could not take of the parameters and rows."""
    asked = [experiment.params, *([experiment.live.params] if experiment.live is not None else [])]
    for where, record in (*(("params", each) for each in asked), *experiment.tables.items()):
        try:
            types = typing.get_type_hints(record)
        except Exception as error:  # noqa: BLE001  (any error of somebody's annotation)
            yield problem_at(record, error) or _raised(where, error)
            continue
        for name, spec in specs(record).items():
            if spec.unit not in UNITS:
                yield Problem("own_unit", {"name": f"{where}.{name}", "unit": spec.unit})
            kinds = set(typing.get_args(types[name]) or (types[name],)) - {type(None)}
            if where != "params" and not kinds <= set(PLAIN):
                yield _wrong(f"{where}.{name}", "int, float, str or bool", types[name])
            if where != "params" or spec.is_folder or types[name] is bool:
                continue
            if types[name] in (int, float):
                if spec.minimum is None or spec.maximum is None or spec.minimum >= spec.maximum:
                    yield Problem("own_no_range", {"name": name})
            elif not spec.choices:
                yield Problem("own_no_choices", {"name": name})


def _views(experiment: Experiment[Any]) -> Iterator[Problem]:
    """Yield views of tables, columns and values that are not there, or on the wrong axis."""
    if len(experiment.views) < 2:
        yield Problem("own_few_views", {"count": len(experiment.views)})
    yield from _twice([view.key for view in experiment.views])
    units = {value.name: value.unit for value in experiment.values}
    for view in experiment.views:
        table = experiment.tables.get(view.table)
        if table is None:
            known = ", ".join(experiment.tables)
            yield Problem("own_no_table", {"view": view.key, "table": view.table, "known": known})
            continue
        columns = specs(table)
        for name in sorted(columns_of(view) - columns.keys()):
            known = ", ".join(columns)
            yield Problem(
                "own_no_column",
                {"view": view.key, "column": name, "table": view.table, "known": known},
            )
        for limit in view.limits:
            axis = _axis_of(view, limit.axis)
            if limit.value not in units:
                yield Problem("own_no_value", {"limit": limit.key, "value": limit.value})
            elif axis in columns and units[limit.value] != columns[axis].unit:
                yield Problem("own_limit_unit", {"limit": limit.key, "unit": columns[axis].unit})


def _twice(names: list[str]) -> Iterator[Problem]:
    twice = {name for name in names if names.count(name) > 1}
    yield from (Problem("own_twice", {"name": name}) for name in sorted(twice))


def _axis_of(view: View, axis: str) -> str:
    """Return the column along which a limit line of a view is placed, "" where it has none."""
    if isinstance(view, Lines):
        return (view.x if axis == "x" else view.y).column
    return view.value if isinstance(view, Bars) else ""


def _values(experiment: Experiment[Any]) -> Iterator[Problem]:
    yield from _twice([value.name for value in experiment.values])
    for value in experiment.values:
        if value.part is not None and value.part not in experiment.parts:
            yield Problem("own_part_dark", {"name": value.name, "part": str(value.part)})


def _calls(experiment: Experiment[Any], words: Words, machine: Machine) -> Iterator[Problem]:
    """Call what the window will call, with the parameters of this machine and no rows."""
    found: list[Problem] = []

    def call(name: str, kind: type | tuple[type, ...], *given: Any) -> Any:
        function: Callable[..., Any] = getattr(experiment, name)
        try:
            answer = function(*given)
        except Exception as error:  # noqa: BLE001  (whatever somebody's function raises)
            found.append(own_problem(error) or _raised(name, error))
            return None
        if not isinstance(answer, kind) or isinstance(answer, bool):
            wanted = kind.__name__ if isinstance(kind, type) else "a number"
            found.append(_wrong(f"what {name} returns", wanted, answer))
            return None
        return answer

    params = call("defaults", experiment.params, machine)
    for name in ("quick", "smallest") if params is not None else ():
        call(name, experiment.params, params)
    if params is not None:
        seconds_s = call("seconds", (int, float), params)
        if seconds_s is not None and not 0 < seconds_s < math.inf:
            found.append(Problem("own_seconds", {"seconds_s": seconds_s}))
        call("memory_bytes", int, params)
        finding = call(
            "analyse", Finding, params, {name: [] for name in experiment.tables}, machine
        )
        if finding is not None:
            found.extend(broken_finding(experiment, words, finding))
    yield from found


def broken_finding(
    experiment: Experiment[Any], words: Words, finding: Finding
) -> Iterator[Problem]:
    """Yield the words that a finding lacks, and each value of it that is not declared."""
    keys = (f"findings.{finding.message}", *(f"limits.{key}" for key in finding.limits))
    yield from lacking_words(experiment, words, keys)
    declared = {value.name for value in experiment.values}
    for name in finding.values:
        # A value of another Python is told beside its own: `serial_python_3_13_s`.
        if name not in declared and re.sub(r"_python_\d\w*(?=_s$)", "", name) not in declared:
            yield Problem("own_value_undeclared", {"name": name})
