from __future__ import annotations

import copy
import time

import msgspec
import pytest

from app.report import analysed_anew
from app.window.core.player import LEAD_S, TICK_MS, Player
from experiments.core.catalogue import Catalogue
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.recording import read
from experiments.engine.run_state import RunState
from experiments.tools.core_clock import Clock
from tests.app.recordings import burst, made

BURST = Catalogue().load("burst-random")


class StillClock:
    """A clock that stands still until a test moves it."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


def recording_of(tmp_path, run, change=lambda events: events):
    path = tmp_path / "x.coreopsis.jsonl"
    events = change([event for event, _ in run.events()])
    path.write_bytes(b"".join(messages.encode(event) for event in events))
    return read(path)


def with_progress_and_notes(events):
    started, *rows, finished = events
    note = messages.Note(key="not_pinned")
    told = [messages.Progress(fraction=0.0)]
    for row in rows:
        told += [row, messages.Progress(fraction=(row.n + 1) / len(rows))]
    return [started, *told[:5], note, *told[5:], finished]


@pytest.fixture
def clock():
    return StillClock()


@pytest.fixture
def recording(tmp_path):
    return recording_of(tmp_path, burst(noise=(1.0, 1.1)), with_progress_and_notes)


@pytest.fixture
def player(qtbot, recording, clock):
    player = Player(recording, BURST, clock=clock)
    yield player
    player.pause()


def known(run_state):
    """Return all that a RunState knows."""
    names = ("tables", "frames", "drawn_from", "progress", "notes", "finished", "started")
    now = {name: getattr(run_state, name) for name in names} | {"finding": run_state.finding()}
    return copy.deepcopy(now)


def fed_directly(recording, experiment=BURST):
    run_state = RunState(experiment)
    for event in (recording.started, *recording.events, analysed_anew(recording, experiment)[0]):
        run_state.add(event)
    return run_state


def wait_for(qtbot, player, clock, seconds):
    """Let the clock go on, and the timer see it."""
    clock.now_s += seconds
    with qtbot.waitSignal(player.moved):
        pass


def test_it_begins_before_the_first_row_and_stands_still(qtbot, player, recording):
    assert not player.is_playing
    assert player.run_state.started == recording.started
    assert player.run_state.rows == 0
    assert player.t_s == 0.0
    assert player.total_s == pytest.approx((42 - 1) * 0.01)


def later(seconds, table="reads"):
    """Return a change of events: rows that much later, as after so long a preparation."""

    def change(events):
        return [
            msgspec.structs.replace(event, t_s=event.t_s + seconds)
            if isinstance(event, messages.Row) and event.table == table
            else event
            for event in events
        ]

    return change


def test_playing_begins_just_before_the_first_row_that_a_plot_shows(qtbot, tmp_path, clock):
    player = Player(recording_of(tmp_path, burst(noise=(1.0, 1.1)), later(6.5)), BURST, clock=clock)
    assert player.left_out_s == pytest.approx(6.5 - LEAD_S)
    assert player.t_s == 0.0
    assert player.total_s == pytest.approx(LEAD_S + 41 * 0.01)

    player.play()
    wait_for(qtbot, player, clock, LEAD_S + 0.005)
    assert player.run_state.rows == 1
    player.pause()


def test_what_came_before_it_comes_with_it(qtbot, tmp_path, clock):
    params, rows = _ladder_rows()
    run = made("cache-ladder", params, [Clock(repeat=0, core_hz=3e9), *rows])
    recording = recording_of(tmp_path, run, later(6.5, table="steps"))
    player = Player(recording, Catalogue().load("cache-ladder"), clock=clock)
    assert player.left_out_s == pytest.approx(6.51 - LEAD_S)
    assert player.run_state.rows == 0

    player.play()
    wait_for(qtbot, player, clock, 0.01)
    assert player.run_state.tables["clocks"]
    assert not player.run_state.tables["steps"]
    player.pause()


def test_at_the_end_it_knows_what_a_run_fed_directly_knows(qtbot, player, recording, clock):
    with qtbot.waitSignal(player.ended):
        player.play()
        clock.now_s += 60

    assert known(player.run_state) == known(fed_directly(recording))
    assert player.run_state.finding().message == "too_few_rounds"  # two
    assert not player.is_playing
    assert player.t_s == player.total_s


def test_it_plays_no_faster_than_it_was_on_a_real_clock(qtbot, recording):
    player = Player(recording, BURST)
    began_s = time.monotonic()
    with qtbot.waitSignal(player.ended):
        player.play()

    assert time.monotonic() - began_s >= player.total_s


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_rows_come_at_the_times_they_once_came_at(qtbot, player, clock, speed):
    player.play(speed)
    wait_for(qtbot, player, clock, 0.105 / speed)
    assert player.t_s == pytest.approx(0.105)
    assert player.run_state.rows == 11  # those of 0.00 to 0.10 s

    wait_for(qtbot, player, clock, 0.1 / speed)
    assert player.run_state.rows == 21


def test_progress_and_notes_come_with_the_rows_they_followed(qtbot, player, clock):
    player.seek(0.005)
    assert (player.run_state.rows, player.run_state.notes) == (1, [])
    assert player.run_state.progress.fraction == pytest.approx(1 / 42)

    player.seek(0.015)
    assert player.run_state.rows == 2
    assert [note.key for note in player.run_state.notes] == ["not_pinned"]


def test_paused_it_stands_still_and_goes_on_from_there(qtbot, player, clock):
    player.play()
    wait_for(qtbot, player, clock, 0.105)
    player.pause()
    clock.now_s += 60
    with qtbot.assertNotEmitted(player.moved, wait=3 * TICK_MS):
        pass
    assert player.run_state.rows == 11

    player.play()
    wait_for(qtbot, player, clock, 0.1)
    assert player.run_state.rows == 21


def test_another_speed_while_playing_goes_on_from_where_it_is(qtbot, player, clock):
    player.play()
    wait_for(qtbot, player, clock, 0.105)
    player.play(4.0)
    wait_for(qtbot, player, clock, 0.025)

    assert player.t_s == pytest.approx(0.205)


def test_it_says_when_it_plays_and_when_not(qtbot, player, clock):
    said = []
    player.playing_changed.connect(said.append)
    player.play()
    player.play(4.0)
    player.pause()
    player.pause()
    player.play()
    with qtbot.waitSignal(player.ended):
        clock.now_s += 60

    assert said == [True, False, True, False]


def test_each_step_shows_one_row_more(qtbot, player, recording):
    for count in range(1, 42):
        player.step()
        assert player.run_state.rows == count
        assert player.run_state.finished is None
        assert player.run_state.progress.fraction == pytest.approx(count / 42)

    player.step()
    assert player.run_state.rows == 42
    assert known(player.run_state) == known(fed_directly(recording))
    with qtbot.assertNotEmitted(player.ended):
        player.step()


def test_a_step_stops_the_playing(qtbot, player, clock):
    player.play()
    wait_for(qtbot, player, clock, 0.105)
    player.step()

    assert not player.is_playing
    assert player.run_state.rows == 12
    assert player.t_s == pytest.approx(0.11)


def test_each_step_back_shows_one_row_less(player):
    player.seek(1e9)
    for count in range(41, -1, -1):
        player.step(back=True)
        assert player.run_state.rows == count
        assert player.run_state.finished is None
    player.step(back=True)
    assert player.run_state.rows == 0


def test_a_step_back_between_two_rows_goes_to_the_one_before(player):
    player.seek(0.105)
    player.step(back=True)

    assert player.run_state.rows == 10
    assert player.t_s == pytest.approx(0.09)


def test_seeking_to_and_fro_shows_what_was_known_then(player, recording):
    seen = {}
    for t_s in (0.0, 0.1, 0.3, 0.2, 0.405, 0.1, 0.0, 0.411, 0.2, 0.3):
        player.seek(t_s)
        now = known(player.run_state)
        assert seen.setdefault(t_s, now) == now
        expected = {0.0: 0, 0.1: 11, 0.2: 21, 0.3: 31, 0.405: 41, 0.411: 42}[t_s]
        assert player.run_state.rows == expected
        assert (player.run_state.finished is not None) == (t_s == 0.411)
        assert player.t_s == pytest.approx(min(t_s, 0.41))


def test_seeking_back_hands_over_each_event_once(player, recording, monkeypatch):
    player.seek(1e9)
    added, add = [], RunState.add
    monkeypatch.setattr(
        RunState, "add", lambda self, event: (added.append(event), add(self, event))
    )

    player.seek(player.total_s * 0.9)

    assert player.run_state.rows == 37
    assert added == [recording.started, *recording.events[: len(added) - 1]]


def test_seeking_beyond_either_end_stops_there(player):
    player.seek(1e9)
    assert player.t_s == player.total_s
    assert player.is_at_end
    player.seek(-1.0)
    assert player.t_s == 0.0
    assert player.run_state.rows == 0


def test_seeking_while_playing_goes_on_from_there(qtbot, player, clock):
    player.play()
    wait_for(qtbot, player, clock, 0.3)
    player.seek(0.1)
    wait_for(qtbot, player, clock, 0.105)

    assert player.t_s == pytest.approx(0.205)
    assert player.run_state.rows == 21


def test_playing_at_the_end_begins_anew(qtbot, player, clock):
    player.seek(1e9)
    player.play()

    assert player.run_state.rows == 0
    wait_for(qtbot, player, clock, 0.105)
    assert player.run_state.rows == 11


def test_restarting_goes_on_playing_from_the_beginning(qtbot, player, clock):
    player.play()
    wait_for(qtbot, player, clock, 0.3)
    player.restart()
    assert player.is_playing
    wait_for(qtbot, player, clock, 0.105)
    assert player.run_state.rows == 11


def test_frames_come_in_their_turn(qtbot, tmp_path):
    def with_frames(events):
        started, first, *rows, finished = events
        frame = messages.Frame(n=0, t_s=0.005, table="reads", shape=(1, 1), data="eJxjAAAAAQAB")
        return [started, first, frame, *rows, finished]

    player = Player(recording_of(tmp_path, burst(noise=(1.0,)), with_frames), BURST)
    player.step()
    assert player.run_state.frames == {}
    player.step()
    assert list(player.run_state.frames) == ["reads"]
    assert player.run_state.rows == 1


def test_a_run_without_a_row_ends_at_once_whatever_is_asked(qtbot, tmp_path):
    recording = recording_of(tmp_path, burst(), lambda events: [events[0]])
    for ask in (Player.play, Player.step, lambda player: player.seek(1.0)):
        player = Player(recording, BURST)
        with qtbot.waitSignal(player.ended):
            ask(player)
        assert player.run_state.finished.outcome is messages.Outcome.LOST
        player.play()
        player.restart()
        player.step(back=True)
        assert player.total_s == player.t_s == 0.0
        player.pause()


def test_rows_that_all_came_at_once_can_be_stepped_through(qtbot, tmp_path):
    def at_once(events):
        return [
            msgspec.structs.replace(event, t_s=0.0) if isinstance(event, messages.Row) else event
            for event in events
        ]

    player = Player(recording_of(tmp_path, burst(noise=(1.0,)), at_once), BURST)
    for count in range(1, 22):
        player.step()
        assert player.run_state.rows == count
    assert player.is_at_end
    player.restart()
    assert player.run_state.rows == 0
    with qtbot.waitSignal(player.ended):
        player.play()
    assert player.run_state.rows == 21


def test_a_run_of_another_version_ends_with_what_was_recorded(qtbot, tmp_path):
    run = burst(change=lambda started: msgspec.structs.replace(started, experiment_version=99))
    player = Player(recording_of(tmp_path, run), BURST)
    player.seek(1e9)
    assert player.run_state.finished == player.recording.finished


def test_a_run_with_other_tables_is_refused_in_one_sentence(qtbot, tmp_path):
    experiment = Catalogue().load("cache-ladder")
    foreign = made("cache-ladder", *_ladder_rows())
    events = [
        msgspec.structs.replace(event, row={**event.row, "latency_s": "long"})
        if isinstance(event, messages.Row)
        else event
        for event, _ in foreign.events()
    ]
    recording = recording_of(tmp_path, foreign, lambda _: events)
    with pytest.raises(UserError) as caught:
        Player(recording, experiment)
    assert caught.value.problem.key == "recording_of_other_version"


def _ladder_rows():
    from experiments.memory.cache_ladder.experiment import Params, Step

    rows = [Step(size_bytes=2**14, order="random", repeat=0, latency_s=1e-9)]
    return Params(), rows
