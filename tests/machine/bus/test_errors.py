from __future__ import annotations

import sys

from machine.bus.errors import read_pcie_errors

CORRECTABLE = "RxErr {0}\nBadTLP 2\nBadDLLP 0\nTOTAL_ERR_COR {1}\n"
FATAL = "Undefined 0\nDLP {0}\nTOTAL_ERR_FATAL {0}\n"
NONFATAL = "Undefined 0\nTOTAL_ERR_NONFATAL 0\n"


def test_each_device_tells_its_errors_and_all_together_are_summed(tree):
    counted = {"aer_dev_nonfatal": NONFATAL}
    tree.pci(
        "pci0000:00/0000:00:01.0",
        **counted,
        aer_dev_correctable=CORRECTABLE.format(40, 42),
        aer_dev_fatal=FATAL.format(0),
    )
    tree.pci(
        "pci0000:00/0000:00:02.0",
        **counted,
        aer_dev_correctable=CORRECTABLE.format(0, 2),
        aer_dev_fatal=FATAL.format(1),
    )
    tree.pci("pci0000:00/0000:00:1f.0")  # such as a bridge of the board: counts none
    told = read_pcie_errors(tree.root)
    assert (told.correctable, told.nonfatal, told.fatal, told.missing) == (44, 0, 1, ())
    first, second = told.devices
    assert (first.address, first.correctable) == ("0000:00:01.0", 42)
    assert first.kinds == {"RxErr": 40, "BadTLP": 2}
    assert second.kinds == {"BadTLP": 2, "DLP": 1}


def test_old_kernels_write_the_kinds_in_words(tree):
    text = "Receiver Error 3\nAdvisory Non-Fatal 1\n"
    tree.pci("pci0000:00/0000:00:01.0", aer_dev_correctable=text)
    (device,) = read_pcie_errors(tree.root).devices
    assert (device.correctable, device.fatal) == (4, None)
    assert device.kinds == {"Receiver Error": 3, "Advisory Non-Fatal": 1}


def test_a_bus_that_counts_nothing_has_a_reason(tree):
    tree.pci("pci0000:00/0000:00:01.0", aer_dev_fatal="\x1b[31m nonsense " + "9" * 5000)
    told = read_pcie_errors(tree.root)
    assert (told.correctable, told.devices) == (None, ())
    assert "firmware" in told.missing[0].why


def test_without_a_bus_the_reason_is_told(tree):
    assert "bus" in read_pcie_errors(tree.root).missing[0].why


def test_other_systems_say_why(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert "Linux only" in read_pcie_errors().missing[0].why
