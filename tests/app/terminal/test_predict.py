from __future__ import annotations

import gzip
import io
import re
import shutil

import msgspec
import pytest

from app.cli import main
from app.context import Context
from app.evidence import evidence_of_recording, shipped, why_recorded
from app.loaded_run import band
from app.terminal.predict import Lesson, lesson_of
from experiments import yours
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Need
from experiments.core.parameters import from_json
from experiments.core.problems import UserError
from experiments.core.shelves import Home, homes
from experiments.core.teaching.lesson_run import Guess
from experiments.core.teaching.lessons import Predict, Taught, taught
from experiments.engine import messages
from experiments.engine.recording import read
from tests.app.own import good
from tests.experiments.machines import machine

ENGLISH = words.load("en")

QUICK = ("run", "burst-random", "--quick", "--set", "largest_bytes=1MiB", "--no-keep", "--predict")


@pytest.fixture
def answering(inside, monkeypatch):
    """Return what runs a command with these lines as its standard input."""

    def run(lines, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return inside(*arguments)

    return run


class Played:
    """Stands in for the engine and its run: what is measured is what the program comes with."""

    id = ""

    def start(self, experiment, _params, **_):
        self._recording = experiment.id
        return self

    def events(self):
        data = gzip.decompress(homes()[self._recording].recording.read_bytes())
        return map(messages.decode_event, data.splitlines(keepends=True))

    def stop(self):
        pass

    def close(self):
        pass


@pytest.fixture
def played(monkeypatch):
    """Measure nothing: a question is asked before the run, and the answer is held against it."""
    monkeypatch.setattr("app.terminal.run.Engine", Played)


def test_a_prediction_is_held_against_the_run(played, answering):
    said = answering(["20", "2"], *QUICK)

    assert said.code == 0
    lesson = Catalogue().lesson(Catalogue().load("burst-random"))
    assert lesson.words.predict.ask in " ".join(said.out.split())
    explain = lesson.words.explain
    out = " ".join(said.out.split())
    assert explain.headline.replace("{guess}", "20×").partition("{")[0] in out
    assert explain.misconception.belief in out


def test_what_is_no_answer_is_asked_again_and_enter_skips(played, answering):
    said = answering(["lots", "5000", ""], *QUICK)

    assert said.code == 0
    assert said.out.count("Type something like") == 2
    assert "Skipped." in said.out
    assert "You said" not in said.out


def test_the_end_of_the_input_skips(played, answering):
    assert "Skipped." in answering([], *QUICK).out


class Gone(io.StringIO):
    """An input whose terminal has closed."""

    def readline(self, *_):
        raise OSError(5, "Input/output error")


@pytest.mark.parametrize(
    "stdin",
    [None, Gone(), io.TextIOWrapper(io.BytesIO(b"\xff\n"), encoding="utf-8")],
    ids=["closed", "gone", "no text"],
)
def test_an_input_that_cannot_be_read_skips(played, inside, monkeypatch, stdin):
    monkeypatch.setattr("sys.stdin", stdin)

    said = inside(*QUICK)

    assert (said.code, "Skipped." in said.out) == (0, True)


@pytest.fixture
def lacking(monkeypatch):
    """Let this machine lack a GPU for every experiment, and measure nothing."""
    monkeypatch.setattr("app.terminal.run.missing_need", lambda *_: Need.GPU)
    monkeypatch.setattr("app.terminal.run.Engine", lambda: pytest.fail("was to measure"))
    return ENGLISH.say("problems.needs_gpu")


def test_what_cannot_run_here_is_asked_shown_and_explained_by_its_recording(lacking, answering):
    said = answering(["20", "2"], "run", "burst-random", "--predict")

    catalogue = Catalogue()
    experiment = catalogue.load("burst-random")
    recorded, guess = shipped(catalogue, experiment), Guess(kind="magnitude", at=(20.0,), sure=2)
    why, named = why_recorded(ENGLISH, Need.GPU), band(ENGLISH, recorded.run_state.started)
    lesson = catalogue.lesson(experiment)
    told = evidence_of_recording(ENGLISH, lesson, recorded, guess, why).explained
    assert (said.code, " ".join(said.err.split())) == (3, lacking)
    out = " ".join(said.out.split())
    played, explained = out.split(why)
    assert lesson.words.predict.ask in played.partition(named)[0]
    assert ENGLISH.say("burst-random.views.time") in played.partition(named)[2]
    assert f"{named} {told.headline} {told.text}" in explained
    assert "20×" in told.headline


@pytest.mark.parametrize(
    ("id_", "keys"),
    [
        ("burst-random", ("terminal.recording_there", "terminal.recorded_lesson")),
        ("counters", ("terminal.recording_there",)),
        ("p2p", ("page.no_recording",)),
    ],
)
def test_what_cannot_run_here_says_what_its_recording_would_show(lacking, inside, id_, keys):
    said = inside("run", id_)

    assert (said.code, " ".join(said.err.split())) == (3, lacking)
    hints = [ENGLISH.say(key, {"id": id_}) for key in keys]
    assert " ".join(said.out.split()) == " ".join(hints)


def test_an_option_is_chosen_by_its_letter(played, answering):
    said = answering(["e", "c", ""], "run", "gil-threads", "--quick", "--no-keep", "--predict")

    assert said.code == 0
    assert "  A  after 1 s: four at once" in said.out
    assert said.out.count("Type something like") == 1
    assert "You said after about 4 s." in said.out


SKETCH = {"kind": "sketch", "ask": "?", "view": "ladder", "points": [4096, 65536], "right": "f",
          "range": [1e-9, 1e-6]}  # fmt: skip
RANK = {"kind": "rank", "ask": "?", "items": ["a", "b", "c"], "right": "f"}
MARKER = {"kind": "marker", "ask": "?", "view": "ladder", "range": [1, 64], "answer": "workers"}


@pytest.mark.parametrize(
    ("predict", "lines", "at"),
    [
        (SKETCH, ["1.5 ns", "0.2 µs", "1"], (1.5e-9, 0.2e-6)),
        (SKETCH, ["1.5 ns", ""], None),
        (RANK, ["ab", "c, b a", "3"], (2, 1, 0)),
        (MARKER, ["4", ""], (4.0,)),
    ],
)
def test_every_kind_of_prediction_can_be_typed(predict, lines, at, tmp_path, monkeypatch, capsys):
    made = msgspec.convert(predict, Predict)
    experiment = Catalogue().load("cache-ladder")
    words = taught(Catalogue().load("burst-random"), homes()["burst-random"]).words
    lesson = Taught(msgspec.structs.replace(words, predict=made), None, None)
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    guess = Lesson(Context(data=tmp_path), experiment, lesson).ask(machine())

    assert (guess and guess.kind) == (at and predict["kind"])
    assert (guess and guess.at) == (at and pytest.approx(at))


@pytest.mark.parametrize("name", ["burst-random", "gil-threads"])
def test_the_explanation_has_the_numbers_of_the_run(name, tmp_path, capsys):
    experiment, home = Catalogue().load(name), homes()[name]
    recording = read(home.recording)
    params = from_json(experiment.params, recording.started.params, check_choices=False)
    kind = taught(experiment, home).kind
    guess = Guess(kind=kind, at=(2.0,))
    lesson = lesson_of(Context(data=tmp_path), experiment)
    lesson.explain(guess, params, recording.tables(experiment), recording.finding(experiment))
    said = " ".join(capsys.readouterr().out.split())

    assert re.search(
        r"You said .+?\. (Shuffled, each number takes [\d.]+×|In threads, 4 jobs took as long)",
        said,
    )
    assert "Many believe:" in said
    assert "Why " in said
    assert re.search(r"`coreopsis run [\w-]+` answers it", said)
    assert "{" not in said


@pytest.mark.parametrize(
    "change", [lambda text: re.sub('right = ".*"', 'right = "nobody"', text),
               lambda text: text.replace("[observe]", "[observes]"), lambda text: text[:200]],
)  # fmt: skip
def test_a_lesson_that_cannot_be_read_is_one_sentence(change, tmp_path, monkeypatch):
    home = homes()["burst-random"]
    text = (home.folder / "lesson.en.toml").read_text()
    (tmp_path / "lesson.en.toml").write_text(change(text))
    monkeypatch.setattr("experiments.core.shelves.Home.module", home.module)
    with pytest.raises(UserError) as caught:
        taught(Catalogue().load("burst-random"), Home(home.shelf, tmp_path))
    assert caught.value.problem.key == "lesson_unreadable"


def test_without_a_lesson_it_runs_and_says_so(played, answering):
    said = answering([], "run", "counters", "--quick", "--no-keep", "--predict")

    assert said.code == 0
    values = {"id": "counters", "lesson": "false-sharing"}
    assert ENGLISH.say("problems.lesson_follows", values) in said.out


def test_nothing_of_the_lesson_appears_unless_it_is_asked_for(played, inside):
    said = inside(*QUICK[:-1])

    assert "How many times longer" not in said.out
    assert "Many believe" not in said.out


def test_a_stream_of_json_has_no_room_for_questions(inside):
    said = inside(*QUICK, "--json")

    assert said.code == 2
    assert "--json" in said.sentence


def test_the_command_tells_of_it(capsys):
    with pytest.raises(SystemExit):
        raise SystemExit(main(["run", "--help"]))
    assert "--predict" in capsys.readouterr().out


@pytest.mark.parametrize("code", ["open({ran!r}, 'w').close()", "def broken(:"])
def test_the_lesson_of_an_own_experiment_is_left_out_and_never_runs(
    answering, coreopsis, tmp_path, code
):
    folder, ran = good(coreopsis.data / "experiments"), tmp_path / "ran"
    shutil.copy(homes()["burst-random"].folder / "lesson.en.toml", folder)
    (folder / "lesson.py").write_text(code.format(ran=str(ran)))

    said = answering([], "run", "call-cost", "--quick", "--no-keep", "--predict",
                     "--set", "calls=1000")  # fmt: skip

    yours.use([])
    assert said.code == 0
    assert "The lesson of call-cost is left out" in said.out
    assert not ran.exists()
