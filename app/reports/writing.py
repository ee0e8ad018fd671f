"""Writes a report in the format that is wanted, and shows beforehand all words of it."""

from __future__ import annotations

import tomllib
from html import escape
from itertools import islice

from app.reports.document import Document, Mode, Picture, Plot, kind_of
from app.reports.plain import data_json, foot, to_json, to_markdown, to_text
from experiments.core.resources import FOLDER, read_resource
from experiments.core.words import Words
from experiments.engine.report_file import BLOCK, HTML_SUFFIX, JSON_SUFFIX

SUFFIXES = {
    "html": HTML_SUFFIX,
    "pdf": ".pdf",
    "markdown": ".md",
    "text": ".txt",
    "json": JSON_SUFFIX,
}
MODES: tuple[Mode, Mode] = ("light", "dark")
PREVIEW_LINES, PREVIEW_LETTERS = 1000, 2000  # of a text, and of a line of it


def written(document: Document, kind: str, words: Words) -> bytes:
    """Return the file; PDF needs Qt and its application."""
    if kind == "pdf":
        from app.reports.pdf import to_pdf

        return to_pdf(document, words)
    return as_text(document, kind, words).encode()


def as_text(document: Document, kind: str, words: Words) -> str:
    """Return the file as text, of whatever format but PDF."""
    match kind:
        case "html":
            return to_html(document, words)
        case "markdown":
            return to_markdown(document, words)
        case "text":
            return to_text(document, words)
        case "json":
            return to_json(document)
    raise ValueError(f"no format of a report: {kind}")


def preview(document: Document, kind: str, words: Words) -> str:
    """Return what will be written, of HTML and PDF the words and the data; cut where it is long."""
    if kind not in ("html", "pdf"):
        return _cut(as_text(document, kind, words), words)
    parts = [to_text(document, words)]
    if any(isinstance(part, Plot) for part in document.parts):
        parts = [words.say("report.and_plots"), "", *parts]
    if kind == "html" and document.data:
        parts += [words.say("report.data_follows"), data_json(document)]
    return _cut("\n".join(parts), words)


def _cut(text: str, words: Words) -> str:
    lines = text.splitlines()
    shown = [
        f"{line[:PREVIEW_LETTERS]}…" if len(line) > PREVIEW_LETTERS else line
        for line in islice(lines, PREVIEW_LINES)
    ]
    if more := len(lines) - len(shown):
        shown.append(words.say("report.lines_left_out", {"count": more}))
    return "\n".join(shown)


def to_html(document: Document, words: Words) -> str:
    """Return one HTML file that asks nothing of the network, with its data inside."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    themes = {mode: tomllib.loads(read_resource("themes", f"{mode}.toml")) for mode in MODES}
    return environment.get_template("report.html.j2").render(
        document=document,
        parts=[(kind_of(part), part) for part in document.parts],
        block=BLOCK,
        data=data_json(document) if document.data else "",
        foot=foot(document, words, reopens="run" in document.data),
        say=words.say,
        drawn=_drawn,
        themes=themes,
    )


def _drawn(picture: Picture) -> str:
    """Return a picture in both themes; the page shows the theme that the reader prefers."""
    found = []
    for mode in MODES:
        element = picture.svg(mode).partition("viewBox=")[2]  # not its size: the page has one
        said = escape(picture.said)
        found.append(f'<svg class="{mode}" role="img" aria-label="{said}" viewBox={element}')
    return "\n".join(found)
