from __future__ import annotations

from pathlib import Path

import pytest

from experiments.core.own_environment import own_environment

CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")


@pytest.fixture(autouse=True)
def no_caches_told(monkeypatch):
    for variable in CACHES:
        monkeypatch.delenv(variable, raising=False)


def test_what_torch_compiles_goes_to_a_place_of_its_own_in_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, **_: tmp_path / name)

    told = own_environment()

    places = {Path(told[variable]) for variable in CACHES}
    assert {place.parent for place in places} == {tmp_path / "coreopsis"}
    assert len(places) == len(CACHES)
    assert list(tmp_path.iterdir()) == []  # most runs need none


def test_who_has_chosen_a_place_keeps_it(monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", "/mine")

    assert own_environment()["TRITON_CACHE_DIR"] == "/mine"


def test_where_no_folder_can_be_made_torch_chooses(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, **_: tmp_path / "file" / name)

    assert not own_environment().keys() & set(CACHES)
