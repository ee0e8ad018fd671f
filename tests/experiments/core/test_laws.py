"""The files that `new` writes keep every law, and each change that breaks a law is named."""

from __future__ import annotations

import time

import pytest

from app.source import sources
from experiments import yours
from experiments.core import words
from experiments.core.bench import Bench
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Note
from experiments.core.laws import code, declared, ran, texts
from experiments.core.shelves import YOURS, homes
from experiments.engine.messages import HELD
from experiments.python_at_work.amdahl.busy_cores import ticks_finely
from machine.inspect import inspect
from machine.model import Machine
from tests.app.own import good
from tests.cases import in_one
from tests.experiments.machines import GIB

HERE = inspect()
KNOWN = homes().keys()
FOR = "for turn, kind in bench.interleave(list(loops), params.rounds):"
NO_INTERLEAVE = """from types import SimpleNamespace as Turn
    turns = [(number, kind) for number in range(params.rounds) for kind in loops]
    for turn, kind in ((Turn(round=n, fraction=n / params.rounds), kind) for n, kind in turns):"""
KEY, NEXT = 'x.Key("call_s", "turns", ("calling",))', 'x.Next("start-cost", {"calls": 1_000_000})'
PROGRESS, LOOPS = "yield x.Progress(turn.fraction)", "    loops = {"
CALL_S = "calling.median - empty.median"
FINDING = "x.Finding(message, values, tuple(limits), unclear)"
BECAUSE = 'calls_cost = "Because Python makes a frame for each call, and looks the function up."\n'
WORDS = "words.en.toml"


@pytest.fixture
def changed(tmp_path):
    """Return what writes an experiment with changes (old, new, file), and loads it."""

    def make(*changes):
        folder = good(tmp_path)
        for old, new, *file in changes:
            path = folder / (file[0] if file else "experiment.py")
            text = path.read_text()
            assert old in text
            path.write_text(text.replace(old, new))
        yours.use([tmp_path])
        return Catalogue((YOURS,)).load("call-cost"), words.load(experiments=homes((YOURS,)))

    return make


# Where the clock of threads hardly ticks, as on Windows, that of the wall has to do.
CLOCK = time.thread_time if ticks_finely() else time.perf_counter


def first(line: str) -> tuple[str, str]:
    """Return the change that puts a line into `measure`, before its turns."""
    return LOOPS, f"    {line}\n{LOOPS}"


def run_of(experiment) -> ran.Ran:
    """Measure as `check` does; on a busy machine, the thread's own time distinguishes the loops."""
    params = experiment.smallest(experiment.params_for(HERE, quick=True))
    bench, items = Bench(HERE, quick=True, clock=CLOCK), []

    def hold() -> str:
        items.append(Note(HELD))
        return ""

    bench.before_turns = hold
    items.extend(experiment.measure(params, bench))
    return ran.Ran(experiment=experiment, params=params, machine=HERE, items=items)


def told(experiment, english):
    """Return everything that is wrong: the key, and the values as one text."""
    run = run_of(experiment)
    broken = [
        *texts.broken(experiment, english),
        *code.broken(experiment, english, sources(experiment)),
        *declared.keys(experiment, english),
        *declared.what_is_next(experiment, english, HERE, KNOWN),
        *declared.runs(experiment, english, HERE, 8 * GIB),
        *ran.broken(run, english, held=HELD),
        *ran.of_parts(run, english, [Machine()]),
    ]
    for each in broken:  # each has its sentence
        assert "{" not in english.say(f"problems.{each.key}", each.values)
    return {(each.key, " ".join(map(str, each.values.values()))) for each in broken}


def test_what_new_writes_keeps_every_law(changed):
    experiment, english = changed()

    assert told(experiment, english) == set()
    for _ in range(10):  # a run that others disturbed cannot tell
        run = run_of(experiment)
        finding = experiment.analyse(run.params, run.tables(), HERE)
        if finding.message == "calls_cost":
            break
    assert finding.message == "calls_cost"
    assert list(ran.unmarked(experiment, finding, run.tables())) == []


