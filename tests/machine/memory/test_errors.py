from __future__ import annotations

import sys

import pytest

from machine.memory.errors import ModuleErrors, read_memory_errors

MC = "/sys/devices/system/edac/mc"


def controller(tree, number, *, corrected, uncorrected, **modules):
    folder = f"{MC}/mc{number}"
    told = {"mc_name": f"skx {number}", "ce_count": corrected, "ue_count": uncorrected}
    for name, text in (told | {"seconds_since_reset": 3600}).items():
        tree.write(f"{folder}/{name}", f"{text}\n")
    for name, (label, of_it, not_of_it) in modules.items():
        tree.write(f"{folder}/{name}/dimm_label", f"{label}\n")
        tree.write(f"{folder}/{name}/dimm_ce_count", f"{of_it}\n")
        tree.write(f"{folder}/{name}/dimm_ue_count", f"{not_of_it}\n")


def test_each_controller_and_module_tells_its_errors(tree):
    controller(tree, 0, corrected=5, uncorrected=0, dimm0=("A1", 0, 0), dimm10=("A2", 5, 0))
    controller(tree, 1, corrected=0, uncorrected=1, rank0=("B1", 0, 1))
    told = read_memory_errors(tree.root)
    assert (told.corrected, told.uncorrected, told.missing) == (5, 1, ())
    first, second = told.controllers
    assert (first.number, first.name, first.corrected, first.since_s) == (0, "skx 0", 5, 3600)
    assert first.modules[1] == ModuleErrors(label="A2", corrected=5, uncorrected=0)
    assert second.modules == (ModuleErrors(label="B1", corrected=0, uncorrected=1),)


def test_old_kernels_tell_the_errors_of_each_channel(tree):
    controller(tree, 0, corrected=2, uncorrected=0)
    tree.write(f"{MC}/mc0/csrow0/ch1_ce_count", "2\n")
    tree.write(f"{MC}/mc0/csrow0/ch1_dimm_label", "DIMM_B\x1b[31m\n")
    (module,) = read_memory_errors(tree.root).controllers[0].modules
    assert (module.corrected, module.uncorrected) == (2, None)
    assert module.label is not None
    assert "\x1b" not in module.label


def test_a_count_that_is_not_told_is_unknown_and_not_none(tree):
    controller(tree, 0, corrected="?", uncorrected=0)
    told = read_memory_errors(tree.root)
    assert (told.corrected, told.uncorrected) == (None, 0)
    assert [entry.what for entry in told.missing] == ["controllers[0].corrected"]


@pytest.mark.parametrize(
    ("folder", "is_virtual", "word"),
    [(f"{MC}/power", False, "watches no"), ("/sys/x", False, "EDAC"), ("/sys/x", True, "virtual")],
)
def test_without_a_controller_the_reason_is_told(tree, folder, is_virtual, word):
    tree.write(folder, "")
    told = read_memory_errors(tree.root, is_virtual=is_virtual)
    assert (told.corrected, told.controllers) == (None, ())
    assert word in told.missing[0].why
    assert told.missing[0].how


def test_other_systems_say_why(monkeypatch):
    for system, named in (("darwin", "macOS"), ("win32", "Windows"), ("freebsd14", "this system")):
        monkeypatch.setattr(sys, "platform", system)
        (missing,) = read_memory_errors().missing
        assert named in missing.why
        assert missing.how
