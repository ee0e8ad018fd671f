"""Findings in recordings of an H100, an H200 and their servers."""

from __future__ import annotations

import gzip
import re

import msgspec
import pytest
from msgspec.structs import replace

from experiments.checkup.result import Word
from experiments.checkup.result import read as checkup
from experiments.core.catalogue import Catalogue
from experiments.engine.recording import read
from tests import ROOT
from tests.cases import in_one
from tests.shipped import SHIPPED

CATALOGUE = Catalogue()
RECORDED = ROOT / "tests/recorded"


def finding(name, table="", change=dict):
    """Return the finding of a recording whose rows of one table were changed."""
    recording = read(SHIPPED[name])
    rows = {
        each: [msgspec.structs.replace(row, row=change(row.row)) for row in found]
        if each == table
        else found
        for each, found in recording.rows.items()
    }
    return replace(recording, rows=rows).finding(CATALOGUE.load(name))


def scaled(column, factor, **where):
    """Return a change of the rows with these values: one column, times `factor`."""

    def change(row):
        is_meant = where.items() <= row.items()
        return row | {column: row[column] * factor} if is_meant else row

    return change


def test_products_at_the_power_limit_are_not_called_all_that_the_gpu_can_do():
    assert "power_is_the_limit" in finding("busy-not-full").limits
    freely = finding("busy-not-full", "conditions", lambda row: row | {"held_back": ""})
    assert "power_is_the_limit" not in freely.limits


def test_adding_up_on_the_gpu_is_no_remedy_where_it_costs_as_much_as_reading():
    assert "adding_up_is_a_call" in finding("logging").limits
    cheap = finding("logging", "ways", scaled("step_s", 0.4, matrices="small", way="kept"))
    assert "adding_up_is_a_call" not in cheap.limits


def test_a_graph_below_the_gpus_own_time_is_explained():
    found = finding("compile")
    assert found.values["graph_step_s"] < found.values["busy_s"]
    assert "graph_starts_faster" in found.limits
    slow = finding("compile", "steps", scaled("step_s", 3, way="graph"))
    assert "graph_starts_faster" not in slow.limits


def test_integers_slower_than_half_precision_are_explained():
    found = finding("alignment")
    assert found.values["aligned_int8_flop_per_s"] < found.values["aligned_fp16_flop_per_s"]
    assert "int8_is_slow" in found.limits
    fast = finding("alignment", "probes", scaled("flop_per_s", 10, precision="int8"))
    assert "int8_is_slow" not in fast.limits


def test_where_a_loss_and_a_win_lie_far_apart_no_size_between_them_is_named():
    found = finding("crossover")
    assert found.message == "crosses_between"
    assert found.values["crossover_size_low"] * 4 < found.values["crossover_size_high"]
    assert not {"crossover_size", "crossover_size_with_copies"} & found.values.keys()

    def steadily(row):
        is_meant = row["kind"] == "all_cores"
        return row | {"product_s": 3e-12 * row["size"] ** 3} if is_meant else row

    steady = finding("crossover", "products", steadily)
    assert steady.message == "two_crossings"
    assert 192 <= steady.values["crossover_size"] <= 384


def test_a_plate_that_a_cache_may_hold_is_not_said_to_wait_for_memory():
    found = finding("diffusion")
    assert "partly_in_cache" in found.limits
    assert found.message == "gpu_is_faster_in_caches"


def test_five_rates_that_were_sampled_are_one_sentence():
    limits = finding("gpu-or-not").limits
    assert [each for each in limits if each.endswith("sampled")] == ["all_sampled"]


@in_one(
    ("name", "message"),
    {
        "pinned": "pinned_pays_back",
        "streams": "hidden_from_pinned_memory",
        "non-blocking": "early_and_unsafe",
        "busy-not-full": "busy_but_not_full",
        "async": "comes_back_early",
    }.items(),
)
def test_what_no_laptop_shows_is_shown(name, message):
    assert finding(name).message == message


@in_one(("name", "message"), {"amdahl": "scales_less", "core-to-core": "all_alike"}.items())
def test_what_sixteen_cores_gave_is_judged(name, message):
    recording = read(SHIPPED[name])
    assert (recording.finished.outcome, recording.notes) == ("completed", ())
    assert len(recording.started.machine["cpu"]["threads_list"]) == 16
    assert recording.finding(CATALOGUE.load(name)).message == message


def test_what_is_kept_of_these_machines_names_neither_them_nor_their_owner():
    kept = [path for card in ("h100", "h200") for path in (RECORDED / card).iterdir()]
    for path in (*kept, *SHIPPED.values()):
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        assert not re.search(r'GPU-[0-9a-f]{8}|/home/|/root/|/Users/|"serial":', text), path


@pytest.mark.parametrize("card", ["h100", "h200"])
def test_the_checkup_of_a_sound_server_found_no_fault(card):
    words = [
        row.word for row in checkup(RECORDED / card / "gpu-server.coreopsis-checkup.json").rows
    ]
    assert not {Word.PROBLEM, Word.LOOK} & {*words}
    assert Word.FINE in words
