"""The order: how it is read and kept, and what it says of a machine."""

from __future__ import annotations

import io
import sys

import pytest
from msgspec.structs import replace

from experiments.checkup.checks.order import answers
from experiments.checkup.order import (
    FILE,
    LIMIT_BYTES,
    MOST_LINES,
    Order,
    order_of,
    read_order,
    read_order_file,
    write_order,
)
from experiments.checkup.rejudge import with_order
from experiments.checkup.result import Word
from experiments.core.problems import UserError
from machine.model import to_json
from tests.experiments.checkup.cases.order import without_modules
from tests.experiments.checkup.made import baseline, machine_file, server, whole, workstation

GIB = 2**30


def kinds(machine, *lines: str) -> list[str]:
    return [each.kind for each in answers(order_of("\n".join(lines)), machine)]


def found(machine, *lines: str) -> list[str]:
    return [each.found for each in answers(order_of("\n".join(lines)), machine)]


# --- read and kept ----------------------------------------------------------------------------


def test_an_order_is_kept_as_it_was_typed(tmp_path):
    order = order_of('\n  AMD Ryzen 9 9950X \n# a remark\n---\n2 x "32" GB\\DDR5\n')
    assert order.lines == ("AMD Ryzen 9 9950X", '2 x "32" GB\\DDR5')
    write_order(tmp_path, order)
    assert read_order(tmp_path) == order
    write_order(tmp_path, Order())
    assert read_order(tmp_path) is None


def test_the_counts_that_were_kept_before_are_lines(tmp_path):
    (tmp_path / FILE).write_text(f"cores = 16\nmemory_bytes = {64 * GIB}\ngpus = 2\n", "utf-8")
    order = read_order(tmp_path)
    assert order.lines == ("64 GiB of memory", "16 cores", "2 gpus")
    assert kinds(workstation(), *order.lines) == ["here"] * 3


def test_what_strangers_wrote_is_made_harmless_and_names_no_piece_and_nobody():
    order = order_of("RTX 5090\x1b[31m S/N: 0323-44AB ada@example.org\nSerial number 12345678")
    assert order.lines == ("RTX 5090\N{REPLACEMENT CHARACTER}[31m",)


@pytest.mark.parametrize(
    "data",
    [
        b"RTX 5090\r\n16 cores",
        "\ufeffRTX 5090\n16 cores".encode(),
        "RTX 5090\n16 cores".encode("utf-16"),
        b'lines = ["RTX 5090", "16 cores"]',
    ],
)
def test_a_file_is_lines_or_toml_in_the_usual_encodings(tmp_path, data):
    (tmp_path / "order").write_bytes(data)
    assert read_order_file(tmp_path / "order").lines == ("RTX 5090", "16 cores")


def test_standard_input_is_a_file_too(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"RTX 5090")))
    assert read_order_file(type(tmp_path)("-")).lines == ("RTX 5090",)


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"", "order_file_unreadable"),
        (b"\n# nothing\n", "order_file_unreadable"),
        (b"\xff\x00\x00", "order_file_unreadable"),
        (b"lines = [1]", "order_file_unreadable"),
        (b"x" * (LIMIT_BYTES + 1), "order_file_unreadable"),
        (b"a part\n" * (MOST_LINES + 1), "order_too_long"),
        (b"x" * 1000, "order_line_too_long"),
    ],
)
def test_what_is_no_order_is_one_sentence(tmp_path, data, key):
    (tmp_path / "order").write_bytes(data)
    with pytest.raises(UserError) as refused:
        read_order_file(tmp_path / "order")
    assert refused.value.problem.key == key


# --- answers ----------------------------------------------------------------------------------


def test_all_lines_are_answered_at_once():
    lines = {
        "AMD Ryzen 9 9950X": "other",
        "2 x 32 GB DDR5-6000 CL30": "here",
        "3 x NVIDIA GeForce RTX 5090 32 GB": "less",
        "Samsung 990 PRO 4 TB NVMe": "less",
        "WD Black SN850X 4TB": "missing",
        "Noctua NH-D15": "untold",
        "ASUS ProArt X870E Creator WiFi": "here",
        "MSI MAG B650 Tomahawk WIFI": "other",
    }
    assert dict(zip(lines, kinds(workstation(), *lines), strict=True)) == lines


def test_a_part_answers_one_line_and_the_one_it_fits_best():
    one = replace(workstation(), gpus=workstation().gpus[:1])
    lines = ("NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 5090")
    assert kinds(one, *lines) == ["missing", "here"]
    assert kinds(one, lines[1], lines[1]) == ["here", "missing"]


