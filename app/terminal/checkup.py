"""`coreopsis checkup`: is this machine sound? Rows by stage, with what to do next.

The JSON is experiments/checkup/result.py's `Result`, described in experiments/checkup/schema.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import msgspec
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, TextColumn
from rich.table import Table
from rich.text import Text

from app.anonymous import nameless
from app.checkup.compare import Compared, compare
from app.checkup.in_words import (
    MARKS,
    absent,
    answer_text,
    compared_lines,
    doing,
    facts,
    pair_text,
    row_text,
    summary,
)
from app.checkup.part_facts import as_json
from app.checkup.store import Checkups, has_measured
from app.context import Context, ExitCode, WriteFailed, refused
from app.reports.checkup_report import checkup_report
from app.reports.document import Document
from app.reports.pictures import LOW_PX, drawer, qt_or_problem
from app.reports.privacy import Include, without_names
from app.reports.writing import written
from app.runs.copies import write_whole
from app.terminal.parts.part_facts import show_part_facts
from app.terminal.progress import bar
from app.terminal.run import writable
from app.terminal.stopping import asked_to_stop
from experiments.checkup import run_checkup
from experiments.checkup.checks.order import answers
from experiments.checkup.order import Order, read_order, read_order_file, write_order
from experiments.checkup.result import Kind, Result, Word, encode, from_plain, read
from experiments.checkup.run_checkup import Checkup
from experiments.core.problems import Problem, UserError
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.sweep import sweep
from machine.model import tells_temperature
from machine.parts import own_troubles

STYLES = {
    Word.FINE: "green",
    Word.LOOK: "yellow",
    Word.PROBLEM: "red",
    Word.UNCHECKED: "dim",
    Word.ABSENT: "dim",
}
WIDE = 100  # columns, from which on four parts of a row fit beside each other
SOAK_MINUTES = (1.0, 120.0)
STOP_CELSIUS = (30.0, 130.0)  # what the probe `sustained` takes
OUT, REPORT = "out_not_writable", "report_not_writable"  # what is said of a file


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Check this machine, show the result, and keep it. Raises UserError."""
    if options.part_facts:
        return _part_facts(options, context)
    if context.has_fake_machine:
        raise UserError("fake_machine_measured")
    kind: Kind = "soak" if options.soak is not None else "quick" if options.quick else "check"
    if options.soak is not None and not SOAK_MINUTES[0] <= options.soak <= SOAK_MINUTES[1]:
        least, most = SOAK_MINUTES
        raise UserError("soak_too_long", least=least, most=most)
    if options.stop_at is not None and not STOP_CELSIUS[0] <= options.stop_at <= STOP_CELSIUS[1]:
        least, most = STOP_CELSIUS
        raise UserError("stop_at_out_of_range", least_celsius=least, most_celsius=most)
    if options.soak is not None and options.quick:
        raise UserError("soak_and_quick")
    kept = Checkups(context.folder)
    order = _ordered(options, context)
    given = None if options.baseline is None else read(options.baseline)
    baseline = given or kept.baseline(context.machine.fingerprint)
    if options.stop_at is not None and not tells_temperature(context.machine):
        context.errors.print(context.words.say("checkup.no_sensor"))
    _tell_troubles(context)
    may_keep = _may_keep(options, context, kept)
    sweep()
    checkup = Checkup(
        kind,
        baseline=baseline,
        order=order,
        references=kept.references(),
        soak_s=None if options.soak is None else options.soak * 60,
        stop_celsius=options.stop_at,
        machine=lambda: context.machine,
    )
    with (
        writable(options.out, OUT),
        writable(options.html, REPORT),
        writable(options.pdf, REPORT),
    ):
        with asked_to_stop(checkup.stop):
            result = _followed(context, checkup)
        is_safe = _hand_out(options, context, kept if may_keep else None, result, baseline)
    code = exit_code(result)
    return ExitCode.FAILED if code is ExitCode.DONE and not is_safe else code


def _may_keep(options: SimpleNamespace, context: Context, kept: Checkups) -> bool:
    """Say before anything is measured that a checkup cannot be kept.

    Raises UserError where nothing else would have it.
    """
    try:
        kept.check_writable()
    except UserError as trouble:
        if options.save_baseline or not _is_written(options):
            raise
        context.complain(trouble.problem)
        return False
    return True


