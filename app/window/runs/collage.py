"""The class collage of the place Runs: files read in the background, and put into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from app.report import label
from app.runs.collage import Collage, Gathered, Result, Sentence, band, gather, left_out, sentences
from app.window.core.saving import Saving, run_files
from app.window.core.session import Session
from app.window.runs.importing import expanded
from experiments.core.problems import Problem
from experiments.core.teaching.lessons import Choice, Magnitude
from experiments.core.units import show, unit_of
from widgets.runs.collage_data import Cloud, Numbers, Option, Point, Shown
from widgets.runs.collage_page import CollagePage

MOST_FILES = 1000  # LIMIT: of a folder that holds more, the rest is not read


class Collages(QObject):
    """Fills the page; its files are remembered as long as the window lives."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, self._say = session, session.words.say
        self._paths: dict[Path, None] = {}
        self._gathered = Gathered({}, {})
        self._chosen = ""  # the id of an experiment
        self._asked = 0  # counts readings: only the newest is shown
        self.page = CollagePage(session.look, session.words)
        self._saving = Saving(session, self.page)
        self.page.report_wanted.connect(self._report)
        self.page.add_asked.connect(self._choose_more)
        self.page.again_asked.connect(lambda: self.show([]))
        self.page.chosen.connect(self._choose)
        self.page.files_dropped.connect(self.add)
        self.page.save_wanted.connect(
            lambda plot, ending: self._saving.save(f"collage-{self._chosen}{ending}", plot.save)
        )

    def show(self, paths: Sequence[Path]) -> None:
        """Make a new collage of these files, also of none."""
        self._paths = {}
        self.page.show_nothing()
        self.page.focus_first()
        self.add(paths)

    def add(self, paths: Sequence[Path]) -> None:
        """Add files, and those in folders, to the collage."""
        self._paths |= dict.fromkeys(paths)
        self._asked += 1
        asked, session, files = self._asked, self._session, list(self._paths)
        catalogue = session.catalogue
        mine = {run.run for run in session.runs if run.is_of(session.machine)}
        if files:
            self.page.show_reading(len(files))

        def work() -> Gathered:
            found = expanded(files, MOST_FILES)
            return gather(found, catalogue, mine)

        def then(gathered: Gathered) -> None:
            if asked == self._asked:
                self._gathered = gathered
                self._show()

        def fail(problem: Problem) -> None:
            self.page.end_reading()
            session.troubled.emit(problem)

        session.background.do_soon(work, then, fail)

    def _report(self, shown: Shown) -> None:
        """Show what a document of the collage would contain, and offer to write it."""
        from app.window.core.reporting import open_collage  # with all that writes reports
        from app.window.runs.collage_report import collage_report

        make = partial(collage_report, shown, self._session.words)
        has_names = any(row[0] for row in shown.rows)
        open_collage(self._session, self.page, make, has_names=has_names)

    def _choose_more(self) -> None:
        if paths := run_files(self._session, self.page):
            self.add(paths)

    def _choose(self, experiment_id: str) -> None:
        self._chosen = experiment_id
        self._show()

    def _show(self) -> None:
        collages, left = self._gathered.collages, self._gathered.left
        full = [name for name, collage in collages.items() if collage.results]
        if not full:
            of_all = [left_out(each) for each in (*(c.left for c in collages.values()), left)]
            self.page.show_nothing(self._told([each for found in of_all for each in found]))
            return
        if self._chosen not in full:
            self._chosen = full[0]
        questions = [(name, self._say(f"{name}.question")) for name in full]
        self.page.show_collage(self._shown(collages[self._chosen], left), questions)

    # --- in words -------------------------------------------------------------------------------

    def _shown(self, collage: Collage, left: Mapping[str, int]) -> Shown:
        main, *rest = sentences(collage, left)
        axes = collage.axes()
        count, experiment = len(collage.results), collage.experiment
        heads = "collage.name", "collage.machine", "collage.prediction", "collage.measured"
        titles = [label(self._session.words, experiment, name) for name in axes or ()]
        return Shown(
            experiment=experiment,
            question=self._say(f"{experiment.id}.question"),
            count=self._say("collage.results", {"count": count}),
            main=self._told([main]),
            rest=self._told(rest),
            guesses=self._guesses(collage),
            cloud=self._cloud(collage, axes) if axes is not None else None,
            columns=[*map(self._say, heads), *titles],
            rows=[self._row(collage, each, axes or ()) for each in collage.results],
        )

    def _guesses(self, collage: Collage) -> Numbers | Sequence[Option]:
        predict, yours = collage.predict, collage.yours
        guesses = [each.guess.at[0] for each in collage.results if each.guess is not None]
        mine = yours.guess.at[0] if yours is not None and yours.guess is not None else None
        measured = [each.right for each in collage.results if each.right is not None]
        if not guesses or predict is None:
            return ()
        if isinstance(predict, Choice):
            return [
                Option(
                    text=option.text,
                    count=guesses.count(place),
                    machines=measured.count(place),
                    is_yours=mine == place,
                )
                for place, option in enumerate(predict.options)
            ]
        answer = label(self._session.words, collage.experiment, predict.answer)
        return Numbers(
            guesses=guesses,
            yours=mine,
            band=band(collage),
            machines=len(measured),
            unit=unit_of(predict.answer),
            title=self._say("collage.predicted", {"value": answer}),
        )

    def _cloud(self, collage: Collage, axes: tuple[str, str]) -> Cloud:
        x, y = axes
        units = {value.name: value.unit for value in collage.experiment.values}
        words, here = self._session.words, collage.here
        return Cloud(
            points=[
                Point(
                    x=each.values[x],
                    y=each.values[y],
                    said=" · ".join(filter(None, (each.name, each.machine))),
                    is_here=each is here,
                )
                for each in collage.results
                if {x, y} <= each.values.keys()
            ],
            titles=(label(words, collage.experiment, x), label(words, collage.experiment, y)),
            units=(units.get(x, unit_of(x)), units.get(y, unit_of(y))),
        )

    def _row(self, collage: Collage, each: Result, axes: Sequence[str]) -> list[str]:
        lesson, predict = collage.lesson, collage.predict
        units = {value.name: value.unit for value in collage.experiment.values}
        right = ""
        if isinstance(predict, Choice) and each.right is not None:
            right = predict.options[int(each.right)].text
        elif isinstance(predict, Magnitude) and each.right is not None:
            right = show(each.right, unit_of(predict.answer))
        guess = lesson.told(each.guess) if lesson is not None and each.guess is not None else ""
        numbers = [
            show(each.values[name], units.get(name, unit_of(name))) if name in each.values else ""
            for name in axes
        ]
        return [each.name, each.machine, guess, right, *numbers]

    def _told(self, said: Sequence[Sentence]) -> str:
        return " ".join(self._sentence(key, values) for key, values in said)

    def _sentence(self, key: str, values: Mapping[str, object]) -> str:
        if "reason" in values:
            values = {**values, "reason": self._say(str(values["reason"]))}
        return self._say(key, values)