def test_a_card_with_less_memory_than_bought_is_less():
    assert kinds(workstation(), "NVIDIA GeForce RTX 5090 48 GB") == ["less"]
    assert kinds(server(), "8x NVIDIA H100 80GB", "2 x AMD EPYC 9755") == ["here", "here"]


def test_a_disk_is_found_by_size_and_name_in_decimal_units():
    disk = replace(workstation().storage[0], model="CT2000T705SSD3", size_bytes=2_000_398_934_016)
    here = replace(workstation(), storage=(disk,))
    assert kinds(here, "Crucial T705 2.000 GB") == ["here"]
    assert kinds(here, "2 TB NVMe SSD") == ["here"]
    assert kinds(here, "Crucial T500 2 TB") == ["other"]
    assert kinds(here, "2 x Crucial T705 2 TB") == ["less"]
    assert kinds(workstation(), "Samsung 990 EVO Plus 2 TB") == ["other"]
    virtual = replace(disk, model=None, size_bytes=256 * GIB)
    assert kinds(replace(here, storage=(virtual,)), "256 GB SSD") == ["here"]
    stick = replace(disk, transport="usb")
    assert kinds(replace(here, storage=(stick,)), "Crucial T705 2 TB") == ["missing"]


def test_modules_are_compared_one_by_one():
    assert kinds(workstation(), "1 x 32 GB DDR5", "32 GB DDR5 module") == ["here", "here"]
    assert kinds(workstation(), "2 x 32 GB DDR4-3200") == ["other"]
    assert kinds(workstation(), "2 x 48 GB DDR5") == ["less"]


def test_memory_that_is_set_slower_is_fine_where_its_part_number_tells_that_it_is_the_right_one():
    memory = workstation().memory
    set_to = {"transfers_per_s": 4.8e9, "rated_transfers_per_s": 4.8e9, "part_number": None}
    slow = [replace(m, **set_to) if m.size_bytes else m for m in memory.modules]
    here = replace(workstation(), memory=replace(memory, modules=tuple(slow)))
    (told,) = answers(order_of("2 x 32 GB DDR5-6000"), here)
    assert (told.reason, told.word) == ("slower", Word.LOOK)
    named = [replace(m, part_number="F5-6000J3038F32G") if m.size_bytes else m for m in slow]
    here = replace(here, memory=replace(memory, modules=tuple(named)))
    assert kinds(here, "2 x 32 GB DDR5-6000") == ["here"]
    assert kinds(here, "2 x 32 GB DDR5-6400") == ["less"]


def test_of_a_memory_whose_modules_are_hidden_the_sum_is_told():
    here = without_modules(62 * GIB)()
    assert kinds(here, "2 x 32 GB DDR5-6000") == ["here"]
    assert found(here, "2 x 32 GB DDR5-6000") == ["62 GiB"]
    assert kinds(here, "32 GB DDR5", "64 GB DDR5") == ["less", "less"]


def test_a_line_about_a_whole_computer_is_as_good_as_its_worst_part():
    laptop = machine_file("hybrid-laptop")
    line = "Dell XPS 16, Core Ultra 7 155H, 32 GB LPDDR5x RAM, 1 TB Samsung 990 PRO, RTX 4060"
    assert kinds(laptop, line) == ["here"]
    assert kinds(laptop, line.replace("32 GB", "64 GB")) == ["less"]
    assert found(laptop, "Dell XPS 16 9640") == ["Dell Inc. XPS 16 9640"]


# --- without measuring again ------------------------------------------------------------------


def words_of(result) -> dict[str, Word]:
    return {row.part: row.word for row in result.rows if row.rule == "devices"}


def test_another_order_judges_a_kept_checkup_anew():
    kept = whole()
    bought = with_order(kept, order_of("2 GPUs\nNoctua NH-D15"), None)
    assert words_of(bought) == {"2 GPUs": Word.FINE, "order": Word.UNCHECKED}
    assert words_of(with_order(bought, order_of("9 GPUs"), None)) == {"9 GPUs": Word.PROBLEM}
    assert words_of(with_order(bought, None, None)) == {"": Word.UNCHECKED}
    assert with_order(kept, None, None) is kept


def test_the_baseline_still_counts_beside_the_order():
    before = baseline(here=workstation())
    kept = replace(whole(), baseline=before.id)
    judged = with_order(kept, order_of("2 GPUs"), before)
    assert words_of(judged) == {"2 GPUs": Word.FINE, "": Word.FINE}


def test_a_strangers_machine_is_left_as_it_is():
    kept = replace(whole(), machine={"format": "something else", **to_json(workstation())})
    kept = replace(kept, machine={"cpu": 1})
    assert with_order(kept, order_of("2 GPUs"), None) is kept