def _is_written(options: SimpleNamespace) -> bool:
    """Does a file or another program get the whole checkup, beside what is kept?"""
    return bool(options.json or options.out or options.html)


def _ordered(options: SimpleNamespace, context: Context) -> Order | None:
    """Return what was bought; one that is given is answered at once, and kept. Raises UserError."""
    if options.order is None:
        return read_order(context.folder)
    order = read_order_file(options.order)
    words, table = context.words, Table.grid(padding=(0, 1))
    for _ in range(3):
        table.add_column()
    for each in answers(order, context.machine):
        mark = Text(MARKS[each.word], style=STYLES[each.word])
        table.add_row(mark, *answer_text(words, each))
    context.errors.print(words.say("checkup.order"), style="bold")
    context.errors.print(table)
    try:
        write_order(context.folder, order)
    except OSError as error:
        context.complain(Problem("order_not_kept", {"reason": error.strerror or str(error)}))
    return order if order.lines else None


def _hand_out(
    options: SimpleNamespace,
    context: Context,
    kept: Checkups | None,
    result: Result,
    baseline: Result | None,
) -> bool:
    """Show the result, keep it, and write the files asked for; return whether anything holds it.

    Raises WriteFailed.
    """
    if options.json:
        context.console.out(_for_others(result).decode().rstrip("\n"), highlight=False)
    else:
        tell(context.console, context.words, result, baseline)
    is_safe = _is_written(options)
    if kept is not None and has_measured(result):
        is_safe |= _keep(context, kept, result, save_baseline=options.save_baseline)
    if options.out is not None:
        write_file(options.out, _for_others(result), OUT)
    compared = compare(baseline, result) if baseline is not None else None
    wanted = {"html": options.html, "pdf": options.pdf}
    needs_qt = any(wanted.values()) and bool(result.trace)  # for its plots
    application, problem = qt_or_problem() if needs_qt else (None, None)
    if problem is not None and options.pdf is None:  # who asks for a PDF is told below
        context.complain(problem)
    draw = drawer(context.words, LOW_PX) if application is not None else None
    document = checkup_report(context.words, result, Include(), compared, draw)
    for format_, path in wanted.items():
        if path is not None:
            write_report(context, document, format_, path)
    del application  # held until here: the fonts belong to it
    return is_safe


def _part_facts(options: SimpleNamespace, context: Context) -> ExitCode:
    """Show what the table of parts knows of this machine."""
    machine = context.machine
    _tell_troubles(context)
    if options.json:
        told = json.dumps(as_json(machine), indent=1, ensure_ascii=False)
        context.console.out(told, highlight=False)
    else:
        show_part_facts(context.console, context.words, machine, context.folder)
    return ExitCode.DONE


def _tell_troubles(context: Context) -> None:
    """Complain about those of the user's own lines about parts that are left out."""
    for sentence in own_troubles():
        context.complain(Problem("own_part_left_out", {"reason": sentence}))


def exit_code(result: Result) -> ExitCode:
    """Return the exit code that stands for the result."""
    if result.outcome == "stopped":
        return ExitCode.STOPPED
    if result.count(Word.PROBLEM):
        return ExitCode.FAILED
    return ExitCode.LOOK if result.count(Word.LOOK) else ExitCode.DONE


def tell(console: Console, words: Words, result: Result, baseline: Result | None = None) -> None:
    """Print a checkup: the counts, a row for each check, and what changed since the baseline."""
    console.print(Text(summary(words, result.rows), style="bold"))
    console.print(words.say("checkup.standing"), style="dim")
    if result.outcome == "stopped":
        console.print(words.say("checkup.stopped"))
    stage = ""
    shown = [(r, row_text(words, r)) for r in result.rows if r.word is not Word.ABSENT]
    below = [*(text for _, text in shown[1:]), None]
    for (row, text), after in zip(shown, below, strict=False):  # none may be shown
        if text.stage != stage:
            stage = text.stage
            console.print()
            console.print(Text(stage, style="bold"))
        mark = Text(MARKS[row.word], style=STYLES[row.word])
        word = "" if row.word is Word.FINE else f" ({text.word})"
        found, expected = text.found + word, text.expected
        if console.width >= WIDE:
            console.print(_line(mark, text.title, found, Text(expected, style="dim")))
        else:
            console.print(_line(mark, text.title, found))
            if expected and expected != words.say("checkup.expected.none"):
                told = f"{words.say('checkup.columns.expected')}: {expected}"
                console.print(_line(Text(), "", Text(told, style="dim")))
        is_said_below = after is not None and (after.stage, after.meaning, after.advice) == (
            text.stage,
            text.meaning,
            text.advice,
        )
        for part in (text.meaning, text.advice):
            if part and not is_said_below:
                console.print(Padding(Text(part, style="dim"), (0, 0, 0, 2)))
        if row.word in (Word.LOOK, Word.PROBLEM):
            console.print(Padding(Text(f"{text.sure} {text.rule}.", style="dim"), (0, 0, 0, 2)))
    if baseline is not None:
        tell_compared(console, words, compare(baseline, result))
    console.print()
    said = [*facts(words, result), absent(words, result.rows)]
    console.print(" · ".join(filter(None, said)), style="dim")


