"""`coreopsis run`: one experiment, with progress, kept in the library."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import msgspec
from rich.text import Text

from app.context import Context, ExitCode, WriteFailed, discard_output, refused
from app.evidence import why_recorded
from app.loaded_run import load
from app.output import write_line
from app.report import Report, problem_text
from app.runs.run_writer import RunWriter
from app.terminal.beside import measure_beside, original
from app.terminal.experiments import recording_hints
from app.terminal.predict import lesson_of
from app.terminal.programs import puzzle
from app.terminal.progress import follow
from app.terminal.replay import introduce, show_end
from app.terminal.report import tell
from app.terminal.stopping import asked_to_stop
from experiments.core.declare import Experiment, Need, specs
from experiments.core.judging.trust import Trust
from experiments.core.needs import missing_need
from experiments.core.parameters import check_memory, from_text, to_json
from experiments.core.problems import Problem, UserError
from experiments.core.teaching.lesson_run import Guess
from experiments.core.words import Words
from experiments.engine import messages
from experiments.engine.jobs import Engine, Run
from experiments.engine.seal import Seal
from experiments.engine.side_by_side import with_rounds
from experiments.engine.sweep import sweep
from machine.memory.host import available_bytes
from machine.model import from_json as machine_of


class Ended(NamedTuple):
    """The end of a run, its finding if it has one, and the report that was shown."""

    code: ExitCode
    finding: messages.FindingSent | None = None
    told: Report | None = None
    tables: Mapping[str, Sequence[Any]] = {}
    run: str = ""  # its id in the library, "" where it is not kept


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Run the experiment that the command line names."""
    if context.has_fake_machine:
        raise UserError("fake_machine_measured")
    experiment = context.catalogue.load(options.id)
    beside = original(context, experiment) if options.beside else None
    if options.predict and options.json:
        raise UserError("predict_with_json")
    if (need := missing_need(experiment, context.machine)) is not None:
        context.complain(Problem(f"needs_{need}"))
        _show_recording(context, experiment, need, asks=options.predict)
        return ExitCode.CANNOT_RUN_HERE
    suited = (beside or experiment).params_for(
        context.machine, quick=options.quick, earned=context.earned(experiment)
    )
    if beside is not None and options.quick:
        suited = with_rounds(beside, suited)
    settings = _settings(options.set)
    _check_names(settings, experiment, context.words)
    params = from_text(suited, settings, context.machine)
    check_memory(experiment, params, available_bytes())
    if beside is not None:
        return measure_beside(options, context, (beside, experiment), to_json(params))
    lesson = lesson_of(context, experiment) if options.predict else None
    guess = lesson.ask(context.machine) if lesson is not None else None
    with writable(options.out, "out_not_writable"), writable(options.svg, "svg_not_writable"):
        ended = measure(
            context,
            experiment,
            to_json(params),
            quick=options.quick,
            keep=not options.no_keep,
            now=options.now,
            stream=options.json,
            out=options.out,
            svg=options.svg,
            is_named=lesson is None,  # the lesson has asked it
        )
    if lesson is not None:
        if guess is not None and ended.run:
            _keep_guess(context, ended.run, guess)
        lesson.explain(guess, params, ended.tables, ended.finding)
    return ended.code


def _show_recording(
    context: Context, experiment: Experiment[Any], need: Need, *, asks: bool
) -> None:
    """Teach with the recording where nothing can be measured, or say what shows it."""
    path = context.catalogue.recording(experiment.id)
    if path is not None and asks and (lesson := lesson_of(context, experiment)) is not None:
        recorded = load(path, context.catalogue, is_opened=True, stands_in_for=experiment)
        assert recorded.recording is not None
        guess = lesson.ask(machine_of(recorded.recording.started.machine))
        introduce(recorded.recording, experiment, context)
        show_end(recorded.recording, experiment, context)
        lesson.explain_recording(guess, recorded, why_recorded(context.words, need))
        return
    for hint in recording_hints(context, experiment):
        context.console.print(hint)


