"""Laws of the map of every machine: made up, shipped, and recorded by hwloc."""

from __future__ import annotations

import itertools
from itertools import combinations
from typing import NamedTuple

import pytest

from experiments.core import words
from machine.model import Machine
from tests.machine.conftest import recorded as recorded  # a fixture
from tests.widgets.map.machines import MACHINES
from widgets.map.layout.boxes import Box, Kind, Layout, Measure, Rect
from widgets.map.layout.layout import lay_out
from widgets.map.layout.ways import DataPaths
from widgets.map.painting.box_texts import BoxText
from widgets.map.painting.lettering import texts
from widgets.map.panel.about import About
from widgets.map.walking import Arrow, is_stop, next_box, next_stop

WORDS = words.load()
# Those whose map has something of its own.
RECORDED = (
    "16amd64-8n2c-cpusets",
    "256ppc-8n8s4t",
    "32em64t-2n8c+dax+nvme+mic+dimms",
    "40intel64-2g2n4c+pcilocality",
    "8em64t-2s4c-asymcaches",
    "96em64t-4no4pa3ca2co",
    "nvidiagpunumanodes",
)
WINDOW = (972, 690, 1.0)
ROOMS = [(812, 500, 1.0), (700, 450, 1.6), (420, 380, 1.0), (1800, 1100, 1.3)]
ALMOST = 0.01
SAID = (
    BoxText(),
    BoxText(value=("?",), rate=("? of 1.79 TB/s", "?"), rate_role="invitation", now=("asleep",)),
    BoxText(
        value=("11.2 ns",),
        rate=("at most 57.1 GB/s", "57.1 GB/s"),
        rate_role="detail",
        now=("71 °C · 512 W · busy 82 %", "busy 82 %"),
        bar=("memory 23.0 of 31.8 GiB", "23.0 of 31.8 GiB", "72 %"),
    ),
    BoxText(
        value=("a very long name of a number 123456 ns", "123456 ns"), rate=("57.1 of 63 GB/s",)
    ),
)


class Mapped(NamedTuple):
    machine: Machine
    layout: Layout


@pytest.fixture(scope="module", params=[*MACHINES, *RECORDED])
def mapped(request, recorded, measure) -> Mapped:
    """Return one machine after the other, with its map in the window."""
    machine = MACHINES[request.param]() if request.param in MACHINES else recorded(request.param)
    return Mapped(machine, lay_out(machine, WORDS, measure(), *WINDOW[:2]))


def overlap(one: Rect, other: Rect) -> bool:
    return (
        one.x + ALMOST < other.right
        and other.x + ALMOST < one.right
        and one.y + ALMOST < other.bottom
        and other.y + ALMOST < one.bottom
    )


def inside(inner: Rect, outer: Rect) -> bool:
    return (
        inner.x >= outer.x - ALMOST
        and inner.y >= outer.y - ALMOST
        and inner.right <= outer.right + ALMOST
        and inner.bottom <= outer.bottom + ALMOST
    )


def boxes_lie_in_their_frames_and_beside_each_other(layout: Layout) -> None:
    by_id: dict[str | None, Box] = {}
    siblings: dict[str | None, list[Box]] = {}
    for box in layout.boxes:
        assert box.id not in by_id
        assert box.rect.width > 0, box
        assert box.rect.height > 0, box
        assert inside(box.rect, Rect(0, 0, layout.width, layout.height)), box
        if box.parent:  # comes first
            assert inside(box.rect, by_id[box.parent].rect), (box, by_id[box.parent])
        by_id[box.id] = box
        siblings.setdefault(box.parent, []).append(box)
    for boxes in siblings.values():
        for one, other in combinations(boxes, 2):
            assert not overlap(one.rect, other.rect), (one, other)


