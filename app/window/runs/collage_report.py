"""The collage of a class as a document, which the report's writers turn into a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from app.reports.document import Document, Paragraph, Part, Plot, Table
from app.reports.pictures import ChartPicture
from app.reports.privacy import Include, clean
from experiments.core.words import Words
from widgets.runs.collage_data import Shown
from widgets.runs.collage_plots import collage_chart, title_of


def collage_report(shown: Shown, words: Words, include: Include) -> Document:
    """Return what the page shows: sentences, plots, and the table; names only where wanted."""
    date = datetime.now(UTC).isoformat()
    document = Document(
        title=shown.question,
        subtitle=" · ".join((words.say("collage.title"), shown.count)),
        date=date,
        parts=tuple(_parts(shown, words, include)),
        name=f"collage-{shown.experiment.id}-{date[:10]}",
        foot="collage.written_by",
    )
    return clean(document)


def _parts(shown: Shown, words: Words, include: Include) -> Iterator[Part]:
    yield Paragraph(shown.main, "strong")
    if shown.rest:
        yield Paragraph(shown.rest, "soft")
    cloud = shown.cloud
    if cloud is not None and not include.class_names:
        cloud = replace(cloud, points=[replace(each, said="") for each in cloud.points])
    for number, given in enumerate(each for each in (shown.guesses, cloud) if each):
        make = partial(collage_chart, given, shown.experiment, words)
        title = title_of(given, shown.experiment, words)
        yield Plot(caption=title, picture=ChartPicture(make, f"c{number}"))
    first = 0 if include.class_names else 1  # the names stand before all else
    yield Table(head=shown.columns[first:], rows=[row[first:] for row in shown.rows])
