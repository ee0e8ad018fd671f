import os

import pytest
from msgspec.structs import replace

from app.checkup.store import Checkups
from experiments.core.problems import UserError
from tests.app.checkup.made import checkup


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


def test_a_fingerprint_is_no_way_out_of_the_folder(tmp_path):
    kept = Checkups(tmp_path / "data")
    kept.save_baseline(checkup(machine={"fingerprint": "../../out"}))
    assert {path.name for path in tmp_path.iterdir()} == {"data"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="checkup_not_kept"):
        Checkups(tmp_path).keep(checkup())


def test_a_file_in_place_of_the_folder_is_told(tmp_path):
    (tmp_path / "checkups").write_text("")
    with pytest.raises(UserError, match="checkup_not_kept"):
        Checkups(tmp_path).keep(checkup())
