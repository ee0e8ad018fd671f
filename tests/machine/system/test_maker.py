from __future__ import annotations

import json

import pytest

from machine.condition import System
from machine.inspect import inspect
from machine.model import missing_of, source_of, to_json
from tests.machine.conditioned import named


def test_the_firmware_names_the_machine_but_never_its_number(tree):
    named(tree, product_name="ProArt PX13")
    machine = inspect(tree.root)
    assert machine.system == System(
        maker="ASUS",
        model="ProArt PX13",
        board="ASUSTeK COMPUTER INC. ProArt X870E-CREATOR WIFI",
        firmware="American Megatrends Inc. 1605",
        firmware_date="2025-07-18",
    )
    assert source_of(machine, "system.model") == "/sys/class/dmi/id"
    assert "4711" not in json.dumps(to_json(machine))


@pytest.mark.parametrize(
    "junk",
    [
        *("System Product Name", "To Be Filled By O.E.M.", "Default string", "Not Specified", "0"),
        *("None", "", "   ", "O.E.M.", "System Version", "x.x"),
    ],
)
def test_what_a_maker_forgot_to_fill_in_is_no_name(tree, junk):
    named(tree, product_name=junk)
    machine = inspect(tree.root)
    assert machine.system.model is None
    assert missing_of(machine, "system.model") is not None


def test_the_model_of_a_thinkpad_is_its_name_not_only_its_code(tree):
    named(tree, sys_vendor="LENOVO", product_name="21HM", product_version="ThinkPad X1 Gen 11")
    assert inspect(tree.root).system.model == "ThinkPad X1 Gen 11 (21HM)"


def test_a_maker_is_said_once(tree):
    named(tree, board_vendor="Raspberry", board_name="Raspberry Pi", bios_date="soon")
    system = inspect(tree.root).system
    assert system.board == "Raspberry Pi"
    assert system.firmware_date is None


def test_a_board_without_that_table_is_named_by_its_device_tree(tree):
    tree.write("/proc/device-tree/model", "NVIDIA Jetson AGX Orin Developer Kit\0")
    machine = inspect(tree.root)
    assert machine.system.model == "NVIDIA Jetson AGX Orin Developer Kit"
    assert source_of(machine, "system.model") == "/proc/device-tree/model"
    assert missing_of(machine, "system.maker") is not None
