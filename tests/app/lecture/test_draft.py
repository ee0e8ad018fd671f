import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lecture.draft import Draft
from app.lecture.file import MOST_ITEMS, Item, Lecture, encode, read
from app.lecture.lectures import SHIPPED
from experiments.core.problems import UserError


def draft(*names: str) -> Draft:
    made = Draft()
    for name in names:
        made.add(Item(experiment=name))
    return made


def names(made: Draft) -> str:
    return "".join(item.experiment for item in made.items)


def test_items_come_go_and_change_places():
    made = draft("a", "b", "c")
    assert made.add(Item(experiment="d"), 1) == 1
    assert names(made) == "adbc"
    assert made.move(0, 2) == 2
    assert names(made) == "dbac"
    assert made.move(0, -5) == 0
    assert made.move(1, 99) == 3
    assert names(made) == "dacb"
    assert made.remove(1).experiment == "a"
    assert names(made) == "dcb"


@given(
    st.lists(st.tuples(st.sampled_from("amrct"), st.integers(0, 5), st.integers(0, 5)), max_size=12)
)
def test_every_change_can_be_undone(changes):
    made = draft("a", "b")
    seen = [made.lecture]
    for kind, one, other in changes:
        place = one % max(len(made.items), 1)
        if kind == "a":
            made.add(Item(experiment="x"), one)
        elif kind == "t":
            made.name(f"{one}")
        elif made.items:
            if kind == "m":
                made.move(place, other)
            elif kind == "r":
                made.remove(place)
            else:
                made.change(place, minutes=float(other + 1))
        if made.lecture != seen[-1]:
            seen.append(made.lecture)
    for lecture in reversed(seen):
        assert made.lecture == lecture
        made.undo()
    assert not made.can_undo or made.lecture != seen[0]


def test_it_is_full_at_some_time():
    made = Draft(Lecture(item=(Item(experiment="a"),) * MOST_ITEMS))
    with pytest.raises(UserError) as caught:
        made.add(Item(experiment="b"))
    assert caught.value.problem.key == "lecture_full"


def test_it_is_saved_wholly_and_knows_that(tmp_path):
    made, path = draft("a"), tmp_path / "x.coreopsis-lecture.toml"
    assert made.is_changed
    made.save(path)
    assert (made.path, made.is_changed) == (path, False)
    assert read(path) == made.lecture
    made.name("Else")
    assert made.is_changed
    made.undo()
    assert not made.is_changed


def test_neither_a_lecture_of_the_program_nor_a_folder_is_written_over(tmp_path):
    for path in (next(SHIPPED.glob("*.toml")), tmp_path):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(UserError) as caught:
            draft("a").save(path)
        assert caught.value.problem.key == "file_not_written"
        assert not path.is_file() or path.read_bytes() == before


def test_what_was_not_saved_is_there_at_the_next_start(tmp_path):
    kept, path = tmp_path / "lectures" / "kept.toml", tmp_path / "x.coreopsis-lecture.toml"
    made = draft("a")
    made.save(path)
    made.add(Item(experiment="b"))
    made.keep(kept)

    again = Draft.kept(kept, path)

    assert (names(again), again.path, again.is_changed) == ("ab", path, True)
    made.save(path)
    made.keep(kept)
    assert not kept.exists()
    assert not Draft.kept(kept, path).is_changed


@pytest.mark.parametrize("broken", [b"", b"\xff", b'format = "x"'])
def test_what_was_kept_may_be_broken_and_the_file_gone(tmp_path, broken):
    kept = tmp_path / "kept.toml"
    kept.write_bytes(broken)
    again = Draft.kept(kept, tmp_path / "gone.toml")
    assert (again.items, again.path) == ((), None)
    kept.write_bytes(encode(draft("a").lecture))
    assert names(Draft.kept(kept, None)) == "a"
