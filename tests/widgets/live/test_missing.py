"""Live goes on whatever is missing, and whichever GPU vanishes at whatever moment."""

from __future__ import annotations

import functools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments.presentation.load.faces import Faces
from experiments.presentation.load.history import History
from experiments.presentation.load.resources import Resources
from tests.gallery.live_samples import machine, samples
from tests.gallery.made_gpus import NAMES
from widgets.live.board import Board

KINDS = st.sampled_from(["none", "one", "pair", "eight", "asleep", "lost"])
STATES = st.sampled_from(["awake", "awake", "asleep", "lost"])
RARELY, DISKS = st.integers(0, 5).map(lambda n: n == 0), st.integers(0, 3)
PARTS = ("busy", "memory", "power", "link", "nvlink", "whole")


@functools.cache  # to make a strategy costs more than to draw from it
def some_of(names: tuple[str, ...], most: int) -> st.SearchStrategy[set[str]]:
    return st.sets(st.sampled_from(names), max_size=most)


@st.composite
def streams(draw):
    """Return a few samples of which anything may be missing."""
    kind, made = draw(KINDS), []
    for sample in samples(2, hz=0.05, seconds=60, gpus=kind, disks=draw(DISKS)):
        for parts in (sample.gpus, sample.disks, sample.network, sample.threads):
            for part in list(parts):
                if parts is not sample.threads and draw(RARELY):
                    parts.remove(part)
                names = tuple(name for name in part if name not in ("index", "name", "id", "state"))
                part |= dict.fromkeys(draw(some_of(names, 8)))
                if "state" in part:
                    part["state"] = draw(STATES)
        for name in draw(some_of(tuple(sorted(sample.memory)), 4)):
            sample.memory[name] = None
        if draw(RARELY):
            sample.missing.clear()
        made.append(sample)
    return kind, made


@given(streams())
@settings(deadline=None, max_examples=25)
def test_words_are_found_for_every_tile(english, stream):
    _, made = stream
    faces = Faces(english)
    resources, history = Resources(english, faces), History()
    for sample in made:
        faces.know_missing(sample.missing)
        moment = sample.add_to(history)
        names = resources.names(moment)
        for name in names:
            face = resources[name].face(moment)
            assert face.number
            assert face.known or face.detail or face.number == "not known"
            resources[name].reading(moment)
            resources[name].share(moment)
        for index in range(8):
            for part in PARTS:
                resources[f"gpu{index}.{part}"].face(moment)


@given(streams())
@settings(
    deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_board_and_table_go_on(qtbot, look, english, stream):
    kind, made = stream
    board = Board(look, english)
    board.resize(1200, 800)
    board.show_machine(machine(2, gpus=kind))
    history = History()
    for sample in made:
        sample.add_to(history)
        board.draw(history, sample.missing)
        board.point_at(1.0, 0)
    board.grab()
    board.deleteLater()


def stream_of(qtbot, look, english, kind, seconds) -> Board:
    board, history = Board(look, english), History()
    qtbot.addWidget(board)
    board.resize(1296, 800)
    board.show_machine(machine(2, gpus=kind))
    for sample in samples(2, seconds=seconds, gpus=kind):
        sample.add_to(history)
        board.draw(history, sample.missing)
    return board


def gpu_tiles(board: Board) -> list[str]:
    return [name for name in board.tiles if name.startswith("gpu")]


@pytest.mark.parametrize(
    ("kind", "seconds", "tiles"),
    [
        ("one", 2, ["gpu0.busy", "gpu0.memory", "gpu0.power", "gpu0.link"]),
        ("eight", 2, [f"gpu{n}.whole" for n in range(8)]),
        ("asleep", 2, ["gpu0.whole"]),
        ("asleep", 41, ["gpu0.busy", "gpu0.memory", "gpu0.power", "gpu0.link"]),
        ("lost", 30, ["gpu0.busy", "gpu0.memory", "gpu0.power", "gpu0.link", "gpu1.whole"]),
    ],
)
def test_each_gpu_has_the_tiles_that_suit_it(qtbot, look, english, kind, seconds, tiles):
    board = stream_of(qtbot, look, english, kind, seconds)

    assert gpu_tiles(board) == tiles
    assert all(not board.tiles[name].isHidden() for name in tiles)


def test_a_gpu_that_vanishes_keeps_its_tile_as_lost(qtbot, look, english):
    board = stream_of(qtbot, look, english, "one", 2)
    history = History()
    for t_s, gone in ((0.0, False), (0.5, True)):
        sample = list(samples(2, seconds=1, gpus="one"))[round(t_s * 2)]
        if gone:
            sample.gpus.clear()
        sample.add_to(history)
        board.draw(history, sample.missing)

    assert gpu_tiles(board) == ["gpu0.whole"]
    assert board.tiles["gpu0.whole"].face.number == "lost"


def test_the_made_up_gpus_say_all_that_a_sample_says():
    for kind in ("one", "eight"):
        for gpu in next(samples(1, gpus=kind)).gpus:
            assert set(NAMES) < set(gpu)


def test_another_machine_takes_all_tiles_away(qtbot, look, english):
    board = stream_of(qtbot, look, english, "eight", 2)

    board.forget()

    assert board.tiles == {}
    assert gpu_tiles(stream_of(qtbot, look, english, "none", 1)) == []
