from __future__ import annotations

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.found_by import found_by, is_found
from tests.cases import in_one

ENGLISH = words.load("en")
CATALOGUE = Catalogue()


def found(typed: str) -> set[str]:
    return {
        each.id
        for each in CATALOGUE
        if is_found(
            typed,
            found_by(
                ENGLISH,
                each.id,
                (*each.parts, *each.needs),
                has_lesson=CATALOGUE.homes[each.id].has_lesson,
            ),
        )
    }


@in_one(
    ("typed", "among"),
    [
        ("cuda", {"pinned", "streams", "async", "amp"}),
        ("NVLink", {"p2p"}),
        ("hyperthreading", {"smt"}),
        ("hyper threading", {"smt"}),
        ("false sharing", {"false-sharing"}),
        ("numpy", {"gil-threads", "diffusion"}),
        ("pytorch", {"clinic", "compile"}),
        ("gil", {"gil-threads", "race"}),
        ("simd", {"simd"}),
        ("avx", {"simd"}),
        ("ram", {"cache-ladder", "stream"}),
        ("ssd", {"storage"}),
        ("nvme", {"storage"}),
        ("cache", {"cache-ladder", "false-sharing"}),
        ("tensor core", {"amp", "alignment"}),
        ("mixed precision", {"amp"}),
        ("multiprocessing", {"gil-threads", "start-cost"}),
        ("asyncio", {"waiting"}),
        ("prefetch", {"burst-random", "cache-ladder"}),
        ("tlb", {"cache-ladder"}),
        (".item()", {"logging"}),
        ("lesson", {"race", "clinic"}),
    ],
)
def test_a_name_that_people_use_finds_what_it_means(typed, among):
    assert among <= found(typed)


def test_a_word_counts_only_from_its_start():
    assert found("gil") <= {"gil-threads", "race"}
    assert not is_found("ram", ["a program, its framework"])
    assert is_found("ram", ["a program", "RAM"])
    assert found("xyzzy") == set()


def test_the_lessons_are_those_that_are_written():
    written = {name for name, home in CATALOGUE.homes.items() if home.has_lesson}

    assert len(written) >= 10
    assert found("lesson") == written
