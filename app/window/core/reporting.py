"""Makes reports of runs, checkups, lectures and collages, and writes them where a person wants."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.checkup.compare import Compared
from app.reports.checkup_report import checkup_report
from app.reports.document import Document
from app.reports.pictures import LOW_PX, drawer
from app.reports.privacy import Include
from app.reports.run_report import Source, run_report, source_of
from app.reports.worksheet import LEAVES, worksheet
from app.reports.writing import SUFFIXES, as_text, preview, written
from app.window.core.saving import Saving
from app.window.core.session import Session
from experiments.checkup.result import Result
from widgets.sheets.report_sheet import ReportSheet

Report = Callable[[Include], Document]  # called in a thread
HANDOUT = {"html": ".html", "pdf": ".pdf", "markdown": ".md"}  # the window does not open it again
WORKSHEET = {kind: SUFFIXES[kind] for kind in HANDOUT}  # it holds its run, and opens again
INCLUDED = tuple(each.name for each in fields(Include))


def open_run(session: Session, parent: QWidget, path: Path) -> None:
    """Read a run, after its notes are written, and show what a report of it would contain."""
    words = session.words

    def show(source: Source) -> None:
        def make(include: Include) -> Document:
            return run_report(source, words, include, drawer(words))

        _Reporting(session, parent, choices_of(source), make)

    session.background.do(partial(source_of, path, session.catalogue), show)


def open_worksheet(session: Session, parent: QWidget, path: Path) -> None:
    """Read a run, after its notes are written, and show the page that a student hands in."""
    words = session.words

    def show(source: Source) -> None:
        def make(include: Include) -> Document:
            leaves = replace(LEAVES, answers=include.answers)
            return worksheet([source], words, leaves, drawer(words))

        _Reporting(session, parent, {"answers": False}, make, "worksheet.sheet", WORKSHEET)

    session.background.do(partial(source_of, path, session.catalogue), show)


def open_checkup(
    session: Session, parent: QWidget, result: Result, compared: Compared | None
) -> None:
    """Show what a report of a checkup would contain, and what changed if that is given."""
    choices = _usual({"data": True, "name": bool(result.name)})
    words = session.words
    make = partial(checkup_report, words, result, compared=compared, draw=drawer(words, LOW_PX))
    _Reporting(session, parent, choices, make)


def open_handout(session: Session, parent: QWidget, make: Callable[[], Document]) -> None:
    """Show the handout of a lecture; `make` is called once, in a thread."""
    made = functools.cache(make)
    _Reporting(session, parent, {}, lambda _include: made(), "handout.sheet", HANDOUT)


def open_collage(session: Session, parent: QWidget, make: Report, *, has_names: bool) -> None:
    """Show the collage of a class as a document."""
    choices = {"class_names": False} if has_names else {}
    _Reporting(session, parent, choices, make, "collage.sheet", HANDOUT)


class _Reporting(QObject):
    """One report in its sheet over `parent`."""

    def __init__(
        self,
        session: Session,
        parent: QWidget,
        choices: dict[str, bool],
        report: Report,
        of: str = "report",
        suffixes: Mapping[str, str] = SUFFIXES,
    ) -> None:
        look, words, formats = session.look, session.words, tuple(suffixes)
        sheet = ReportSheet(parent.window(), choices, look, words, of=of, formats=formats)
        super().__init__(sheet)
        self._session, self._words, self._sheet = session, words, sheet
        self._report, self._suffixes = report, suffixes
        self._saving = Saving(session, parent)
        self._document: Document
        sheet.changed.connect(self._preview)
        sheet.save_asked.connect(self._save)
        sheet.copy_asked.connect(self._copy)
        sheet.open()
        self._preview()

    def _preview(self) -> None:
        """Show the text for what is chosen now; an answer to an earlier choice is dropped."""
        sheet, words, report = self._sheet, self._words, self._report
        asked = kind, included = sheet.asked

        def make() -> tuple[Document, str]:
            include = Include(**{name: name in included for name in INCLUDED})
            document = report(include)
            return document, preview(document, kind, words)

        def take(made: tuple[Document, str]) -> None:
            if isValid(sheet) and asked == sheet.asked:
                self._document, text = made
                sheet.show_text(text)

        self._session.background.do_soon(make, take)

    def _save(self) -> None:
        """Write the file, which takes a moment, then ask where it shall be."""
        document, sheet = self._document, self._sheet
        asked = kind, _ = sheet.asked
        ending = self._suffixes[kind]

        def take(data: bytes) -> None:
            if not isValid(sheet) or asked != sheet.asked:
                return
            sheet.allow(ready=True)
            name = f"{document.name}{ending}"
            if self._saving.save(name, lambda path: path.write_bytes(data), (ending,)):
                sheet.dismiss()

        sheet.allow(ready=False)
        self._session.background.do_soon(partial(written, document, kind, self._words), take)

    def _copy(self) -> None:
        """Copy the file as text; HTML also as what it shows."""
        document, sheet = self._document, self._sheet
        kind = sheet.kind

        def take(text: str) -> None:
            copied = QMimeData()
            copied.setText(text)
            if kind == "html":
                copied.setHtml(text)
            QGuiApplication.clipboard().setMimeData(copied)
            if isValid(sheet):
                sheet.tell_copied()

        self._session.background.do_soon(partial(as_text, document, kind, self._words), take)


def choices_of(source: Source) -> dict[str, bool]:
    """Return what may be included of this run, and whether it is at first."""
    notes, lesson = source.notes, source.lesson
    guess = notes.guess
    return _usual(
        {
            "prediction": guess is not None and lesson is not None and lesson.accepts(guess),
            "data": True,
            "note": bool(notes.note),
            "own_words": bool(notes.own_words),
            "name": bool(notes.name or notes.tags),
            "names": source.has_names,
        }
    )


def _usual(there: Mapping[str, bool]) -> dict[str, bool]:
    """Return whether each choice that is there is taken at first."""
    usual = asdict(Include())
    return {name: usual[name] for name in INCLUDED if there.get(name)}