def texts_lie_in_their_boxes_and_on_nothing_else(layout: Layout, measure: Measure) -> None:
    children: dict[str | None, list[Rect]] = {}
    for box in layout.boxes:
        children.setdefault(box.parent, []).append(box.rect)
    for box, said in itertools.product(layout.boxes, SAID):
        if said.value and not box.bears_value:
            continue
        found = texts(box, said, measure)
        for text in found:
            room = text.rect.height if text.is_upright else text.rect.width
            assert inside(text.rect, box.rect), (box, text)
            assert measure.width(text.text, text.letters) <= room + ALMOST, text
            for rect in children.get(box.id, ()):
                assert not overlap(text.rect, rect), (box, text)
        for one, other in combinations(found, 2):
            assert not overlap(one.rect, other.rect), (box, one, other)


def all_can_be_reached_by_arrow_keys(layout: Layout) -> None:
    boxes = layout.boxes
    seen, ways = {boxes[0].id}, [boxes[0]]
    while ways:
        here = ways.pop()
        for step in Arrow:
            there = next_box(boxes, here, step)
            if there is not None and there.id not in seen:
                seen.add(there.id)
                ways.append(there)
    assert {box.id for box in boxes} - seen == set()


def test_boxes_and_texts_lie_where_they_belong_and_can_be_reached(mapped, measure):
    boxes_lie_in_their_frames_and_beside_each_other(mapped.layout)
    texts_lie_in_their_boxes_and_on_nothing_else(mapped.layout, measure())
    all_can_be_reached_by_arrow_keys(mapped.layout)


@pytest.mark.parametrize("name", MACHINES)
def test_so_they_do_in_every_room(name, measure):
    machine = MACHINES[name]()
    for width, height, zoom in ROOMS:
        layout = lay_out(machine, WORDS, measure(zoom), width, height)
        boxes_lie_in_their_frames_and_beside_each_other(layout)
        texts_lie_in_their_boxes_and_on_nothing_else(layout, measure(zoom))
        if zoom == 1.6:
            all_can_be_reached_by_arrow_keys(layout)


@pytest.mark.parametrize("name", MACHINES)
def test_a_map_fits_its_room(name, measure):
    for width, height, zoom in (WINDOW, ROOMS[0]):
        layout = lay_out(MACHINES[name](), WORDS, measure(zoom), width, height)
        assert layout.width <= width + ALMOST
        assert layout.height <= height + ALMOST


def test_every_thread_is_there_once_or_folded(mapped, measure):
    layout, folds = mapped.layout, list[str]()
    while more := {box.id for box in layout.boxes if box.kind is Kind.FOLD} - {*folds}:
        folds += more  # what is unfolded may have folds inside
        layout = lay_out(mapped.machine, WORDS, measure(), *WINDOW[:2], frozenset(folds))

    shown = [box.threads[0] for box in layout.boxes if box.kind is Kind.THREAD]
    off = [thread for box in layout.boxes if box.kind is Kind.OFF for thread in box.threads]
    assert sorted(shown + off) == sorted(thread.id for thread in mapped.machine.cpu.threads_list)


def test_every_pair_of_kinds_has_a_way_or_none_but_never_fails(mapped):
    boxes = mapped.layout.boxes
    ways = DataPaths(mapped.machine, WORDS, About(mapped.machine, WORDS).title)
    some = list({box.kind: box for box in boxes}.values())

    for a, b in itertools.product(some, some):
        found = ways.between(a, b, boxes)
        assert found is None or (found.text.endswith(".") and "→" in found.text), (a, b)


@pytest.mark.parametrize("forward", [True, False])
def test_tab_stops_at_every_larger_box_once_and_then_leaves(mapped, forward):
    boxes, here, seen = mapped.layout.boxes, None, []
    while (here := next_stop(boxes, here, forward=forward)) is not None:
        seen.append(here.id)

    stops = [box.id for box in boxes if is_stop(box)]
    assert seen == (stops if forward else stops[::-1])


def test_every_box_is_explained_in_whole_sentences(mapped):
    about = About(mapped.machine, WORDS)

    for box in mapped.layout.boxes:
        assert about.title(box)
        said = about.sentences(box)
        assert said.endswith(".")
        assert "{" not in said + str(about.lines(box))
        assert "map." not in said + str(about.lines(box))
        for fact in about.facts.of(box):
            assert fact.value or fact.why, (box, fact)
            assert fact.value not in ("None", "")
    for fact in about.facts.of_machine():
        assert fact.value or fact.why
