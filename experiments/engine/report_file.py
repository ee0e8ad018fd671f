"""Reports: the run that an HTML or JSON report carries, taken out of it as the lines of its file.

An HTML report has its data in `<script type="application/json" id="coreopsis-data">`, at its
beginning; a JSON report is such data. Nothing else of it is used, and nothing executed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

import msgspec

from experiments.core.problems import UserError
from machine.convert import UNREADABLE
from machine.record import Record
from machine.system.files import open_file

FORMAT, VERSION = "coreopsis.report", 1
HTML_SUFFIX, JSON_SUFFIX = SUFFIXES = (".coreopsis.html", ".coreopsis.json")
BLOCK = "coreopsis-data"  # the id of the element with the data
LIMIT_BYTES = 64 * 2**20  # of a report
HEAD_LETTERS = 2**16  # the data begins within these: the parser of Python is slow on bad HTML
SEEN_BYTES = 64  # they tell a report from a run

_BEGINS = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:<|\{\s*"format"\s*:\s*"coreopsis\.report")')


class Carried(Record, kw_only=False):
    """The data in a report: the lines of a run, and JSON of what its sender said of it."""

    lines: bytes
    notes: bytes


class _Run(msgspec.Struct):
    lines: list[msgspec.Raw]
    notes: msgspec.Raw = msgspec.Raw(b"{}")


class _Report(msgspec.Struct):
    format: str
    version: int
    run: _Run | None = None


def is_report(beginning: bytes) -> bool:
    """Do these first bytes of a file begin a report, or some other HTML?"""
    return _BEGINS.match(beginning) is not None


def carried_by(path: Path) -> Carried | None:
    """Return what a report carries; None for a file that is no report.

    Raises UserError for a report that cannot be read, and OSError.
    """
    with open_file(path) as file:
        return carried(path.name, file) if is_report(file.peek(SEEN_BYTES)) else None


def carried(name: str, file: BinaryIO) -> Carried:
    """Return what the report in an open file carries. Raises UserError and OSError."""
    data = file.read(LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        raise UserError("recording_too_large", name=name, limit_bytes=LIMIT_BYTES)
    try:
        block = data_in(data)
        report = msgspec.json.decode(block, type=_Report) if block else None
    except UNREADABLE as error:
        raise UserError("report_damaged", name=name, reason=str(error)) from None
    if report is None or report.format != FORMAT:
        raise UserError("report_foreign", name=name)
    if report.version > VERSION:
        raise UserError("recording_newer", name=name, version=report.version, known=VERSION)
    if report.run is None or not report.run.lines:
        raise UserError("report_without_run", name=name)
    lines = b"".join(bytes(line) + b"\n" for line in report.run.lines)
    return Carried(lines, bytes(report.run.notes))


def data_in(data: bytes) -> str:
    """Return the JSON text of a report's bytes, "" where there is none. Raises ValueError."""
    text = data.decode("utf-8-sig")
    return _block(text) if text.lstrip().startswith("<") else text


def _block(text: str) -> str:
    """Return the data of an HTML report, "" where it has none."""
    from html.parser import HTMLParser  # every process loads this file, and few read a report

    class Finder(HTMLParser):
        """Finds the first element with the data, and takes its text."""

        text = ""
        is_inside = is_done = False

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found = dict(attrs)
            is_data = found.get("id") == BLOCK and found.get("type") == "application/json"
            self.is_inside = tag == "script" and is_data and not self.is_done

        def handle_data(self, data: str) -> None:
            if self.is_inside:
                self.text = data

        def handle_endtag(self, tag: str) -> None:
            self.is_done = self.is_done or self.is_inside
            self.is_inside = False

    finder = Finder()
    try:
        finder.feed(text[:HEAD_LETTERS])
        if finder.is_inside:  # within a script it only looks for the end
            finder.feed(text[HEAD_LETTERS : text.find("</script>", HEAD_LETTERS) + 9])
    except AssertionError:  # what the parser raises for some bad HTML
        return ""
    return finder.text if finder.is_done else ""
