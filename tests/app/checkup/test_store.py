import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.checkup.store import Checkups
from experiments.checkup.result import read
from experiments.core.problems import UserError
from tests.app.checkup.made import bandwidth, checkup, disturbed


def test_what_is_kept_comes_back_newest_first(tmp_path):
    kept = Checkups(tmp_path)
    old, new = checkup(id="a" * 8), checkup(id="b" * 8)
    kept.keep(old)
    kept.keep(new)
    assert [each.id for each in kept.all()] == [new.id, old.id]


def test_two_of_one_minute_come_in_their_order(tmp_path):
    kept = Checkups(tmp_path)
    old, new = checkup(id="z" * 8), replace(checkup(id="a" * 8), at="2026-11-20T10:00:30+00:00")
    for each in (new, old):
        kept.keep(each)
    assert [each.id for each in kept.all()] == [new.id, old.id]


def test_a_folder_that_is_not_there_holds_none(tmp_path):
    kept = Checkups(tmp_path / "none")
    assert list(kept.all()) == []
    assert kept.baseline("abc123") is None


def test_a_damaged_file_is_left_alone(tmp_path):
    kept = Checkups(tmp_path)
    path = kept.keep(checkup())
    damaged = path.with_name(f"99999999T9999-x{''.join(path.suffixes)}")
    damaged.write_bytes(b"{")
    assert list(kept.all()) == [checkup()]
    assert damaged.read_bytes() == b"{"


def test_a_baseline_belongs_to_its_machine(tmp_path):
    kept = Checkups(tmp_path)
    kept.save_baseline(checkup())
    assert kept.baseline("abc123") == checkup()
    assert kept.baseline("zzz") is None
    assert list(kept.all()) == []


def test_without_a_fingerprint_there_is_no_baseline(tmp_path):
    with pytest.raises(UserError, match="checkup_without_fingerprint"):
        Checkups(tmp_path).save_baseline(checkup(machine={"fingerprint": None}))


def test_a_checkup_that_was_stopped_is_no_baseline(tmp_path):
    kept = Checkups(tmp_path)
    with pytest.raises(UserError, match="checkup_cut_short"):
        kept.save_baseline(checkup(outcome="stopped"))
    assert kept.baseline("abc123") is None


def test_a_checkup_that_others_disturbed_is_no_baseline(tmp_path):
    kept = Checkups(tmp_path)
    with pytest.raises(UserError, match="checkup_disturbed"):
        kept.save_baseline(checkup(bandwidth(), disturbed()))
    assert kept.baseline("abc123") is None


def test_a_fingerprint_is_no_way_out_of_the_folder(tmp_path):
    kept = Checkups(tmp_path / "data")
    kept.save_baseline(checkup(machine={"fingerprint": "../../out"}))
    assert {path.name for path in tmp_path.iterdir()} == {"data"}


@pytest.fixture(params=["a file in its place", "a folder that is only read"])
def unwritable(request, tmp_path):
    """Return a data folder that takes no checkups."""
    data = tmp_path / "data"
    data.mkdir()
    if request.param == "a file in its place":
        (data / "checkups").write_text("")
    elif os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    else:
        data.chmod(0o500)
    return data


def test_a_folder_that_cannot_be_written_is_told_before_and_another_one_taken(
    unwritable, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    kept, whole = Checkups(unwritable), checkup(id="precious")

    with pytest.raises(UserError, match="checkups_unwritable"):
        kept.check_writable()
    with pytest.raises(UserError, match="checkup_kept_elsewhere") as caught:
        kept.keep(whole)
    with pytest.raises(UserError, match="baseline_not_kept"):
        kept.save_baseline(whole)

    path = Path(caught.value.problem.values["path"])
    assert path.parent == tmp_path
    assert read(path) == whole


def test_a_checkup_that_no_place_takes_is_told(unwritable, tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "cwd", lambda: tmp_path / "missing")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "missing"))

    with pytest.raises(UserError, match="checkup_not_kept"):
        Checkups(unwritable).keep(checkup())


def test_what_a_killed_program_left_unfinished_goes_after_a_day(tmp_path):
    kept = Checkups(tmp_path)
    kept.keep(checkup())
    old, new = (tmp_path / "checkups" / f".coreopsis-{n}-1" for n in (1, 2))
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (0, 0))

    kept.check_writable()

    assert (old.exists(), new.exists()) == (False, True)
    assert list(kept.all()) == [checkup()]
