"""Makes the report of a run or a checkup, shows it, and writes it where a person wants it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.checkup.compare import Compared
from app.reports.checkup_report import checkup_report
from app.reports.document import Document
from app.reports.pictures import drawer
from app.reports.privacy import Include
from app.reports.run_report import Source, run_report, source_of
from app.reports.writing import SUFFIXES, as_text, preview, written
from app.window.core.saving import Saving
from app.window.core.session import Session
from experiments.checkup.result import Result
from widgets.sheets.report_sheet import ReportSheet

Report = Callable[[Include], Document]  # called in a thread
HANDOUT = {"html": ".html", "pdf": ".pdf", "markdown": ".md"}  # the window does not open it again
INCLUDED = tuple(each.name for each in fields(Include))


class Reporting(QObject):
    """Opens one sheet over `parent` for each report."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._parent, self._words = session, parent, session.words
        self._saving = Saving(session, parent)
        self._document: Document

    def open(self, path: Path) -> None:
        """Read a run, after its notes are written, and show what a report of it would tell."""
        source = partial(source_of, path, self._session.catalogue)
        self._session.background.do(source, self._show_run)

    def open_checkup(self, result: Result, compared: Compared | None = None) -> None:
        """Show what a report of a checkup would tell, with what changed where that is given."""
        usual = asdict(Include())
        there = {"data": True, "name": bool(result.name)}
        choices = {name: usual[name] for name, is_there in there.items() if is_there}
        self._show(lambda include: checkup_report(self._words, result, include, compared), choices)

    def open_handout(self, make: Callable[[], Document]) -> None:
        """Show the handout of a lecture; `make` is called once, in a thread."""
        made = functools.cache(make)
        self._show(lambda _include: made(), {}, of="handout.sheet", suffixes=HANDOUT)

    def open_collage(self, make: Report, *, has_names: bool) -> None:
        """Show the collage of a class as a document."""
        choices = {"class_names": False} if has_names else {}
        self._show(make, choices, of="collage.sheet", suffixes=HANDOUT)

    def _show_run(self, source: Source) -> None:
        words = self._words
        self._show(
            lambda include: run_report(source, words, include, drawer(words)), choices_of(source)
        )

    def _show(
        self,
        report: Report,
        choices: dict[str, bool],
        *,
        of: str = "report",
        suffixes: Mapping[str, str] = SUFFIXES,
    ) -> None:
        look, formats = self._session.look, tuple(suffixes)
        sheet = ReportSheet(
            self._parent.window(), choices, look, self._words, of=of, formats=formats
        )
        sheet.changed.connect(lambda: self._preview(sheet, report))
        sheet.save_asked.connect(lambda: self._save(sheet, suffixes[sheet.kind]))
        sheet.copy_asked.connect(lambda: self._copy(sheet))
        sheet.open()
        self._preview(sheet, report)

    def _preview(self, sheet: ReportSheet, report: Report) -> None:
        """Show the text for what is chosen now; an answer to an earlier choice is dropped."""
        asked, words = sheet.asked, self._words
        kind, included = asked

        def make() -> tuple[Document, str]:
            include = Include(**{name: name in included for name in INCLUDED})
            document = report(include)
            return document, preview(document, kind, words)

        def take(made: tuple[Document, str]) -> None:
            if isValid(sheet) and asked == sheet.asked:
                self._document, text = made
                sheet.show_text(text)

        self._session.background.do_soon(make, take)

    def _save(self, sheet: ReportSheet, ending: str) -> None:
        """Write the file, which takes a moment, then ask where it shall be."""
        document, asked = self._document, sheet.asked
        kind, _ = asked

        def take(data: bytes) -> None:
            if not isValid(sheet) or asked != sheet.asked:
                return
            sheet.allow(ready=True)
            name = f"{document.name}{ending}"
            if self._saving.save(name, lambda path: path.write_bytes(data), (ending,)):
                sheet.dismiss()

        sheet.allow(ready=False)
        self._session.background.do_soon(partial(written, document, kind, self._words), take)

    def _copy(self, sheet: ReportSheet) -> None:
        """Copy the file as text; HTML also as what it shows."""
        document, kind = self._document, sheet.kind

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
    notes, lesson, usual = source.notes, source.lesson, asdict(Include())
    guess = notes.guess
    there = {
        "prediction": guess is not None and lesson is not None and lesson.accepts(guess),
        "data": True,
        "note": bool(notes.note),
        "name": bool(notes.name or notes.tags),
        "names": source.has_names,
    }
    return {name: usual[name] for name in INCLUDED if there.get(name)}
