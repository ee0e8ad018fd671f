"""Decides which runs can be compared, and puts three or more of them side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.report import about, label, named_values
from app.runs.library import Kept
from app.window.core.listing import Listing
from experiments.core.catalogue import Catalogue
from experiments.core.words import Words
from experiments.engine.messages import Outcome
from widgets.runs.side_by_side import MOST, BesideRow, RunsBeside


def why_not_comparable(words: Words, chosen: Sequence[Kept]) -> str:
    """Return why these runs cannot be compared, "" if they can."""
    say = words.say
    if len(chosen) > MOST:  # first: all ten thousand runs may be selected
        return say("runs.compare_most", {"count": MOST})
    if len(chosen) < 2 or any(run.problem is not None for run in chosen):
        return say("runs.compare_two")
    if len({run.experiment for run in chosen}) > 1:
        return say("runs.compare_other")
    if len({run.version for run in chosen}) > 1:
        versions = sorted({run.version for run in chosen})
        return say("problems.not_comparable_version", {"a": versions[0], "b": versions[-1]})
    if len(chosen) > 2 and not any(run.values for run in chosen):
        return say("runs.compare_nothing")
    return ""


def side_by_side(
    words: Words, catalogue: Catalogue, listing: Listing, runs: Sequence[Kept]
) -> RunsBeside:
    """Return comparable runs in words, the earliest first. Raises UserError."""
    runs = sorted(runs, key=lambda run: run.at)
    experiment = catalogue.load(runs[0].experiment)
    settings = _rows([dict(listing.settings(run.experiment, run.params)) for run in runs])
    lines = [listing.line(run) for run in runs]
    names = [value.name for value in experiment.values]
    names += [name for run in runs for name in run.values]
    values = []
    for name in dict.fromkeys(names):
        found = [
            named_values(words, experiment, {name: run.values[name]}, run)
            if name in run.values
            else ()
            for run in runs
        ]
        if any(found):
            called = label(words, experiment, name)
            cells = [of[0].shown if of else "" for of in found]
            values.append(BesideRow(called, cells, about(words, experiment, name)))
    differing = [row for row in settings if len(set(row.cells)) > 1]
    return RunsBeside(
        question=words.say(f"{experiment.id}.question"),
        heads=[
            (run.run_notes.name or line.exact, " · ".join(filter(None, (line.kind, line.ending))))
            for run, line in zip(runs, lines, strict=True)
        ],
        machines=[run.machine for run in runs] if len({run.machine for run in runs}) > 1 else (),
        settings=differing,
        values=values,
        cautions=[
            *_cautions(words, runs, len(differing)),
            *(
                words.say("terminal.one_altered", {"run": line.exact})
                for run, line in zip(runs, lines, strict=True)
                if run.is_altered
            ),
        ],
    )


def _rows(columns: Sequence[dict[str, str]]) -> list[BesideRow]:
    names = dict.fromkeys(name for column in columns for name in column)
    return [BesideRow(name, [column.get(name, "") for column in columns]) for name in names]


def _cautions(words: Words, runs: Sequence[Kept], differing: int) -> Iterator[str]:
    if differing:
        is_one = differing == 1
        yield words.say("runs.beside_one_setting" if is_one else "runs.beside_settings_differ")
    if len({run.machine for run in runs}) > 1:
        yield words.say("runs.beside_machines")
    if any(run.outcome != Outcome.COMPLETED for run in runs):
        yield words.say("runs.beside_cut_short")