BROKEN = {
    # the declaration
    "no keys": ("own_keys", "0", ("    keys=(", "    keys=() and (")),
    "a key without a mark": ("own_key_unmarked", "call_s", (KEY, 'x.Key("call_s", "turns")')),
    "a key's text": ("own_wrong_type", "call_s", (KEY, KEY.replace('",)', '")'))),
    "a key's value": ("own_unknown", "calls_s", (KEY, KEY.replace("call_s", "calls_s"))),
    "a key's view": ("own_unknown", "turn ", (KEY, KEY.replace("turns", "turn"))),
    "a key's mark": ("own_words_missing", "choices.call", (KEY, KEY.replace("calling", "call"))),
    "no next": ("own_no_next", "", (NEXT, "None")),
    "next": ("own_next_unknown", "start", (NEXT, NEXT.replace("start-cost", "start"))),
    "next changes nothing": ("own_next_changes_nothing", "", ("1_000_000}", "100_000}")),
    "next changes for ever": ("own_next_endless", "", ("1_000_000}", "lambda calls: calls + 1}")),
    "next changes too much": ("own_cannot_be_set", "next", ("1_000_000}", "10**9}")),
    "a default": ("own_cannot_be_set", "defaults", ("param(100_000", "param(100")),
    "seconds": ("own_too_long_run", "full", ("params: params.calls *", "params: 900 +")),
    "quick": ("own_quick_is_full", "", ("quick=x.change(rounds=5)", "quick=x.change()")),
    "memory": ("own_too_large_run", "quick", ("params: 0,", "params: 2**50,")),
    # the code
    "a finding": ("own_words_missing", "findings.costs", ('= "calls_cost" if', '= "costs" if')),
    "a finding unsaid": ("own_words_left_over", "findings.cal", ('= "calls_cost" if', '= "c" if')),
    "a finding unread": ("own_said_unclear", "experiment.py", ("Finding(message,", "Finding(f'',")),
    "a limit": ("own_words_missing", "limits.short", ('"short_loops"', '"short"')),
    "a word": ("own_words_left_over", "columns.old", ("[views]", "old = 'Old'\n[views]", WORDS)),
    "a section": ("own_words_left_over", "voews.turns", ("[views]", "[voews]", WORDS)),
    "the loop": ("own_no_loop", "calls", ("measure.calling", "measure.calls")),
    "print": ("own_beside_the_bench", "print", first("print(1)")),
    "sleep": ("own_beside_the_bench", "sleep", first("import time; time.sleep(0)")),
    "a clock": ("own_beside_the_bench", "now", first("from time import time as now; now()")),
    # the words
    "a placeholder": ("own_placeholder", "cal_s", ("takes {call_s}", "takes {cal_s}", WORDS)),
    "no cause": ("own_no_cause", "calls_cost", (BECAUSE, "", WORDS)),
    "no because": ("own_no_because", "calls_cost", ("Because Python", "Python", WORDS)),
    "no sentence": ("own_no_sentence", "calls_cost", ("{call_s}.", "{call_s}", WORDS)),
    "a long verdict": ("own_too_long", "14", ("A call takes", "A" + " long" * 12, WORDS)),
    # the run
    "no rows": ("own_no_rows", "", ("yield Loop", "Loop")),
    "a cell": ("own_cell", "turn_s", ("turn_s=loop_s /", "turn_s=-loop_s /")),
    "no progress": ("own_no_progress", "", (PROGRESS, "pass")),
    "odd progress": ("own_odd_progress", "", (PROGRESS, "yield x.Progress(1 - turn.fraction)")),
    "rounds": ("own_rounds", "5 1", ("repeat=turn.round", "repeat=0")),
    "no turns": ("own_can_wait", "", (FOR, NO_INTERLEAVE)),
    "can wait": ("own_cannot_wait", "", ("version=1,", "version=1, can_wait=False,")),
    "rows before": ("own_shown_before", "", first('yield Loop(kind="empty", repeat=0, turn_s=1)')),
    "a choice": ("own_words_missing", "choices.idle", (LOOPS, f'{LOOPS}"idle": nothing, ')),
    "a note": ("own_words_missing", "notes.odd", (PROGRESS, f'{PROGRESS}; yield x.Note("odd")')),
    "a frame": (
        "own_unknown", "sky", (PROGRESS, f'{PROGRESS}; yield x.Frame("sky", (1, 1), b"0")'),
    ),
    # the finding
    "an undeclared value": ("own_value_undeclared", "c_s", ('values["call_s"]', 'values["c_s"]')),
    "a value that is not given": ("own_value_untold", "call_s", ('values["call_s"]', "_")),
    "no values": ("own_no_values", "calls_cost", (FINDING, "x.Finding(message)")),
    "no number": ("own_error", "call_s", (CALL_S, 'float("nan")')),
    "two findings": ("own_two_findings", "", (CALL_S, "__import__('random').random()")),
    "a limit twice": ("own_twice", "short", ("tuple(limits), unclear", "('short_loops',) * 2")),
    "unclear and said": ("own_unclear_said", "call_s", ("unclear)", "('call_s',))")),
    "no finding": ("own_error", "dict", (FINDING, "{}")),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_what_breaks_a_law_is_told(changed, what):
    key, value, change = BROKEN[what]

    broken = told(*changed(change))

    assert [name for name, values in broken if name == key and value in values], broken


def test_a_number_to_be_read_first_needs_its_mark_in_a_recording(changed):
    experiment, _ = changed((KEY, KEY.replace("calling", "rounds")))
    run = run_of(experiment)
    finding = experiment.analyse(run.params, run.tables(), HERE)

    (problem,) = ran.unmarked(experiment, finding, run.tables())
    assert (problem.key, problem.values["value"]) == ("own_key_without_mark", "call_s")


def test_what_only_some_of_the_rows_make_wrong_is_found(changed):
    experiment, english = changed(('if "empty" not in of or', 'if not tables["loops"] or'))
    run = run_of(experiment)

    assert list(ran.broken(run, english, held=HELD)) == []
    with pytest.raises(KeyError):
        list(ran.of_parts(run, english, []))


SAID = [
    ("return x.Finding(key)", {"one", "two"}),
    ("return x.Finding(message=key)", {"one", "two"}),
    ("return x.Finding((now := 'three'))", {"three"}),
    ("again = key\n    return x.Finding(again or x.TOO_FEW)", {"one", "two"}),
    ("return x.Finding(of())", {"four"}),
    ("return x.Finding(x.unsure() or 'five')", {"five"}),
    ("return x.Finding(ALL)", {"six"}),
    ("loop = loop or 'seven'\n    return x.Finding(loop)", {"seven"}),
]


@in_one(("line", "messages"), SAID)
def test_the_key_of_a_finding_is_read_off_the_code(line, messages):
    said = code.Said(f"""
ALL = "six"
def of():
    return "four" if ALL else of()
def analyse(params):
    key: str = "one" if params else "two"
    {line}
""")

    assert (said.messages, said.unclear) == (messages, set())


@in_one("line", ["f'{key}'", "names[0]", "elsewhere()", "given", ""])
def test_a_line_that_hides_the_key_of_a_finding_is_named(line):
    assert code.Said(f"def analyse(given):\n    return x.Finding({line})").unclear == {2}
