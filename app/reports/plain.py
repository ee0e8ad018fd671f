"""A report as text for a ticket, as Markdown for notes, and as JSON for programs; without Qt."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass, replace
from typing import Any

import msgspec

from app.markdown import unmarked
from app.reports.document import (
    Bullets,
    Code,
    Document,
    Facts,
    Heading,
    Paragraph,
    Plot,
    Ruled,
    Table,
    kind_of,
)
from app.reports.privacy import for_html
from experiments.core.words import Words
from experiments.engine.report_file import FORMAT, VERSION
from machine.system.installed import version_of

COLUMNS = 80
MOST_ROWS = 40  # of a plot: longer tables are for programs
GAP = 2  # between two columns
RULE = COLUMNS * "_"
INDENT = 4 * " "  # before code
CODE = COLUMNS - len(INDENT)


def data_json(document: Document, said: Mapping[str, Any] | None = None) -> str:
    """Return the data of a report as JSON that may stand in HTML, a line for each of a run.

    `said` are words that stand before it.
    """
    data = dict(document.data)
    if (run := data.get("run")) is not None:
        data["run"] = {**run, "lines": [msgspec.Raw(b"\n" + bytes(line)) for line in run["lines"]]}
    head = {"format": FORMAT, "version": VERSION, "program": _program()}
    return for_html(msgspec.json.encode({**head, **(said or {}), **data}).decode())


def to_json(document: Document) -> str:
    """Return words and data as JSON; plots have their rows only."""
    said = {
        "title": document.title,
        "subtitle": document.subtitle,
        "date": document.date,
        "parts": [_plain(part) for part in document.parts],
    }
    return data_json(document, said) + "\n"


def foot(document: Document, words: Words, *, reopens: bool = False) -> str:
    """Return what stands at the end of every report; one that `reopens` says how."""
    values = {"program": _program(), "at": document.date[:19].replace("T", " ")}
    said = words.say(document.foot, values)
    return f"{said} {words.say('report.reopens')}" if reopens else said


def to_text(document: Document, words: Words) -> str:
    """Return text of at most 80 columns."""
    blocks = [f"{_wrapped(document.title)}\n{'=' * min(COLUMNS, len(document.title))}"]
    blocks.append(_wrapped(f"{document.subtitle} · {document.date[:19].replace('T', ' ')}"))
    for part in document.parts:
        blocks += _text_of(part, words)
    return "\n\n".join([*blocks, _wrapped(foot(document, words))]) + "\n"


def to_markdown(document: Document, words: Words) -> str:
    """Return Markdown; what is in the texts is no markup."""
    date = document.date[:19].replace("T", " ")
    blocks = [f"# {unmarked(document.title)}", unmarked(f"{document.subtitle} · {date}")]
    for part in document.parts:
        blocks += _markdown_of(part, words)
    return "\n\n".join([*blocks, f"*{unmarked(foot(document, words))}*"]) + "\n"


def _program() -> str:
    return version_of("coreopsis") or "?"


def _plain(part: object) -> dict[str, Any]:
    """Return a part as plain JSON, its kind first."""
    kind = kind_of(part)
    if isinstance(part, Plot):
        table = _plain(part.table) if part.table is not None else None
        return {"kind": kind, "caption": part.caption, "table": table}
    assert is_dataclass(part)
    assert not isinstance(part, type)
    plain: dict[str, Any] = asdict(part)
    plain.pop("numbers", None)
    return {"kind": kind, **plain}


def _text_of(part: object, words: Words) -> Iterator[str]:
    match part:
        case Heading(text):
            yield f"{_wrapped(text)}\n{'-' * min(COLUMNS, len(text))}"
        case Paragraph(text):
            yield _wrapped(text)
        case Code(lines):
            rows = (line[at : at + CODE] for line in lines for at in range(0, len(line) or 1, CODE))
            yield "\n".join(f"{INDENT}{row}".rstrip() for row in rows)
        case Bullets(items):
            yield "\n".join(_wrapped(item, first="- ", then="  ") for item in items)
        case Ruled(count):
            yield "\n\n".join([RULE] * count)
        case Facts(pairs):
            yield "\n".join(_wrapped(f"{name}: {value}", then="  ") for name, value in pairs)
        case Table():
            yield _columns(_with_states(part))
            yield from _left_out(part, words, _wrapped)
        case Plot(sketch=sketch):
            yield _wrapped(words.say(part.in_text, {"caption": part.caption}))
            if sketch:
                yield "\n".join(sketch)
                return
            yield from _rows_of(part, words, lambda table: _text_of(table, words), _wrapped)


def _markdown_of(part: object, words: Words) -> Iterator[str]:
    match part:
        case Heading(text):
            yield f"## {unmarked(text)}"
        case Paragraph(text, role):
            said = unmarked(text)
            yield f"**{said}**" if role == "strong" else said
        case Code(lines):
            fence = "`" * (3 + max(line.count("`") for line in ("", *lines)))
            yield "\n".join((f"{fence}python", *lines, fence))
        case Bullets(items):
            yield "\n".join(f"- {unmarked(item)}" for item in items)
        case Ruled(count):
            yield "\n\n".join([f"`{RULE}`"] * count)
        case Facts(pairs):
            yield "\n".join(f"- {unmarked(name)}: {unmarked(value)}" for name, value in pairs)
        case Table():
            table = _with_states(part)
            rows = [table.head, ["---:" if n in table.numbers else "---"
                                 for n in range(len(table.head))], *table.rows]  # fmt: skip
            yield "\n".join(
                f"| {' | '.join(cell if at == 1 else unmarked(cell) for cell in row)} |"
                for at, row in enumerate(rows)
            )
            yield from _left_out(part, words, unmarked)
        case Plot(sketch=sketch):
            caption = words.say(part.in_text, {"caption": part.caption})
            yield f"**{unmarked(caption)}**"
            if sketch:
                yield "\n".join(("```", *sketch, "```"))
                return
            yield from _rows_of(part, words, lambda table: _markdown_of(table, words), unmarked)


def _rows_of(part: Plot, words: Words, write: Any, say: Any) -> Iterator[str]:
    """Yield a short table of a plot; of a long one only how long it is."""
    if part.table is None:
        return
    count = len(part.table.rows) + part.table.left_out
    if count > MOST_ROWS:
        yield say(words.say("report.rows_elsewhere", {"count": count}))
    else:
        yield from write(part.table)


def _left_out(table: Table, words: Words, say: Any) -> Iterator[str]:
    if table.left_out:
        yield say(words.say("report.rows_left_out", {"count": table.left_out}))


def _with_states(table: Table) -> Table:
    """Return a table whose states are a column of signs and words."""
    if not table.states:
        return table
    states = [f"{state.sign} {state.word}" for state in table.states]
    rows = tuple((state, *row) for state, row in zip(states, table.rows, strict=True))
    numbers = frozenset(place + 1 for place in table.numbers)
    return replace(table, head=("", *table.head), rows=rows, states=(), numbers=numbers)


def _columns(table: Table) -> str:
    """Return a table in columns; its last column wraps, and one that is too wide too."""
    rows = [list(table.head), *map(list, table.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.head))]
    room = COLUMNS - GAP * (len(widths) - 1)
    while sum(widths) > room and max(widths) > 1:  # the widest gives way
        widest = widths.index(max(widths))
        others = sorted(widths)[-2] if len(widths) > 1 else 1
        least = max(1, min(others, widths[widest] - 1))
        widths[widest] = max(least, widths[widest] - (sum(widths) - room))
    lines: list[str] = []
    for row in rows:
        cells = [textwrap.wrap(cell, max(1, width)) or [""]
                 for cell, width in zip(row, widths, strict=True)]  # fmt: skip
        for at in range(max(map(len, cells))):
            parts = [
                (cell[at] if at < len(cell) else "").rjust(width)
                if place in table.numbers
                else (cell[at] if at < len(cell) else "").ljust(width)
                for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
            ]
            lines.append((" " * GAP).join(parts).rstrip())
    return "\n".join(lines)


def _wrapped(text: str, *, first: str = "", then: str = "") -> str:
    paragraphs = text.split("\n")
    return "\n".join(
        textwrap.fill(each, COLUMNS, initial_indent=first, subsequent_indent=then)
        for each in paragraphs
    )
