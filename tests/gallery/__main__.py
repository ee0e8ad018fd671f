"""One widget or page alone, with made-up data: `python -m tests.gallery NAME`.

Without a name it lists all names.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_args

from PySide6.QtWidgets import QApplication, QWidget

from app.window.lecture.conductor import Over
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Part, specs
from experiments.core.measured_loop import measured_loop
from experiments.core.teaching.lesson_run import Spot
from experiments.core.teaching.lessons import Magnitude
from experiments.core.views import Code, Ruler
from experiments.core.words import Words
from machine.inspect import inspect
from tests.gallery import lesson_page, made_gpus
from tests.gallery import plot_samples as samples
from tests.gallery.catalogue_page import catalogue_page
from tests.gallery.doctor_page import FINDINGS, doctor_page
from tests.gallery.experiment_page import experiment_page
from tests.gallery.lectures import over, playlist, presenter
from tests.gallery.live_page import live_page
from tests.gallery.map_page import map_page
from tests.gallery.pictures import EXPERIMENT as PICTURES
from tests.gallery.slides import NEXT, VOTING, moving, slide
from widgets.controls.basics import column, row
from widgets.controls.replay_bar import ReplayBar
from widgets.experiment.code_view import CodeView
from widgets.experiment.comparison_table import ComparedRow, Comparison, ComparisonTable
from widgets.experiment.machine_strip import MachineStrip
from widgets.experiment.puzzle import Puzzle
from widgets.form.form import ParamsForm
from widgets.frame.notice import Notices
from widgets.frame.status_line import StatusLine
from widgets.guess.page_data import Asked, Told, Why
from widgets.guess.sheet import GuessSheet
from widgets.plots.drawing import Beside
from widgets.plots.overlays.guess import SketchGuess
from widgets.plots.plot import Plot
from widgets.plots.table.data_table import DataTable
from widgets.runs.bin_look import BinLook
from widgets.runs.details import Details, RunDetails, Said
from widgets.runs.import_look import ImportLook, Inside
from widgets.runs.listed import ListedRun, Prediction, Result
from widgets.runs.side_by_side import BesideRow, RunsBeside, SideBySide
from widgets.runs.table import RunsTable
from widgets.sheets.about import About
from widgets.sheets.palette import Choice, Palette
from widgets.sheets.question import Answer, ask
from widgets.sheets.report_sheet import ReportSheet
from widgets.sheets.settings_page import SettingsDialog
from widgets.sheets.shortcut_sheet import Group, ShortcutSheet
from widgets.sheets.trouble import CrashDialog, TroubleBox
from widgets.style import theme
from widgets.style.look import Look
from widgets.style.theme import STEP

Make = Callable[[Look, Words], QWidget]
Size = tuple[int, int]

QUESTION = "Reading in order or shuffled: does the order matter?"
SKETCH = SketchGuess((2.0**12, 2.0**16, 2.0**20, 2.0**24, 2.0**28), (1e-9, 1e-9, 2e-9, 6e-9, 2e-8))
SHEET, LIVE = (1280, 720), (1360, 860)


# --- sheets over a window -----------------------------------------------------------------------


def _window(size: Size = SHEET) -> QWidget:
    window = QWidget()
    window.resize(*size)
    return window


def guess_sheet(look: Look, words: Words) -> QWidget:
    """Return the sheet of ten guesses with an answer."""
    window = _window()
    sheet = GuessSheet(words, look, window, remark=words.say("guess.about"))
    ask = words.say("guess.memory.ask")
    predict = Magnitude(ask=ask, answer="memory_latency_s", range=(1e-12, 10.0))
    sheet.ask(Asked(place="3 of 10", predict=predict))
    sheet.tell(
        Told(
            guess=3e-8,
            truth=1.8e-7,
            answer="The answer: 180 ns.",
            verdict="Right, within a factor of ten. You said 30 ns: 6 times too low.",
            is_right=True,
            because=words.say("guess.memory.because"),
            source=words.say("guess.measured"),
            is_of_another=False,
            why=Why(text="Why? How far away is a byte?", experiment="cache-ladder"),
            is_last=False,
        )
    )
    sheet.open()
    return window


def about(page: str, look: Look, words: Words) -> QWidget:
    window = _window()
    sheet = About(words, look, window)
    sheet.show_page(page)
    sheet.licences.list.setCurrentRow(2)
    sheet.open()
    return window


def palette(look: Look, words: Words) -> QWidget:
    window = _window()
    sheet = Palette(words, look, window)
    places = {"Map": "Ctrl+1", "Live": "Ctrl+2", "Larger text": "Ctrl++", "All shortcuts": "?"}
    choices = [Choice(name, "Anywhere", keys) for name, keys in places.items()]
    sheet.open_with([*choices, *(Choice(QUESTION, "Experiment · burst-random") for _ in range(9))])
    return window


def question(look: Look, words: Words) -> QWidget:
    window, say = _window(), words.say
    answers = [
        Answer("finish", say("closing.finish"), "main"),
        Answer("stop", say("closing.stop"), "stop"),
        Answer("stay", say("closing.stay")),
    ]
    head, text = say("closing.question"), say("closing.explained")
    ask(window, look, head, text, answers, remember=say("closing.remember"))
    return window


def settings(look: Look, words: Words) -> QWidget:
    window = _window()
    sheet = SettingsDialog(words, look, window)
    sheet.show_settings(
        mode="system",
        zoom=look.theme.zoom,
        less_motion=False,
        letters=True,
        numbers=False,
        closing="ask",
        folder="~/.local/share/coreopsis",
    )
    sheet.open()
    return window


def shortcuts(look: Look, words: Words) -> QWidget:
    window = _window()
    groups = [
        Group("Experiments", [("F5", "Run"), ("Esc", "Stop the run"), ("R", "Replay the run")]),
        Group("Runs", [("Delete", "Delete the run"), ("Ctrl+Z", "Bring it back")]),
        Group("Anywhere", [("Ctrl+1", "Map"), ("Ctrl+K", "Find and do"), ("?", "All shortcuts")]),
        Group("On a plot", [("← →", "Move the reading cursor"), ("Ctrl+D", "Show as a table")]),
    ]
    ShortcutSheet(groups, words, look, window).open()
    return window


def trouble(look: Look, words: Words) -> QWidget:
    box = TroubleBox(words, look)
    text = "Its process was killed from outside, most likely because memory ran out."
    actions = [("Run again", box.clear), ("Try smaller", box.clear)]
    box.tell(text, actions=actions, detail="status -9")
    report = "Coreopsis 0.2.0 · Python 3.11.7\n\nTraceback (most recent call last):\n  …"
    dialog = CrashDialog(report, words)
    dialog.add(report)
    whole = QWidget()
    whole.setLayout(column(box, dialog, space=6 * STEP))
    return whole


# --- parts of the frame and of an experiment's page ---------------------------------------------


def notice(look: Look, words: Words) -> QWidget:
    window = _window((900, 300))
    Notices(window, words, look).tell("The run was deleted.", "Undo", lambda: None)
    return window


def status_line(look: Look, words: Words) -> QWidget:
    line = StatusLine(words)
    line.show_machine("AMD EPYC 7B13 · 32 threads")
    line.show_load("quiet")
    line.show_run(QUESTION, "Stop the run")
    return line


def replay_bar(look: Look, words: Words) -> QWidget:
    bar = ReplayBar(look, words)
    bar.show_state(2.13, 11.84, is_playing=True)
    bar.seek_asked.connect(lambda t_s: bar.show_state(t_s, 11.84, is_playing=False))
    return bar


def code_view(look: Look, words: Words) -> QWidget:
    view, file = CodeView(words, look), Path(__file__)
    files = [(file.name, file.read_text(encoding="utf-8"))] * 2
    view.show_sources(files, measured_loop(f"{file.name}:code_view", files))
    view.show_ran(words.say("page.loop_ran", {"settings": "Rounds 12, Largest array 512 MiB"}))
    return view


def puzzle(look: Look, words: Words) -> QWidget:
    clinic = Catalogue().load("clinic")
    view = clinic.views[0]
    assert isinstance(view, Code)
    made = Puzzle(clinic, view, words, look)
    made.fit(800)
    return made


def comparison(look: Look, words: Words) -> QWidget:
    table = ComparisonTable(look, words)
    rows = (
        ComparedRow("in order, per element", "0.311 ns", "0.309 ns", "0.994×", "same"),
        ComparedRow("shuffled, per element", "5.91 ns", "11.8 ns", "2.00×", "higher"),
        ComparedRow("reads under way at once", "9.81", "4.02", "0.410×", "lower"),
        ComparedRow("chained, per element", "118 ns", "131 ns", "1.11×", "unclear"),
        ComparedRow("in subinterpreters, Python 3.13", "1.2 s", "1.3 s", "1.1×", "too_few"),
    )
    cautions = ("The runs differ in Largest array (A 128 MiB, B 256 MiB).",)
    a, b = "3f2a91c0 · today 14:03 · AMD EPYC 7B13", "9e01b7d4 · 12 March · AMD EPYC 7B13"
    footnotes = [words.say(f"terminal.{each}_means") for each in ("same", "unclear", "too_few")]
    table.show_comparison(Comparison(a=a, b=b, cautions=cautions, rows=rows, footnotes=footnotes))
    return table


def form(look: Look, words: Words) -> QWidget:
    forms = []
    for name in ("gil-threads", "cache-ladder", "burst-random"):
        experiment = Catalogue().load(name)
        known = {key: spec.choices for key, spec in specs(experiment.params).items()}
        choices = {key: some for key, some in known.items() if isinstance(some, tuple)}
        made = ParamsForm(experiment, words, look)
        made.show_params(experiment.params(), {**choices, "pythons": ("3.13", "3.14t")})
        forms.append(made)
    whole = QWidget()
    whole.setLayout(row(*forms, space=8 * STEP))
    return whole


def machine_strip(look: Look, words: Words) -> QWidget:
    strip = MachineStrip(words, look)
    strip.show_machine(inspect())
    strip.light([Part.CORES, Part.L3], [0])
    return strip


# --- plots --------------------------------------------------------------------------------------


def bars(look: Look, words: Words) -> Plot:
    experiment = Catalogue().load("gil-threads")
    plot = Plot(experiment, experiment.plots[0], words, look)
    plot.draw(samples.gil_tables()["timings"], {"serial_s": 0.62, "perfect_s": 0.31})
    return plot


def lines(look: Look, words: Words) -> Plot:
    experiment = Catalogue().load("cache-ladder")
    plot = Plot(experiment, experiment.plots[1], words, look)
    plot.draw(samples.ladder_steps(), samples.LADDER_VALUES)
    return plot


def sketch(look: Look, words: Words) -> QWidget:
    experiment = Catalogue().load("cache-ladder")
    plot = Plot(experiment, experiment.plots[1], words, look)
    plot.show_expected(samples.ladder_steps(), samples.LADDER_VALUES, faint=False)
    plot.begin_sketch(SKETCH.xs, SKETCH.heights, 5e-10, 5e-7)
    return plot


def guess(look: Look, words: Words) -> QWidget:
    plot = lines(look, words)
    plot.show_guess(SKETCH)
    return plot


def asked(look: Look, words: Words) -> QWidget:
    plot = bars(look, words)
    plot.ghost(samples.gil_tables(rounds=1)["timings"], "before:")
    plot.light(Spot(names=("threads",)))
    plot.ask(True)
    return plot


def ruler(look: Look, words: Words) -> QWidget:
    view = Ruler(key="wall", table="timings", label="method", value="wall_s")
    plot = Plot(Catalogue().load("gil-threads"), view, words, look)
    plot.draw(samples.gil_tables()["timings"], {})
    return plot


def timeline(slices: Callable[[], Any], beside: bool, look: Look, words: Words) -> QWidget:
    experiment = Catalogue().load("gil-threads")
    plot = Plot(experiment, experiment.plots[1], words, look)
    other = Beside("A", "B", samples.slices(turns=5)) if beside else None
    plot.draw(slices(), {}, beside=other)
    return plot


def heatmap(cores: int, beside: bool, look: Look, words: Words) -> QWidget:
    plot = Plot(PICTURES, PICTURES.plots[0], samples.words(), look)
    other = Beside("A", "B", samples.latencies(slower=1.2)) if beside else None
    plot.draw(samples.latencies(cores), {}, beside=other)
    return plot


def field(look: Look, words: Words) -> QWidget:
    plot = Plot(PICTURES, PICTURES.plots[1], samples.words(), look)
    plot.draw_frame(samples.ripples())
    return plot


def data_table(look: Look, words: Words) -> QWidget:
    table = DataTable(Catalogue().load("gil-threads"), words, look)
    table.show_tables(samples.gil_tables())
    return table


# --- runs ---------------------------------------------------------------------------------------


_PREDICTIONS = {
    2: Prediction(guess="14×", said="said 14×", right="18×", was="was 18×", verdict="hit"),
    4: Prediction(
        guess="2×", said="said 2×", right="18×", was="was 18×", verdict="surprise", is_surprise=True
    ),
}


def _runs() -> Iterator[ListedRun]:
    for day in range(28, 0, -1):
        yield ListedRun(
            key=str(day),
            at=f"2026-03-{day:02}T14:03:00",
            when=f"{day} March",
            title=QUESTION,
            machine="AMD EPYC 7B13" if day % 2 else "Intel Core i7",
            kind="quick" if day % 3 else "full",
            settings=("Rounds 3",) if day % 4 == 1 else (),
            results=(Result("random", "18×", 18.0),),
            ending="Stopped" if day == 24 else "",
            tags=("office", "hot day") if day == 27 else (),
            is_pinned=day == 26,
            prediction=_PREDICTIONS.get(day % 5),
        )
    yield ListedRun(key="x", at="", title="torn.jsonl", problem="It is damaged at line 4.")


def runs_table(look: Look, words: Words) -> QWidget:
    table = RunsTable(look, words)
    table.show_runs(list(_runs()))
    return table


def run_details(look: Look, words: Words) -> QWidget:
    details = Details(look, words)
    details.show_run(
        RunDetails(
            key="a",
            question=QUESTION,
            when="today 14:03 · full",
            said=Said("Before the BIOS update", "Window open", ("office",)),
            finding="Shuffled reads take 20× as long.",
            ending=words.say("runs.stopped"),
            values=(("shuffled over in order", "20×"), ("chained over in order", "400×")),
            facts=(("Rounds", "5"), ("Machine", "AMD EPYC 7B13")),
        )
    )
    return details


def import_look(look: Look, words: Words) -> QWidget:
    window, torn = _window((1100, 700)), "old.coreopsis.jsonl"
    facts = (("Machine", "AMD EPYC 7B13"), ("When", "12 March 2026 14:03:21"), ("Rows", "126"))
    damage = {"name": torn, "line": 4, "reason": "torn"}
    mine = Inside(key="a", file="mine.coreopsis.jsonl", question=QUESTION, facts=facts)
    problem = words.say("problems.recording_damaged", damage)
    files = [mine, Inside(key="b", file=torn, problem=problem)]
    ImportLook(window, files, look, words).open()
    return window


def side_by_side(look: Look, words: Words) -> QWidget:
    window, count = _window((1200, 700)), 5
    values = [
        BesideRow(name, [f"{(row + 2) * (run + 1)} ns" for run in range(count)])
        for row, name in enumerate(("in order", "shuffled", "chained"))
    ]
    beside = RunsBeside(
        question=QUESTION,
        heads=[(f"{day} March 2026 14:03:21", "full") for day in range(1, count + 1)],
        settings=[BesideRow("Rounds", ["3", "5", "5", "5", "12"])],
        values=values,
        cautions=[words.say("runs.beside_one_setting")],
    )
    SideBySide(window, beside, look, words).open()
    return window


def bin_look(look: Look, words: Words) -> QWidget:
    window = _window((1100, 700))
    BinLook(window, list(_runs())[:8], look, words).open()
    return window


def report_sheet(look: Look, words: Words) -> QWidget:
    window = _window((1100, 700))
    choices = {"prediction": True, "data": True, "note": False, "name": False}
    sheet = ReportSheet(window, choices, look, words)
    sheet.open()
    sheet.show_text("\n".join(["How far away is a byte?", "=" * 23, "", "…"]))
    return window


GALLERY: dict[str, tuple[Make, Size]] = {
    "map": (map_page, (1360, 830)),
    **{
        f"live-{kind}": (partial(live_page, kind), (1360, 860)) for kind in get_args(made_gpus.Kind)
    },
    "catalogue": (catalogue_page, (1356, 863)),
    **{f"doctor-{kind}": (partial(doctor_page, kind), SHEET) for kind in FINDINGS},
    "experiment": (experiment_page, (1200, 700)),
    "lesson-question": (lesson_page.question, (1200, 620)),
    "lesson-predict": (lesson_page.predict, (1500, 820)),
    "lesson-explain": (lesson_page.explain, (760, 860)),
    "lesson-motion": (lesson_page.motion, (980, 420)),
    "lesson-stills": (partial(lesson_page.motion, is_calm=True), (980, 360)),
    "slide-motion": (moving, SHEET),
    **{f"slide-{step}": (partial(slide, step), SHEET) for step in (*NEXT, "explain", *VOTING)},
    "lecture-keys": (partial(over, Over.KEYS), SHEET),
    "lecture-leave": (partial(over, Over.LEAVE), SHEET),
    "presenter": (presenter, SHEET),
    "playlist": (playlist, (328, 720)),
    "code_view": (code_view, (900, 600)),
    "puzzle": (puzzle, (900, 600)),
    "comparison": (comparison, (345, 420)),
    "form": (form, (1240, 860)),
    "machine_strip": (machine_strip, (900, 60)),
    "replay_bar": (replay_bar, (860, 60)),
    "status_line": (status_line, (900, 40)),
    "notice": (notice, (900, 300)),
    "bars": (bars, (850, 330)),
    "lines": (lines, (850, 400)),
    "ruler": (ruler, (850, 330)),
    "sketch": (sketch, (850, 400)),
    "guess": (guess, (850, 400)),
    "asked": (asked, (850, 330)),
    "timeline": (partial(timeline, samples.slices, False), (900, 420)),
    "timeline-beside": (partial(timeline, samples.slices, True), (900, 420)),
    "timeline-many": (partial(timeline, samples.many_slices, False), (900, 420)),
    "heatmap": (partial(heatmap, 8, False), (900, 500)),
    "heatmap-beside": (partial(heatmap, 8, True), (900, 500)),
    "heatmap-many": (partial(heatmap, 64, False), (900, 500)),
    "field": (field, (600, 600)),
    "data_table": (data_table, (900, 600)),
    "runs_table": (runs_table, (930, 640)),
    "run_details": (run_details, (344, 700)),
    "import_look": (import_look, (1100, 700)),
    "bin_look": (bin_look, (1100, 700)),
    "report-sheet": (report_sheet, (1100, 700)),
    "side_by_side": (side_by_side, (1200, 700)),
    "guess-sheet": (guess_sheet, SHEET),
    "about": (partial(about, "program"), SHEET),
    "licences": (partial(about, "licences"), SHEET),
    "palette": (palette, SHEET),
    "question": (question, SHEET),
    "settings": (settings, SHEET),
    "shortcuts": (shortcuts, SHEET),
    "trouble": (trouble, (900, 760)),
}


def main() -> None:
    """Show one entry until it is closed, or write its picture to a file."""
    parser = argparse.ArgumentParser(prog="python -m tests.gallery", description=__doc__)
    parser.add_argument("name", nargs="?", choices=GALLERY)
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--zoom", type=float, default=1.0)
    parser.add_argument("--machine", type=Path, metavar="FILE", help="shown on the map")
    parser.add_argument("--shot", type=Path, metavar="FILE", help="write a PNG instead")
    options = parser.parse_args()
    if options.name is None:
        print("\n".join(GALLERY))  # noqa: T201  (the list that was asked for)
        return
    application = QApplication([])
    theme.add_fonts()
    look = Look(theme.load("light" if options.light else "dark", options.zoom))
    look.wear(look.theme)
    make, size = GALLERY[options.name]
    if options.name == "map":
        make = partial(map_page, file=options.machine)
    widget = make(look, words.load())
    widget.resize(*size)
    widget.show()
    if options.shot is None:
        application.exec()
        return
    for _ in range(3):  # layouts settle
        application.processEvents()
    widget.grab().save(str(options.shot))


if __name__ == "__main__":
    main()