def measure(
    context: Context,
    experiment: Experiment[Any],
    params: Mapping[str, Any],
    *,
    quick: bool,
    keep: bool = True,
    now: bool = False,
    stream: bool = False,
    out: Path | None = None,
    svg: Path | None = None,
    is_named: bool = True,
) -> Ended:
    """Run one experiment, show its result, and return how it ended. Raises UserError.

    `is_named`: its question stands above the result.
    """
    if keep:
        context.library.check_writable()
    swept = sweep()
    if swept:
        context.errors.print(context.words.say("notes.swept", {"count": swept}))
    to_be_run = None if stream else puzzle(context.words, experiment)
    if to_be_run is not None:
        context.console.print(to_be_run)
    writer = RunWriter(context.library) if keep else None
    copy: list[bytes] = []
    seal = Seal()

    def each_line(event: messages.Event, line: bytes) -> None:
        if writer is not None:
            writer.keep(event, line)
        line = seal.sealed(event, line)  # the library leaves out pictures, and has its own
        if out is not None:
            copy.append(line)
        if stream:
            try:
                write_line(line)
            except BrokenPipeError:  # `... --json | head`: the reader has gone
                discard_output()
                running.stop()

    engine = Engine()
    try:
        running = engine.start(experiment, params, quick=quick, keep=each_line)
        with asked_to_stop(running.stop):
            followed = follow(context, experiment, running, now=now, silent=stream)
            finished, tables = followed.finished, followed.tables
    finally:
        engine.close()
        if writer is not None:
            writer.close()
    if followed.refused is not None:
        context.complain(followed.refused)
        return Ended(ExitCode.CANNOT_RUN_HERE)
    told = None
    if not stream:
        if is_named:
            question = context.words.say(f"{experiment.id}.question")
            context.console.print(Text(question, style="bold"))
        notes = followed.notes
        told = tell(
            context.console,
            context.words,
            experiment,
            tables,
            finished,
            quick=quick,
            notes=notes,
            started=followed.started,
        )
        if _is_disturbed(finished) and context.catalogue.recording(experiment.id) is not None:
            said = context.words.say("terminal.quiet_run", {"id": experiment.id})
            context.errors.print(said, style="dim")
    elif finished.problem is not None:
        sys.stderr.write(problem_text(context.words, finished.problem, experiment.id) + "\n")
    code = exit_code(finished)
    if writer is not None:
        _tell_kept(context, writer, running, silent=stream)
        if writer.is_lost and out is None and code is ExitCode.DONE:
            code = ExitCode.FAILED  # it was to be kept, and nothing has all of it
    if out is not None and copy:
        _write_copy(out, copy)
    if svg is not None:
        _draw(context, experiment, tables, finished, svg)
    is_kept = writer is not None and writer.recorder is not None and not writer.is_lost
    return Ended(code, finished.finding, told, tables, running.id if is_kept else "")


def _keep_guess(context: Context, run_id: str, guess: Guess) -> None:
    """Keep a prediction with its run; after a complaint about trouble, the explanation goes on."""
    try:
        kept = next((each for each in context.library.runs() if each.run == run_id), None)
        if kept is not None:
            notes = msgspec.structs.replace(kept.run_notes, guess=guess)
            context.library.describe(kept, notes)
    except UserError as trouble:
        context.complain(trouble.problem)


def _is_disturbed(finished: messages.Finished) -> bool:
    return finished.finding is not None and finished.finding.trust is Trust.DISTURBED


def exit_code(finished: messages.Finished) -> ExitCode:
    """Return the exit code that stands for the end of a run."""
    match finished.outcome:
        case messages.Outcome.COMPLETED:
            return ExitCode.DONE
        case messages.Outcome.STOPPED:
            return ExitCode.STOPPED
        case _:
            lacks = finished.problem is not None and finished.problem.key.startswith("needs_")
            return ExitCode.CANNOT_RUN_HERE if lacks else ExitCode.FAILED


def _tell_kept(context: Context, writer: RunWriter, running: Run, *, silent: bool) -> None:
    if writer.problem is not None:
        context.complain(writer.problem.problem)
    elif writer.recorder is not None:
        context.kept = running.id[:8]
        if not silent:
            context.console.print()
            values = {"id": context.kept, "given": context.given}
            said = context.words.say("terminal.kept", values)
            context.console.print(said, style="dim", soft_wrap=True)  # to be copied as one line


def _draw(
    context: Context,
    experiment: Experiment[Any],
    tables: Mapping[str, Sequence[Any]],
    finished: messages.Finished,
    path: Path,
) -> None:
    from app.reports.pictures import draw_headline

    values = finished.finding.clear_values() if finished.finding else {}
    problem = draw_headline(context, experiment, tables, values, path)
    if problem is not None:
        context.complain(problem)
    else:
        context.errors.print(context.words.say("terminal.drawn", {"path": path}), style="dim")


def _settings(texts: list[str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UserError("setting_malformed", text=text)
        if name.strip() in settings:
            raise UserError("setting_twice", name=name.strip())
        settings[name.strip()] = value
    return settings


def _check_names(settings: Mapping[str, str], experiment: Experiment[Any], words: Words) -> None:
    """Raise UserError for an unknown setting; it lists the known ones with their names."""
    names = specs(experiment.params)
    for name in settings.keys() - names.keys():
        known = (f"{each} ({words.say(f'{experiment.id}.params.{each}')})" for each in names)
        raise UserError("parameter_unknown", name=name, known=", ".join(known))


@contextlib.contextmanager
def writable(path: Path | None, key: str) -> Iterator[None]:
    """Check before a measurement that the file can be written; leave no empty one.

    Raises UserError with this key.
    """
    if path is None:
        yield
        return
    is_new = not os.path.exists(path)
    with refused(UserError, key, path):
        path.open("ab").close()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if is_new and path.stat().st_size == 0:  # no line of a run came
                path.unlink()


def _write_copy(path: Path, lines: list[bytes]) -> None:
    data = b"".join(lines)
    if path.name.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    with refused(WriteFailed, "out_not_writable", path):
        path.write_bytes(data)
