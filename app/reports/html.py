"""A report as one HTML file that asks nothing of the network, with its data inside."""

from __future__ import annotations

import tomllib
from html import escape

from app.reports.document import (
    Bullets,
    Code,
    Document,
    Facts,
    Heading,
    Mode,
    Paragraph,
    Picture,
    Plot,
    Table,
)
from app.reports.plain import data_json, foot
from experiments.core.resources import FOLDER, read_resource
from experiments.core.words import Words
from experiments.engine.report_file import BLOCK

MODES: tuple[Mode, Mode] = ("light", "dark")
KINDS = {  # what the template calls the parts
    Heading: "heading",
    Paragraph: "paragraph",
    Code: "code",
    Bullets: "bullets",
    Facts: "facts",
    Table: "table",
    Plot: "plot",
}


def to_html(document: Document, words: Words) -> str:
    """Return the whole file."""
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
        parts=[(KINDS[type(part)], part) for part in document.parts],
        block=BLOCK,
        data=data_json(document) if document.data else "",
        foot=foot(document, words, reopens="run" in document.data),
        say=words.say,
        drawn=_drawn,
        themes=themes,
    )


def _drawn(picture: Picture) -> str:
    """Return a picture in both themes; the page shows the one that the reader prefers."""
    found = []
    for mode in MODES:
        element = picture.svg(mode).partition("viewBox=")[2]  # not its size: the page has one
        said = escape(picture.said)
        found.append(f'<svg class="{mode}" role="img" aria-label="{said}" viewBox={element}')
    return "\n".join(found)