def _line(mark: Text, title: str, *parts: str | Text) -> Table:
    """Return a line of a row: two or three parts beside each other."""
    line = Table.grid(padding=(0, 1), expand=True)
    line.add_column(width=1)
    line.add_column(ratio=4)
    for _ in parts:
        line.add_column(ratio=10 // len(parts))
    line.add_row(mark, title, *parts)
    return line


def tell_compared(console: Console, words: Words, compared: Compared) -> None:
    """Print what clearly changed between two checkups, and what changed with it."""
    console.print()
    first, *others = compared_lines(words, compared)
    console.print(Text(first, style="bold"))
    table = Table(box=None, pad_edge=False, show_header=False)
    for pair in compared.changed:
        text = pair_text(words, pair)
        table.add_row(text.title, text.before, "→", text.now, text.ratio)
    if compared.changed:
        console.print(table)
    for line in others:
        console.print(Text(line, style="dim"))


def _followed(context: Context, checkup: Checkup) -> Result:
    """Follow a checkup to its end; progress and notes go to standard error."""
    result: Result | None = None
    words, errors = context.words, context.errors
    columns = (
        BarColumn(bar_width=28),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[left]}", style="dim"),
        TextColumn("{task.fields[doing]}"),
    )
    with bar(context, *columns) as shown:
        task = shown.add_task("", total=1.0, left="", doing="")
        for event in checkup.events():
            if isinstance(event, run_checkup.Began):
                said = doing(words, event)
                shown.update(task, doing=said)
                if not errors.is_terminal:
                    errors.print(said)
            elif isinstance(event, run_checkup.Moved):
                left = words.say("checkup.left", {"duration": event.left_s})
                shown.update(task, completed=event.fraction, left=left)
            elif isinstance(event, run_checkup.Noted) and event.note.key in messages.WAITING:
                errors.print(words.say(f"notes.{event.note.key}", event.note.values))
            elif isinstance(event, run_checkup.Ended):
                result = event.result
    assert result is not None  # a checkup always ends in one
    return result


def _for_others(result: Result) -> bytes:
    """Return the JSON of a checkup without names: a row may hold a folder of its user."""
    plain = without_names(msgspec.to_builtins(result), nameless())
    return encode(from_plain(plain, ""))


def _keep(context: Context, kept: Checkups, result: Result, *, save_baseline: bool) -> bool:
    """Keep a checkup, and say where; return whether any place took it."""
    try:
        path = kept.keep(result)
    except UserError as trouble:
        context.complain(trouble.problem)
        return trouble.problem.key != "checkup_not_kept"
    key = "checkup.kept"
    if save_baseline:
        try:
            kept.save_baseline(result)
            key = "checkup.kept_as_baseline"
        except UserError as trouble:
            context.complain(trouble.problem)
    context.errors.print(context.words.say(key, {"path": path}), style="dim", soft_wrap=True)
    return True


def write_report(context: Context, document: Document, kind: str, path: Path) -> None:
    """Write a report; without Qt a PDF is left out with a sentence. Raises WriteFailed."""
    application = None
    if kind == "pdf":
        application, problem = qt_or_problem()
        if problem is not None:
            context.complain(problem)
            return
    write_file(path, written(document, kind, context.words), REPORT)
    del application  # held until here: the fonts belong to it


def write_file(path: Path, data: bytes, key: str) -> None:
    """Write a file whole or not at all. Raises WriteFailed with this key."""
    with refused(WriteFailed, key, path):
        write_whole(path, data)
